"""A snapshot without names: what is needed to decide stays, what tells whose cluster it is goes.

Every name, label value and label key that is not well known becomes a code. Codes sort like the names they stand for,
so that ties fall as before and a redacted snapshot replays to the same decisions under other names. Amounts, times,
statuses and well-known labels are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gangline.rules.requests import GpuRequest
from gangline.scheduler.records import (
    BudgetRecord,
    ClaimRecord,
    ConfigMapRecord,
    ContainerRecord,
    DeviceClassRecord,
    DeviceConstraint,
    DeviceId,
    DeviceRecord,
    DeviceRequest,
    ExtendedNeed,
    GangRecord,
    GroupRecord,
    HostPort,
    NodeRecord,
    PodSetRecord,
    PodTerm,
    QueueRecord,
    Requirement,
    SliceRecord,
    SpreadTerm,
    StorageCapacityRecord,
    TaintRecord,
    TaskRecord,
    TolerationRecord,
    TopologyRecord,
    TopologyRule,
    VolumeClaimRecord,
)
from gangline.scheduler.snapshots.whole import Saved

WELL_KNOWN = (
    "kubernetes.io/",
    "k8s.io/",
    "nvidia.com/",
    "amd.com/",
    "kai.scheduler/",
    "run.ai/",
    "runai",
    "kubeflow.org/",
    "ray.io/",
)
READABLE_VALUES = (
    "kai.scheduler/task-priority",
    "training.kubeflow.org/job-role",
    "ray.io/node-type",
    "nvidia.com/",
    "node-role.kubernetes.io/",
)
KEPT_ANNOTATIONS = ("kai.scheduler/numa-placement-observed", "kai.scheduler/numa-placement-predicted")

NAMES: Mapping[type, tuple[str, ...]] = {
    NodeRecord: ("name",),
    QueueRecord: ("name", "parent", "display_name"),
    GangRecord: ("uid", "queue", "name", "namespace", "workload"),
    GroupRecord: ("name",),
    PodSetRecord: ("name",),
    TopologyRule: ("topology",),
    TopologyRecord: ("name",),
    TaskRecord: (
        "uid",
        "gang",
        "name",
        "namespace",
        "pod_set",
        "node",
        "gpu_groups",
        "priority_class",
        "volumes",
        "config_maps",
        "claims",
        "missing_claims",
        "template_claims",
        "nominated_node",
        "signature",
    ),
    PodTerm: ("namespaces",),
    ConfigMapRecord: ("name", "namespace"),
    BudgetRecord: ("name", "namespace"),
    ClaimRecord: ("name", "namespace", "reserved_for", "pod"),
    SliceRecord: ("name", "node", "pool"),
    DeviceClassRecord: ("name",),
    DeviceRecord: ("device_class", "node"),
    DeviceRequest: ("name", "device_class"),
    DeviceId: ("pool",),
    ExtendedNeed: ("container",),
    HostPort: ("ip",),
    VolumeClaimRecord: ("name", "namespace", "storage_class", "owner"),
    StorageCapacityRecord: ("name", "storage_class"),
}
AMOUNTS: Mapping[type, tuple[str, ...]] = {
    NodeRecord: ("allocatable", "gpu_resources"),
    TaskRecord: ("request", "overhead", "gpu_resources"),
    ContainerRecord: ("requests",),
}
"""By the names of resources, of which some are somebody's own."""
RESOURCES: Mapping[type, tuple[str, ...]] = {ExtendedNeed: ("resource",), DeviceClassRecord: ("resource",)}
PLAIN_RESOURCES = ("cpu", "memory", "gpu", "pods", "ephemeral-storage")
PARTED: Mapping[type, tuple[str, ...]] = {DeviceConstraint: ("requests",), DeviceId: ("request",)}
COUNTS: Mapping[type, tuple[str, ...]] = {GpuRequest: ("dra",)}
DROPPED: Mapping[type, tuple[str, ...]] = {ClaimRecord: ("config",), DeviceClassRecord: ("config",)}
"""What only drivers read, and may say anything."""
LABELS: Mapping[type, tuple[str, ...]] = {
    NodeRecord: ("labels",),
    TaskRecord: ("labels", "node_selector"),
    ClaimRecord: ("labels",),
}
KEYS: Mapping[type, tuple[str, ...]] = {
    TopologyRule: ("required", "preferred"),
    TopologyRecord: ("levels",),
    PodTerm: ("topology_key",),
    SpreadTerm: ("topology_key",),
    TaintRecord: ("key",),
    TolerationRecord: ("key",),
    Requirement: ("key",),
}
FIXED = ("default", "", "0.0.0.0", "::")

