"""A snapshot without names: what is needed to decide stays, what tells whose cluster it is goes.

Every name, label value and label key that is not well known becomes a code. Codes sort like the names they stand for,
so that ties fall as before and a redacted snapshot replays to the same decisions under other names. Amounts, times,
statuses and well-known labels are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gangline.scheduler.records import (
    BudgetRecord,
    ClaimRecord,
    ConfigMapRecord,
    DeviceId,
    GangRecord,
    GroupRecord,
    NodeRecord,
    PodSetRecord,
    PodTerm,
    QueueRecord,
    Requirement,
    SliceRecord,
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
    ClaimRecord: ("name", "namespace", "reserved_for"),
    SliceRecord: ("name", "node", "pool"),
    DeviceId: ("pool",),
    VolumeClaimRecord: ("name", "namespace", "storage_class", "owner"),
    StorageCapacityRecord: ("name", "storage_class"),
}
LABELS: Mapping[type, tuple[str, ...]] = {
    NodeRecord: ("labels",),
    TaskRecord: ("labels", "node_selector"),
    ClaimRecord: ("labels",),
}
KEYS: Mapping[type, tuple[str, ...]] = {
    TopologyRule: ("required", "preferred"),
    TopologyRecord: ("levels",),
    PodTerm: ("topology_key",),
    TaintRecord: ("key",),
    TolerationRecord: ("key",),
    Requirement: ("key",),
}
FIXED = ("default", "")

Rename = Callable[[str], str]


def redact(saved: Saved) -> Saved:
    """The same snapshot under codes. Problems name objects and are left out."""
    seen: set[str] = set()
    for record in saved.records:
        _walk(record, lambda text: _note(seen, text))
    codes = {text: f"x{place:07}" for place, text in enumerate(sorted(seen))}
    return replace(
        saved, records=tuple(_walk(record, lambda text: codes.get(text, text)) for record in saved.records), problems=()
    )


def _note(seen: set[str], text: str) -> str:
    if text not in FIXED:
        seen.add(text)
    return text


def _walk(value: Any, rename: Rename) -> Any:
    """A copy of a record with its names sent through `rename`."""
    if isinstance(value, tuple):
        return tuple(_walk(item, rename) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kind = type(value)
    changes: dict[str, Any] = {}
    for field in fields(value):
        changes[field.name] = _field(kind, field.name, getattr(value, field.name), rename, value)
    return replace(value, **changes)


def _field(kind: type, name: str, value: Any, rename: Rename, owner: Any) -> Any:
    if name in NAMES.get(kind, ()):
        return _renamed(value, rename)
    if name in KEYS.get(kind, ()):
        return _renamed(value, lambda text: text if well_known(text) else rename(text))
    if name in LABELS.get(kind, ()):
        return {_key(key, rename): _value(key, text, rename) for key, text in value.items()}
    if name == "annotations":
        return {key: text for key, text in value.items() if key in KEPT_ANNOTATIONS}
    if name in ("values", "value") and kind in (Requirement, TaintRecord, TolerationRecord):
        return _renamed(value, lambda text: _value(owner.key, text, rename))
    if name == "problems":
        return ("redacted",) if value else ()
    return _walk(value, rename)


def _renamed(value: Any, rename: Rename) -> Any:
    if isinstance(value, tuple):
        return tuple(rename(item) for item in value)
    return rename(value) if isinstance(value, str) else value


def _key(key: str, rename: Rename) -> str:
    return key if well_known(key) else rename(key)


def _value(key: str, text: str, rename: Rename) -> str:
    """Numbers are compared as numbers, truth values are read as such, and a few labels mean something to policies."""
    plain = text.lstrip("-").isdigit() or text in ("true", "false")
    return text if plain or any(known in key for known in READABLE_VALUES) else rename(text)


def well_known(key: str) -> bool:
    return any(known in key for known in WELL_KNOWN)
