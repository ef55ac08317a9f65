"""Short builders of the objects that the matrix is made of: Jobs, pods, queues, gangs. Plain data; only what matters
to a case is said."""

from __future__ import annotations

from typing import Any

from gangline.api import names
from gangline.api.meta import Raw

UNLIMITED = {"quota": -1, "limit": -1, "overQuotaWeight": 1}


def job(
    name: str,
    pods: int = 1,
    *,
    gpus: int = 0,
    asks: Raw | None = None,
    minimum: int | None = None,
    queue: str = "",
    labels: Raw | None = None,
    notes: Raw | None = None,
    pod_labels: Raw | None = None,
    pod_notes: Raw | None = None,
    scheduler: str = names.KAI_SCHEDULER,
    spec: Raw | None = None,
    **pod: Any,
) -> Raw:
    """A Job whose pods all start together (`minimum`: how many must)."""
    marks = {**(labels or {}), **({names.QUEUE: queue} if queue else {})}
    said = {**(notes or {}), names.BATCH_MIN_MEMBER: str(pods if minimum is None else minimum)}
    template = {
        "metadata": {
            "labels": {"app": name, **(pod_labels or {})},
            "annotations": {names.RUN_SECONDS: "3600", **(pod_notes or {})},
        },
        "spec": pod_spec(gpus, asks, scheduler) | {"restartPolicy": "Never"} | pod,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "labels": marks, "annotations": said},
        "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template, **(spec or {})},
    }


def pod_spec(gpus: int = 0, asks: Raw | None = None, scheduler: str = names.KAI_SCHEDULER) -> Raw:
    wanted = {
        **({names.NVIDIA_GPU: str(gpus)} if gpus else {}),
        **{key: str(value) for key, value in (asks or {}).items()},
    }
    limits = {key: value for key, value in wanted.items() if "/" in key}
    return {
        "schedulerName": scheduler,
        "containers": [{"name": "main", "image": "busybox", "resources": {"requests": wanted, "limits": limits}}],
    }


def pod(
    name: str,
    *,
    gpus: int = 0,
    asks: Raw | None = None,
    group: str = "",
    scheduler: str = names.KAI_SCHEDULER,
    labels: Raw | None = None,
    notes: Raw | None = None,
    **spec: Any,
) -> Raw:
    said = {**(notes or {}), **({names.POD_GROUP_NAME: group} if group else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}, "annotations": said},
        "spec": pod_spec(gpus, asks, scheduler) | spec,
    }


def group(name: str, minimum: int | None = 1, queue: str = names.DEFAULT_QUEUE, **spec: Any) -> Raw:
    return {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"queue": queue, **({} if minimum is None else {"minMember": minimum}), **spec},
    }


def gang(
    name: str,
    pods: int,
    *,
    gpus: int = 0,
    queue: str = names.DEFAULT_QUEUE,
    asks: Raw | None = None,
    labels: Raw | None = None,
    notes: Raw | None = None,
    pod_extra: Raw | None = None,
    **spec: Any,
) -> list[Raw]:
    """A PodGroup that somebody made, with bare pods in it."""
    return [
        group(name, pods, queue, **spec),
        *(
            pod(f"{name}-{number}", gpus=gpus, asks=asks, group=name, labels=labels, notes=notes, **(pod_extra or {}))
            for number in range(pods)
        ),
    ]


def queue(
    name: str,
    parent: str = "",
    *,
    gpu: Raw | None = None,
    cpu: Raw | None = None,
    memory: Raw | None = None,
    **spec: Any,
) -> Raw:
    given = {"cpu": UNLIMITED | (cpu or {}), "memory": UNLIMITED | (memory or {}), "gpu": UNLIMITED | (gpu or {})}
    return {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"resources": given, **({"parentQueue": parent} if parent else {}), **spec},
    }


def claim(name: str, **spec: Any) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, **spec},
    }


def volume(name: str, claim_name: str, zone: str) -> Raw:
    terms = {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}
        ]
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteMany"],
            "hostPath": {"path": "/data"},
            "storageClassName": "",
            "claimRef": {"namespace": "default", "name": claim_name},
            "nodeAffinity": {"required": terms},
        },
    }


def uses(claim_name: str) -> Raw:
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim_name}}]}


def anti_affinity(label: str, key: str = "kubernetes.io/hostname") -> Raw:
    return {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": label}}, "topologyKey": key}
                ]
            }
        }
    }


def affinity(label: str, key: str = "kubernetes.io/hostname") -> Raw:
    return {
        "affinity": {
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": label}}, "topologyKey": key}
                ]
            }
        }
    }


def node_affinity(key: str, operator: str, *values: str) -> Raw:
    terms = [{"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}]
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    }


def topology(name: str, *levels: str) -> Raw:
    return {
        "apiVersion": "kai.scheduler/v1alpha1",
        "kind": "Topology",
        "metadata": {"name": name},
        "spec": {"levels": [{"nodeLabel": level} for level in levels]},
    }


def near(topology_name: str, level: str) -> Raw:
    return {names.TOPOLOGY: topology_name, names.TOPOLOGY_REQUIRED: level}


def pod_clique_set(name: str, *cliques: Raw, replicas: int = 1, **template: Any) -> Raw:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": replicas, "template": {"cliques": list(cliques), **template}},
    }


def clique(
    name: str,
    pods: int,
    *,
    gpus: int = 0,
    scheduler: str = names.KAI_SCHEDULER,
    minimum: int | None = None,
    notes: Raw | None = None,
    asks: Raw | None = None,
    starts_after: tuple[str, ...] = (),
    **spec: Any,
) -> Raw:
    body: Raw = {
        "replicas": pods,
        "minAvailable": pods if minimum is None else minimum,
        "podSpec": pod_spec(gpus, asks, scheduler) | spec,
    }
    if starts_after:
        body["startsAfter"] = list(starts_after)
    return {"name": name, "spec": body | {"roleName": name}, **({"annotations": notes} if notes else {})}


def claim_template(name: str, device_class: str = "gpu.nvidia.com", count: int = 1) -> Raw:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": devices(device_class, count)},
    }


def resource_claim(
    name: str, device_class: str = "gpu.nvidia.com", count: int = 1, queue_name: str = names.DEFAULT_QUEUE
) -> Raw:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "labels": {names.QUEUE: queue_name}},
        "spec": devices(device_class, count),
    }


def devices(device_class: str, count: int) -> Raw:
    return {
        "devices": {
            "requests": [
                {
                    "name": "gpu",
                    "exactly": {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count},
                }
            ]
        }
    }


def uses_claim(**reference: str) -> Raw:
    return {
        "resourceClaims": [{"name": "gpu", **reference}],
        "containers": [{"name": "main", "image": "busybox", "resources": {"claims": [{"name": "gpu"}]}}],
    }


def priority_class(name: str, value: int) -> Raw:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def lease(name: str, renewed: str, namespace: str = names.KAI_NAMESPACE, seconds: int = 15) -> Raw:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"holderIdentity": "scheduler-0", "leaseDurationSeconds": seconds, "renewTime": renewed},
    }
