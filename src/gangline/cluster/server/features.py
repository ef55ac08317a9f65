"""Fields that Kubernetes keeps only while a feature gate is on, and resources it serves only then.

A gate that is off means: the field is dropped on its way in, without a word, unless the stored object already has it.
Which gates are on is a setting of the server (`ServerSettings.features`); the default is Kubernetes' own. The Workload
API comes in three generations, by what is served (`ServerSettings.workload_versions`): pods keep only the link that
theirs knows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from gangline.cluster.server.catalogue import Resource

EXTENDED_RESOURCES = "DRAExtendedResource"
DEVICE_TAINTS, CONSUMABLE = "DRADeviceTaints", "DRAConsumableCapacity"
PARTITIONS, BINDING = "DRAPartitionableDevices", "DRADeviceBindingConditions"
TOPOLOGY, PREEMPTION = "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"
GROUP_CLAIMS, COMPOSITE, PREEMPTION_POLICY = (
    "DRAWorkloadResourceClaims",
    "CompositePodGroup",
    "PodGroupPreemptionPolicy",
)

WORKLOAD_GENERATIONS: dict[str, tuple[str, ...]] = {
    "none": (),
    "1.35": ("v1alpha1",),
    "1.36": ("v1alpha2",),
    "1.37": ("v1beta1", "v1alpha3"),
}
"""Kubernetes release → the versions of scheduling.k8s.io in which it serves the Workload API."""

_REQUESTS = ("spec.devices.requests[].exactly", "spec.devices.requests[].firstAvailable[]")
_CLAIM = (
    *((DEVICE_TAINTS, f"{path}.tolerations") for path in _REQUESTS),
    *((CONSUMABLE, f"{path}.capacity") for path in _REQUESTS),
    (CONSUMABLE, "spec.devices.constraints[].distinctAttribute"),
)
_SLICE = (
    (DEVICE_TAINTS, "spec.devices[].taints"),
    (CONSUMABLE, "spec.devices[].allowMultipleAllocations"),
    *((PARTITIONS, f"spec.{name}") for name in ("sharedCounters", "perDeviceNodeSelection")),
    *((PARTITIONS, f"spec.devices[].{name}") for name in ("consumesCounters", "nodeName", "nodeSelector", "allNodes")),
    *((BINDING, f"spec.devices[].{name}") for name in ("bindsToNode", "bindingConditions", "bindingFailureConditions")),
)
_OLD_GROUP = (
    (TOPOLOGY, "schedulingConstraints"),
    (PREEMPTION, "disruptionMode"),
    (PREEMPTION, "priorityClassName"),
    (PREEMPTION, "priority"),
    (GROUP_CLAIMS, "resourceClaims"),
)
_NEW_GROUP = (
    (TOPOLOGY, "schedulingConstraints"),
    (GROUP_CLAIMS, "resourceClaims"),
    (PREEMPTION_POLICY, "preemptionPolicy"),
    (COMPOSITE, "parentCompositePodGroupName"),
)
_BOTH_NEW = ("v1beta1", "v1alpha3")


def _below(path: str, fields: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((gate, f"{path}.{field}") for gate, field in fields)


def _shown_null(fields: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The same for templates, which show where they may run even if that is nowhere in particular."""
    return tuple((gate, f"{field}=" if gate == TOPOLOGY else field) for gate, field in fields)


def _tree() -> tuple[tuple[str, str], ...]:
    """The fields of a Workload of 1.37, in composites of every depth."""
    above = ["spec" + ".compositePodGroupTemplates[]" * depth for depth in range(4)]
    templates = [
        template for path in above for template in _below(f"{path}.podGroupTemplates[]", _shown_null(_NEW_GROUP))
    ]
    policies = [(PREEMPTION_POLICY, f"{path}.preemptionPolicy") for path in above[1:]]
    return ((COMPOSITE, "spec.compositePodGroupTemplates"), *templates, *policies)


