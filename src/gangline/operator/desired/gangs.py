"""A gang's place and the pods that are there → the PodGang that should be.

podReferences grow as pods appear. Metadata outside `grove.io/` mirrors the set exactly; what a backend or Grove wrote
under it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.grove import PodCliqueSet, PodGang
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Raw, as_raw
from gangline.operator.desired import topology
from gangline.operator.desired.bounds import GROUPS_IN_A_GANG
from gangline.operator.desired.layout import CliquePlace, GangPlace, group_minimum, minimum
from gangline.operator.desired.metadata import labels, metadata

PodNames = Callable[[str], Sequence[str]]
"""Full clique name → names of its living pods that belong to this gang."""


@dataclass(frozen=True, slots=True)
class ChosenBackend:
    """The backend of a set, and the scheduler name Grove's own tools read."""

    backend: str
    scheduler_name: str


def pod_gang(
    pcs: PodCliqueSet,
    place: GangPlace,
    pods: PodNames,
    chosen: ChosenBackend,
    known: topology.Levels | None,
    live: PodGang | None = None,
) -> Raw:
    """`known` is None where topology-aware scheduling is off."""
    spec = _spec(pcs, place, pods, known)
    marks = (
        _mirror(live.labels if live else {}, pcs.labels)
        | labels(pcs.name, names.FOR_GANG)
        | {names.SCHEDULER_NAME: chosen.scheduler_name, names.SCHEDULER_BACKEND: chosen.backend}
    )
    notes = _mirror(live.annotations if live else {}, pcs.annotations)
    notes.pop(names.TOPOLOGY_NAME, None)
    if known is not None and _constrained(spec):
        notes[names.TOPOLOGY_NAME] = topology.topology_name(pcs)
    earlier = _earlier(pcs, place, live)
    if earlier is not None:
        spec["reuseReservationRef"] = earlier
    return {"metadata": metadata(place.name, POD_CLIQUE_SET, pcs, marks, annotations=notes), "spec": spec}


def _earlier(pcs: PodCliqueSet, place: GangPlace, live: PodGang | None) -> Raw | None:
    """The gang whose places are to be used again: the same one of the set that is named, else what somebody wrote on
    the gang."""
    former = pcs.annotations.get(names.REUSE_PLACES, "")
    if former:
        return {"namespace": pcs.namespace, "name": f"{former}{place.name.removeprefix(pcs.name)}"}
    return (
        as_raw(live.spec.reuse_reservation_ref)
        if live is not None and live.spec.reuse_reservation_ref is not None
        else None
    )


def _mirror(live: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    ours = {key: value for key, value in live.items() if key.startswith(names.RESERVED_LABELS)}
    return ours | {
        key: value
        for key, value in wanted.items()
        if not key.startswith(names.RESERVED_LABELS) and key != names.LAST_APPLIED
    }


def _constrained(spec: Raw) -> bool:
    parts = [spec, *spec["podgroups"], *spec.get("topologyConstraintGroupConfigs", ())]
    return any("topologyConstraint" in part for part in parts)


def _spec(pcs: PodCliqueSet, place: GangPlace, pods: PodNames, known: topology.Levels | None) -> Raw:
    spec: Raw = {"podgroups": [_group(pcs, member, pods, known) for member in place.members]}
    if pcs.spec.template.priority_class_name:
        spec["priorityClassName"] = pcs.spec.template.priority_class_name
    if known is None:
        return spec
    own = place.group.topology_constraint if place.group else None
    constraint = topology.translate(own if own is not None else pcs.spec.template.topology_constraint, known)
    if constraint:
        spec["topologyConstraint"] = constraint
    configs = _configs(pcs, place, known)
    if configs:
        spec["topologyConstraintGroupConfigs"] = configs
    return spec


def _group(pcs: PodCliqueSet, member: CliquePlace, pods: PodNames, known: topology.Levels | None) -> Raw:
    references = [{"namespace": pcs.namespace, "name": name} for name in sorted(pods(member.name))]
    group: Raw = {"name": member.name, "podReferences": references, "minReplicas": minimum(member.template)}
    constraint = topology.translate(member.template.topology_constraint, known) if known is not None else None
    return group | ({"topologyConstraint": constraint} if constraint else {})


def _configs(pcs: PodCliqueSet, place: GangPlace, known: topology.Levels) -> list[Raw]:
    """One entry per replica of each constrained scaling group in a base gang."""
    configs: list[Raw] = []
    members: dict[tuple[str, int], list[str]] = {}
    for member in place.members:
        members.setdefault((member.group_name, member.group_replica), []).append(member.name)
    for group in pcs.spec.template.pod_clique_scaling_groups if place.base else ():
        if group.topology_constraint is None:
            continue
        group_name = names.scaling_group(pcs.name, place.replica, group.name)
        constraint = topology.translate(group.topology_constraint, known)
        packed = {"topologyConstraint": constraint} if constraint else {}
        configs += [
            {"name": f"{group_name}-{index}", "podGroupNames": members.get((group_name, index), [])} | packed
            for index in range(min(group_minimum(group), GROUPS_IN_A_GANG))
        ]
    return configs
