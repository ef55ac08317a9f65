"""Several causes at once, and more of nodes, queues and limits. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import HOST, ONE, TWO
from truth.objects import claim, job, near, priority_class, queue, topology, uses
from truth.player import TruthCase, flat

FREE = flat(queue("org"), queue("q", "org"))

CHAINS = [
    TruthCase(
        "whole GPUs where every GPU is cut",
        "job/x",
        ("has its GPUs cut into MIG instances (strategy mixed); the pod asks for whole ones",),
        flat(job("x", gpus=1)),
        ({"name": "n", "mig": {"1g.5gb": 7}},),
        runs=1,
    ),
    TruthCase(
        "a LimitRange of the least memory",
        "job/x",
        ("LimitRange lr refuses its pods: a container must have at least 2Gi of memory, 1Gi asked",),
        flat(job("x", asks={"memory": "1Gi"})),
        ONE,
        flat(
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "lr", "namespace": "default"},
                "spec": {"limits": [{"type": "Container", "min": {"memory": "2Gi"}}]},
            }
        ),
        runs=1,
    ),
    TruthCase(
        "queues that are each other's parents",
        "job/x",
        ("the parents of queue a run in a circle: a → b → a (spec.parentQueue)",),
        flat(job("x", gpus=1, queue="a")),
        ONE,
        flat(queue("a", "b"), queue("b", "a")),
        runs=1,
    ),
    TruthCase(
        "a node that lacks the label of its rack",
        "job/x",
        ("8 GPUs short in one rack", "node m has no label rack", "Node/m had metadata.labels.rack: r"),
        flat(topology("t", "rack"), job("x", 2, gpus=8, notes=near("t", "rack"))),
        ({"name": "n", "gpus": 8, "labels": {"rack": "r"}}, {"name": "m", "gpus": 8}),
        runs=2,
    ),
    TruthCase(
        "a gang behind one of higher priority that waits as well",
        "job/x",
        ("first (priority 90, against 50) waits before it in queue default-queue", "2nd of 2"),
        flat(priority_class("high", 90), job("first", gpus=8, labels={names.PRIORITY_CLASS: "high"}), job("x", gpus=8)),
        ONE,
        (*FREE, job("old", gpus=8, queue="q", labels={names.PREEMPTIBILITY: "non-preemptible"})),
        runs=1,
    ),
    TruthCase(
        "a queue of another node pool",
        "job/x",
        ("queue default-queue belongs to node pool default, not to that of the gang (blue)", "behind that"),
        flat(
            {
                "apiVersion": "kai.scheduler/v1",
                "kind": "SchedulingShard",
                "metadata": {"name": "blue"},
                "spec": {"partitionLabelValue": "blue"},
            },
            job("x", labels={names.NODE_POOL: "blue"}),
        ),
        ({"name": "n", "labels": {names.NODE_POOL: "blue"}},),
        runs=1,
    ),
    TruthCase(
        "a queue whose parent belongs to another node pool",
        "job/x",
        ("queue top, above queue low, belongs to node pool blue, not to that of the gang (default)",),
        flat(job("x", gpus=1, queue="low")),
        ONE,
        flat({**queue("top"), "metadata": {"name": "top", "labels": {names.NODE_POOL: "blue"}}}, queue("low", "top")),
        runs=1,
    ),
    TruthCase(
        "a queue, a volume claim and a label that are missing",
        "job/x",
        ("queue nope does not exist", "behind that: PersistentVolumeClaim data", "metadata.labels.a: b"),
        flat(job("x", gpus=1, queue="nope", nodeSelector={"a": "b"}, **uses("data"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a gate, a limit and a taint",
        "job/x",
        ("scheduling gate a.b/c", "behind that: queue q has a limit of 2 GPUs", "behind that: node n, the only one"),
        flat(job("x", gpus=4, queue="q", schedulingGates=[{"name": "a.b/c"}])),
        ({"name": "n", "gpus": 8, "taints": [{"key": "k", "effect": "NoSchedule"}]},),
        flat(queue("org"), queue("q", "org", gpu={"limit": 2})),
        runs=1,
    ),
    TruthCase(
        "a limit, and a cordoned node behind it",
        "job/x",
        ("limit of 2 GPUs", "behind that: node n, the only one, is cordoned"),
        flat(job("x", gpus=4, queue="q")),
        ONE,
        flat(queue("org"), queue("q", "org", gpu={"limit": 2})),
        node_patches={"n": {"spec": {"unschedulable": True}}},
        runs=1,
    ),
    TruthCase(
        "a Job that was suspended while it waited",
        "job/x",
        ("Job/x is suspended (spec.suspend: true)",),
        flat(job("x", gpus=16)),
        ONE,
        after=(
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "x", "namespace": "default"},
                "spec": {"suspend": True},
            },
        ),
        runs=1,
    ),
    TruthCase(
        "a port that is taken here, and a node that is cordoned there",
        "job/x",
        ("node n-0 has host port 9000/TCP taken by pod old-", "node n-1 is cordoned"),
        flat(job("x", containers=[{"name": "m", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}])),
        TWO,
        flat(
            job(
                "old",
                nodeSelector={HOST: "n-0"},
                containers=[{"name": "m", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}],
            )
        ),
        node_patches={"n-1": {"spec": {"unschedulable": True}}},
        runs=1,
    ),
    TruthCase(
        "a volume claim that is too large for its volume",
        "job/x",
        ("PersistentVolumeClaim data", "no PersistentVolume fits", "it asks for 10Gi"),
        flat(
            claim("data", storageClassName="", resources={"requests": {"storage": "10Gi"}}),
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "v"},
                "spec": {
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteMany"],
                    "hostPath": {"path": "/d"},
                    "storageClassName": "",
                },
            },
            job("x", **uses("data")),
        ),
        ONE,
        runs=1,
    ),
]
