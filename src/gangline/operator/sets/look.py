"""What is there of one set: its cliques, groups and gangs, and the state of each of its replicas. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.kinds import POD_GANG, SCALING_GROUP
from gangline.api.meta import Raw
from gangline.operator.desired import termination
from gangline.operator.desired.bounds import PodBacklog, horizon, number
from gangline.operator.desired.hashes import clique_hash, set_hash
from gangline.operator.desired.layout import (
    CliquePlace,
    group_replicas,
    missing_gangs,
    places_by_replica,
    pods_in_base_gang,
)
from gangline.operator.gangs.tell import PENDING
from gangline.operator.memory.lookups import cliques_of_set, crowd
from gangline.operator.status import clique_updated, minimum

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader


@dataclass(slots=True)
class SetObjects:
    """What is, for one set."""

    pcs: PodCliqueSet
    cliques: dict[str, PodClique]
    """Every clique of the set, standalone and grouped, by name."""
    groups: dict[str, PodCliqueScalingGroup]
    gangs: dict[str, PodGang]
    binding: ClusterTopologyBinding | None
    set_hash: str
    progress: Raw | None
    terminations: termination.DueTerminations = field(default_factory=termination.DueTerminations)
    backlog: PodBacklog = field(default_factory=PodBacklog)
    places: Sequence[tuple[CliquePlace, ...]] = ()
    """The standalone cliques that the set asks for, of every replica that is looked at."""
    missing: Sequence[str] = ()
    """Gangs that are made now."""

    @property
    def size(self) -> int:
        """How many replicas are looked at: those that are there, and the next ones."""
        return len(self.places)

    @property
    def partial(self) -> bool:
        """More is asked for than is looked at."""
        return self.size < self.pcs.spec.replicas

    def living_clique(self, name: str) -> PodClique | None:
        clique = self.cliques.get(name)
        return clique if clique is not None and not clique.metadata.deleting else None

    def living_group(self, name: str) -> PodCliqueScalingGroup | None:
        group = self.groups.get(name)
        return group if group is not None and not group.metadata.deleting else None


def look_at_set(op: Operator, read: Reader, pcs: PodCliqueSet) -> SetObjects:
    look = SetObjects(
        pcs,
        {clique.name: clique for clique in cliques_of_set(read, pcs)},
        {group.name: group for group in read.owned(SCALING_GROUP, pcs.uid)},
        {gang.name: gang for gang in read.owned(POD_GANG, pcs.uid)},
        op.binding(read, pcs),
        set_hash(pcs),
        pcs.status.update_progress,
    )
    waiting = (gang for gang in look.gangs.values() if gang.status.phase in ("", PENDING))
    unplaced = (max(0, clique.spec.replicas - clique.status.scheduled_replicas) for clique in look.cliques.values())
    look.backlog = PodBacklog(sum(1 for _ in waiting), sum(unplaced), crowd(read))
    template = pcs.spec.template
    step = look.backlog.step(
        2 + len(template.cliques) + len(template.pod_clique_scaling_groups), pods_in_base_gang(pcs), pcs.spec.replicas
    )
    look.places = places_by_replica(pcs, horizon(pcs.spec.replicas, _replicas_there(look), step))
    sizes = group_sizes(look)
    largest = max(
        (*sizes.values(), *(group_replicas(config) for config in template.pod_clique_scaling_groups)), default=0
    )
    scaled = look.backlog.step(1, 1, largest)
    look.missing = missing_gangs(pcs, look.size, sizes, look.gangs.keys(), scaled)
    return look


def _replicas_there(look: SetObjects) -> Iterator[int]:
    """The replicas of which something is there."""
    labels = (obj.labels.get(names.SET_REPLICA, "") for obj in (*look.cliques.values(), *look.groups.values()))
    of_gangs = (name.removeprefix(f"{look.pcs.name}-").partition("-")[0] for name in look.gangs)
    return (index for text in (*labels, *of_gangs) if (index := number(text)) is not None)


def group_sizes(look: SetObjects) -> dict[str, int]:
    return {name: group.spec.replicas for name, group in look.groups.items()}


def due_terminations(look: SetObjects, now: float) -> termination.DueTerminations:
    """Which replicas of the set must end as gangs."""
    grace = termination.delay(look.pcs)
    waits: dict[int, float] = {}
    for replica in range(look.size):
        cliques = [look.living_clique(place.name) for place in look.places[replica]]
        groups = [
            group
            for config in look.pcs.spec.template.pod_clique_scaling_groups
            if (group := look.living_group(names.scaling_group(look.pcs.name, replica, config.name))) is not None
        ]
        wait = termination.set_replica(cliques, groups, grace, now)
        if wait is not None:
            waits[replica] = wait
    return termination.set_replicas(waits)


@dataclass(frozen=True, slots=True)
class SetView:
    pcs: PodCliqueSet
    cliques: Callable[[str], PodClique | None]
    """Living standalone cliques by name."""
    groups: Callable[[str], PodCliqueScalingGroup | None]
    gangs: Sequence[PodGang]
    set_hash: str
    progress: Raw | None
    observed: int | None
    topology_aware: bool
    binding: ClusterTopologyBinding | None
    places: Sequence[Sequence[CliquePlace]]
    """The standalone cliques that the set asks for, of every replica that is looked at."""


def set_view(op: Operator, look: SetObjects, observed: int | None) -> SetView:
    gangs = sorted((gang for gang in look.gangs.values() if not gang.metadata.deleting), key=lambda gang: gang.name)
    return SetView(
        look.pcs,
        look.living_clique,
        look.living_group,
        gangs,
        look.set_hash,
        look.progress,
        observed,
        op.settings.topology_aware,
        look.binding,
        look.places,
    )


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica of a set."""

    available: bool
    cliques: int
    updated_cliques: int
    groups: int
    updated_groups: int

    @property
    def done(self) -> bool:
        return self.updated_cliques == self.cliques and self.updated_groups == self.groups


def replica_state(view: SetView, replica: int) -> ReplicaState:
    pcs = view.pcs
    places = view.places[replica]
    configs = pcs.spec.template.pod_clique_scaling_groups
    cliques = [(place, clique) for place in places if (clique := view.cliques(place.name)) is not None]
    groups = [
        group
        for config in configs
        if (group := view.groups(names.scaling_group(pcs.name, replica, config.name))) is not None
    ]
    available = (
        len(cliques) == len(places)
        and all(clique.status.ready_replicas >= minimum(clique) for _, clique in cliques)
        and len(groups) == len(configs)
        and all(_group_available(group) for group in groups)
    )
    updated = sum(clique_updated(clique, clique_hash(pcs, place.template), view.set_hash) for place, clique in cliques)
    updated_groups = sum(group.status.current_pod_clique_set_generation_hash == view.set_hash for group in groups)
    return ReplicaState(available, len(places), updated, len(configs), updated_groups)


def _group_available(group: PodCliqueScalingGroup) -> bool:
    return group.status.available_replicas >= (1 if group.spec.min_available is None else group.spec.min_available)
