"""Names that almost exist, storage that nobody makes, Secrets and keys that are missing, budgets of pods, and spreads
that need more than one domain. Data only."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from truth.causes.builders import stateful_set
from truth.causes.common import DEPARTMENT, HOST, ONE, ZONE
from truth.objects import (
    claim,
    claim_template,
    clique,
    group,
    job,
    near,
    node_affinity,
    pod,
    pod_clique_set,
    priority_class,
    queue,
    topology,
    uses,
    uses_claim,
)
from truth.player import TruthCase, flat

IN_ZONE_A = ({"name": "n", "labels": {ZONE: "a"}},)
RACK = ({"name": "n", "count": 2, "gpus": 8, "labels": {"rack": "r1"}},)
BUDGET: Raw = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "keep", "namespace": "default"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "old"}}},
}
COUNTS_LIMITS: Raw = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"limits.cpu": "10"}},
}


def storage_class(name: str, mode: str = "WaitForFirstConsumer", zone: str = "") -> Raw:
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]}]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "example.com/disks",
        "volumeBindingMode": mode,
        **({"allowedTopologies": terms} if zone else {}),
    }


def even(key: str = ZONE, **more: Any) -> dict[str, Any]:
    rule = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [rule | {"labelSelector": {"matchLabels": {"app": "x"}}} | more]}


def zones(**gpus: int) -> tuple[Raw, ...]:
    return tuple({"name": zone, "gpus": count, "labels": {ZONE: zone}} for zone, count in gpus.items())


def reading(**container: Any) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "busybox", **container}]}


MOUNTED = {"volumeMounts": [{"name": "tls", "mountPath": "/tls"}]}
PASSWORD = {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}
MODE = {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}}

SLIPS = [
    TruthCase(
        "a scheduler name with a slip of the pen in bare pods of a gang",
        "x",
        ("'kai-sheduler'", "did you mean kai-scheduler?", "Pod/x-1 were made anew with spec.schedulerName"),
        flat(group("x", 2), pod("x-0", group="x"), pod("x-1", group="x", scheduler="kai-sheduler")),
        ONE,
        never=("None", "pg-", "no verdict", "Pod/x-0"),
        runs=2,
    ),
    TruthCase(
        "a StatefulSet with a slip of the pen",
        "statefulset/x",
        ("did you mean kai-scheduler?", "StatefulSet/x were made anew with spec.template.spec.schedulerName"),
        flat(stateful_set("x", 2, gpus=1, scheduler="kai-schedulerr")),
        ONE,
        runs=2,
    ),
    TruthCase(
        "a storage class with a slip of the pen",
        "job/x",
        ("StorageClass fsat does not exist; did you mean fast?", "made anew with spec.storageClassName: fast"),
        flat(claim("data", storageClassName="fsat"), job("x", **uses("data"))),
        ONE,
        flat(storage_class("fast")),
        runs=1,
    ),
    TruthCase(
        "a storage class that does not exist beside others that do",
        "job/x",
        ("StorageClass gold does not exist; there are fast", "there was StorageClass/gold (provisioner: example.com"),
        flat(claim("data", storageClassName="gold"), job("x", **uses("data"))),
        ONE,
        flat(storage_class("fast")),
        runs=1,
    ),
    TruthCase(
        "a volume claim without a storage class",
        "job/x",
        ("PersistentVolumeClaim data", "it names no StorageClass, and there is no default one"),
        flat(claim("data"), job("x", **uses("data"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a volume that a claim names and that does not exist",
        "job/x",
        ("PersistentVolume gone, which it names (spec.volumeName), does not exist", "there was PersistentVolume/gone"),
        flat(claim("data", storageClassName="", volumeName="gone"), job("x", **uses("data"))),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a volume that was made at once, in another zone",
        "job/x",
        (f"has {ZONE}=a", "PersistentVolumeClaim data", f"only where {ZONE}=b"),
        flat(claim("data", storageClassName="fast"), job("x", **uses("data"))),
        IN_ZONE_A,
        flat(storage_class("fast", "Immediate", "b")),
        runs=1,
        only_simulated="a real plane has no provisioner that makes volumes",
    ),
    TruthCase(
        "a gang that shares a volume of one zone",
        "job/x",
        ("4 GPUs short", "StorageClass fast of PersistentVolumeClaim data makes volumes only where", f"{ZONE}=b"),
        flat(claim("data", storageClassName="fast"), job("x", 3, gpus=4, **uses("data"))),
        zones(a=8, b=8),
        flat(storage_class("fast", zone="b")),
        runs=3,
    ),
    TruthCase(
        "a PriorityClass with a slip of the pen",
        "job/x",
        ("PriorityClass hihg does not exist", "did you mean high?", "priorityClassName: high (now hihg)"),
        flat(job("x", priorityClassName="hihg")),
        ONE,
        flat(priority_class("high", 90)),
        runs=1,
    ),
    TruthCase(
        "a PodGroup with a slip of the pen",
        "pod/x",
        ("PodGroup gangg", "does not exist; did you mean gang?", "Pod/x had metadata.annotations.pod-group-name: gang"),
        flat(group("gang", 1), pod("x", group="gangg")),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a device class with a slip of the pen",
        "job/x",
        ("DeviceClass gpu.nvidai.com", "did you mean gpu.nvidia.com?"),
        flat(claim_template("t", "gpu.nvidai.com"), job("x", **uses_claim(resourceClaimTemplateName="t"))),
        ({"name": "n", "gpus": 2, "dra": True},),
        runs=1,
    ),
    TruthCase(
        "a topology with a slip of the pen",
        "job/x",
        ("topology fabrik does not exist; did you mean fabric?", f"{names.TOPOLOGY}]: fabric (now fabrik)"),
        flat(job("x", 2, gpus=8, notes=near("fabrik", "rack"))),
        RACK,
        flat(topology("fabric", "rack")),
        runs=2,
    ),
    TruthCase(
        "a level with a slip of the pen",
        "job/x",
        ("topology fabric has no level rakc", "did you mean rack?", f"{names.TOPOLOGY_REQUIRED}]: rack (now rakc)"),
        flat(job("x", 2, gpus=8, notes=near("fabric", "rakc"))),
        RACK,
        flat(topology("fabric", "rack")),
        runs=2,
    ),
    TruthCase(
        "GPUs of another maker",
        "job/x",
        ("offers no amd.com/gpu; it has nvidia.com/gpu", "2 amd.com/gpu"),
        flat(job("x", asks={"amd.com/gpu": 2})),
        ONE,
        runs=1,
    ),
    TruthCase(
        "a machine of another architecture",
        "job/x",
        ("has kubernetes.io/arch=amd64, but nodeSelector asks for kubernetes.io/arch=arm64", "1 more node"),
        flat(job("x", gpus=1, nodeSelector={"kubernetes.io/arch": "arm64"})),
        ONE,
        never=("None", "Node/n had"),
        runs=1,
    ),
    TruthCase(
        "a neighbour that a PodDisruptionBudget keeps",
        "job/x",
        ("old (queue default-queue, 8 GPUs) has a lower priority", "PodDisruptionBudget keep lets 0 of its 1 pod go"),
        flat(job("x", gpus=8, labels={names.PRIORITY_CLASS: "high"})),
        ONE,
        flat(priority_class("high", 90), BUDGET, job("old", gpus=8)),
        never=("None", "its room is not enough"),
        runs=1,
    ),
    TruthCase(
        "a ResourceQuota of limits that pods do not say",
        "job/x",
        ("ResourceQuota q refuses its pods", "limits.cpu", "default: {cpu: 4}"),
        flat(job("x", asks={"cpu": 4})),
        ONE,
        flat(COUNTS_LIMITS),
        runs=1,
    ),
    TruthCase(
        "a Job that is left to another controller",
        "job/x",
        ("left to another controller, example.com/far (spec.managedBy)",),
        flat(job("x", gpus=1, spec={"managedBy": "example.com/far"})),
        ONE,
    ),
    TruthCase(
        "a spread over two zones more than there are",
        "job/x",
        ("fewer than minDomains 4", f"{ZONE}=zone-more and zone-more-2"),
        flat(job("x", 4, gpus=1, **even(minDomains=4))),
        zones(a=8, b=8),
        runs=4,
    ),
    TruthCase(
        "a spread over zones of which affinity allows two",
        "job/x",
        (f"{ZONE}=b has 0", "node b has no GPU", f"labels nvidia.com/gpu.memory=81920, {ZONE}=b"),
        flat(job("x", 2, gpus=1, **node_affinity(ZONE, "In", "a", "b"), **even())),
        zones(a=8, b=0, c=8),
        runs=2,
    ),
    TruthCase(
        "a limit, and a spread that needs a node behind it",
        "job/x",
        ("limit of 2 GPUs", "and behind that: 3 of 4 pods find a node"),
        flat(job("x", 4, gpus=1, queue="q", **even())),
        zones(a=8, b=1),
        flat(queue("q", DEPARTMENT, gpu={"limit": 2})),
        runs=4,
    ),
    TruthCase(
        "a spread that counts the pods of others and no tainted zone",
        "job/x",
        ("x runs: 4 pods on a (4)",),
        flat(job("x", 4, gpus=1, **even(nodeTaintsPolicy="Honor"))),
        zones(a=8, b=8),
        node_patches={"b": {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}},
        never=("unevenly",),
    ),
    TruthCase(
        "a spread over hosts that are too few and too small",
        "job/x",
        (f"{HOST}=m has 1", "there were 2 more nodes"),
        flat(job("x", 5, gpus=1, **even(HOST))),
        ({"name": "n", "gpus": 4}, {"name": "m", "gpus": 1}),
        runs=5,
    ),
    TruthCase(
        "a Secret that does not exist, for a variable",
        "job/x",
        ("x is starting", "waits for Secret login, which does not exist", "(container main, env PASSWORD)"),
        flat(job("x", **reading(env=[PASSWORD]))),
        ONE,
        runs=1,
        started=True,
    ),
    TruthCase(
        "a Secret that does not exist, for a volume",
        "job/x",
        ("x is starting", "waits for Secret web, which does not exist in namespace default (volume tls)"),
        flat(job("x", 2, volumes=[{"name": "tls", "secret": {"secretName": "web"}}], **reading(**MOUNTED))),
        ONE,
        runs=2,
        started=True,
    ),
    TruthCase(
        "a Secret that may be missing",
        "job/x",
        ("x runs: 1 pod on n",),
        flat(
            job("x", volumes=[{"name": "tls", "secret": {"secretName": "web", "optional": True}}], **reading(**MOUNTED))
        ),
        ONE,
    ),
    TruthCase(
        "a key that its Secret has not",
        "set/x",
        ("waits for key password of Secret login, which is not in it (container main, env PASSWORD)",),
        flat(pod_clique_set("x", clique("a", 2, **reading(env=[PASSWORD])))),
        ONE,
        flat({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "default"}}),
        runs=2,
        started=True,
    ),
    TruthCase(
        "a key that its config map has not",
        "job/x",
        ("waits for key mode of ConfigMap settings, which is not in it (container main, env MODE)",),
        flat(job("x", **reading(env=[MODE]))),
        ONE,
        flat({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}),
        runs=1,
        started=True,
    ),
]
