"""Rarer causes: DaemonSets, nodes by name, evictions that cost too much, pods of other schedulers, wishes that nothing
meets. Data only."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.causes.builders import FEW, deployment, queued
from truth.causes.common import DEPARTMENT, HOST, ONE, ZONE
from truth.objects import (
    affinity,
    claim,
    clique,
    group,
    job,
    pod,
    pod_clique_set,
    priority_class,
    queue,
    resource_claim,
    uses,
    uses_claim,
)
from truth.player import TruthCase, flat

FAST = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "example.com/disks",
    "volumeBindingMode": "WaitForFirstConsumer",
    "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}],
}
HUGE: Raw = {name: {"hugepages-2Mi": "1Gi", "memory": "1Gi", "cpu": "1"} for name in ("requests", "limits")}
HIGH = {names.PRIORITY_CLASS: "high"}
BY_NAME = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]
ALTERNATIVES = [
    {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
    {"matchExpressions": [{"key": "fast", "operator": "Exists"}]},
]


def nodes_by(terms: list[Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": terms}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


RARER = [
    TruthCase(
        "room that DaemonSets take of every node",
        "job/x",
        ("54 of 64 cores of CPU free", "another scheduler, default-scheduler", "agent-", "70 cpu"),
        flat(job("x", asks={"cpu": 60})),
        ONE,
        flat(
            {
                key: value if key != "spec" else {item: of for item, of in value.items() if item != "replicas"}
                for key, value in deployment("agent", 1, asks={"cpu": 10}, scheduler="default-scheduler").items()
            }
            | {"kind": "DaemonSet"}
        ),
        runs=1,
    ),
    TruthCase(
        "GPUs that pods of another scheduler hold",
        "job/x",
        ("1 pod of another scheduler, default-scheduler, holds 8 GPUs (other)",),
        flat(job("x", gpus=8)),
        ONE,
        flat(pod("other", gpus=8, scheduler="default-scheduler")),
        runs=1,
    ),
    TruthCase(
        "an eviction that takes too many GPUs",
        "job/x",
        ("EvictionTooCostly", "holds 8 GPUs, and for 1 GPU asked at most 2 are evicted", "argument ratio"),
        flat(job("x", gpus=1, labels=HIGH)),
        ONE,
        flat(priority_class("high", 90), job("old", gpus=8)),
        runs=1,
    ),
    TruthCase(
        "a queue that allows no eviction",
        "job/x",
        ("EvictionTooCostly", "its queue allows 0", names.EVICTIONS_PER_DAY),
        flat(job("x", gpus=8, queue="a", labels=HIGH)),
        ONE,
        flat(
            priority_class("high", 90),
            queue("a", DEPARTMENT) | {"metadata": {"name": "a", "annotations": {names.EVICTIONS_PER_DAY: "0"}}},
            job("old", gpus=8, queue="a"),
        ),
        runs=1,
        remedy_says=(names.EVICTIONS_PER_DAY,),
    ),
    TruthCase(
        "a node affinity by name",
        "pod/x",
        ("is not the node that nodeAffinity asks for: metadata.name=gone",),
        flat(pod("x", **nodes_by(BY_NAME))),
        ONE,
        runs=1,
        remedy_says=("name: gone",),
    ),
    TruthCase(
        "a node affinity with alternatives",
        "pod/x",
        ("nodeAffinity asks for disk=ssd (or fast to be there)",),
        flat(pod("x", **nodes_by(ALTERNATIVES))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a node that is asked for by name and too small",
        "job/x",
        ("8 GPUs; the pod asks for 16 GPUs", "spec.template.spec.nodeSelector: (none)"),
        flat(job("x", gpus=16, nodeSelector={HOST: "n"})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "affinity to pods of a zone that are not there",
        "job/x",
        ("has no pod with app=db", "spec.template.spec.affinity: (none)"),
        flat(job("x", **affinity("db", ZONE))),
        ({"name": "n", "labels": {ZONE: "a"}},),
        runs=1,
    ),
    TruthCase(
        "devices that are allocated on another node",
        "job/x",
        ("ResourceClaim mine", "allocated already", "metadata.name=n-0"),
        flat(job("x", nodeSelector={HOST: "n-1"}, **uses_claim(resourceClaimName="mine"))),
        ({"name": "n", "count": 2, "gpus": 2, "dra": True},),
        flat(resource_claim("mine"), job("old", nodeSelector={HOST: "n-0"}, **uses_claim(resourceClaimName="mine"))),
        runs=1,
    ),
    TruthCase(
        "a LimitRange of the ratio of limit to request",
        "job/x",
        ("LimitRange lr", "maxLimitRequestRatio 2 of cpu, 8 asked"),
        flat(
            job(
                "x",
                containers=[
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "8"}}}
                ],
            )
        ),
        ONE,
        flat(
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "lr", "namespace": "default"},
                "spec": {"limits": [{"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}]},
            }
        ),
        runs=1,
    ),
    TruthCase(
        "a sub-group with too few pods",
        "x",
        ("1 more pod of b must be there (1 of 2 are)", "{name: b, minMember: 1}"),
        flat(
            group("x", None, subGroups=[{"name": "a", "minMember": 1}, {"name": "b", "minMember": 2}]),
            pod("x-0", group="x", labels={names.SUB_GROUP: "a"}),
            pod("x-1", group="x", labels={names.SUB_GROUP: "b"}),
        ),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a set in a queue that has queues below it",
        "set/x",
        ("queue org has child queues (leaf)", f"PodCliqueSet/x had metadata.labels[{names.QUEUE}]: leaf (now org)"),
        flat(queued(pod_clique_set("x", clique("a", 1, gpus=1), replicas=2), "org")),
        ONE,
        flat(queue("org"), queue("leaf", "org")),
        runs=2,
    ),
    TruthCase(
        "a Job whose controller is not at work",
        "job/x",
        ("Job/x has no pods yet", "kube-controller-manager"),
        flat(job("x", gpus=1)),
        ONE,
        without=("controller-manager",),
        only_simulated="the controllers of a real plane are at work",
    ),
    TruthCase(
        "a Job that is gone while its pods stop",
        "job/x",
        ("x is being deleted: since", "at the latest; its pods stop on n"),
        flat(job("x", pod_notes={names.STOP_SECONDS: "3600"}, terminationGracePeriodSeconds=3600)),
        ONE,
        delete=(job("x"),),
    ),
    TruthCase(
        "a Job that failed because it was evicted",
        "job/x",
        ("BackoffLimitExceeded", "last evicted", "by urgent", "it does not come back: its Job failed"),
        flat(job("urgent", gpus=8, labels=HIGH)),
        ONE,
        flat(priority_class("high", 90), job("x", gpus=8)),
    ),
    TruthCase(
        "a storage class that makes volumes elsewhere only",
        "job/x",
        (
            f"node n, the only one, has {ZONE}=a, but StorageClass fast of PersistentVolumeClaim data makes volumes "
            f"only where {ZONE}=b (allowedTopologies)",
        ),
        flat(job("x", **uses("data"))),
        ({"name": "n", "labels": {ZONE: "a"}},),
        flat(FAST, claim("data", storageClassName="fast")),
        runs=1,
        remedy_says=(f"{ZONE}: b",),
    ),
    TruthCase(
        "a runtime class that does not exist",
        "job/x",
        ("RuntimeClass kata (spec.runtimeClassName) does not exist", "there was RuntimeClass/kata"),
        flat(job("x", runtimeClassName="kata")),
        ONE,
        runs=1,
        remedy_says=("handler: kata",),
    ),
    TruthCase(
        "a ResourceQuota that lets a part of a Deployment through",
        "deployment/x",
        (
            "x runs: 1 pod on n",
            "x waits: ResourceQuota few refuses its pods: pods=1 asked, pods=1 used, pods=1 allowed",
            "1 of 3 pods are there",
        ),
        flat(FEW, deployment("x", 3)),
        ONE,
        runs=3,
        remedy_says=("pods: '3'",),
    ),
    TruthCase(
        "huge pages that no node has",
        "pod/x",
        ("node n, the only one, has no hugepages-2Mi; the pod asks for 1 GiB of hugepages-2Mi",),
        flat(pod("x", containers=[{"name": "main", "image": "busybox", "resources": HUGE}])),
        ONE,
        runs=1,
    ),
    TruthCase(
        "more devices than a node has",
        "pod/x",
        ("has 2 GPUs; the pod asks for 4 GPUs (4 devices of class gpu.nvidia.com by ResourceClaim mine)",),
        flat(resource_claim("mine", count=4), pod("x", **uses_claim(resourceClaimName="mine"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "GPU memory of a workload that cannot be preempted",
        "job/x",
        ("has a quota of 0 GPUs", "2.45 more are asked", "spec.resources.gpu.quota: 2.45 (now 0)"),
        flat(job("x", labels={names.PREEMPTIBILITY: "non-preemptible"}, pod_notes={names.GPU_MEMORY: "200000"})),
        ONE,
        runs=1,
    ),
]
