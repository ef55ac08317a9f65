"""A PodGang and the objects around it → the PodGangInfo that every backend understands. Pure; asks nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import GangPack, GangTopology, PodCliqueSet, PodGang, PodReference
from gangline.api.kinds import POD, Kind
from gangline.api.meta import Object
from gangline.operator.backends import Selection
from gangline.operator.backends.contract import Facts, GroupInfo, ParentInfo, PodGangInfo
from gangline.operator.desired.layout import gang_place

if TYPE_CHECKING:
    from gangline.runtime import Reader


def gang_info(
    gang: PodGang,
    pcs: PodCliqueSet,
    selection: Selection,
    facts: Facts,
    live: Sequence[tuple[Kind[Any], Object]] = (),
    pods: Sequence[Pod] = (),
) -> PodGangInfo:
    """The backend-neutral description of a gang, from objects that are already here."""
    spec = gang.spec
    parents = {
        name: config.name for config in spec.topology_constraint_group_configs for name in config.pod_group_names
    }
    members: dict[str, list[Pod]] = {}
    for pod in pods:
        members.setdefault(pod.labels.get(names.POD_CLIQUE, ""), []).append(pod)
    place = gang_place(pcs, gang.name)
    templates = {member.name: member.template for member in place.members} if place is not None else {}
    before = _former_places(facts.read, spec.reuse_reservation_ref)
    prefix = f"{names.set_replica(pcs.name, place.replica)}-" if place is not None else ""
    groups = tuple(
        GroupInfo(
            group.name,
            group.min_replicas,
            tuple(members.get(group.name, ())),
            _pack(group.topology_constraint),
            parents.get(group.name, ""),
            templates.get(group.name),
            before.get(group.name.removeprefix(prefix), ()),
        )
        for group in spec.podgroups
    )
    return PodGangInfo(
        gang.name,
        gang.namespace,
        gang.uid,
        groups,
        tuple(
            ParentInfo(config.name, config.pod_group_names, _pack(config.topology_constraint))
            for config in spec.topology_constraint_group_configs
        ),
        _pack(spec.topology_constraint),
        gang.annotations.get(names.TOPOLOGY_NAME, ""),
        spec.priority_class_name,
        spec.reuse_reservation_ref,
        selection.scheduler_name,
        _passed_on(gang.labels),
        _passed_on(gang.annotations),
        tuple(live),
        pcs,
        facts,
    )


def _former_places(read: Reader | None, earlier: PodReference | None) -> dict[str, tuple[str, ...]]:
    """The nodes of an earlier gang, by group; a group's name counts without its set and replica."""
    nodes_by_group: dict[str, dict[str, None]] = {}
    for pod in (
        read.by(POD, "gang", f"{earlier.namespace}/{earlier.name}") if read is not None and earlier is not None else ()
    ):
        if pod.spec.node_name:
            prefix = f"{pod.labels.get(names.PART_OF, '')}-{pod.labels.get(names.SET_REPLICA, '')}-"
            group = pod.labels.get(names.POD_CLIQUE, "").removeprefix(prefix)
            nodes_by_group.setdefault(group, {})[pod.spec.node_name] = None
    return {group: tuple(sorted(nodes)) for group, nodes in nodes_by_group.items()}


def _passed_on(marks: Mapping[str, str]) -> dict[str, str]:
    """A gang's labels or annotations as its translation carries them."""
    return {key: value for key, value in marks.items() if key not in (names.SCHEDULER_BACKEND, names.LAST_APPLIED)}


def _pack(constraint: GangTopology | None) -> GangPack | None:
    return constraint.pack_constraint if constraint is not None else None
