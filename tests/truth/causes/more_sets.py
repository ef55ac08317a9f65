"""PodCliqueSets with the causes that other workloads have in other chapters, here and on kube-scheduler. Data only."""

from __future__ import annotations

from gangline.api import names
from truth.causes.builders import queued
from truth.causes.common import ONE, TWO
from truth.objects import (
    anti_affinity,
    claim_template,
    clique,
    job,
    lease,
    node_affinity,
    pod_clique_set,
    priority_class,
    queue,
    uses_claim,
)
from truth.player import TruthCase, flat

BINDING = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "ClusterTopologyBinding",
    "metadata": {"name": "t"},
    "spec": {"levels": [{"domain": "rack", "key": "rack"}]},
}
SMALL = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "lr", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "max": {"memory": "4Gi"}}]},
}
TAINTED = ({"name": "n", "gpus": 8, "taints": [{"key": "k", "effect": "NoSchedule"}]},)
PORT = [{"name": "m", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}]
SECRET = [{"name": "m", "image": "i", "envFrom": [{"secretRef": {"name": "login"}}]}]
DEVICES = ({"name": "n", "gpus": 4, "dra": True},)

MORE_SETS = [
    TruthCase(
        "a set whose GPUs another set holds",
        "set/x",
        (
            "16 GPUs short",
            "old-0 (queue default-queue, 16 GPUs) has the same priority",
            "2 more nodes (n-0-more-1, n-0-more-2)",
            "PodCliqueSet/x had spec.template.priorityClassName",
            "PodCliqueSet/old had spec.replicas: 0 (now 1)",
        ),
        flat(pod_clique_set("x", clique("a", 2, gpus=8))),
        TWO,
        flat(pod_clique_set("old", clique("a", 2, gpus=8))),
        runs=2,
    ),
    TruthCase(
        "a set that asks for a label no node has",
        "set/x",
        ("each of 2 nodes (n-0, n-1) has no label disk", "nodeSelector asks for disk=ssd"),
        flat(pod_clique_set("x", clique("a", 2, gpus=1, nodeSelector={"disk": "ssd"}))),
        TWO,
        runs=2,
    ),
    TruthCase(
        "a set of which one clique finds no node",
        "set/x",
        ("1 of 2 pods find a node", "nodeAffinity asks for zone in (a, b)"),
        flat(pod_clique_set("x", clique("a", 1, gpus=1), clique("b", 1, **node_affinity("zone", "In", "a", "b")))),
        TWO,
        runs=2,
    ),
    TruthCase(
        "a set with a cordoned node",
        "set/x",
        ("node n-0 is cordoned (spec.unschedulable: true)",),
        flat(pod_clique_set("x", clique("a", 2, gpus=8))),
        TWO,
        node_patches={"n-0": {"spec": {"unschedulable": True}}},
        runs=2,
    ),
    TruthCase(
        "a set that asks for what no node has",
        "set/x",
        ("has no rdma/hca; the pod asks for 1 rdma/hca",),
        flat(pod_clique_set("x", clique("a", 1, asks={"rdma/hca": 1}))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set with halves of GPUs",
        "set/x",
        ("4 of 5 pods find a node", "asks for 0.5 of a GPU"),
        flat(pod_clique_set("x", clique("a", 5, notes={names.GPU_FRACTION: "0.5"}))),
        ({"name": "n", "gpus": 2},),
        runs=5,
    ),
    TruthCase(
        "a set whose claim template does not exist",
        "set/x",
        ("ResourceClaimTemplate mine", "does not exist in namespace default"),
        flat(pod_clique_set("x", clique("a", 1, **uses_claim(resourceClaimTemplateName="mine")))),
        DEVICES,
        runs=1,
    ),
    TruthCase(
        "a set with more devices than there are",
        "set/x",
        ("4 GPUs short", "4 devices of class gpu.nvidia.com", "and 4 devices of gpu.nvidia.com"),
        flat(
            claim_template("t", count=4),
            pod_clique_set("x", clique("a", 2, **uses_claim(resourceClaimTemplateName="t"))),
        ),
        DEVICES,
        runs=2,
    ),
    TruthCase(
        "a set whose pods a LimitRange refuses",
        "set/x",
        ("LimitRange lr refuses its pods: a container may have at most 4Gi of memory, 8Gi asked",),
        flat(pod_clique_set("x", clique("a", 1, asks={"memory": "8Gi"}))),
        ONE,
        flat(SMALL),
        runs=1,
    ),
    TruthCase(
        "a set whose image cannot be pulled",
        "set/x",
        ("x-0 is starting: 0 of 1 pods are ready", "waits for image busybox", "ImagePullBackOff"),
        flat(pod_clique_set("x", clique("a", 1, notes={names.UNPULLABLE: "busybox"}))),
        ONE,
    ),
    TruthCase(
        "a set whose Secret does not exist",
        "set/x",
        ("waits for Secret login, which does not exist",),
        flat(pod_clique_set("x", clique("a", 1, containers=SECRET))),
        ONE,
        runs=1,
        started=True,
    ),
    TruthCase(
        "a set whose pods take one host port",
        "set/x",
        ("node n has host port 9000/TCP taken by pod x-0-a-",),
        flat(pod_clique_set("x", clique("a", 2, containers=PORT))),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a set whose pods keep apart",
        "set/x",
        ("2 of 3 pods find a node", "podAntiAffinity app=x keeps apart"),
        flat(pod_clique_set("x", clique("a", 3, **anti_affinity("x")) | {"labels": {"app": "x"}})),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a set with more pods than a node takes",
        "set/x",
        ("has no pod slot left: 2 of 2 pods",),
        flat(pod_clique_set("x", clique("a", 3))),
        ({"name": "n", "pods": 2},),
        runs=3,
    ),
    TruthCase(
        "a set of which the surplus waits",
        "set/x",
        ("x-0 runs: 2 pods", "2 more pods above its minimum of 2 wait"),
        flat(pod_clique_set("x", clique("a", 4, gpus=4, minimum=2))),
        ONE,
        runs=4,
    ),
    TruthCase(
        "a set with limits at every level",
        "set/x",
        ("queue a has a limit of 1 GPU", "queue org has a limit of 2 GPUs"),
        flat(queued(pod_clique_set("x", clique("a", 1, gpus=4)), "a")),
        ONE,
        flat(queue("org", gpu={"limit": 2}), queue("a", "org", gpu={"limit": 1})),
        runs=1,
    ),
    TruthCase(
        "a set that cannot be preempted, above its quota",
        "set/x",
        ("queue a has a quota of 2 GPUs", "priority 120, 100 and above is not preempted"),
        flat(queued(pod_clique_set("x", clique("a", 1, gpus=4), priorityClassName="firm"), "a")),
        ONE,
        flat(priority_class("firm", 120), queue("org", gpu={"quota": 8}), queue("a", "org", gpu={"quota": 2})),
        runs=1,
    ),
    TruthCase(
        "a set of which one replica runs",
        "set/x",
        ("x-0 runs: 1 pod on n", "x-1 waits: 8 GPUs short"),
        flat(pod_clique_set("x", clique("a", 1, gpus=8), replicas=2)),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a set whose share is used up",
        "set/x",
        ("queue a may not take from others", "above its fair share of 0", "old (queue b, 8 GPUs) stays"),
        flat(queued(pod_clique_set("x", clique("a", 1, gpus=4)), "a")),
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
        "a set in a node pool without a scheduler",
        "set/x",
        ("no scheduler serves node pool blue", "no SchedulingShard"),
        flat(
            pod_clique_set("x", clique("a", 1))
            | {"metadata": {"name": "x", "namespace": "default", "labels": {names.NODE_POOL: "blue"}}}
        ),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set in a rack that no node is in",
        "set/x",
        ("no node has the label rack of the level",),
        flat(
            BINDING,
            pod_clique_set(
                "x", clique("a", 2, gpus=1), topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}}
            ),
        ),
        TWO,
        runs=2,
    ),
    TruthCase(
        "a set while no scheduler runs",
        "set/x",
        ("x-0 waits: no scheduler is running", "Lease kai-scheduler/kai-scheduler was renewed"),
        flat(lease("kai-scheduler", "2020-01-01T00:00:00.000000Z"), pod_clique_set("x", clique("a", 1))),
        ONE,
        without=("scheduler",),
    ),
    TruthCase(
        "a set while no binder runs",
        "set/x",
        ("was given a node (pod x-0-a-", "for the binder", "is it running?"),
        flat(pod_clique_set("x", clique("a", 1))),
        ONE,
        without=("binder",),
    ),
    TruthCase(
        "a set of kube-scheduler that is too large",
        "set/x",
        ("x-0 waits: node n, the only one, has 8 GPUs; the pod asks for 16 GPUs", "kube-scheduler says of pod x-0-a-"),
        flat(pod_clique_set("x", clique("a", 1, gpus=16, scheduler=names.DEFAULT_SCHEDULER))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a set of kube-scheduler on tainted nodes",
        "set/x",
        ("x-0 waits: node n, the only one, has taint k:NoSchedule", "reached by backend default"),
        flat(pod_clique_set("x", clique("a", 2, gpus=1, scheduler=names.DEFAULT_SCHEDULER))),
        TAINTED,
        runs=2,
    ),
    TruthCase(
        "a set of kube-scheduler with a selector nobody meets",
        "set/x",
        ("has no label disk, but nodeSelector asks for disk=ssd",),
        flat(pod_clique_set("x", clique("a", 1, scheduler=names.DEFAULT_SCHEDULER, nodeSelector={"disk": "ssd"}))),
        ONE,
        runs=1,
    ),
]
