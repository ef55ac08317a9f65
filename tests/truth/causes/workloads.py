"""Other workloads: Deployments, StatefulSets, gangs of bare pods, and sets with causes of other families. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.builders import FEW, SCALED, deployment, queued, stateful_set
from truth.causes.common import DEPARTMENT, ONE, TWO
from truth.objects import clique, gang, group, pod, pod_clique_set, queue, uses
from truth.player import TruthCase, flat

WORKLOADS = [
    TruthCase(
        "a Deployment that is too large, in a queue without quota",
        "deployment/x",
        (
            "quota of 0 GPUs",
            "cannot be preempted",
            "queue default-parent-queue",
            "behind that",
            "8 GPUs; the pod asks for 16 GPUs",
        ),
        flat(deployment("x", 2, gpus=16)),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a Deployment of which a part fits",
        "deployment/x",
        ("quota of 0 GPUs",),
        flat(deployment("x", 3, gpus=4)),
        ONE,
        runs=3,
    ),
    TruthCase(
        "a StatefulSet that is too large",
        "statefulset/x",
        ("16 GPUs",),
        flat(stateful_set("x", 2, gpus=16)),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a Deployment with a slip of the pen",
        "deployment/x",
        ("did you mean kai-scheduler?",),
        flat(deployment("x", 1, scheduler="kai-schedulr")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a gang of bare pods behind another",
        "x",
        ("8 GPUs short", "old", "same priority"),
        flat(gang("x", 2, gpus=4)),
        ONE,
        flat(gang("old", 2, gpus=4)),
        runs=2,
    ),
    TruthCase(
        "a gang of sub-groups",
        "x",
        ("8 GPUs short", "2 of 3 pods"),
        flat(
            group("x", None, subGroups=[{"name": "a", "minMember": 1}, {"name": "b", "minMember": 2}]),
            pod("x-0", group="x", gpus=8, labels={names.SUB_GROUP: "a"}),
            pod("x-1", group="x", gpus=8, labels={names.SUB_GROUP: "b"}),
            pod("x-2", group="x", gpus=8, labels={names.SUB_GROUP: "b"}),
        ),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a scaled gang behind its base gang",
        "set/x",
        ("base gang x-0 does not run yet",),
        flat(pod_clique_set("x", clique("a", 1, gpus=16), **SCALED)),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a set in a queue that does not exist",
        "set/x",
        ("queue nope does not exist",),
        flat(queued(pod_clique_set("x", clique("a", 1, gpus=1)), "nope")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set above its queue's limit",
        "set/x",
        ("limit of 4 GPUs",),
        flat(queued(pod_clique_set("x", clique("a", 2, gpus=4)), "q")),
        ONE,
        flat(queue("q", DEPARTMENT, gpu={"limit": 4})),
        runs=2,
    ),
    TruthCase(
        "a set on tainted nodes",
        "x",
        ("taint k:NoSchedule",),
        flat(pod_clique_set("x", clique("a", 1, gpus=1))),
        ({"name": "n", "gpus": 8, "taints": [{"key": "k", "effect": "NoSchedule"}]},),
        runs=1,
    ),
    TruthCase(
        "a set whose pods a ResourceQuota refuses",
        "set/x",
        ("ResourceQuota few",),
        flat(pod_clique_set("x", clique("a", 2, gpus=1))),
        ONE,
        flat(FEW),
        runs=2,
    ),
    TruthCase(
        "a set whose PriorityClass does not exist",
        "set/x",
        ("PriorityClass urgent does not exist",),
        flat(pod_clique_set("x", clique("a", 1, priorityClassName="urgent"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set whose volume claim does not exist",
        "set/x",
        ("PersistentVolumeClaim data", "does not exist"),
        flat(pod_clique_set("x", clique("a", 1, **uses("data")))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set behind somebody's gate",
        "set/x",
        ("scheduling gate example.com/hold",),
        flat(pod_clique_set("x", clique("a", 1, schedulingGates=[{"name": "example.com/hold"}]))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set without an operator",
        "set/x",
        ("operator has made no gang", "Lease"),
        flat(pod_clique_set("x", clique("a", 1))),
        ONE,
        without=("operator",),
    ),
]
