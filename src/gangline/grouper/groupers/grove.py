"""Pods of a PodCliqueSet: the PodGang that a pod's label names is the group.

Each of the gang's pod groups becomes a leaf, each of its topology group configs a parent above the leaves it lists.
What the set itself says is added where the gang says nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import POD_GANG
from gangline.api.meta import Raw
from gangline.errors import ApiError
from gangline.grouper import fields, owners
from gangline.grouper.groupers.base import PREEMPTIBILITIES, base, delay
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping, GroupPart, GroupTopology, Ungroupable
from gangline.grouper.look import GrouperView


class GroveGrouper(Grouper):
    kinds = ("grove.io/v1alpha1 PodCliqueSet", "grove.io/v1alpha1 PodGangSet")
    reads = (
        "grove.io/v1alpha1 PodClique",
        "grove.io/v1alpha1 PodCliqueScalingGroup",
        "scheduler.grove.io/v1alpha1 PodGang",
    )

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        gang = _gang(pod, read)
        topology = _topology(gang)
        levels = _levels(gang, topology, "spec", "topologyConstraint", "packConstraint")
        grouping = base(pod, _heard(gang, owner, read), read)
        grouping = replace(
            grouping,
            placement=levels or grouping.placement,
            priority_class=_or(fields.text(gang, "spec", "priorityClassName"), grouping.priority_class),
        )
        grouping = _with_set(grouping, owner)
        parents, parent_of = _parents(gang, topology)
        leaves = [_leaf(item, place, pod, topology, parent_of) for place, item in enumerate(_groups(gang))]
        mine = next((part.name for part, members in leaves if pod.name in members), "")
        parts = (*parents, *(part for part, _ in leaves))
        return replace(grouping, parts=parts, minimum=sum(part.minimum for part, _ in leaves), leaf=mine)


def _or(value: str | None, otherwise: str) -> str:
    return otherwise if value is None else value


def _gang(pod: Pod, read: GrouperView) -> Raw:
    name = pod.labels.get(names.POD_GANG)
    if name is None:
        raise Ungroupable(f"pod {pod.namespace}/{pod.name} has no label {names.POD_GANG} that names its PodGang")
    try:
        return read.get(POD_GANG.api_version, POD_GANG.kind, pod.namespace, name)
    except ApiError as error:
        raise Ungroupable(f"PodGang {pod.namespace}/{name} of pod {pod.name} cannot be read: {error}") from error


def _heard(gang: Raw, owner: Raw, read: GrouperView) -> Raw:
    """The gang, with the set's queue and staleness grace where it has none."""
    if read.settings.manner.gang_ignores_set:
        return gang
    return owners.with_missing(gang, owner)


def _topology(gang: Raw) -> str:
    annotations = owners.annotations_of(gang)
    return annotations.get(names.TOPOLOGY_NAME, annotations.get(names.TOPOLOGY, ""))


def _levels(obj: Raw, topology: str, *path: str) -> GroupTopology | None:
    preferred, required = fields.text(obj, *path, "preferred"), fields.text(obj, *path, "required")
    if preferred is None and required is None:
        return None
    if not topology:
        raise Ungroupable(
            f"{'.'.join(path)} names topology levels but no topology: set annotation {names.TOPOLOGY_NAME}"
        )
    return GroupTopology(topology, required or "", preferred or "")


def _with_set(grouping: Grouping, owner: Raw) -> Grouping:
    """Labels and annotations of the set where the gang has none, and what follows from them."""
    labels = owners.labels_of(owner) | grouping.labels
    annotations = owners.annotations_of(owner) | grouping.annotations
    preemptibility = labels.get(names.PREEMPTIBILITY, grouping.preemptibility)
    if preemptibility not in PREEMPTIBILITIES:
        raise Ungroupable(
            f"label {names.PREEMPTIBILITY} of {owners.title(owner)} must be preemptible or non-preemptible, "
            f"not {preemptibility!r}"
        )
    placement = grouping.placement
    return replace(
        grouping,
        labels=labels,
        annotations=annotations,
        preemptibility=preemptibility,
        priority_class=labels.get(names.PRIORITY_CLASS, grouping.priority_class),
        preemption_delay=delay(annotations.get(names.PREEMPTION_DELAY)) or grouping.preemption_delay,
        placement=GroupTopology(
            placement.topology or annotations.get(names.TOPOLOGY, ""),
            placement.required or annotations.get(names.TOPOLOGY_REQUIRED, ""),
            placement.preferred or annotations.get(names.TOPOLOGY_PREFERRED, ""),
        ),
    )


def _groups(gang: Raw) -> Iterable[Raw]:
    return _objects(gang, "podgroups")


def _objects(gang: Raw, name: str) -> Iterable[Raw]:
    for place, item in enumerate(fields.items(gang, "spec", name) or ()):
        if not isinstance(item, dict):
            raise Ungroupable(f"spec.{name}[{place}] of {owners.title(gang)} must be an object, not {item!r}")
        yield item


def _parents(gang: Raw, topology: str) -> tuple[list[GroupPart], dict[str, str]]:
    parents: list[GroupPart] = []
    parent_of: dict[str, str] = {}
    for place, config in enumerate(_objects(gang, "topologyConstraintGroupConfigs")):
        name = _named(config, f"spec.topologyConstraintGroupConfigs[{place}]")
        listed = _texts(config, "podGroupNames")
        if not listed:
            continue
        parent_of |= dict.fromkeys(listed, name)
        parents.append(
            GroupPart(
                name, children=len(listed), placement=_levels(config, topology, "topologyConstraint", "packConstraint")
            )
        )
    return parents, parent_of


def _texts(config: Raw, name: str) -> list[str]:
    listed = fields.items(config, name) or []
    if not all(isinstance(item, str) for item in listed):
        raise Ungroupable(f"{name} must be a list of names, not {listed!r}")
    return listed


def _named(obj: Raw, where: str) -> str:
    name = fields.text(obj, "name")
    if name is None:
        raise Ungroupable(f"{where} has no name")
    return name


def _leaf(group: Raw, place: int, pod: Pod, topology: str, parent_of: dict[str, str]) -> tuple[GroupPart, list[str]]:
    """One pod group as a leaf, and the names of its pods."""
    where = f"spec.podgroups[{place}]"
    name = _named(group, where)
    minimum = fields.integer(group, "minReplicas")
    if minimum is None or minimum <= 0:
        raise Ungroupable(f"{where}.minReplicas must be at least 1, not {minimum}")
    references = fields.items(group, "podReferences")
    if references is None:
        raise Ungroupable(f"{where} has no podReferences")
    members = [
        _member(reference, f"{where}.podReferences[{at}]", pod.namespace) for at, reference in enumerate(references)
    ]
    placed = _levels(group, topology, "topologyConstraint", "packConstraint")
    return GroupPart(name, minimum, parent=parent_of.get(name), placement=placed), members


def _member(reference: object, where: str, namespace: str) -> str:
    """The name of a referenced pod; a gang may not reach into another namespace."""
    if not isinstance(reference, dict):
        raise Ungroupable(f"{where} must be an object, not {reference!r}")
    its_namespace, name = fields.text(reference, "namespace"), fields.text(reference, "name")
    if its_namespace is None or name is None:
        raise Ungroupable(f"{where} needs a namespace and a name")
    if its_namespace != namespace:
        raise Ungroupable(
            f"{where} names pod {its_namespace}/{name}; a PodGang may only name pods of its namespace {namespace}"
        )
    return name
