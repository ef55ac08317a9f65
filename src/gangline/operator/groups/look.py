"""What is there of one scaling group: its set, its cliques by replica, and what of it waits to be placed. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig
from gangline.api.kinds import POD_CLIQUE
from gangline.operator.desired.bounds import GROUPS_IN_A_GANG, PodBacklog, horizon, number
from gangline.operator.desired.layout import CliquePlace, group_minimum, group_of, group_places, template_of
from gangline.operator.memory.lookups import crowd, set_of
from gangline.operator.status import SCHEDULED, is_true

if TYPE_CHECKING:
    from gangline.runtime import Reader


@dataclass(slots=True)
class ScalingGroupObjects:
    group: PodCliqueScalingGroup
    pcs: PodCliqueSet
    config: ScalingGroupConfig
    replica: int
    places: list[tuple[CliquePlace, ...]]
    """The cliques of every replica that is looked at: those that are there, and the next ones."""
    cliques: dict[str, PodClique]
    backlog: PodBacklog = field(default_factory=PodBacklog)
    by_index: dict[str, list[PodClique]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_index = {}
        for clique in self.cliques.values():
            if not clique.metadata.deleting:
                self.by_index.setdefault(clique.labels.get(names.SCALING_GROUP_REPLICA, ""), []).append(clique)

    def living(self, name: str) -> PodClique | None:
        clique = self.cliques.get(name)
        return clique if clique is not None and not clique.metadata.deleting else None

    def members(self, index: int) -> list[PodClique]:
        """Every living clique with that replica index, expected or not."""
        return self.by_index.get(str(index), [])


def look_at_group(read: Reader, group: PodCliqueScalingGroup) -> ScalingGroupObjects | None:
    pcs, replica = set_of(read, group), group.labels.get(names.SET_REPLICA, "")
    if pcs is None or not replica.isdigit() or pcs.status.current_generation_hash is None:
        return None
    config = group_of(pcs, group.name.removeprefix(f"{pcs.name}-{replica}-"))
    if config is None:
        return None
    cliques = {clique.name: clique for clique in read.owned(POD_CLIQUE, group.uid)}
    backlog = _backlog(cliques.values(), crowd(read))
    places = [
        group_places(pcs, int(replica), config, index)
        for index in range(_horizon(pcs, group, config, cliques.values(), backlog))
    ]
    return ScalingGroupObjects(group, pcs, config, int(replica), places, cliques, backlog)


def _backlog(cliques: Iterable[PodClique], crowd: int) -> PodBacklog:
    """The group's replicas and pods that are not placed yet."""
    waiting = [clique for clique in cliques if not is_true(clique.status.conditions, SCHEDULED)]
    replicas = {clique.labels.get(names.SCALING_GROUP_REPLICA) for clique in waiting}
    return PodBacklog(
        len(replicas), sum(max(0, clique.spec.replicas - clique.status.scheduled_replicas) for clique in waiting), crowd
    )


def _horizon(
    pcs: PodCliqueSet,
    group: PodCliqueScalingGroup,
    config: ScalingGroupConfig,
    cliques: Iterable[PodClique],
    backlog: PodBacklog,
) -> int:
    """How many replicas are looked at. Those of the base gang are made in any case: it cannot start without them."""
    there = [
        index for clique in cliques if (index := number(clique.labels.get(names.SCALING_GROUP_REPLICA, ""))) is not None
    ]
    templates = [template for name in config.clique_names if (template := template_of(pcs, name)) is not None]
    step = backlog.step(len(templates), sum(template.spec.replicas for template in templates), group.spec.replicas)
    base = min(group.spec.replicas, group_minimum(config), GROUPS_IN_A_GANG)
    return max(base, horizon(group.spec.replicas, there, step))
