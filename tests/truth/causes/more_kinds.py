"""JobSets, RayClusters, LeaderWorkerSets, CronJobs, sub-groups and webhooks. Data only."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.causes.builders import deployment
from truth.causes.common import ONE, TWO
from truth.causes.makers import job_set, leader_workers, ray, run_of_cron_job
from truth.causes.other_makers import few, pytorch
from truth.causes.pairs import CORDONED, FREE, LIMITED, NO_TOLERATION, TAINTED
from truth.objects import affinity, clique, group, job, near, node_affinity, pod, pod_clique_set, queue, topology, uses
from truth.player import TruthCase, flat

RACKS = tuple({"name": f"r{r}", "count": 2, "gpus": 8, "labels": {"rack": f"r{r}"}} for r in range(2))


def parts(**of_a: Any) -> list[Raw]:
    """A gang of two sub-groups of two pods; `of_a`: what the first has more."""
    spec = [{"name": "a", "minMember": 2, **of_a}, {"name": "b", "minMember": 2}]
    return [group("x", None, subGroups=spec)]


def part(name: str, pods: int = 2, gpus: int = 1, **extra: Any) -> list[Raw]:
    return [
        pod(f"x-{name}-{number}", gpus=gpus, group="x", labels={names.SUB_GROUP: name}, **extra)
        for number in range(pods)
    ]


def in_rack(level: str) -> Raw:
    return {"topology": "t", "requiredTopologyLevel": level}


def webhook(selector: Raw) -> Raw:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "guard"},
        "webhooks": [
            {
                "name": "pods.guard.example.com",
                "clientConfig": {"url": "https://127.0.0.1:1/x"},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 1,
                "objectSelector": selector,
            }
        ],
    }


SILENT = (
    "webhook pods.guard.example.com cannot be asked, so the server refuses its pods",
    "ValidatingWebhookConfiguration/guard webhooks[0].failurePolicy: Fail",
)
POLICY = [
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "teams"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
                ]
            },
            "validations": [
                {
                    "expression": "!has(object.metadata.labels) || !('app' in object.metadata.labels) || "
                    "object.metadata.labels.app != 'x' || 'team' in object.metadata.labels",
                    "message": "every pod needs a label team",
                }
            ],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "teams"},
        "spec": {"policyName": "teams", "validationActions": ["Deny"]},
    },
]

MORE_KINDS = [
    TruthCase(
        "a JobSet that is too large",
        "jobset/x",
        ("x waits: 8 GPUs short", "2 of 3 pods find a node"),
        flat(job_set(3, 8)),
        TWO,
        runs=3,
    ),
    TruthCase("a JobSet on tainted nodes", "jobset/x", (NO_TOLERATION,), flat(job_set(1, 8)), TAINTED, runs=1),
    TruthCase(
        "a JobSet above its queue's limit, and a cordoned node behind it",
        "jobset/x",
        ("queue q has a limit of 4 GPUs", "behind that: 8 GPUs short; node n-1 is cordoned"),
        flat(job_set(2, 8, "q")),
        TWO,
        LIMITED,
        node_patches={"n-1": CORDONED},
        runs=2,
    ),
    TruthCase(
        "a RayCluster whose workers find no room",
        "raycluster/x",
        ("x waits: 8 GPUs short", "2 of 4 pods find a node"),
        flat(ray(3, 8)),
        TWO,
        runs=4,
    ),
    TruthCase(
        "a RayCluster whose workers ask for a label no node has",
        "raycluster/x",
        ("each of 2 nodes (n-0, n-1) has no label pool, but nodeSelector asks for pool=ray",),
        flat(ray(2, 8, nodeSelector={"pool": "ray"})),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a RayCluster whose volume claim does not exist",
        "raycluster/x",
        ("PersistentVolumeClaim data, which pod x-g-0 names, does not exist",),
        flat(ray(1, 1, **uses("data"))),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a RayCluster above the limit of a department",
        "raycluster/x",
        ("queue org has a limit of 4 GPUs", "in use are 0, and 8 more are asked"),
        flat(ray(2, 4, "q")),
        ONE,
        flat(queue("org", gpu={"quota": 4, "limit": 4}), queue("q", "org", gpu={"quota": 4})),
        runs=3,
    ),
    TruthCase(
        "a LeaderWorkerSet that is too large",
        "leaderworkerset/x",
        ("x waits: 8 GPUs short",),
        flat(leader_workers(3, 8)),
        TWO,
        runs=3,
    ),
    TruthCase(
        "a LeaderWorkerSet in a queue with a slip of the pen",
        "leaderworkerset/x",
        ("queue resarch does not exist; did you mean research?",),
        flat(leader_workers(2, 8, "resarch")),
        TWO,
        flat(queue("org"), queue("research", "org")),
        runs=2,
    ),
    TruthCase(
        "a LeaderWorkerSet whose pods take one host port",
        "leaderworkerset/x",
        ("node n has host port 9000/TCP taken by pod x-0",),
        flat(
            leader_workers(
                2, 1, containers=[{"name": "m", "image": "i", "ports": [{"containerPort": 9000, "hostPort": 9000}]}]
            )
        ),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a PyTorchJob with parts of GPUs",
        "pytorchjob/x",
        ("3 of 4 pods find a node", "the pod asks for 0.6 of a GPU"),
        flat(pytorch(3, 3, notes={names.GPU_FRACTION: "0.6"})),
        ({"name": "n", "gpus": 3},),
        runs=4,
    ),
    TruthCase(
        "a PyTorchJob whose topology is misspelt",
        "pytorchjob/x",
        ("topology rack does not exist; did you mean racks?",),
        flat(
            topology("racks", "rack"),
            [
                item | {"metadata": item["metadata"] | {"annotations": near("rack", "rack")}}
                if item["kind"] == "PyTorchJob"
                else item
                for item in pytorch(1, 1, gpus=1)
            ],
        ),
        RACKS,
        runs=2,
        remedy_says=("kind: PyTorchJob", "kai.scheduler/topology: racks"),
    ),
    TruthCase(
        "a run of a CronJob that is too large",
        "cronjob/x",
        ("x waits: node n, the only one, has 8 GPUs; the pod asks for 16 GPUs",),
        flat(run_of_cron_job(gpus=16)),
        ONE,
        never=("None", "pg-", "no verdict", "has no run now"),
        runs=1,
    ),
    TruthCase(
        "a run of a CronJob that is suspended",
        "cronjob/x",
        ("x waits: Job/x-1 is suspended (spec.suspend: true)",),
        flat(run_of_cron_job(gpus=1, spec={"suspend": True})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a run of a CronJob whose pods a ResourceQuota refuses",
        "cronjob/x",
        ("x waits: ResourceQuota few refuses its pods", "Job/x-1 cannot make them"),
        flat(few(pods="0"), run_of_cron_job(gpus=1)),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a sub-group whose level is misspelt",
        "x",
        ("topology t has no level rak; it has rack; did you mean rack?",),
        flat(parts(topologyConstraint=in_rack("rak")), topology("t", "rack"), part("a"), part("b")),
        RACKS,
        runs=4,
        remedy_says=("requiredTopologyLevel: rack",),
    ),
    TruthCase(
        "a sub-group that finds no rack for itself",
        "x",
        ("8 GPUs short in one rack", "2 of 3 pods of a find a node in r0"),
        flat(
            group("x", None, subGroups=[{"name": "a", "minMember": 3, "topologyConstraint": in_rack("rack")}]),
            topology("t", "rack"),
            part("a", 3, 8),
        ),
        RACKS,
        runs=3,
    ),
    TruthCase(
        "a sub-group that asks for a label no node has",
        "x",
        (
            "x waits: each of 2 nodes (n-0, n-1) has no label disk, but nodeSelector asks for disk=nvme",
            "2 of 4 pods find a node",
        ),
        flat(parts(), part("a"), part("b", nodeSelector={"disk": "nvme"})),
        TWO,
        never=("None", "pg-", "no verdict", "beside the others"),
        runs=4,
    ),
    TruthCase(
        "a set whose pods must be near pods that are not there",
        "set/x",
        ("has no pod with app=db in its kubernetes.io/hostname (podAffinity)",),
        flat(pod_clique_set("x", clique("a", 1, **affinity("db")))),
        ONE,
        runs=1,
        remedy_says=("kind: PodCliqueSet",),
    ),
    TruthCase(
        "a set with wishes that contradict each other",
        "set/x",
        ("has no label gone, but nodeSelector asks for gone=x",),
        flat(
            pod_clique_set(
                "x", clique("a", 1, gpus=8, nodeSelector={"gone": "x"}, **node_affinity("gone", "NotIn", "x"))
            )
        ),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a webhook that nobody answers for",
        "job/x",
        (
            *SILENT,
            "would start if   ValidatingWebhookConfiguration/guard had webhooks[0].failurePolicy: Ignore (now Fail)",
        ),
        flat(job("x", 2, gpus=1)),
        ONE,
        flat(webhook({"matchLabels": {"app": "x"}})),
        runs=2,
    ),
    TruthCase(
        "a webhook that nobody answers for, and no quota behind it",
        "deployment/x",
        (*SILENT, "behind that: queue default-queue has a quota of 0 GPUs"),
        flat(deployment("x", 2, gpus=1)),
        ONE,
        flat(webhook({"matchLabels": {"app": "x"}})),
        runs=2,
    ),
    TruthCase(
        "a policy that refuses its pods",
        "job/x",
        ("the server refuses its pods", "ValidatingAdmissionPolicy 'teams'", "every pod needs a label team"),
        flat(job("x", 2, gpus=1)),
        ONE,
        flat(POLICY),
    ),
    TruthCase(
        "a set of which a third replica meets a limit and then no room",
        "set/x",
        ("x-2 waits: queue q has a limit of 8 GPUs", "behind that: 4 GPUs short"),
        flat(
            pod_clique_set("x", clique("a", 1, gpus=4), replicas=3)
            | {"metadata": {"name": "x", "namespace": "default", "labels": {names.QUEUE: "q"}}}
        ),
        ONE,
        flat(queue("org"), queue("q", "org", gpu={"limit": 8})),
        runs=3,
    ),
    TruthCase(
        "a Job that was suspended and finds no room when it goes on",
        "job/x",
        ("Job/x is suspended (spec.suspend: true)", "behind that: 1 GPU short"),
        flat(job("x", 2, gpus=1, spec={"suspend": True})),
        ({"name": "n", "gpus": 1},),
        FREE,
        runs=2,
    ),
]
