"""When a gang that fell below its minimum is ended, so that it can start again as a whole.

A breach counts only once the unit has run, and only after the set's terminationDelay. A scaling group loses the
replica in breach as long as its own minimum holds; beyond that, and for standalone cliques, the whole replica of the
set goes. Nothing here deletes: it names what must go and when to look again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.meta import Condition, condition
from gangline.operator.status import BREACHED, SCHEDULED, TERMINATING, is_true
from gangline.rules import wishes
from gangline.rules.values.times import duration, seconds

SETTLING = 5.0
"""A first breach this close to creation is only the start."""


@dataclass(frozen=True, slots=True)
class DueTerminations:
    """Which indices must go now, and when the next may be due."""

    now: list[int] = field(default_factory=list)
    wait: float | None = None


def delay(pcs: PodCliqueSet) -> float | None:
    """The set's termination delay; None where gangs are never ended, or nobody can tell when."""
    text = pcs.spec.template.termination_delay
    try:
        return duration(text) if text and wishes.ends_gangs(pcs.annotations) else None
    except ValueError:
        return None


def ever_scheduled(clique: PodClique) -> bool:
    scheduled = condition(clique.status.conditions, SCHEDULED)
    return scheduled is not None and (
        scheduled.status == "True" or _moved_later(scheduled, clique.metadata.creation_timestamp)
    )


def ever_healthy(group: PodCliqueScalingGroup) -> bool:
    breached = condition(group.status.conditions, BREACHED)
    return breached is not None and (
        breached.status == "False" or _moved_later(breached, group.metadata.creation_timestamp)
    )


def _moved_later(known: Condition, created: str | None) -> bool:
    moved, born = seconds(known.last_transition_time), seconds(created)
    return moved is not None and born is not None and moved > born + SETTLING


def _remaining(conditions: tuple[Condition, ...], grace: float, now: float) -> float:
    breach = condition(conditions, BREACHED)
    since = seconds(breach.last_transition_time) if breach is not None else None
    return grace if since is None else grace - (now - since)


def breached_clique(clique: PodClique) -> bool:
    return is_true(clique.status.conditions, BREACHED) and ever_scheduled(clique)


def breached_group(group: PodCliqueScalingGroup) -> bool:
    return (
        is_true(group.status.conditions, BREACHED)
        and ever_healthy(group)
        and not is_true(group.status.conditions, TERMINATING)
    )


def group_replicas(
    group: PodCliqueScalingGroup, members: Sequence[Sequence[PodClique]], grace: float | None, now: float
) -> DueTerminations:
    """The replicas of a scaling group to end by themselves; none while the group's own minimum is at stake."""
    if grace is None:
        return DueTerminations()
    waits = {
        index: min(_remaining(clique.status.conditions, grace, now) for clique in bad)
        for index, replica in enumerate(members)
        if (bad := [clique for clique in replica if breached_clique(clique)])
    }
    least = 1 if group.spec.min_available is None else group.spec.min_available
    if group.spec.replicas - len(waits) < least:
        return DueTerminations()
    return _due(waits)


def set_replica(
    cliques: Sequence[PodClique | None], groups: Sequence[PodCliqueScalingGroup], grace: float | None, now: float
) -> float | None:
    """How long a replica of the set may still live; None where nothing threatens it. `cliques` are the expected
    standalone ones."""
    if grace is None or any(clique is None for clique in cliques):
        return None
    bad = [clique.status.conditions for clique in cliques if clique is not None and breached_clique(clique)]
    bad += [group.status.conditions for group in groups if breached_group(group)]
    return min((_remaining(conditions, grace, now) for conditions in bad), default=None)


def set_replicas(waits: dict[int, float]) -> DueTerminations:
    return _due(waits)


def _due(waits: dict[int, float]) -> DueTerminations:
    later = [wait for wait in waits.values() if wait > 0]
    return DueTerminations(sorted(index for index, wait in waits.items() if wait <= 0), min(later, default=None))
