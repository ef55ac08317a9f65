"""Ray: the head and each worker group of the cluster are sub-groups, whether a cluster, a job or a service started it.

Sizes come from the RayCluster; name, queue and everything else from the object that a person made. Groups made by older
releases stay flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import fields, owners
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping, GroupPart, GroupTopology, Ungroupable
from gangline.grouper.look import GrouperView

NODE_GROUP, HEAD, PRIORITY = "ray.io/group", "headgroup", "ray.io/priority-class-name"


@dataclass(frozen=True, slots=True)
class RayGrouper(Grouper):
    kinds: Sequence[str]
    cluster_paths: Sequence[tuple[str, ...]] = ()
    """Where the owner names its cluster, first found first; none: it is the cluster."""
    reads: Sequence[str] = ("ray.io/v1 RayCluster",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        parts = _parts(self._cluster(owner, read), read)
        grouping = replace(base(pod, owner, read), minimum=sum(part.minimum for part in parts))
        priority = owners.labels_of(owner).get(PRIORITY)
        if priority is not None:
            grouping = replace(grouping, priority_class=priority)
        live = read.pod_group(grouping.namespace, grouping.name)
        if live is not None and not live.spec.sub_groups:
            return grouping
        leaf = pod.labels.get(NODE_GROUP, "")
        return replace(grouping, parts=parts, leaf=leaf if leaf in [part.name for part in parts] else "")

    def _cluster(self, owner: Raw, read: GrouperView) -> Raw:
        if not self.cluster_paths:
            return owner
        cluster_names = (fields.text(owner, *path) for path in self.cluster_paths)
        name = next((cluster_name for cluster_name in cluster_names if cluster_name is not None), "")
        if not name:
            raise Ungroupable(
                f"{owners.title(owner)} names no RayCluster in its status yet: is the ray operator running?"
            )
        return read.get(owner["apiVersion"], "RayCluster", owner["metadata"]["namespace"], name)


def _parts(cluster: Raw, read: GrouperView) -> tuple[GroupPart, ...]:
    head = fields.mapping(cluster, "spec", "headGroupSpec") or {}
    parts = [GroupPart(HEAD, 1, placement=_placement(head, "headGroupSpec"))]
    for place, group in enumerate(fields.items(cluster, "spec", "workerGroupSpecs") or ()):
        if not isinstance(group, dict):
            raise Ungroupable(
                f"spec.workerGroupSpecs[{place}] of {owners.title(cluster)} must be an object, not {group!r}"
            )
        minimum = _minimum(group, place, read)
        if minimum is not None:
            name = _name(group, place)
            parts.append(GroupPart(name, minimum, placement=_placement(group, f"workerGroupSpecs.{name}")))
    return tuple(parts)


def _minimum(group: Raw, place: int, read: GrouperView) -> int | None:
    """Pods this worker group needs at least; None: it takes no part."""
    if _suspended(group, read):
        return None
    replicas = fields.integer(group, "replicas") or 0
    least = fields.integer(group, "minReplicas") or 0
    if least > replicas:
        raise Ungroupable(
            f"spec.workerGroupSpecs[{place}]: replicas ({replicas}) must not be less than minReplicas ({least})"
        )
    if not least and not replicas:
        return None
    hosts = fields.integer(group, "numOfHosts")
    return (least if least > 0 else replicas) * (1 if hosts is None else hosts)


def _suspended(group: Raw, read: GrouperView) -> bool:
    keys = ("suspended",) if read.settings.manner.ray_suspended_only else ("suspended", "suspend")
    return any(fields.boolean(group, key) for key in keys)


def _name(group: Raw, place: int) -> str:
    try:
        return fields.text(group, "groupName") or f"worker-group-{place}"
    except Ungroupable:
        return f"worker-group-{place}"


def _placement(group: Any, where: str) -> GroupTopology | None:
    topology, required, preferred = (
        fields.text(group, "template", "metadata", "annotations", key) or ""
        for key in (names.TOPOLOGY, names.TOPOLOGY_REQUIRED, names.TOPOLOGY_PREFERRED)
    )
    if not required and not preferred:
        return None
    if not topology:
        raise Ungroupable(
            f"{where} asks for a topology level but names no topology: annotate its template with {names.TOPOLOGY}"
        )
    return GroupTopology(topology, required, preferred)
