"""A Grouping as API objects: the PodGroup to create, or the smallest change to the one that is there.

Strict about whose fields are whose. Queue, back-off and marking belong to the user after a PodGroup's creation,
as do its node pool and a topology that the workload does not ask for; labels and annotations are added, never taken
away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.meta import Raw, as_raw
from gangline.grouper.grouping import Grouping, GroupPart, GroupTopology
from gangline.grouper.settings import GrouperSettings

OWNED = (
    "minMember",
    "minSubGroup",
    "priorityClassName",
    "preemptibility",
    "preemptionDelay",
    "stalenessGracePeriod",
    "subGroups",
)


def new_object(grouping: Grouping) -> Raw:
    spec = _spec(grouping) | {"topologyConstraint": _levels(grouping.placement)}
    if grouping.queue:
        spec["queue"] = grouping.queue
    return {
        "metadata": {
            "name": grouping.name,
            "namespace": grouping.namespace,
            "labels": grouping.labels,
            "annotations": grouping.annotations,
            "ownerReferences": [grouping.owner],
        },
        "spec": spec,
    }


def _spec(grouping: Grouping) -> Raw:
    """The fields that follow the workload, without those that are empty."""
    spec: Raw = _minimum(grouping.minimum, grouping.children)
    optional = {
        "priorityClassName": grouping.priority_class,
        "preemptibility": grouping.preemptibility,
        "preemptionDelay": grouping.preemption_delay,
        "stalenessGracePeriod": grouping.staleness_grace,
        "subGroups": [_part(part) for part in grouping.parts],
    }
    return spec | {key: value for key, value in optional.items() if value}


def _minimum(pods: int, children: int | None) -> Raw:
    return {"minMember": pods} if children is None else {"minSubGroup": children}


def _part(part: GroupPart) -> Raw:
    written: Raw = {"name": part.name} | _minimum(part.minimum, part.children)
    if part.parent is not None:
        written["parent"] = part.parent
    if part.placement is not None:
        written["topologyConstraint"] = _levels(part.placement)
    return written


def _levels(placement: GroupTopology) -> Raw:
    levels = {
        "topology": placement.topology,
        "requiredTopologyLevel": placement.required,
        "preferredTopologyLevel": placement.preferred,
    }
    return {key: value for key, value in levels.items() if value}


def change(live: PodGroup, grouping: Grouping, settings: GrouperSettings) -> Raw | None:
    """The merge patch that brings a live group up to date; None: it is."""
    grouping = _without_foreign(live, grouping, settings)
    meta: Raw = _added("labels", grouping.labels, live.labels) | _added(
        "annotations", grouping.annotations, live.annotations
    )
    if [as_raw(owner) for owner in live.metadata.owner_references] != [grouping.owner]:
        meta["ownerReferences"] = [grouping.owner]
    spec = _spec_change(_written_spec(live), grouping)
    if not meta and not spec:
        return None
    meta["resourceVersion"] = live.metadata.resource_version
    return {"metadata": meta, "spec": {"topologyConstraint": {}} | spec}


def _without_foreign(live: PodGroup, grouping: Grouping, settings: GrouperSettings) -> Grouping:
    """The grouping without labels that others may have taken over."""
    labels = dict(grouping.labels)
    labels.pop(settings.node_pool_label, None)
    if settings.queue_label in live.labels:
        labels.pop(settings.queue_label, None)
    return replace(grouping, labels=labels)


def _added(name: str, wanted: dict[str, str], live: dict[str, str]) -> Raw:
    missing = {key: value for key, value in wanted.items() if live.get(key) != value}
    return {name: missing} if missing else {}


def _written_spec(live: PodGroup) -> Raw:
    """The live spec in the form in which `_spec` writes it."""
    spec: Raw = as_raw(live.spec)
    return spec | ({"subGroups": list(spec["subGroups"])} if spec.get("subGroups") else {})


def _spec_change(live: Raw, grouping: Grouping) -> Raw:
    wanted = _spec(grouping)
    changed: Raw = {key: wanted.get(key) for key in OWNED if wanted.get(key) != live.get(key)}
    if grouping.placement.topology:
        levels = _nested(_levels(grouping.placement), live.get("topologyConstraint") or {})
        changed |= {"topologyConstraint": levels} if levels else {}
    return changed


def _nested(wanted: Raw, live: Raw) -> Raw:
    keys = sorted(wanted.keys() | live.keys())
    return {key: wanted.get(key) for key in keys if wanted.get(key) != live.get(key)}


def pod_change(pod: Pod, grouping: Grouping) -> Raw | None:
    """The merge patch that puts a pod into its group and leaf; a leaf is never taken away."""
    meta: dict[str, Any] = {}
    if pod.annotations.get(names.POD_GROUP_NAME) != grouping.name:
        meta["annotations"] = {names.POD_GROUP_NAME: grouping.name}
    if grouping.leaf and pod.labels.get(names.SUB_GROUP) != grouping.leaf:
        meta["labels"] = {names.SUB_GROUP: grouping.leaf}
    return {"metadata": meta} if meta else None


def revision(group: PodGroup) -> int:
    """Of two looks at a group the one with the higher number is newer."""
    return int(group.metadata.resource_version or 0)
