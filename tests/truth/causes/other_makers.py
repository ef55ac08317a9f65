"""Workloads of other makers' kinds, Deployments, StatefulSets and device claims, with causes of other chapters. Data
only."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.causes.builders import FEW, deployment, stateful_set
from truth.causes.common import ONE, TWO
from truth.objects import job, pod, pod_spec, queue, resource_claim, uses_claim
from truth.player import TruthCase, flat

KIND: Raw = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "pytorchjobs.kubeflow.org"},
    "spec": {
        "group": "kubeflow.org",
        "scope": "Namespaced",
        "names": {
            "plural": "pytorchjobs",
            "singular": "pytorchjob",
            "kind": "PyTorchJob",
            "listKind": "PyTorchJobList",
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
ROLE = "training.kubeflow.org/replica-type"
FREE = flat(queue("org"), queue("q", "org"))
DRIVER = "gpu.nvidia.com"
DEVICES = ({"name": "n", "gpus": 2, "dra": True},)


def pytorch(workers: int, made: int, queue_name: str = "", spec: Raw | None = None, **asks: Any) -> list[Raw]:
    """A PyTorchJob, and those of its pods that its operator has made: the master and `made` workers."""
    labels = {names.QUEUE: queue_name} if queue_name else {}
    roles = {"Master": {"replicas": 1, "template": {"spec": pod_spec()}}, "Worker": {"replicas": workers}}
    owner: Raw = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "x", "namespace": "default", "labels": labels},
        "spec": {"pytorchReplicaSpecs": roles, **(spec or {})},
    }
    reference = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "x", "controller": True}
    pods = [
        *([pod("x-master-0", labels={ROLE: "master"}, **asks)] if made >= 0 else []),
        *(pod(f"x-worker-{number}", labels={ROLE: "worker"}, **asks) for number in range(made)),
    ]
    for item in pods:
        item["metadata"]["ownerReferences"] = [reference]
    return [KIND, owner, *pods]


def served(name: str, pods: int, pod_extra: Raw | None = None, **asks: Any) -> Raw:
    """A Deployment in a queue without limits."""
    made = deployment(name, pods, **asks)
    made["metadata"]["labels"] = {names.QUEUE: "q"}
    made["spec"]["template"]["spec"] |= pod_extra or {}
    return made


def stored(name: str, pods: int) -> Raw:
    made = stateful_set(name, pods)
    wish = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
    made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": wish}]
    return made


def few(**hard: str) -> Raw:
    return FEW | {"spec": {"hard": hard}}


def selected(expression: str) -> Raw:
    made = resource_claim("c")
    made["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [{"cel": {"expression": expression}}]
    return made


H200 = f'device.attributes["{DRIVER}"].productName == "NVIDIA H200"'
LARGE = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("400Gi")) >= 0'

OTHER_MAKERS = [
    TruthCase(
        "a PyTorchJob that is too large",
        "pytorchjob/x",
        ("x waits: 8 GPUs short", "2 of 3 pods find a node", "pod x-"),
        flat(pytorch(2, 2, gpus=8)),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a PyTorchJob whose operator does not run",
        "pytorchjob/x",
        ("PyTorchJob/x has no pods yet: the operator of PyTorchJobs has made none", "no status"),
        flat(pytorch(2, -1)),
        TWO,
    ),
    TruthCase(
        "a PyTorchJob that is suspended",
        "x",
        ("PyTorchJob/x is suspended (spec.runPolicy.suspend: true), so it has no pods",),
        flat(pytorch(2, -1, spec={"runPolicy": {"suspend": True}})),
        TWO,
    ),
    TruthCase(
        "a PyTorchJob of which workers are missing",
        "pytorchjob/x",
        ("2 more pods of worker must be there (1 of 3 are)", "the operator of PyTorchJobs has not made them yet"),
        flat(pytorch(3, 1, gpus=1)),
        TWO,
    ),
    TruthCase(
        "a PyTorchJob in a queue with a slip of the pen",
        "pytorchjob/x",
        ("queue defalt-queue does not exist; did you mean default-queue?", "the PodGroup of pytorchjob/x"),
        flat(pytorch(1, 1, "defalt-queue", gpus=1)),
        TWO,
        runs=2,
    ),
    TruthCase(
        "a PyTorchJob above its queue's limit",
        "pytorchjobs/x",
        ("queue q has a limit of 2 GPUs", "3 more are asked"),
        flat(pytorch(2, 2, "q", gpus=1)),
        TWO,
        flat(queue("org"), queue("q", "org", gpu={"limit": 2})),
        runs=3,
    ),
    TruthCase("a PyTorchJob that runs", "x", ("x runs: 2 pods on n-0 (2)",), flat(pytorch(1, 1, gpus=1)), TWO),
    TruthCase(
        "a Deployment on tainted nodes",
        "deployment/x",
        ("has taint k=v:NoSchedule, which the pod does not tolerate",),
        flat(served("x", 2, gpus=1)),
        ({"name": "n", "gpus": 8, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},),
        FREE,
        runs=2,
    ),
    TruthCase(
        "a Deployment of which a ResourceQuota allows no pod",
        "deployment/x",
        ("ResourceQuota few refuses its pods: pods=1 asked, pods=0 used, pods=0 allowed", "0 of 2 pods are there"),
        flat(served("x", 2, gpus=1)),
        ONE,
        (*FREE, few(pods="0")),
        runs=2,
    ),
    TruthCase(
        "a Deployment that runs",
        "deployment/x",
        ("x runs: 2 pods on n (2)", "queue q"),
        flat(served("x", 2, gpus=1)),
        ONE,
        FREE,
    ),
    TruthCase(
        "a Job of the default scheduler that is too large",
        "job/x",
        ("default-scheduler (kube-scheduler)", "node n, the only one, has 8 GPUs; the pod asks for 16 GPUs"),
        flat(job("x", gpus=16, scheduler=names.DEFAULT_SCHEDULER)),
        ONE,
        runs=1,
        remedy_says=("kind: Node",),
    ),
    TruthCase(
        "a Deployment behind somebody's gate",
        "deployment/x",
        ("behind the scheduling gate a.b/c of a.b",),
        flat(served("x", 2, {"schedulingGates": [{"name": "a.b/c"}]})),
        ONE,
        FREE,
        runs=2,
    ),
    TruthCase(
        "a Deployment whose room another one holds",
        "deployment/x",
        ("8 GPUs short", "cannot be preempted (priority 125", "Deployment/old had spec.replicas: 0 (now 1)"),
        flat(served("x", 1, gpus=8)),
        ONE,
        (*FREE, served("old", 1, gpus=8)),
        runs=1,
    ),
    TruthCase(
        "a Deployment that lost its pod to the owner of the quota",
        "deployment/x",
        ("last evicted", "by boss (reclaim", "Deployment/x makes them anew"),
        flat(job("boss", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"quota": 8}),
            queue("a", "org", gpu={"quota": 8}),
            queue("b", "org", gpu={"quota": 0}),
            deployment("x", 1, gpus=8)
            | {
                "metadata": {
                    "name": "x",
                    "namespace": "default",
                    "labels": {names.QUEUE: "b", names.PREEMPTIBILITY: "preemptible"},
                }
            },
        ),
        runs=1,
    ),
    TruthCase(
        "a Deployment of the default scheduler with a selector nobody meets",
        "deployment/x",
        ("default-scheduler (kube-scheduler)", "has no label a, but nodeSelector asks for a=b"),
        flat(served("x", 1, {"nodeSelector": {"a": "b"}}, scheduler=names.DEFAULT_SCHEDULER)),
        ONE,
        FREE,
        runs=1,
        remedy_says=("kind: Node",),
    ),
    TruthCase(
        "a StatefulSet whose volume claims a ResourceQuota refuses",
        "statefulset/x",
        ("ResourceQuota few refuses its volume claims: persistentvolumeclaims=1 asked", "0 of 2 pods are there"),
        flat(stored("x", 2)),
        ONE,
        flat(few(persistentvolumeclaims="0")),
        runs=2,
    ),
    TruthCase(
        "a StatefulSet whose storage a ResourceQuota refuses",
        "statefulset/x",
        ("ResourceQuota few refuses its volume claims: requests.storage=10Gi asked", "requests.storage=5Gi allowed"),
        flat(stored("x", 1)),
        ONE,
        flat(few(**{"requests.storage": "5Gi"})),
        runs=1,
    ),
    TruthCase(
        "a device with an attribute that none has",
        "job/x",
        (f"none of its 2 devices of that class meets the selector {H200}", "productName: NVIDIA H200"),
        flat(selected(H200), job("x", **uses_claim(resourceClaimName="c"))),
        DEVICES,
        runs=1,
    ),
    TruthCase(
        "a device larger than any",
        "job/x",
        (f"none of its 2 devices of that class meets the selector {LARGE}", "memory: 400Gi"),
        flat(selected(LARGE), job("x", **uses_claim(resourceClaimName="c"))),
        DEVICES,
        runs=1,
    ),
    TruthCase(
        "a device class whose driver no node has",
        "job/x",
        ("none of its 2 devices meets the selector of DeviceClass big", "1 device of other.example.com"),
        flat(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "metadata": {"name": "big"},
                "spec": {"selectors": [{"cel": {"expression": 'device.driver == "other.example.com"'}}]},
            },
            resource_claim("c", "big"),
            job("x", **uses_claim(resourceClaimName="c")),
        ),
        DEVICES,
        runs=1,
    ),
]
