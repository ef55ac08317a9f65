"""Several causes at once, and causes that belong to no other family. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.builders import FEW, deployment
from truth.causes.common import DEPARTMENT, HOST, ONE, TWO, ZONE
from truth.objects import (
    anti_affinity,
    claim,
    clique,
    gang,
    job,
    node_affinity,
    pod,
    pod_clique_set,
    priority_class,
    queue,
    resource_claim,
    uses,
    uses_claim,
)
from truth.player import TruthCase, flat

OTHERS = [
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
