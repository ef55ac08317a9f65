"""One cycle in the thread that owns the model: take in what changed, decide, book what was decided.

Pure but for the model it changes: time and fresh names for shared GPUs are handed in. loop/ carries out what comes
back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Decisions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.tally import CycleTally
from gangline.scheduler.thought.booking import book, name_groups
from gangline.scheduler.thought.changes import ModelChange, TakenChange, UnreadRecord, apply
from gangline.scheduler.thought.deadlines import next_deadline
from gangline.scheduler.thought.standings import GangStanding, GatheringGangs, standing
from gangline.scheduler.time.idle import IdleReport, idle_gpus
from gangline.scheduler.time.learned import LearnedRuntimes
from gangline.scheduler.time.learning import at_work, note_ends, teach


@dataclass(frozen=True, slots=True)
class CycleThought:
    decisions: Decisions
    standings: list[GangStanding] = field(default_factory=list)
    unread: list[UnreadRecord] = field(default_factory=list)
    deadline: float | None = None
    """When to think again though nothing happens."""
    seconds: float = 0.0
    waiting: int = 0
    oldest_waiting: float = 0.0
    scheduled: Mapping[str, int] = field(default_factory=dict)
    """How many gangs each action placed pods of."""
    tally: CycleTally = field(default_factory=CycleTally)
    waited: list[float] = field(default_factory=list)
    """Seconds since its gang was made, for each pod that was placed."""
    taken: list[TakenChange] = field(default_factory=list)
    """What changed in the model before it was decided."""
    fresh: tuple[str, ...] = ()
    """The names that shared GPUs were given."""
    idle: IdleReport | None = None
    """Where idle GPUs go, where that was asked."""


class GivenNames:
    """Gives fresh names, and keeps them in mind."""

    def __init__(self, fresh: Callable[[], str]) -> None:
        self._fresh = fresh
        self.given: list[str] = []

    def __call__(self) -> str:
        self.given.append(self._fresh())
        return self.given[-1]


def think(
    cluster: ClusterModel,
    changes: list[ModelChange],
    settings: SchedulerSettings,
    now: float,
    fresh: Callable[[], str],
    stopwatch: Callable[[], float] = lambda: 0.0,
    memory: LearnedRuntimes | None = None,
    idle: bool = False,
    gathering: GatheringGangs | None = None,
) -> CycleThought:
    """`fresh` names shared GPUs that are opened; `stopwatch` measures, for metrics only. `memory`: of runtimes, where
    they are learned. `idle`: whether it is asked where idle GPUs go. `gathering`: of gangs whose pods still come, where
    somebody is told."""
    began = stopwatch()
    touched = {gang for change in changes if (gang := gang_of(cluster, change))}
    worked = at_work(cluster, touched)
    applied = apply(cluster, changes)
    touched |= {gang for change in changes if (gang := gang_of(cluster, change))}
    if memory is not None:
        note_ends(cluster, worked, memory, now)
        applied.taken.extend(teach(cluster, touched, memory))
    tally = CycleTally(stopwatch)
    names = GivenNames(fresh)
    decisions = name_groups(decide(cluster, settings, now, tally), names)
    judged = sorted(touched | set(cluster.waiting) | {refuse.gang for refuse in decisions.refusals})
    book(cluster, decisions)
    standings = [standing(cluster.gangs[uid]) for uid in judged if uid in cluster.gangs]
    waiting = [cluster.gangs[uid].created for uid in cluster.waiting]
    gathering = gathering or GatheringGangs()
    told_standings = gathering.worth_telling(standings, now)
    moments = [moment for moment in (next_deadline(cluster, settings, now), gathering.until) if moment is not None]
    return CycleThought(
        decisions,
        told_standings,
        applied.unread,
        min(moments, default=None),
        stopwatch() - began,
        len(waiting),
        now - min(waiting) if waiting else 0.0,
        scheduled_gangs(cluster, decisions),
        tally,
        [now - held.created for bind in decisions.binds if (held := cluster.tasks[bind.task].gang) is not None],
        applied.taken,
        tuple(names.given),
        idle_gpus(cluster, decisions) if idle else None,
    )


def scheduled_gangs(cluster: ClusterModel, decisions: Decisions) -> dict[str, int]:
    gangs: dict[str, set[str]] = {}
    for bind in decisions.binds:
        task = cluster.tasks.get(bind.task)
        if task is not None:
            gangs.setdefault(bind.action, set()).add(task.record.gang)
    return {action: len(gang) for action, gang in gangs.items()}


def gang_of(cluster: ClusterModel, change: ModelChange) -> str:
    """The gang that a change of a task or gang concerns, as the model knows it now."""
    if change.key in cluster.gangs:
        return str(change.key)
    task = cluster.tasks.get(change.key) if isinstance(change.key, str) else None
    return task.record.gang if task is not None else ""