GATED: dict[tuple[str, str, str], tuple[tuple[str, str], ...]] = {
    ("resource.k8s.io", "v1", "deviceclasses"): ((EXTENDED_RESOURCES, "spec.extendedResourceName"),),
    ("resource.k8s.io", "v1", "resourceclaims"): _CLAIM,
    ("resource.k8s.io", "v1", "resourceclaimtemplates"): tuple((gate, f"spec.{path}") for gate, path in _CLAIM),
    ("resource.k8s.io", "v1", "resourceslices"): _SLICE,
    ("scheduling.k8s.io", "v1alpha2", "podgroups"): (
        *_below("spec", _OLD_GROUP),
        (PREEMPTION, "spec.disruptionMode=Pod"),
        (GROUP_CLAIMS, "status.resourceClaimStatuses"),
    ),
    ("scheduling.k8s.io", "v1alpha2", "workloads"): _below("spec.podGroupTemplates[]", _shown_null(_OLD_GROUP)),
    **{
        ("scheduling.k8s.io", version, "podgroups"): (
            *_below("spec", _NEW_GROUP),
            (GROUP_CLAIMS, "status.resourceClaimStatuses"),
        )
        for version in _BOTH_NEW
    },
    **{("scheduling.k8s.io", version, "workloads"): _tree() for version in _BOTH_NEW},
    ("scheduling.k8s.io", "v1alpha3", "compositepodgroups"): ((PREEMPTION_POLICY, "spec.preemptionPolicy"),),
}
"""Resource → gates, and the fields each keeps; `[]` stands for every item of a list, `=` for what a field is without
its gate."""

_KEEPERS = (
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "jobs"),
    ("", "replicationcontrollers"),
)
_POD_SPECS: dict[tuple[str, str], list[str]] = {
    ("", "pods"): ["spec"],
    **{key: ["spec", "template", "spec"] for key in _KEEPERS},
}


def is_served(resource: Resource, workload_versions: tuple[str, ...], enabled: frozenset[str]) -> bool:
    if resource.group != "scheduling.k8s.io" or resource.version == "v1":
        return True
    return resource.version in workload_versions and (resource.plural != "compositepodgroups" or COMPOSITE in enabled)


def drop_disabled(
    enabled: frozenset[str],
    workload_versions: tuple[str, ...],
    resource: Resource,
    new: dict[str, Any],
    old: dict[str, Any] | None,
) -> None:
    for gate, path in GATED.get((resource.group, resource.version, resource.plural), ()):
        if gate not in enabled:
            _drop(new, old, path)
    pod_spec = _POD_SPECS.get(resource.shelf)
    if pod_spec is not None:
        for link in _unknown_links(workload_versions):
            for holder in _holders(new, pod_spec):
                if link in holder and not (
                    old is not None and any(link in before for before in _holders(old, pod_spec))
                ):
                    del holder[link]


@cache
def _unknown_links(workload_versions: tuple[str, ...]) -> tuple[str, ...]:
    """Links from a pod to its gang that the served generation does not have."""
    old = () if "v1alpha1" in workload_versions else ("workloadRef",)
    return old if {"v1alpha2", "v1beta1"} & set(workload_versions) else (*old, "schedulingGroup")


def _drop(new: dict[str, Any], old: dict[str, Any] | None, path: str) -> None:
    path, reset, value = path.partition("=")
    *parents, field = path.split(".")
    if old is not None and any(field in holder for holder in _holders(old, parents)):
        return
    for holder in _holders(new, parents):
        if reset:
            holder[field] = value or None
        else:
            holder.pop(field, None)


def _holders(obj: Any, parents: list[str]) -> Iterator[dict[str, Any]]:
    """Every object at a path."""
    if not isinstance(obj, dict):
        return
    if not parents:
        yield obj
        return
    name = parents[0]
    below = obj.get(name.removesuffix("[]"))
    for item in (below or []) if name.endswith("[]") else [below]:
        yield from _holders(item, parents[1:])
