"""Which cliques, scaling groups and gangs a PodCliqueSet asks for, by name.

The first thought of every reconcile: a set and the live sizes of its scaling groups in, a list of places out. A place
says where a PodClique belongs (replica, group, gang) and which template it comes from; the builders beside this file
turn places into objects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from gangline.api import names
from gangline.api.grove import CliqueTemplate, PodClique, PodCliqueSet, ScalingGroupConfig
from gangline.operator.desired.bounds import GROUPS_IN_A_GANG, number
from gangline.operator.memory.remembered import remembered


@dataclass(frozen=True, slots=True)
class CliquePlace:
    """One PodClique that should be there."""

    name: str
    template: CliqueTemplate
    replica: int
    gang: str
    group: ScalingGroupConfig | None = None
    group_name: str = ""
    group_replica: int = 0
    base_gang: str = ""
    """Set for members of a scaled gang, which waits for this one."""


@dataclass(frozen=True, slots=True)
class GangPlace:
    """One PodGang that should be there, and the cliques it holds."""

    name: str
    replica: int
    members: tuple[CliquePlace, ...]
    group: ScalingGroupConfig | None = None
    """Set for a scaled gang."""

    @property
    def base(self) -> bool:
        return self.group is None


def standalone(pcs: PodCliqueSet) -> tuple[CliqueTemplate, ...]:
    """The cliques of no scaling group, in the set's order."""
    grouped = {name for group in pcs.spec.template.pod_clique_scaling_groups for name in group.clique_names}
    return tuple(template for template in pcs.spec.template.cliques if template.name not in grouped)


def template_of(pcs: PodCliqueSet, name: str) -> CliqueTemplate | None:
    return next((template for template in pcs.spec.template.cliques if template.name == name), None)


def group_of(pcs: PodCliqueSet, name: str) -> ScalingGroupConfig | None:
    return next((group for group in pcs.spec.template.pod_clique_scaling_groups if group.name == name), None)


def group_containing(pcs: PodCliqueSet, clique: str) -> ScalingGroupConfig | None:
    return next((group for group in pcs.spec.template.pod_clique_scaling_groups if clique in group.clique_names), None)


def minimum(template: CliqueTemplate) -> int:
    spec = template.spec
    return spec.replicas if spec.min_available is None else spec.min_available


def group_minimum(group: ScalingGroupConfig) -> int:
    return 1 if group.min_available is None else group.min_available


def group_replicas(group: ScalingGroupConfig) -> int:
    return 1 if group.replicas is None else group.replicas


def standalone_places(pcs: PodCliqueSet, replica: int) -> tuple[CliquePlace, ...]:
    return _standalone_places(pcs, standalone(pcs), replica)


def _standalone_places(
    pcs: PodCliqueSet, templates: tuple[CliqueTemplate, ...], replica: int
) -> tuple[CliquePlace, ...]:
    gang = names.set_replica(pcs.name, replica)
    return tuple(
        CliquePlace(names.standalone_clique(pcs.name, replica, template.name), template, replica, gang)
        for template in templates
    )


def places_by_replica(pcs: PodCliqueSet, size: int) -> list[tuple[CliquePlace, ...]]:
    """The standalone cliques of the first replicas that a set asks for, replica by replica."""
    templates, known = standalone(pcs), remembered(pcs, "places", list[tuple[CliquePlace, ...]])
    known += [_standalone_places(pcs, templates, replica) for replica in range(len(known), size)]
    return known[:size]


def group_places(pcs: PodCliqueSet, replica: int, group: ScalingGroupConfig, index: int) -> tuple[CliquePlace, ...]:
    """The cliques of one replica of a scaling group."""
    group_name = names.scaling_group(pcs.name, replica, group.name)
    base = names.set_replica(pcs.name, replica)
    surplus = index - group_minimum(group)
    gang = base if surplus < 0 else names.scaled_gang(group_name, surplus)
    return tuple(
        CliquePlace(
            names.grouped_clique(group_name, index, template.name),
            template,
            replica,
            gang,
            group,
            group_name,
            index,
            base_gang=base if surplus >= 0 else "",
        )
        for name in group.clique_names
        if (template := template_of(pcs, name)) is not None
    )


def gang_places(pcs: PodCliqueSet, sizes: Mapping[str, int]) -> Iterator[GangPlace]:
    """Every gang of the set; `sizes` holds the live replicas of scaling groups by name, where they exist."""
    for replica in range(pcs.spec.replicas):
        yield base_gang(pcs, replica)
        for group in pcs.spec.template.pod_clique_scaling_groups:
            size = sizes.get(names.scaling_group(pcs.name, replica, group.name), group_replicas(group))
            for index in range(group_minimum(group), size):
                yield scaled_gang(pcs, replica, group, index)


