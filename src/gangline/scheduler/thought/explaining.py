"""Which waiting gangs get a verdict after a cycle: new ones always, the others when there is time for it. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.thought.standings import GangStanding

AT_ONCE = 64
PATIENCE = 10.0
"""For so long a gang whose victims are leaving gets no verdict."""


def being_served(cluster: ClusterModel, nominated: Iterable[str], since: Mapping[str, float], now: float) -> set[str]:
    """Gangs for which room is being made since a moment ago: there is nothing to explain unless that takes long.
    `since`: when each task was nominated."""
    tasks = cluster.tasks
    return {tasks[task].record.gang for task in nominated if task in tasks and now - since.get(task, now) < PATIENCE}


def to_explain(
    standings: Iterable[GangStanding],
    served: Container[str],
    judged: Container[str],
    explained: Mapping[str, int],
    hurry: bool,
) -> list[str]:
    """`judged`: gangs that have a verdict; `explained`: the cycle in which each got its last one. In a hurry only new
    ones are explained."""
    waiting = [
        standing.gang
        for standing in standings
        if standing.waiting and not standing.awaiting and standing.gang not in served
    ]
    new = [gang for gang in waiting if gang not in judged]
    old = [] if hurry else sorted(set(waiting) - set(new), key=lambda gang: explained.get(gang, 0))
    return [*new, *old][:AT_ONCE]
