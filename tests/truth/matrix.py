"""The matrix: causes for which a workload does not run, each with the facts that the answer must hold and the number
of pods that run once the first remedy was applied as printed. docs/guide/why.md is printed from it. Data only;
player.py plays it."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.more_causes import MORE_CAUSES
from truth.objects import (
    affinity,
    anti_affinity,
    claim,
    claim_template,
    clique,
    gang,
    group,
    job,
    lease,
    near,
    node_affinity,
    pod,
    pod_clique_set,
    pod_spec,
    priority_class,
    queue,
    resource_claim,
    topology,
    uses,
    uses_claim,
    volume,
)
from truth.player import TruthCase, flat

ONE = ({"name": "n", "gpus": 8},)
TWO = ({"name": "n", "count": 2, "gpus": 8},)
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
DEPARTMENT = names.DEFAULT_PARENT_QUEUE

SIZES = [
    TruthCase(
        "more CPU than any node has",
        "job/x",
        ("64 cores", "100 cores", "CPU"),
        flat(job("x", asks={"cpu": 100})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "more memory than any node has",
        "job/x",
        ("512 GiB", "600 GiB", "memory"),
        flat(job("x", asks={"memory": "600Gi"})),
        ONE,
        runs=1,
    ),
    TruthCase("more GPUs than any node has", "job/x", ("16 GPUs", "8 GPUs"), flat(job("x", gpus=16)), ONE, runs=1),
    TruthCase(
        "an extended resource that no node has",
        "job/x",
        ("1 rdma/hca", "no rdma/hca"),
        flat(job("x", asks={"rdma/hca": 1})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "an extended resource that is used up",
        "job/x",
        ("2 rdma/hca", "0 of 4"),
        flat(job("x", asks={"rdma/hca": 2})),
        ({"name": "n", "resources": {"rdma/hca": 4}},),
        flat(job("old", asks={"rdma/hca": 4})),
        runs=1,
    ),
    TruthCase(
        "CPU that is used up",
        "job/x",
        ("16 cores", "4 of 64 cores of CPU free"),
        flat(job("x", asks={"cpu": 16})),
        ONE,
        flat(job("old", asks={"cpu": 60})),
        runs=1,
    ),
    TruthCase(
        "memory that is used up",
        "job/x",
        ("64 GiB", "12 GiB of 512 GiB"),
        flat(job("x", asks={"memory": "64Gi"})),
        ONE,
        flat(job("old", asks={"memory": "500Gi"})),
        runs=1,
    ),
    TruthCase(
        "GPUs that are used up",
        "job/x",
        ("4 GPUs short", "old"),
        flat(job("x", 4, gpus=1)),
        ONE,
        flat(job("old", gpus=8)),
        runs=4,
    ),
    TruthCase(
        "GPUs that lie scattered",
        "job/x",
        ("4 of 8 GPUs free", "8 GPUs"),
        flat(job("x", gpus=8)),
        TWO,
        flat(job("a", gpus=4, nodeSelector={HOST: "n-0"}), job("b", gpus=4, nodeSelector={HOST: "n-1"})),
        runs=1,
    ),
    TruthCase(
        "every pod slot of the nodes is taken",
        "job/x",
        ("pod slot", "2 of 2 pods"),
        flat(job("x", 1, asks={"cpu": 1})),
        ({"name": "n", "pods": 2},),
        flat(job("old", 2, asks={"cpu": 1})),
        runs=1,
    ),
    TruthCase(
        "local storage that no node has",
        "job/x",
        ("2048 GiB", "ephemeral-storage"),
        flat(job("x", asks={"ephemeral-storage": "2Ti"})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a gang of which only a part fits",
        "job/x",
        ("2 of 3 pods find a node", "x-"),
        flat(job("x", 3, asks={"cpu": 30})),
        ONE,
        runs=3,
    ),
    TruthCase("no node at all", "job/x", ("there is no node",), flat(job("x", gpus=1)), (), runs=1),
]

GPUS = [
    TruthCase(
        "a MIG profile that no node offers",
        "job/x",
        ("nvidia.com/mig-1g.5gb",),
        flat(job("x", asks={"nvidia.com/mig-1g.5gb": 1})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a MIG profile that is used up",
        "job/x",
        ("nvidia.com/mig-1g.5gb", "0 of 2"),
        flat(job("x", asks={"nvidia.com/mig-1g.5gb": 1})),
        ({"name": "n", "mig": {"1g.5gb": 2}, "labels": {"node-role.kubernetes.io/mig-enabled": "true"}},),
        flat(job("old", asks={"nvidia.com/mig-1g.5gb": 2})),
        runs=1,
    ),
    TruthCase(
        "nine halves on four GPUs",
        "job/x",
        ("0.5 of a GPU", "8 of 9 pods"),
        flat(job("x", 9, pod_notes={names.GPU_FRACTION: "0.5"})),
        ({"name": "n", "gpus": 4},),
        runs=9,
    ),
    TruthCase(
        "more memory of one GPU than it has",
        "job/x",
        ("100000 MiB", "40900 MiB"),
        flat(job("x", pod_notes={names.GPU_MEMORY: "100000"})),
        ({"name": "n", "gpus": 2, "gpuMemory": "40Gi"},),
        runs=1,
    ),
    TruthCase(
        "GPU memory on nodes that do not say how much they have",
        "job/x",
        ("nvidia.com/gpu.memory",),
        flat(job("x", pod_notes={names.GPU_MEMORY: "1000"})),
        ONE,
        node_patches={"n": {"metadata": {"labels": {"nvidia.com/gpu.memory": None}}}},
        runs=1,
    ),
    TruthCase(
        "a part of several devices",
        "job/x",
        ("0.5 of a GPU on each of 3 devices", "2 GPUs"),
        flat(job("x", pod_notes={names.GPU_FRACTION: "0.5", names.GPU_FRACTION_DEVICES: "3"})),
        ({"name": "n", "gpus": 2},),
        runs=1,
    ),
    TruthCase(
        "a GPU memory request on full devices",
        "job/x",
        ("30000 MiB of a GPU",),
        flat(job("x", pod_notes={names.GPU_MEMORY: "30000"})),
        ({"name": "n", "gpus": 1, "gpuMemory": "40Gi"},),
        flat(job("old", pod_notes={names.GPU_MEMORY: "20000"})),
        runs=1,
    ),
]

NODES = [
    TruthCase(
        "a selector for a label that no node has",
        "job/x",
        ("nodeSelector", "gpu-type=a100", "no label gpu-type"),
        flat(job("x", nodeSelector={"gpu-type": "a100"})),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a selector for another value of a label",
        "job/x",
        ("gpu-type=h100", "gpu-type=a100"),
        flat(job("x", nodeSelector={"gpu-type": "a100"})),
        ({"name": "n", "count": 2, "labels": {"gpu-type": "h100"}},),
        runs=1,
    ),
    TruthCase(
        "a node affinity that no node meets",
        "job/x",
        ("nodeAffinity", "example.com/rack in (a, b)"),
        flat(job("x", **node_affinity("example.com/rack", "In", "a", "b"))),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a node affinity by existence",
        "job/x",
        ("nodeAffinity", "example.com/fast"),
        flat(job("x", **node_affinity("example.com/fast", "Exists"))),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a taint that is not tolerated",
        "job/x",
        ("taint dedicated=team-b:NoSchedule",),
        flat(job("x", gpus=1)),
        ({"name": "n", "gpus": 8, "taints": [{"key": "dedicated", "value": "team-b", "effect": "NoSchedule"}]},),
        runs=1,
    ),
    TruthCase(
        "a taint that evicts",
        "job/x",
        ("taint maintenance:NoExecute",),
        flat(job("x", gpus=1)),
        ({"name": "n", "gpus": 8, "taints": [{"key": "maintenance", "effect": "NoExecute"}]},),
        runs=1,
    ),
    TruthCase(
        "a label and a taint together",
        "job/x",
        ("taint dedicated=x:NoSchedule", "nodeSelector"),
        flat(job("x", nodeSelector={"disk": "ssd"})),
        ({"name": "n", "taints": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]},),
        runs=1,
    ),
    TruthCase(
        "cordoned nodes",
        "job/x",
        ("cordoned", "spec.unschedulable"),
        flat(job("x", gpus=1)),
        ({"name": "n", "count": 2, "gpus": 8, "unschedulable": True},),
        runs=1,
    ),
    TruthCase(
        "a node that is not ready",
        "job/x",
        ("NotReady since", "node n"),
        flat(job("x", gpus=1)),
        ONE,
        node_patches={"n": {"metadata": {"annotations": {names.HEALTH: "not-ready"}}}},
        runs=1,
    ),
    TruthCase(
        "two cordoned nodes of which both are needed",
        "job/x",
        ("cordoned",),
        flat(job("x", 2, gpus=8)),
        ({"name": "n", "count": 2, "gpus": 8, "unschedulable": True},),
        runs=2,
    ),
    TruthCase(
        "nodes that are closed for different reasons",
        "job/x",
        ("cordoned", "taint a:NoSchedule"),
        flat(job("x", gpus=1)),
        (
            {"name": "n", "gpus": 8, "unschedulable": True},
            {"name": "m", "gpus": 8, "taints": [{"key": "a", "effect": "NoSchedule"}]},
        ),
        runs=1,
    ),
    TruthCase(
        "anti-affinity that needs one node more",
        "job/x",
        ("podAntiAffinity", "app=x", "2 of 3 pods"),
        flat(job("x", 3, **anti_affinity("x"))),
        TWO,
        runs=3,
    ),
    TruthCase(
        "anti-affinity that needs two nodes more",
        "job/x",
        ("podAntiAffinity",),
        flat(job("x", 4, labels={"keep": "all"}, **anti_affinity("x"))),
        TWO,
        runs=4,
    ),
    TruthCase(
        "anti-affinity against another workload",
        "job/x",
        ("podAntiAffinity", "old-"),
        flat(job("x", **anti_affinity("old"))),
        ONE,
        flat(job("old")),
        runs=1,
    ),
    TruthCase(
        "affinity to pods that are not there",
        "job/x",
        ("podAffinity", "app=database"),
        flat(job("x", **affinity("database"))),
        ONE,
    ),
    TruthCase(
        "a host port that is taken",
        "job/x",
        ("host port 9000", "old-"),
        flat(
            job("x", containers=[{"name": "main", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}])
        ),
        ONE,
        flat(
            job(
                "old", containers=[{"name": "main", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}]
            )
        ),
        runs=1,
    ),
]

THINGS = [
    TruthCase(
        "a volume claim that does not exist",
        "job/x",
        ("PersistentVolumeClaim data", "does not exist"),
        flat(job("x", **uses("data"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a volume claim that is not bound",
        "job/x",
        ("PersistentVolumeClaim data", "not bound", "no-such-class"),
        flat(claim("data", storageClassName="no-such-class"), job("x", **uses("data"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a volume in another zone",
        "job/x",
        ("PersistentVolumeClaim data", f"{ZONE}=b", f"{ZONE}=a"),
        flat(job("x", **uses("data"))),
        ({"name": "n", "labels": {ZONE: "a"}},),
        flat(volume("v", "data", "b"), claim("data", storageClassName="", volumeName="v")),
        runs=1,
    ),
    TruthCase(
        "a config map that does not exist",
        "job/x",
        ("ConfigMap settings", "does not exist"),
        flat(
            job("x", containers=[{"name": "main", "image": "i", "envFrom": [{"configMapRef": {"name": "settings"}}]}])
        ),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a device claim that does not exist",
        "job/x",
        ("ResourceClaim mine", "does not exist"),
        flat(job("x", **uses_claim(resourceClaimName="mine"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "a claim template that does not exist",
        "job/x",
        ("ResourceClaimTemplate mine", "does not exist"),
        flat(job("x", **uses_claim(resourceClaimTemplateName="mine"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "a device class that does not exist",
        "job/x",
        ("DeviceClass tpu.example.com", "does not exist"),
        flat(resource_claim("mine", "tpu.example.com"), job("x", **uses_claim(resourceClaimName="mine"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "devices that are used up",
        "job/x",
        ("2 devices", "gpu.nvidia.com", "0 of 2"),
        flat(job("x", **uses_claim(resourceClaimTemplateName="two"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        flat(claim_template("two", count=2), job("old", **uses_claim(resourceClaimTemplateName="two"))),
        runs=1,
    ),
]

TOPOLOGIES = [
    TruthCase(
        "a topology that does not exist",
        "job/x",
        ("topology fabric does not exist",),
        flat(job("x", 2, gpus=1, notes=near("fabric", "rack"))),
        TWO,
        runs=2,
    ),
    TruthCase(
        "a level that the topology has not",
        "job/x",
        ("topology fabric has no level rack", "zone"),
        flat(job("x", 2, gpus=1, notes=near("fabric", "rack"))),
        TWO,
        flat(topology("fabric", "zone")),
        runs=2,
    ),
    TruthCase(
        "a level whose label no node has",
        "job/x",
        ("no node has the label rack",),
        flat(job("x", 2, gpus=1, notes=near("fabric", "rack"))),
        TWO,
        flat(topology("fabric", "rack")),
        runs=2,
    ),
    TruthCase(
        "a gang that must stay in one rack",
        "job/x",
        ("one rack", "8 GPUs short"),
        flat(job("x", 2, gpus=8, notes=near("fabric", "rack"))),
        ({"name": "n", "count": 2, "gpus": 8, "topology": {"rack": 1}},),
        flat(topology("fabric", "rack")),
        runs=2,
    ),
]

QUEUES = [
    TruthCase(
        "a queue that does not exist",
        "job/x",
        ("queue nowhere does not exist",),
        flat(job("x", gpus=1, queue="nowhere")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a queue with a slip of the pen",
        "job/x",
        ("queue defualt-queue does not exist", "did you mean default-queue?"),
        flat(job("x", gpus=1, queue="defualt-queue")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a queue that has queues below it",
        "job/x",
        ("queue team has child queues", "team-a"),
        flat(job("x", gpus=1, queue="team")),
        ONE,
        flat(queue("team", DEPARTMENT), queue("team-a", "team")),
        runs=1,
    ),
    TruthCase(
        "a limit of GPUs",
        "job/x",
        ("queue a", "limit of 4 GPUs", "Queue/a spec.resources.gpu.limit"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, gpu={"limit": 4})),
        runs=1,
    ),
    TruthCase(
        "a limit of CPU in millicores",
        "job/x",
        ("limit of 2 cores", "spec.resources.cpu.limit", "4000"),
        flat(job("x", asks={"cpu": 4}, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, cpu={"limit": 2000})),
        runs=1,
        remedy_says=("limit: 4000",),
    ),
    TruthCase(
        "a limit of memory in megabytes",
        "job/x",
        ("spec.resources.memory.limit",),
        flat(job("x", asks={"memory": "8Gi"}, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, memory={"limit": 1000})),
        runs=1,
    ),
    TruthCase(
        "a limit of the parent",
        "job/x",
        ("queue org", "limit of 2 GPUs"),
        flat(job("x", gpus=4, queue="a")),
        ONE,
        flat(queue("org", gpu={"limit": 2}), queue("a", "org")),
        runs=1,
    ),
    TruthCase(
        "limits at every level, and of CPU too",
        "job/x",
        ("queue a", "queue org", "Queue/a spec.resources.cpu.limit", "Queue/org spec.resources.gpu.limit"),
        flat(job("x", gpus=4, asks={"cpu": 8}, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"limit": 2}, cpu={"limit": 4000}),
            queue("a", "org", gpu={"limit": 1}, cpu={"limit": 2000}),
        ),
        runs=1,
    ),
    TruthCase(
        "a quota of work that cannot be preempted",
        "job/x",
        ("queue a", "quota of 2 GPUs", "cannot be preempted", "Queue/a spec.resources.gpu.quota"),
        flat(job("x", gpus=4, queue="a", labels={names.PREEMPTIBILITY: "non-preemptible"})),
        ONE,
        flat(queue("org", gpu={"quota": 8}), queue("a", "org", gpu={"quota": 2})),
        runs=1,
    ),
    TruthCase(
        "quotas at every level",
        "job/x",
        ("queue a", "queue org", "Queue/org spec.resources.gpu.quota"),
        flat(job("x", gpus=4, queue="a", labels={names.PREEMPTIBILITY: "non-preemptible"})),
        ONE,
        flat(queue("org", gpu={"quota": 2}), queue("a", "org", gpu={"quota": 2})),
        runs=1,
    ),
    TruthCase(
        "a limit that is partly used",
        "job/x",
        ("limit of 4 GPUs", "in use are 3", "2 more are asked"),
        flat(job("x", gpus=2, queue="a")),
        ONE,
        flat(queue("a", DEPARTMENT, gpu={"limit": 4}), job("old", gpus=3, queue="a")),
        runs=1,
    ),
]

ROOM = [
    TruthCase(
        "a fair share that is used up",
        "job/x",
        ("fair share", "queue a", "old"),
        flat(job("x", gpus=4, queue="a")),
        ONE,
        flat(
            queue("org"),
            queue("a", "org", gpu={"quota": 0, "overQuotaWeight": 0}),
            queue("b", "org", gpu={"quota": 8}),
            job("old", gpus=8, queue="b"),
        ),
        runs=1,
    ),
    TruthCase(
        "a neighbour that cannot be preempted",
        "job/x",
        ("old", "cannot be preempted"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"quota": 16}),
            queue("a", "org", gpu={"quota": 8}),
            queue("b", "org", gpu={"quota": 8}),
            job("old", gpus=8, queue="b", labels={names.PREEMPTIBILITY: "non-preemptible"}),
        ),
        runs=1,
    ),
    TruthCase(
        "a gang of the same priority in its queue",
        "job/x",
        ("old", "same priority (50, against 50)"),
        flat(job("x", gpus=8)),
        ONE,
        flat(job("old", gpus=8)),
        runs=1,
    ),
    TruthCase(
        "a gang of a higher priority in its queue",
        "job/x",
        ("old", "higher priority (90, against 50)"),
        flat(job("x", gpus=8)),
        ONE,
        flat(priority_class("high", 90), job("old", gpus=8, labels={names.PRIORITY_CLASS: "high"})),
        runs=1,
    ),
    TruthCase(
        "a minimum run time against preemption",
        "job/x",
        ("protected", "preemptMinRuntime", "Queue/a"),
        flat(job("x", gpus=8, queue="a", labels={names.PRIORITY_CLASS: "high"})),
        ONE,
        flat(priority_class("high", 90), queue("a", DEPARTMENT, preemptMinRuntime="1h"), job("old", gpus=8, queue="a")),
        runs=1,
    ),
    TruthCase(
        "a minimum run time against reclaim",
        "job/x",
        ("protected", "reclaimMinRuntime", "Queue/b"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"quota": 8}),
            queue("a", "org", gpu={"quota": 8}),
            queue("b", "org", gpu={"quota": 0}, reclaimMinRuntime="1h"),
            job("old", gpus=8, queue="b"),
        ),
        runs=1,
    ),
    TruthCase(
        "an elastic gang of which the surplus waits",
        "job/x",
        ("x runs", "above its minimum of 2", "wait"),
        flat(job("x", 4, gpus=4, minimum=2)),
        ONE,
        runs=4,
    ),
]

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

SCHEDULERS = [
    TruthCase(
        "a scheduler name with a slip of the pen",
        "job/x",
        ("kai-schedular", "did you mean kai-scheduler?"),
        flat(job("x", scheduler="kai-schedular")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "pods of another scheduler",
        "job/x",
        ("another scheduler", "volcano"),
        flat(job("x", scheduler="volcano")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a lone pod of an unknown scheduler",
        "pod/x",
        ("my-own-scheduler", "another scheduler"),
        flat(pod("x", scheduler="my-own-scheduler")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a Deployment of the default scheduler that finds no room",
        "deployment/x",
        ("default-scheduler",),
        flat(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "x", "namespace": "default"},
                "spec": {
                    "replicas": 1,
                    "selector": {"matchLabels": {"app": "x"}},
                    "template": {
                        "metadata": {"labels": {"app": "x"}},
                        "spec": {
                            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100"}}}]
                        },
                    },
                },
            }
        ),
        ONE,
    ),
    TruthCase(
        "a node pool without a scheduler",
        "job/x",
        ("node pool blue", "no SchedulingShard"),
        flat(job("x", labels={names.NODE_POOL: "blue"})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "no scheduler is running",
        "job/x",
        ("no scheduler", "Lease kai-scheduler/kai-scheduler", "renewed"),
        flat(lease("kai-scheduler", "2020-01-01T00:00:00.000000Z"), job("x", gpus=1)),
        ONE,
        without=("scheduler",),
    ),
    TruthCase(
        "no grouper is running",
        "job/x",
        ("in no PodGroup", "grouper"),
        flat(job("x", gpus=1)),
        ONE,
        without=("grouper",),
    ),
    TruthCase(
        "no binder is running", "job/x", ("wait", "binder", "n"), flat(job("x", gpus=1)), ONE, without=("binder",)
    ),
]

SETS = [
    TruthCase(
        "a set that is too large",
        "set/x",
        ("x-0 waits: 8 GPUs short",),
        flat(pod_clique_set("x", clique("w", 3, gpus=8))),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a set of another scheduler that is not installed",
        "set/x",
        ("x-0 waits", "koord"),
        flat(pod_clique_set("x", clique("w", 2, scheduler="koord-scheduler"))),
        TWO,
    ),
    TruthCase(
        "a clique that starts after another",
        "set/x",
        ("startup order", "x-0-a"),
        flat(
            pod_clique_set(
                "x",
                clique("a", 1, notes={names.READY_SECONDS: "3600"}),
                clique("b", 1, starts_after=("a",)),
                cliqueStartupType="CliqueStartupTypeExplicit",
            )
        ),
        TWO,
    ),
]

STATES = [
    TruthCase(
        "a gang that runs",
        "job/x",
        ("x runs: 2 pods on", "since", "queue default-queue"),
        flat(job("x", 2, gpus=1)),
        TWO,
    ),
    TruthCase("a set that runs", "x", ("x-0 runs: 2 pods on",), flat(pod_clique_set("x", clique("w", 2, gpus=1))), TWO),
    TruthCase(
        "a gang whose image is missing",
        "job/x",
        ("x is starting", "x-"),
        flat(job("x", pod_notes={names.START_SECONDS: "3600"})),
        ONE,
    ),
    TruthCase(
        "a gang that is not ready",
        "job/x",
        ("x is starting", "readiness"),
        flat(job("x", pod_notes={names.READY_SECONDS: "3600"})),
        ONE,
    ),
    TruthCase(
        "a Job that has finished",
        "job/x",
        ("x has finished", "completed"),
        flat(job("x", pod_notes={names.RUN_SECONDS: "0"})),
        ONE,
    ),
    TruthCase(
        "a Job that has failed",
        "job/x",
        ("x has failed", "exit code 3", "x-"),
        flat(job("x", pod_notes={names.RUN_SECONDS: "0", names.EXIT_CODE: "3"})),
        ONE,
    ),
    TruthCase(
        "a Job that is being deleted",
        "job/x",
        ("x is being deleted", "example.com/keep", "finalizer"),
        flat(job("x", gpus=1) | {"metadata": job("x")["metadata"] | {"finalizers": ["example.com/keep"]}}),
        ONE,
        delete=(job("x"),),
    ),
    TruthCase(
        "a gang that was evicted",
        "job/x",
        ("x waits", "last evicted", "by urgent", "preempt"),
        flat(job("urgent", gpus=8, labels={names.PRIORITY_CLASS: "high"})),
        ONE,
        flat(priority_class("high", 90), job("x", gpus=8, spec={"backoffLimit": 6})),
        runs=1,
    ),
    TruthCase("a lone pod that waits", "pod/x", ("x waits", "16 GPUs"), flat(pod("x", gpus=16)), ONE, runs=1),
]


def deployment(name: str, pods: int, **asks: Any) -> Raw:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec(**asks)},
        },
    }


def stateful_set(name: str, pods: int, **asks: Any) -> Raw:
    made = deployment(name, pods, **asks)
    return made | {"kind": "StatefulSet", "spec": made["spec"] | {"serviceName": name}}


def queued(pcs: Raw, name: str) -> Raw:
    return pcs | {"metadata": pcs["metadata"] | {"labels": {names.QUEUE: name}}}


FEW = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": "default"},
    "spec": {"hard": {"pods": "1"}},
}
SCALED: dict[str, Any] = {
    "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}]
}

OTHERS = [
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
    TruthCase(
        "a queue whose parent does not exist",
        "job/x",
        ("queue lost has the parent gone", "does not exist"),
        flat(job("x", gpus=1, queue="lost")),
        ONE,
        flat(queue("lost", "gone")),
        runs=1,
    ),
    TruthCase(
        "a lone pod that has finished",
        "pod/x",
        ("x has finished",),
        flat(pod("x", notes={names.RUN_SECONDS: "0"}, restartPolicy="Never")),
        ONE,
    ),
    TruthCase(
        "a gang of bare pods that was evicted",
        "x",
        ("x was evicted", "by urgent", "no controller"),
        flat(priority_class("high", 90), job("urgent", gpus=8, labels={names.PRIORITY_CLASS: "high"})),
        ONE,
        flat(gang("x", 1, gpus=8)),
    ),
    TruthCase(
        "a gang that may not make others leave yet",
        "job/x",
        ("preemptionDelay", "old", "lower priority (50, against 90)"),
        flat(job("x", gpus=8, labels={names.PRIORITY_CLASS: "high"}, notes={names.PREEMPTION_DELAY: "1h"})),
        ONE,
        flat(priority_class("high", 90), job("old", gpus=8)),
        runs=1,
    ),
    TruthCase(
        "a gang for which room is being made",
        "job/x",
        ("room is being made for it on n", "old-"),
        flat(job("x", gpus=8, labels={names.PRIORITY_CLASS: "high"})),
        ONE,
        flat(
            priority_class("high", 90),
            job("old", gpus=8, pod_notes={names.STOP_SECONDS: "3600"}, terminationGracePeriodSeconds=3600),
        ),
    ),
    TruthCase(
        "a node under memory pressure",
        "job/x",
        ("MemoryPressure since", "node n"),
        flat(job("x", gpus=1)),
        ONE,
        node_patches={
            "n": {
                "status": {
                    "conditions": [
                        {"type": "MemoryPressure", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"},
                        {"type": "Ready", "status": "True"},
                    ]
                }
            }
        },
        runs=1,
    ),
    TruthCase(
        "a gang that gave up on a node pool",
        "x",
        ("spec.schedulingBackoff", "behind that", "16 GPUs"),
        flat(gang("x", 1, gpus=16, schedulingBackoff=1)),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a Job without parallelism",
        "job/x",
        ("spec.parallelism: 0",),
        flat(job("x", spec={"parallelism": 0})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "nodes of another node pool",
        "job/x",
        ("no node in its node pool default", "pool blue (n)"),
        flat(job("x", gpus=1)),
        ({"name": "n", "gpus": 8, "labels": {names.NODE_POOL: "blue"}},),
        runs=1,
    ),
    TruthCase(
        "a shared device claim without a queue",
        "job/x",
        ("claim c", "queue label"),
        flat(
            resource_claim("c") | {"metadata": {"name": "c", "namespace": "default"}},
            job("x", **uses_claim(resourceClaimName="c")),
        ),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "a volume claim that is being deleted",
        "job/x",
        ("PersistentVolumeClaim data", "being deleted"),
        flat(
            claim("data") | {"metadata": claim("data")["metadata"] | {"finalizers": ["example.com/x"]}},
            job("x", **uses("data")),
        ),
        ONE,
        delete=(claim("data"),),
    ),
    TruthCase(
        "a rival for the node that would help",
        "job/x",
        ("16 GPUs",),
        flat(
            priority_class("high", 90), job("first", gpus=16, labels={names.PRIORITY_CLASS: "high"}), job("x", gpus=16)
        ),
        ONE,
        runs=1,
        remedy_says=("n-more-2",),
    ),
    TruthCase(
        "a limit of parts of GPUs",
        "job/x",
        ("limit of 1 GPU", "1.5 more are asked"),
        flat(job("x", 3, queue="q", pod_notes={names.GPU_FRACTION: "0.5"})),
        ONE,
        flat(queue("q", DEPARTMENT, gpu={"limit": 1})),
        runs=3,
    ),
    TruthCase(
        "a node that is asked for by name and not there",
        "pod/x",
        ("kubernetes.io/hostname=gone",),
        flat(pod("x", nodeSelector={HOST: "gone"}, gpus=1)),
        ONE,
        runs=1,
        remedy_says=("name: gone",),
    ),
    TruthCase(
        "a gate, and a queue that does not exist behind it",
        "job/x",
        ("scheduling gate a.b/c", "behind that", "queue nope does not exist"),
        flat(job("x", queue="nope", schedulingGates=[{"name": "a.b/c"}])),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a label and a size that no node has",
        "job/x",
        ("nodeSelector asks for a=b", "100 cores"),
        flat(job("x", asks={"cpu": 100}, nodeSelector={"a": "b"})),
        TWO,
        runs=1,
    ),
    TruthCase(
        "a limit, and a node that is too small behind it",
        "job/x",
        ("limit of 4 GPUs", "behind that", "8 GPUs; the pod asks for 16 GPUs"),
        flat(job("x", gpus=16, queue="q")),
        ONE,
        flat(queue("q", DEPARTMENT, gpu={"limit": 4})),
        runs=1,
    ),
    TruthCase(
        "departments without quota",
        "job/x",
        ("fair share of 0 GPUs", "queue d1", "old"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("d1", gpu={"quota": 0, "overQuotaWeight": 0}),
            queue("d2", gpu={"quota": 0}),
            queue("a", "d1", gpu={"quota": 0}),
            queue("b", "d2", gpu={"quota": 0}),
            job("old", gpus=8, queue="b"),
        ),
        runs=1,
    ),
    TruthCase(
        "anti-affinity by zone",
        "job/x",
        ("podAntiAffinity", f"{ZONE}=a"),
        flat(job("x", 2, **anti_affinity("x", ZONE))),
        ({"name": "n", "count": 2, "labels": {ZONE: "a"}},),
        runs=2,
    ),
    TruthCase(
        "a set that must stay in one rack",
        "set/x",
        ("8 GPUs short in one rack", "rack-0 holds 1 of 2 pods"),
        flat(
            {
                "apiVersion": "grove.io/v1alpha1",
                "kind": "ClusterTopologyBinding",
                "metadata": {"name": "t"},
                "spec": {"levels": [{"domain": "rack", "key": "rack"}]},
            },
            pod_clique_set(
                "x", clique("a", 2, gpus=8), topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}}
            ),
        ),
        ({"name": "n", "count": 2, "gpus": 8, "topology": {"rack": 1}},),
        runs=2,
    ),
    TruthCase(
        "a node affinity against what every node has",
        "job/x",
        ("arch=amd64", "arch NotIn amd64"),
        flat(job("x", **node_affinity("arch", "NotIn", "amd64"))),
        ({"name": "n", "labels": {"arch": "amd64"}},),
        runs=1,
    ),
    TruthCase(
        "a CronJob that is suspended",
        "cronjob/x",
        ("CronJob/x is suspended", "spec.suspend"),
        flat(
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": "x", "namespace": "default"},
                "spec": {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": job("y")["spec"]}},
            }
        ),
        ONE,
    ),
    TruthCase(
        "a Deployment without replicas", "deployment/x", ("spec.replicas: 0",), flat(deployment("x", 0)), ONE, runs=1
    ),
    TruthCase(
        "a queue that borrows all there is",
        "job/x",
        ("queue a holds 8 of its fair share of 8 GPUs", "borrowing 6", "queue b (uses 0 of its quota of 6)"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org", gpu={"quota": 8}),
            queue("a", "org", gpu={"quota": 2}),
            queue("b", "org", gpu={"quota": 6}),
            job("old", gpus=8, queue="a"),
        ),
        runs=1,
    ),
    TruthCase(
        "no scheduler and no lease",
        "job/x",
        ("there is room for it", "if a scheduler is running", "no Lease kai-scheduler"),
        flat(job("x", gpus=1)),
        ONE,
        without=("scheduler",),
    ),
    TruthCase(
        "a set that is being deleted",
        "set/x",
        ("is being deleted", "PodCliqueSet/x", "finalizer example.com/hold of example.com"),
        flat(
            pod_clique_set("x", clique("w", 1))
            | {"metadata": {"name": "x", "namespace": "default", "finalizers": ["example.com/hold"]}}
        ),
        ONE,
        delete=(pod_clique_set("x"),),
    ),
    TruthCase(
        "a container that crashes again and again",
        "pod/x",
        ("x is starting", "CrashLoopBackOff", "exit code 3"),
        flat(pod("x", notes={names.RUN_SECONDS: "0", names.EXIT_CODE: "3"})),
        ONE,
    ),
    TruthCase(
        "a ResourceQuota of CPU that pods do not ask for",
        "job/x",
        ("ResourceQuota q", "requests.cpu"),
        flat(job("x")),
        ONE,
        flat(FEW | {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"requests.cpu": "10"}}}),
        runs=1,
    ),
    TruthCase(
        "a ResourceQuota of memory",
        "job/x",
        ("ResourceQuota q", "requests.memory=8Gi used"),
        flat(job("x", 4, asks={"memory": "4Gi"})),
        ONE,
        flat(FEW | {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"requests.memory": "10Gi"}}}),
        runs=4,
    ),
    TruthCase(
        "a pod that the grouper is kept away from",
        "pod/x",
        (names.SKIP_GROUPER,),
        flat(pod("x", notes={names.SKIP_GROUPER: "true"})),
        ONE,
    ),
    TruthCase(
        "a volume that nobody makes",
        "job/x",
        ("PersistentVolumeClaim data", "no PersistentVolume fits", "StorageClass local"),
        flat(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": "local"},
                "provisioner": "kubernetes.io/no-provisioner",
                "volumeBindingMode": "WaitForFirstConsumer",
            },
            claim("data", storageClassName="local"),
            job("x", **uses("data")),
        ),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a LimitRange of whole pods",
        "job/x",
        ("LimitRange lr", "4Gi of memory", "8Gi asked"),
        flat(job("x", asks={"memory": "8Gi"})),
        ONE,
        flat(
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "lr", "namespace": "default"},
                "spec": {"limits": [{"type": "Pod", "max": {"memory": "4Gi"}}]},
            }
        ),
        runs=1,
    ),
    TruthCase(
        "a lone pod that has failed",
        "pod/x",
        ("x has failed", "exit code 7"),
        flat(pod("x", notes={names.RUN_SECONDS: "0", names.EXIT_CODE: "7"}, restartPolicy="Never")),
        ONE,
    ),
]

CHAPTERS: dict[str, list[TruthCase]] = {
    "Too large, or used up": SIZES,
    "GPUs": GPUS,
    "Nodes that may not be used": NODES,
    "Volumes, claims and config maps": THINGS,
    "Topology": TOPOLOGIES,
    "Queues": QUEUES,
    "Nobody makes room": ROOM,
    "Pods that are missing or held back": PODS,
    "Schedulers and components": SCHEDULERS,
    "Sets": SETS,
    "Not waiting": STATES,
    "Several at once, and other workloads": OTHERS,
    "More of what people meet": MORE_CAUSES,
}
MATRIX: list[TruthCase] = [case for cases in CHAPTERS.values() for case in cases]
