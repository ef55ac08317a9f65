"""What a second look found: shares of departments, racks whose nodes are closed, other schedulers' pods in part, claims
for one pod, and pods that are gone. Data only."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.causes.builders import FEW, deployment, stateful_set
from truth.causes.common import ONE, TWO
from truth.objects import (
    claim,
    clique,
    group,
    job,
    near,
    pod,
    pod_clique_set,
    priority_class,
    queue,
    topology,
    uses,
    volume,
)
from truth.player import TruthCase, flat

KUBE = names.DEFAULT_SCHEDULER
HIGH = {names.PRIORITY_CLASS: "high"}
CLOSED_RACK = (
    {"name": "n", "count": 2, "gpus": 8, "labels": {"rack": "r1"}, "unschedulable": True},
    {"name": "m", "gpus": 8, "labels": {"rack": "r2"}},
)


def departments(mine: Raw, theirs: Raw, **spec: Any) -> tuple[Raw, ...]:
    """Queue a below `mine`, queue b below `theirs`."""
    return flat(
        queue("mine", gpu=mine),
        queue("theirs", gpu=theirs, **spec),
        queue("a", "mine", gpu={"quota": 8}),
        queue("b", "theirs", gpu={"quota": 0}),
    )


def for_one_pod(name: str) -> list[Raw]:
    """A bound claim that one pod at a time may use."""
    made: Raw = volume("v", name, "")
    del made["spec"]["nodeAffinity"]
    return [
        made | {"spec": made["spec"] | {"accessModes": ["ReadWriteOncePod"]}},
        claim(name, accessModes=["ReadWriteOncePod"], storageClassName=""),
    ]


SECOND_LOOKS = [
    TruthCase(
        "a department that holds no more than its quota, though its queue does",
        "job/x",
        ("old (queue b, 8 GPUs) stays: queue theirs holds 8 of its fair share of 8 GPUs (quota 8)",),
        flat(job("x", gpus=4, queue="a")),
        ONE,
        flat(*departments({"quota": 4}, {"quota": 8}), job("old", gpus=8, queue="b")),
        never=("its room is not enough", "None", "pg-"),
        runs=1,
    ),
    TruthCase(
        "a department whose quota has no end",
        "job/x",
        ("stays: queue theirs holds 8", "its quota has no end (Queue/theirs spec.resources.gpu.quota: -1)"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(*departments({"quota": 8}, {}), job("old", gpus=8, queue="b")),
        never=("its room is not enough", "None", "pg-"),
        runs=1,
    ),
    TruthCase(
        "a minimum run time that the department says",
        "job/x",
        ("is protected for", "(Queue/theirs spec.reclaimMinRuntime)", "Queue/theirs had spec.reclaimMinRuntime: 0s"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            *departments({"quota": 8}, {"quota": 0}, reclaimMinRuntime="10m"),
            queue("c", "theirs", gpu={"quota": 0}, reclaimMinRuntime="2h"),
            job("old", gpus=8, queue="c"),
        ),
        never=("Queue/c", "None", "pg-"),
        runs=1,
    ),
    TruthCase(
        "a limit, and memory of GPUs that nodes round up",
        "job/x",
        ("limit of 1 GPU", "1.02 more are asked", "Queue/q had spec.resources.gpu.limit: 1.02"),
        flat(job("x", 2, queue="q", pod_notes={"gpu-memory": "40960"})),
        ONE,
        flat(queue("org"), queue("q", "org", gpu={"limit": 1})),
        runs=2,
    ),
    TruthCase(
        "a rack whose nodes are cordoned, and one that is too small",
        "job/x",
        ("rack r1 holds 0 of 2 pods: each of the nodes n-0, n-1 is cordoned (spec.unschedulable: true)",),
        flat(topology("t", "rack"), job("x", 2, gpus=8, notes=near("t", "rack"))),
        CLOSED_RACK,
        remedy_says=("name: n-0", "name: n-1", "unschedulable: false"),
        runs=2,
    ),
    TruthCase(
        "a level above the rack that no node has",
        "job/x",
        ("no node has the label block, so none counts in topology t (levels block, rack)",),
        flat(topology("t", "block", "rack"), job("x", gpus=1, notes=near("t", "rack"))),
        ({"name": "n", "gpus": 8, "labels": {"rack": "r"}},),
        runs=1,
    ),
    TruthCase(
        "a gang of which one pod names another scheduler",
        "gang/x",
        ("1 of its 2 pods (x-1) is for another scheduler, default-scheduler",),
        flat(group("x", 2), pod("x-0", gpus=1, group="x"), pod("x-1", gpus=1, group="x", scheduler=KUBE)),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a Deployment of the default scheduler of which a part fits",
        "deployment/x",
        ("x runs: 2 pods on n (2)", "1 more pod waits", "4 GPUs short"),
        flat(deployment("x", 3, gpus=4, scheduler=KUBE)),
        ONE,
        never=("above its minimum", "None", "pg-"),
        runs=3,
    ),
    TruthCase(
        "a StatefulSet of the default scheduler that is too large",
        "statefulset/x",
        ("node n, the only one, has 8 GPUs; the pod asks for 16 GPUs",),
        flat(stateful_set("x", 2, gpus=16, scheduler=KUBE)),
        ONE,
        remedy_says=("name: n-more-1", "name: n-more-2"),
        runs=2,
    ),
    TruthCase(
        "a set of kube-scheduler whose pods a ResourceQuota refuses",
        "set/x",
        ("x-0 waits: ResourceQuota few refuses its pods", "1 of 2 pods are there"),
        flat(pod_clique_set("x", clique("w", 2, gpus=1, scheduler=KUBE))),
        ONE,
        flat(FEW),
        runs=2,
    ),
    TruthCase(
        "a claim for one pod that another pod uses",
        "job/x",
        ("PersistentVolumeClaim d serves one pod at a time (spec.accessModes: [ReadWriteOncePod])", "and pod old-"),
        flat(job("x", **uses("d"))),
        ONE,
        flat(for_one_pod("d"), job("old", **uses("d"))),
        runs=1,
    ),
    TruthCase(
        "a claim for one pod that two pods of a gang name",
        "job/x",
        ("PersistentVolumeClaim d serves one pod at a time", "2 pods of the gang name it"),
        flat(job("x", 2, **uses("d"))),
        TWO,
        flat(for_one_pod("d")),
        runs=1,
    ),
    TruthCase(
        "a minimum that is protected, of a gang with surplus",
        "job/x",
        ("old (queue q, 8 GPUs) gives only its surplus: its minimum is protected", "(Queue/q spec.preemptMinRuntime)"),
        flat(job("x", gpus=8, labels=HIGH, queue="q")),
        ONE,
        flat(
            priority_class("high", 90),
            queue("org"),
            queue("q", "org", preemptMinRuntime="1h"),
            job("old", 8, gpus=1, minimum=2, queue="q"),
        ),
        remedy_says=("preemptMinRuntime: 0s",),
        runs=1,
    ),
    TruthCase(
        "a surplus pod behind somebody's gate",
        "gang/x",
        ("x runs: 1 pod on n", "they wait: 1 pod is behind the scheduling gate a.b/c of a.b"),
        flat(
            group("x", 1),
            pod("x-0", gpus=1, group="x"),
            pod("x-1", gpus=1, group="x", schedulingGates=[{"name": "a.b/c"}]),
        ),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a lone pod that was evicted and is gone",
        "pod/x",
        ("x was evicted: at", "by urgent (preempt): 1 of 1 pod", "it does not come back by itself"),
        flat(job("urgent", gpus=8, labels=HIGH)),
        ONE,
        flat(priority_class("high", 90), pod("x", gpus=8)),
    ),
]