Rename = Callable[[str], str]


def redact(saved: Saved) -> Saved:
    """The same snapshot under codes. Problems name objects and are left out."""
    names = NameCodes()
    for record in saved.records:
        renamed(record, names.note)
    return replace(saved, records=tuple(renamed(record, names.code) for record in saved.records), problems=())


class NameCodes:
    """Takes note of names first, then knows their codes."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._codes: dict[str, str] = {}

    def note(self, text: str) -> str:
        if text not in FIXED:
            self._seen.add(text)
        return text

    def code(self, text: str) -> str:
        if len(self._codes) != len(self._seen):
            self._codes = {text: f"x{place:07}" for place, text in enumerate(sorted(self._seen))}
        return self._codes.get(text, text)


def renamed(value: Any, rename: Rename) -> Any:
    """A copy of a record with its names sent through `rename`."""
    if isinstance(value, tuple):
        return tuple(renamed(item, rename) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kind = type(value)
    changes: dict[str, Any] = {}
    for field in fields(value):
        changes[field.name] = _field(kind, field.name, getattr(value, field.name), rename, value)
    return replace(value, **changes)


def _field(kind: type, name: str, value: Any, rename: Rename, owner: Any) -> Any:
    for table, code in CODED:
        if name in table.get(kind, ()):
            return code(value, rename)
    if kind in VALUED and name in ("values", "value"):
        return _renamed(value, lambda text: _value(owner.key, text, rename))
    if name == "annotations":
        return {key: text for key, text in value.items() if key in KEPT_ANNOTATIONS}
    if name == "problems":
        return ("redacted",) if value else ()
    return renamed(value, rename)


def _renamed(value: Any, rename: Rename) -> Any:
    if isinstance(value, tuple):
        return tuple(rename(item) for item in value)
    return rename(value) if isinstance(value, str) else value


def _in_parts(value: Any, rename: Rename) -> Any:
    """A request of a claim may be named together with the choice that stands for it."""
    return _renamed(value, lambda text: "/".join(rename(part) for part in text.split("/")))


def _keys(value: Any, rename: Rename) -> Any:
    return _renamed(value, lambda text: _key(text, rename))


def _labels(value: Mapping[str, str], rename: Rename) -> Any:
    return {_key(key, rename): _value(key, text, rename) for key, text in value.items()}


def _counts(value: Mapping[str, Any], rename: Rename) -> Any:
    return {rename(key): count for key, count in value.items()}


def _amounts(value: Mapping[str, Any], rename: Rename) -> Any:
    return {resource_code(key, rename): amount for key, amount in value.items()}


def _dropped(value: Any, rename: Rename) -> Any:
    return ()


def resource_code(name: str, rename: Rename) -> str:
    return name if name in PLAIN_RESOURCES or name.startswith("hugepages-") else _key(name, rename)


def _key(key: str, rename: Rename) -> str:
    return key if well_known(key) else rename(key)


def _value(key: str, text: str, rename: Rename) -> str:
    """Numbers are compared as numbers, truth values are read as such, and a few labels mean something to policies."""
    plain = text.lstrip("-").isdigit() or text in ("true", "false")
    return text if plain or any(known in key for known in READABLE_VALUES) else rename(text)


def well_known(key: str) -> bool:
    return any(known in key for known in WELL_KNOWN)


VALUED = (Requirement, TaintRecord, TolerationRecord)
CODED: tuple[tuple[Mapping[type, tuple[str, ...]], Callable[[Any, Rename], Any]], ...] = (
    (NAMES, _renamed),
    (PARTED, _in_parts),
    (KEYS, _keys),
    (LABELS, _labels),
    (COUNTS, _counts),
    (AMOUNTS, _amounts),
    (RESOURCES, resource_code),
    (DROPPED, _dropped),
)
"""How the fields of each table are coded."""
