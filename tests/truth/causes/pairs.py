"""Two obstacles at once, and what stands behind what the server refuses. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.builders import FEW, SCALED, deployment, queued, stateful_set
from truth.causes.common import ONE, TWO, ZONE
from truth.causes.other_makers import few, served
from truth.objects import (
    anti_affinity,
    claim,
    clique,
    job,
    near,
    pod_clique_set,
    priority_class,
    queue,
    topology,
    uses,
    volume,
)
from truth.player import TruthCase, flat

FREE = flat(queue("org"), queue("q", "org"))
LIMITED = flat(queue("org"), queue("q", "org", gpu={"limit": 4}))
TAINTED = ({"name": "t", "gpus": 8, "taints": [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]},)
NO_TOLERATION = "has taint dedicated=infra:NoSchedule, which the pod does not tolerate"
NOT_PREEMPTIBLE = {names.PREEMPTIBILITY: "non-preemptible"}
SMALL = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "lr", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "max": {"memory": "4Gi"}}]},
}
BLOCKS = tuple({"name": f"r{r}", "count": 2, "gpus": 8, "labels": {"block": f"b{r // 2}"}} for r in range(4))
CORDONED = {"spec": {"unschedulable": True}}

PAIRS = [
    TruthCase(
        "a cordoned, a tainted and a small node",
        "job/x",
        ("node s has 4 GPUs; the pod asks for 8", NO_TOLERATION, "node c is cordoned (spec.unschedulable: true)"),
        flat(job("x", gpus=8)),
        ({"name": "c", "gpus": 8, "unschedulable": True}, *TAINTED, {"name": "s", "gpus": 4}),
        runs=1,
        remedy_says=("name: c",),
    ),
    TruthCase(
        "CPU, memory and GPUs that are all used up",
        "job/x",
        (
            "x waits: 4 GPUs, 6 cores of CPU and 88 GiB of memory short",
            "old (queue q, 4 GPUs, 10 cores of CPU, 100 GiB of memory) cannot be preempted",
        ),
        flat(job("x", gpus=8, asks={"cpu": 60, "memory": "500Gi"}, queue="q")),
        ONE,
        flat(*FREE, job("old", gpus=4, asks={"cpu": 10, "memory": "100Gi"}, queue="q", labels=NOT_PREEMPTIBLE)),
        runs=1,
    ),
    TruthCase(
        "a limit of GPUs here, of CPU above, and cordoned nodes",
        "job/x",
        (
            "Queue/q spec.resources.gpu.limit: 4",
            "Queue/org spec.resources.cpu.limit: 8000",
            "behind that: each of 2 nodes (n-0, n-1) is cordoned",
        ),
        flat(job("x", 2, gpus=4, asks={"cpu": 8}, queue="q")),
        TWO,
        flat(queue("org", cpu={"limit": 8000}), queue("q", "org", gpu={"limit": 4})),
        node_patches={"n-0": CORDONED, "n-1": CORDONED},
        runs=2,
    ),
    TruthCase(
        "a limit, and behind it a node that is cordoned where room is short",
        "job/x",
        ("limit of 4 GPUs", "behind that: 8 GPUs short; node n-1 is cordoned (spec.unschedulable: true)"),
        flat(job("x", 2, gpus=8, queue="q")),
        TWO,
        LIMITED,
        node_patches={"n-1": CORDONED},
        runs=2,
    ),
    TruthCase(
        "a LimitRange, and a taint behind it",
        "set/x",
        (
            "LimitRange lr refuses its pods",
            "behind that: node t, the only one, has taint",
            "spec.limits[0].max.memory: 8Gi (now 4Gi)",
        ),
        flat(pod_clique_set("x", clique("a", 1, asks={"memory": "8Gi"}))),
        TAINTED,
        flat(SMALL),
        runs=1,
    ),
    TruthCase(
        "a LimitRange, and a ResourceQuota behind it",
        "job/x",
        ("LimitRange lr refuses its pods", "behind that: ResourceQuota few refuses its pods"),
        flat(job("x", 2, gpus=1, asks={"memory": "8Gi"})),
        ONE,
        flat(SMALL, FEW),
        runs=2,
    ),
    TruthCase(
        "a ResourceQuota, and a taint behind it, for kube-scheduler",
        "set/x",
        ("ResourceQuota few refuses its pods", "behind that: node t, the only one, has taint"),
        flat(pod_clique_set("x", clique("a", 2, gpus=1, scheduler=names.DEFAULT_SCHEDULER))),
        TAINTED,
        flat(FEW),
        runs=2,
    ),
    TruthCase(
        "a ResourceQuota of GPUs, and a limit behind it",
        "job/x",
        ("ResourceQuota few refuses its pods: requests.nvidia.com/gpu=4 asked", "behind that: queue q has a limit"),
        flat(job("x", 2, gpus=4, queue="q")),
        ONE,
        flat(*LIMITED, few(**{"requests.nvidia.com/gpu": "4"})),
        runs=2,
    ),
    TruthCase(
        "a PriorityClass that is missing, and a limit behind it",
        "set/x",
        ("PriorityClass nope does not exist", "behind that: queue q has a limit of 4 GPUs"),
        flat(queued(pod_clique_set("x", clique("a", 2, gpus=4), priorityClassName="nope"), "q")),
        ONE,
        LIMITED,
        runs=2,
    ),
    TruthCase(
        "a Deployment without quota whose pods keep apart",
        "deployment/x",
        (
            "has a quota of 0 GPUs",
            "behind that: none of 2 nodes takes its pod",
            "podAntiAffinity app=x",
            "2 more like it",
        ),
        flat(
            {
                **(made := deployment("x", 3, gpus=1)),
                "spec": made["spec"]
                | {
                    "template": made["spec"]["template"]
                    | {"spec": made["spec"]["template"]["spec"] | anti_affinity("x")}
                },
            }
        ),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a scheduler name with a slip of the pen, and a taint behind it",
        "job/x",
        ("did you mean kai-scheduler?", "behind that: node t, the only one, has taint"),
        flat(job("x", gpus=1, scheduler="kai-schedulr")),
        TAINTED,
        runs=1,
    ),
    TruthCase(
        "a scheduler name with a slip of the pen, and a queue that is missing behind it",
        "job/x",
        ("did you mean kai-scheduler?", "behind that: queue nope does not exist"),
        flat(job("x", gpus=1, scheduler="kai-schedulr", queue="nope")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a minimum that cannot be met, and a taint behind it",
        "job/x",
        ("its minimum of 5 pods", "can never be met", "behind that: node t, the only one, has taint"),
        flat(job("x", 2, gpus=1, minimum=5)),
        TAINTED,
        runs=2,
    ),
    TruthCase(
        "a queue without its parent, and a limit behind it",
        "job/x",
        (
            "queue q has the parent nope (spec.parentQueue), which does not exist",
            "behind that: queue q has a limit of 2",
        ),
        flat(job("x", gpus=4, queue="q")),
        ONE,
        flat(queue("q", "nope", gpu={"limit": 2})),
        runs=1,
    ),
    TruthCase(
        "a queue with queues below it, and a taint behind it",
        "job/x",
        ("queue org has child queues (q)", "behind that: node t, the only one, has taint"),
        flat(job("x", gpus=4, queue="org")),
        TAINTED,
        FREE,
        runs=1,
    ),
    TruthCase(
        "a StatefulSet in a queue with a slip of the pen that asks for a label",
        "statefulset/x",
        ("queue teem does not exist; did you mean team?", "behind that: node n, the only one, has no label a"),
        flat(
            {
                **(stateful := stateful_set("x", 2, gpus=1)),
                "metadata": stateful["metadata"] | {"labels": {names.QUEUE: "teem"}},
                "spec": stateful["spec"]
                | {
                    "template": stateful["spec"]["template"]
                    | {"spec": stateful["spec"]["template"]["spec"] | {"nodeSelector": {"a": "b"}}}
                },
            }
        ),
        ONE,
        flat(queue("org"), queue("team", "org")),
        runs=2,
    ),
    TruthCase(
        "a Deployment of whose topology one level is misspelt",
        "deployment/x",
        ("topology racks has no level rakc; it has rack; did you mean rack?", "1 more like it"),
        flat(
            topology("racks", "rack"),
            (cut := served("x", 2, gpus=1)) | {"metadata": cut["metadata"] | {"annotations": near("racks", "rakc")}},
        ),
        ({"name": "n", "gpus": 8, "labels": {"rack": "r"}},),
        FREE,
        runs=2,
        remedy_says=("kind: Deployment", "kai.scheduler/topology-required-placement: rack"),
    ),
    TruthCase(
        "a StatefulSet whose volume is on a full node",
        "statefulset/x",
        (
            "node n-1 has kubernetes.io/hostname=n-1, but the volume",
            "old (queue q, 8 GPUs) has the same priority",
            "StatefulSet/x had metadata.labels.priorityClassName: build-preemptible",
        ),
        flat(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "v"},
                "spec": volume("v", "data", "n-0")["spec"]
                | {
                    "nodeAffinity": {
                        "required": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n-0"]}
                                    ]
                                }
                            ]
                        }
                    }
                },
            },
            claim("data", storageClassName="", volumeName="v"),
            {
                **(kept := stateful_set("x", 1, gpus=8)),
                "metadata": kept["metadata"] | {"labels": {names.QUEUE: "q"}},
                "spec": kept["spec"]
                | {"template": kept["spec"]["template"] | {"spec": kept["spec"]["template"]["spec"] | uses("data")}},
            },
        ),
        TWO,
        flat(*FREE, job("old", gpus=8, queue="q", nodeSelector={"kubernetes.io/hostname": "n-0"})),
        runs=1,
    ),
    TruthCase(
        "blocks of which each has a cordoned node",
        "job/x",
        ("8 GPUs short in one block; node r0-0 is cordoned", "block b1 holds 3 of 4 pods: node r2-0 is cordoned"),
        flat(topology("t", "block"), job("x", 4, gpus=8, notes=near("t", "block"))),
        BLOCKS,
        node_patches={"r0-0": CORDONED, "r2-0": CORDONED},
        runs=4,
    ),
    TruthCase(
        "a queue that may not take back as much as it asks for",
        "job/x",
        (
            "queue a may not take from others: with 8 more it would hold 8 GPUs, above its fair share of 4",
            "o1 (queue b, 4 GPUs) stays: queue a may not take it from queue b",
        ),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org"),
            queue("a", "org", gpu={"quota": 4}),
            queue("b", "org", gpu={"quota": 4}),
            job("o1", gpus=4, queue="b"),
            job("o2", gpus=4, queue="b"),
        ),
        runs=1,
    ),
    TruthCase(
        "one neighbour that is protected, and one that holds its share",
        "job/x",
        ("o1 (queue b, 4 GPUs) is protected for", "o2 (queue c, 4 GPUs) stays: queue c holds 4 of its fair share of 4"),
        flat(job("x", gpus=8, queue="a")),
        ONE,
        flat(
            queue("org"),
            queue("a", "org", gpu={"quota": 8}),
            queue("b", "org", gpu={"quota": 0}, reclaimMinRuntime="1h"),
            queue("c", "org", gpu={"quota": 4}),
            job("o1", gpus=4, queue="b"),
            job("o2", gpus=4, queue="c"),
        ),
        runs=1,
    ),
    TruthCase(
        "a volume in one zone, whose only node is cordoned",
        "set/x",
        ("can be used only where topology.kubernetes.io/zone=a", "node a is cordoned (spec.unschedulable: true)"),
        flat(
            claim("data", storageClassName="", volumeName="v"),
            volume("v", "data", "a"),
            pod_clique_set("x", clique("a", 1, **uses("data"))),
        ),
        ({"name": "a", "gpus": 8, "labels": {ZONE: "a"}}, {"name": "b", "gpus": 8, "labels": {ZONE: "b"}}),
        node_patches={"a": CORDONED},
        runs=1,
    ),
    TruthCase(
        "a scaled gang of kube-scheduler that finds no room",
        "set/x",
        ("x-0 runs", "x-0-g-0 waits: 8 GPUs short", "kube-scheduler says of pod"),
        flat(pod_clique_set("x", clique("a", 1, gpus=8, scheduler=names.DEFAULT_SCHEDULER), **SCALED)),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a gang of a higher priority that a PodDisruptionBudget stops",
        "set/x",
        ("has a lower priority (50, against 90), but stays: PodDisruptionBudget keep",),
        flat(
            priority_class("high", 90),
            queued(pod_clique_set("x", clique("a", 1, gpus=8), priorityClassName="high"), "q"),
        ),
        ONE,
        flat(
            *FREE,
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "keep", "namespace": "default"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "old"}}},
            },
            job("old", gpus=8, queue="q"),
        ),
        runs=1,
    ),
    TruthCase(
        "an elastic gang whose surplus meets a limit and then no room",
        "job/x",
        (
            "3 more pods above its minimum of 2 wait",
            "they wait: queue q has a limit of 12 GPUs",
            "behind that: 4 GPUs short",
        ),
        flat(job("x", 6, gpus=4, minimum=2, queue="q")),
        TWO,
        flat(queue("org"), queue("q", "org", gpu={"limit": 12})),
        never=("None", "pg-", "no verdict", "limit of 16"),
        runs=6,
    ),
]
