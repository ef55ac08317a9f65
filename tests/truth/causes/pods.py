"""Pods that are missing or held back. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.common import ONE
from truth.objects import group, job, pod
from truth.player import TruthCase, flat

PODS = [
    TruthCase(
        "a gate that somebody set",
        "job/x",
        ("scheduling gate example.com/hold", "example.com"),
        flat(job("x", 2, schedulingGates=[{"name": "example.com/hold"}])),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a gate of Kueue",
        "job/x",
        ("kueue.x-k8s.io/admission", "Kueue"),
        flat(job("x", schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a minimum above the parallelism",
        "job/x",
        ("minimum of 10", "spec.parallelism: 4", "can never be met"),
        flat(job("x", 4, minimum=10, spec={"parallelism": 4, "completions": 10})),
        ONE,
        runs=4,
    ),
    TruthCase(
        "a ResourceQuota of pods",
        "job/x",
        ("ResourceQuota few", "pods=", "spec.hard"),
        flat(job("x", 3)),
        ONE,
        flat(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "few", "namespace": "default"},
                "spec": {"hard": {"pods": "1"}},
            }
        ),
        runs=3,
    ),
    TruthCase(
        "a ResourceQuota of GPUs",
        "job/x",
        ("ResourceQuota few", "requests.nvidia.com/gpu"),
        flat(job("x", 2, gpus=2)),
        ONE,
        flat(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "few", "namespace": "default"},
                "spec": {"hard": {"requests.nvidia.com/gpu": "2"}},
            }
        ),
        runs=2,
    ),
    TruthCase(
        "a LimitRange",
        "job/x",
        ("LimitRange small", "cpu"),
        flat(job("x", asks={"cpu": 4})),
        ONE,
        flat(
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "small", "namespace": "default"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]},
            }
        ),
        runs=1,
    ),
    TruthCase(
        "a PriorityClass that does not exist",
        "job/x",
        ("PriorityClass urgent does not exist",),
        flat(job("x", priorityClassName="urgent")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a suspended Job",
        "job/x",
        ("suspended", "spec.suspend"),
        flat(job("x", 2, spec={"suspend": True})),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a Job that is suspended and asks for too much",
        "job/x",
        ("suspended",),
        flat(job("x", gpus=16, spec={"suspend": True})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a gang with too few pods",
        "x",
        ("1 more pod must be there", "2 of 3"),
        flat(group("x", 3), pod("x-0", group="x"), pod("x-1", group="x")),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a pod of a sub-group that does not exist",
        "x",
        ("sub-group b", "a"),
        flat(
            group("x", None, subGroups=[{"name": "a", "minMember": 1}]),
            pod("x-0", group="x", labels={names.SUB_GROUP: "b"}),
        ),
        ONE,
    ),
    TruthCase(
        "a PodGroup that does not exist",
        "pod/x",
        ("PodGroup lost", "does not exist"),
        flat(pod("x", group="lost")),
        ONE,
        runs=1,
    ),
]
