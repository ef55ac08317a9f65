"""Workloads that come in parts: pods made one after the other, surplus that is refused, gates before other schedulers.
Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.builders import FEW, SCALED, stateful_set
from truth.causes.common import ONE
from truth.objects import clique, job, pod_clique_set
from truth.player import TruthCase, flat

KUBE = names.DEFAULT_SCHEDULER
TWO_PODS = FEW | {"spec": {"hard": {"pods": "2"}}}

IN_PARTS = [
    TruthCase(
        "a StatefulSet whose second pod is not made yet",
        "statefulset/x",
        ("x waits: 8 GPUs short", "there were 2 more nodes (n-more-1, n-more-2)"),
        flat(stateful_set("x", 2, gpus=8)),
        ONE,
        flat(job("old", gpus=8)),
        runs=2,
    ),
    TruthCase(
        "a StatefulSet of which one pod runs and two find no node",
        "statefulset/x",
        ("x runs: 1 pod on n", "they wait: 8 GPUs short", "there were 2 more nodes"),
        flat(stateful_set("x", 3, gpus=8)),
        ONE,
        runs=3,
    ),
    TruthCase(
        "a StatefulSet on a cordoned node",
        "statefulset/x",
        ("x waits: node n, the only one, is cordoned (spec.unschedulable: true)",),
        flat(stateful_set("x", 3, gpus=8)),
        ({"name": "n", "gpus": 8, "unschedulable": True},),
        runs=3,
    ),
    TruthCase(
        "a set whose surplus a ResourceQuota refuses",
        "set/x",
        ("x-0 waits: ResourceQuota few refuses its pods: pods=1 asked, pods=2 used", "2 of 3 pods are there"),
        flat(pod_clique_set("x", clique("a", 3, gpus=1, minimum=2))),
        ONE,
        flat(TWO_PODS),
        runs=3,
    ),
    TruthCase(
        "a set whose scaled gang a ResourceQuota refuses",
        "set/x",
        ("ResourceQuota few refuses its pods",),
        flat(pod_clique_set("x", clique("a", 1, gpus=2), **SCALED)),
        ONE,
        flat(FEW),
        runs=2,
    ),
    TruthCase(
        "a gate before the pods of kube-scheduler",
        "job/x",
        ("x waits: 1 pod is behind the scheduling gate a.b/c of a.b",),
        flat(job("x", scheduler=KUBE, schedulingGates=[{"name": "a.b/c"}])),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a gang that needs many more nodes",
        "job/x",
        ("x waits: 232 GPUs short", "there were 29 more nodes (n-more-1, n-more-2, …, n-more-29)"),
        flat(job("x", 30, gpus=8)),
        ONE,
        runs=30,
    ),
    TruthCase(
        "a gang that waits behind two others",
        "job/x",
        ("a (priority 50, against 50), b (priority 50, against 50) wait before it", "there were 3 more nodes"),
        flat(job("a", gpus=8), job("b", gpus=8), job("x", gpus=8)),
        ONE,
        flat(job("old", gpus=8)),
        runs=1,
    ),
]
