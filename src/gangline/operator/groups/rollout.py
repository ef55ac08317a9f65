"""What an update of a scaling group does next: which of its replicas it gives up now.

Replicas that do not run go at once, the others one at a time, or as many as the set allows to be unavailable. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.meta import Raw
from gangline.operator.desired.layout import CliquePlace
from gangline.operator.status import (
    SCHEDULED,
    as_choice,
    chosen_so_far,
    clique_updated,
    current_replicas,
    ended,
    is_true,
    minimum,
    on_delete,
    update_open,
)

SELECTED = "readyReplicaIndicesSelectedToUpdate"
"""Where the progress of an update says which replicas it gave up."""


def group_progress(group: PodCliqueScalingGroup, pcs: PodCliqueSet, replica: int, now: str) -> Raw | None:
    """The group's progress after a look at the set's: whether an update of it starts."""
    progress, wanted = group.status.update_progress, pcs.status.current_generation_hash
    turn = on_delete(pcs) or (
        update_open(pcs.status.update_progress) and replica in current_replicas(pcs.status.update_progress)
    )
    aimed = progress is not None and progress.get("podCliqueSetGenerationHash") == wanted
    if wanted is None or not turn or aimed:
        return progress
    fresh = {"updateStartedAt": now, "podCliqueSetGenerationHash": wanted}
    return fresh | ({"updateEndedAt": now} if on_delete(pcs) else {})


@dataclass(frozen=True, slots=True)
class GroupReplacement:
    progress: Raw | None
    remove: list[int] = field(default_factory=list)
    """Replicas of the group whose cliques are all removed now."""


@dataclass(frozen=True, slots=True)
class ReplicaUpdate:
    """One replica of a scaling group, as an update sees it."""

    old: bool
    """One of its cliques is of an old template."""
    whole: bool
    """None of its cliques is missing."""
    runs: bool
    """All cliques that are there run."""
    updated: bool
    """It is whole, runs, and is of the new template."""


def replace_group_replicas(
    group: PodCliqueScalingGroup,
    progress: Raw | None,
    places: Sequence[Sequence[CliquePlace]],
    cliques: Callable[[str], PodClique | None],
    expected: Callable[[CliquePlace], str],
    set_hash: str | None,
    now: str,
    most: int | None = None,
) -> GroupReplacement:
    """Replicas that do not run at once, the others one by one, lowest first; or as many as `most` allows to be
    unavailable."""
    if progress is None or not update_open(progress):
        return GroupReplacement(progress)
    replicas = [_replica(replica, cliques, expected, set_hash) for replica in places]
    if most is not None:
        return _several_replicas(progress, replicas, most, now)
    return _one_replica(group, progress, replicas, now)


def _replica(
    places: Sequence[CliquePlace],
    cliques: Callable[[str], PodClique | None],
    expected: Callable[[CliquePlace], str],
    set_hash: str | None,
) -> ReplicaUpdate:
    members = [(clique, expected(place)) for place in places if (clique := cliques(place.name)) is not None]
    whole = len(members) == len(places)
    return ReplicaUpdate(
        any(_outdated(clique, wanted) for clique, wanted in members),
        whole,
        all(_runs(clique) for clique, _ in members),
        whole and all(clique_updated(clique, wanted, set_hash) for clique, wanted in members),
    )


def _one_replica(
    group: PodCliqueScalingGroup, progress: Raw, replicas: Sequence[ReplicaUpdate], now: str
) -> GroupReplacement:
    """The next running replica, once the one chosen before is updated and enough are available."""
    selected = progress.get(SELECTED)
    current = int(selected["current"]) if selected else None
    others = [index for index, replica in enumerate(replicas) if replica.old and index != current]
    broken = [index for index in others if not replicas[index].runs]
    if current is not None and current < len(replicas) and not replicas[current].updated:
        return GroupReplacement(progress, [*broken, *([current] if replicas[current].old else [])])
    healthy = [index for index in others if index not in broken]
    if not healthy:
        return GroupReplacement(progress if broken else ended(progress, SELECTED, now), broken)
    least = 1 if group.spec.min_available is None else group.spec.min_available
    if group.status.available_replicas < least:
        return GroupReplacement(progress, broken)
    choice = as_choice([*chosen_so_far(selected), healthy[0]])
    return GroupReplacement(progress | {SELECTED: choice}, [*broken, healthy[0]])


def _several_replicas(progress: Raw, replicas: Sequence[ReplicaUpdate], most: int, now: str) -> GroupReplacement:
    """As many running replicas as there is room for; the end comes when every replica is whole and of the new
    template."""
    up = [replica.whole and replica.runs for replica in replicas]
    old = [index for index, replica in enumerate(replicas) if replica.old]
    broken = [index for index in old if not up[index]]
    next_ones = [index for index in old if up[index]][: max(0, most - up.count(False))]
    if next_ones:
        chosen = dict.fromkeys([*chosen_so_far(progress.get(SELECTED)), *next_ones])
        return GroupReplacement(progress | {SELECTED: as_choice(list(chosen))}, [*broken, *next_ones])
    if old or not all(replica.updated for replica in replicas):
        return GroupReplacement(progress, broken)
    return GroupReplacement(ended(progress, SELECTED, now))


def _outdated(clique: PodClique, expected: str) -> bool:
    """Of an old template, or with pods of one: OnDelete leaves such pods behind when the strategy changes."""
    return clique.labels.get(names.TEMPLATE_HASH) != expected or clique.status.updated_replicas < clique.status.replicas


def _runs(clique: PodClique) -> bool:
    return (
        is_true(clique.status.conditions, SCHEDULED) or clique.status.scheduled_replicas >= minimum(clique)
    ) and clique.status.ready_replicas >= minimum(clique)
