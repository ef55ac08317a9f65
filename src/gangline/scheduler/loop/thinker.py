"""One cycle in the thread that owns the model: take in what changed, decide, book what was decided.

Pure but for the model it changes: time and fresh names for shared GPUs are handed in. service.py carries out what comes
back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from gangline.scheduler.cycle import decide
from gangline.scheduler.deadlines import next_deadline
from gangline.scheduler.decision_objects import opens_group
from gangline.scheduler.decisions import Bind, Commit, Decisions, Evict
from gangline.scheduler.loop import feed
from gangline.scheduler.loop.overlay import bound, evicted, updated_gang
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import ClaimRecord
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.tally import CycleTally

AWAITING = Status.ALLOCATED | Status.PIPELINED | Status.BINDING


@dataclass(frozen=True, slots=True)
class GangStanding:
    """How a gang stands after a cycle, as far as people are told."""

    gang: str
    waiting: bool
    """Has members that are pending or gated."""
    ready: bool
    awaiting: bool
    """Has members on their way to a node."""
    running: bool
    missing: str = ""
    """What a gang that is not ready waits for."""
    strays: tuple[str, ...] = ()
    """Members that name a sub-group which does not exist."""
    stale: str = ""
    version: int = 0
    """Changes when a member comes, goes or changes its status."""


@dataclass(frozen=True, slots=True)
class CycleThought:
    decisions: Decisions
    standings: list[GangStanding] = field(default_factory=list)
    unread: list[feed.UnreadRecord] = field(default_factory=list)
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


def think(
    cluster: ClusterModel,
    changes: list[feed.ModelChange],
    settings: SchedulerSettings,
    now: float,
    fresh: Callable[[], str],
) -> CycleThought:
    began = time.perf_counter()
    touched = {gang for change in changes if (gang := gang_of(cluster, change))}
    unread = feed.apply(cluster, changes)
    touched |= {gang for change in changes if (gang := gang_of(cluster, change))}
    tally = CycleTally(time.perf_counter)
    decisions = name_groups(decide(cluster, settings, now, tally), fresh)
    told = sorted(touched | set(cluster.waiting) | {refuse.gang for refuse in decisions.refusals})
    book(cluster, decisions)
    standings = [standing(cluster.gangs[uid]) for uid in told if uid in cluster.gangs]
    waiting = [cluster.gangs[uid].created for uid in cluster.waiting]
    return CycleThought(
        decisions,
        standings,
        unread,
        next_deadline(cluster, settings, now),
        time.perf_counter() - began,
        len(waiting),
        now - min(waiting) if waiting else 0.0,
        scheduled_gangs(cluster, decisions),
        tally,
        [now - held.created for bind in decisions.binds if (held := cluster.tasks[bind.task].gang) is not None],
    )


def scheduled_gangs(cluster: ClusterModel, decisions: Decisions) -> dict[str, int]:
    gangs: dict[str, set[str]] = {}
    for bind in decisions.binds:
        task = cluster.tasks.get(bind.task)
        if task is not None:
            gangs.setdefault(bind.action, set()).add(task.record.gang)
    return {action: len(gang) for action, gang in gangs.items()}


def gang_of(cluster: ClusterModel, change: feed.ModelChange) -> str:
    """The gang that a change of a task or gang concerns, as the model knows it now."""
    if change.key in cluster.gangs:
        return str(change.key)
    task = cluster.tasks.get(change.key) if isinstance(change.key, str) else None
    return task.record.gang if task is not None else ""


def name_groups(decisions: Decisions, fresh: Callable[[], str]) -> Decisions:
    """Shared GPUs that were opened in this cycle get their lasting names."""
    given: dict[str, str] = {}

    def final(group: str) -> str:
        if not opens_group(group):
            return group
        if group not in given:
            given[group] = fresh()
        return given[group]

    def named(commit: Commit) -> Commit:
        if isinstance(commit, Bind) and commit.gpu_groups:
            return replace(commit, gpu_groups=tuple(final(group) for group in commit.gpu_groups))
        return commit

    return replace(decisions, commits=tuple(named(commit) for commit in decisions.commits))


def book(cluster: ClusterModel, decisions: Decisions) -> None:
    """Put what was decided into the model, as the watch will show it later."""
    for commit in decisions.commits:
        task = cluster.tasks.get(commit.task)
        if task is None:
            continue
        if isinstance(commit, Bind):
            for claim in claims_of(cluster, commit):
                cluster.apply(claim)
            cluster.apply(bound(task.record, commit))
        elif isinstance(commit, Evict):
            cluster.apply(evicted(task.record))
    for update in decisions.updates:
        gang = cluster.gangs.get(update.gang)
        if gang is not None:
            cluster.apply(updated_gang(update, gang.record))


def claims_of(cluster: ClusterModel, bind: Bind) -> Iterable[ClaimRecord]:
    task = cluster.tasks[bind.task]
    for name, devices in bind.claims.items():
        record = cluster.devices.records.get((task.namespace, name))
        if record is not None:
            yield replace(record, allocated=record.allocated or devices, reserved_for=(*record.reserved_for, bind.task))


def standing(gang: GangInfo) -> GangStanding:
    waiting = gang.count(Status.PENDING | Status.GATED) > 0
    return GangStanding(
        gang.uid,
        waiting,
        gang.ready,
        gang.count(AWAITING) > 0,
        gang.active_allocated > 0,
        missing(gang) if waiting and not gang.ready else "",
        tuple(sorted(gang.invalid)),
        staleness(gang),
        gang.version,
    )


def missing(gang: GangInfo) -> str:
    """What a gang that is not ready waits for, in words."""
    lacks = []
    for name, leaf in sorted(gang.pod_sets.items()):
        gated, alive = leaf.count(Status.GATED), leaf.count(Status.PENDING) + leaf.active_allocated
        if alive < leaf.min_available:
            where = f" in sub-group {name}" if len(gang.pod_sets) > 1 else ""
            lacks.append(
                f"{leaf.min_available - alive} more pods{where} ({alive} of {leaf.min_available} are there"
                + (f", {gated} gated)" if gated else ")")
            )
    return "Job is not ready for scheduling. Waiting for " + (", ".join(lacks) or "more sub-groups")


def staleness(gang: GangInfo) -> str:
    if gang.stale_since is None or not gang.is_stale:
        return ""
    short = [(name, leaf) for name, leaf in sorted(gang.pod_sets.items()) if leaf.active_used < leaf.min_available]
    parts = [
        f"{leaf.active_used} pods are active, minMember is {leaf.min_available}"
        + (f", subGroup {name}" if len(gang.pod_sets) > 1 else "")
        for name, leaf in short
    ]
    return f"Job is stale. {'; '.join(parts)}"