def missing_gangs(
    pcs: PodCliqueSet, size: int, sizes: Mapping[str, int], live: Collection[str], most: int
) -> list[str]:
    """Names of gangs of the first replicas that are not there: every base gang, and at most so many scaled ones."""

    def scaled() -> Iterator[str]:
        for replica in range(size):
            for group in pcs.spec.template.pod_clique_scaling_groups:
                group_name, least = names.scaling_group(pcs.name, replica, group.name), group_minimum(group)
                for index in range(least, sizes.get(group_name, group_replicas(group))):
                    yield names.scaled_gang(group_name, index - least)

    base = (names.set_replica(pcs.name, replica) for replica in range(size))
    return [
        *(name for name in base if name not in live),
        *islice((name for name in scaled() if name not in live), max(most, 0)),
    ]


def asks_for_gang(pcs: PodCliqueSet, name: str, sizes: Mapping[str, int]) -> bool:
    """Whether a gang of that name belongs to the set as it is now."""
    parts = _gang_parts(pcs, name)
    if parts is None or parts[0] >= pcs.spec.replicas:
        return False
    replica, group, index = parts
    return group is None or index < sizes.get(names.scaling_group(pcs.name, replica, group.name), group_replicas(group))


def groups_in_base_gang(pcs: PodCliqueSet) -> int:
    """How many groups the base gang of each replica has."""
    template = pcs.spec.template
    return len(standalone(pcs)) + sum(
        group_minimum(group) * len(group.clique_names) for group in template.pod_clique_scaling_groups
    )


def pods_in_base_gang(pcs: PodCliqueSet) -> int:
    """How many pods the base gang of each replica starts with."""
    sizes = {template.name: template.spec.replicas for template in pcs.spec.template.cliques}
    grouped = sum(
        group_minimum(group) * sum(sizes.get(name, 0) for name in group.clique_names)
        for group in pcs.spec.template.pod_clique_scaling_groups
    )
    return grouped + sum(template.spec.replicas for template in standalone(pcs))


def base_gang(pcs: PodCliqueSet, replica: int) -> GangPlace:
    """The base gang of a replica. One with more groups than can be stored is cut off: its set says so and makes
    nothing."""
    members = list(standalone_places(pcs, replica))
    for group in pcs.spec.template.pod_clique_scaling_groups:
        for index in range(min(group_minimum(group), GROUPS_IN_A_GANG)):
            members += group_places(pcs, replica, group, index)
            if len(members) > GROUPS_IN_A_GANG:
                break
    return GangPlace(names.set_replica(pcs.name, replica), replica, tuple(members[:GROUPS_IN_A_GANG]))


def scaled_gang(pcs: PodCliqueSet, replica: int, group: ScalingGroupConfig, index: int) -> GangPlace:
    members = group_places(pcs, replica, group, index)
    name = names.scaled_gang(names.scaling_group(pcs.name, replica, group.name), index - group_minimum(group))
    return GangPlace(name, replica, members, group)


def gang_place(pcs: PodCliqueSet, name: str) -> GangPlace | None:
    """The gang of that name, whether or not the set is large enough for it."""
    parts = _gang_parts(pcs, name)
    if parts is None:
        return None
    replica, group, index = parts
    return base_gang(pcs, replica) if group is None else scaled_gang(pcs, replica, group, index)


def _gang_parts(pcs: PodCliqueSet, name: str) -> tuple[int, ScalingGroupConfig | None, int] | None:
    """The replica of a gang, and of a scaled one its group and the replica of that."""
    first, _, rest = name.removeprefix(f"{pcs.name}-").partition("-")
    replica = number(first) if name.startswith(f"{pcs.name}-") else None
    if replica is None or not rest:
        return (replica, None, 0) if replica is not None else None
    group_name, _, last = rest.rpartition("-")
    group, surplus = group_of(pcs, group_name), number(last)
    return (replica, group, surplus + group_minimum(group)) if group is not None and surplus is not None else None


def place_of(pcs: PodCliqueSet, clique: PodClique) -> CliquePlace | None:
    """Where a live clique belongs, by its labels and exact names; None for one that the set does not ask for."""
    replica = clique.labels.get(names.SET_REPLICA, "")
    if not replica.isdigit():
        return None
    group_name, index = clique.labels.get(names.SCALING_GROUP, ""), clique.labels.get(names.SCALING_GROUP_REPLICA, "")
    if not group_name:
        places = standalone_places(pcs, int(replica))
    else:
        group = group_of(pcs, group_name.removeprefix(f"{pcs.name}-{replica}-"))
        places = group_places(pcs, int(replica), group, int(index)) if group is not None and index.isdigit() else ()
    return next((place for place in places if place.name == clique.name), None)
