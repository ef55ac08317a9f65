"""Decisions booked into the model, as the watch will show them later.

loop/overlay.py lays the same changes over what is read until the watch shows them. Pure but for the model it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from gangline.api.kai import PodGroup
from gangline.rules.gangs.evictions import last_eviction
from gangline.scheduler.decisions import Bind, Commit, Decisions, Evict, GangUpdate
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import ACTIVE_USED, Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.objects.gangs import gang_uid
from gangline.scheduler.records import ClaimRecord, GangRecord, TaskRecord
from gangline.scheduler.thought.decision_objects import opens_group
from gangline.scheduler.victims.ledger import DAY, EvictionEntry, ledger_of
from gangline.scheduler.victims.moves import MoveUnderWay, moves_of
from gangline.scheduler.victims.price import keeps_minima, lost_gpu_seconds, struck


def bound(record: TaskRecord, bind: Bind) -> TaskRecord:
    devices = bind.extended.devices if bind.extended is not None else ()
    return replace(
        record,
        status=Status.BINDING,
        node=bind.node,
        gpu_groups=bind.gpu_groups or record.gpu_groups,
        extended_devices=devices,
    )


def evicted(record: TaskRecord) -> TaskRecord:
    return replace(record, status=Status.RELEASING) if record.status & ACTIVE_USED else record


def updated_gang(update: GangUpdate, record: GangRecord) -> GangRecord:
    return replace(
        record, last_start=update.last_start, last_eviction=update.last_eviction, stale_since=update.stale_since
    )


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
    note_evictions(cluster, decisions)
    note_moves(cluster, decisions)
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


def note_evictions(cluster: ClusterModel, decisions: Decisions) -> None:
    """Write into the ledger who loses what for the sake of another gang."""
    moments = {update.gang: update.last_eviction for update in decisions.updates}
    by_gang: dict[tuple[str, str], list[TaskInfo]] = {}
    for evict in decisions.evictions:
        task = cluster.tasks.get(evict.task)
        if evict.preemptor and task is not None and task.gang is not None:
            by_gang.setdefault((task.gang.uid, evict.action), []).append(task)
    for (uid, action), tasks in by_gang.items():
        gang, moment = cluster.gangs[uid], moments.get(uid)
        if moment is not None:
            lost = lost_gpu_seconds(gang, struck(gang, tasks), moment)
            broken = not keeps_minima(gang, tasks)
            ledger_of(cluster).note(EvictionEntry(moment, uid, gang.queue, action, lost, broken))


def note_moves(cluster: ClusterModel, decisions: Decisions) -> None:
    """Remember which gangs are moved by starting first: nothing is lost, but none is moved again within its grace."""
    for move in decisions.moves:
        task = cluster.tasks.get(move.task)
        if task is not None and task.gang is not None:
            moves_of(cluster).note(MoveUnderWay(move, task.gang.uid))
            entry = EvictionEntry(move.asked, task.gang.uid, task.gang.queue, "consolidation", 0.0, broken=True)
            ledger_of(cluster).note(entry)


def remember_evictions(cluster: ClusterModel, groups: Iterable[PodGroup], now: float) -> None:
    """Fill the ledger of a new model from the notes on PodGroups: a restart forgives nobody and forgets no budget."""
    entries = [
        EvictionEntry(
            charge.moment,
            gang_uid(group.namespace, group.name),
            group.spec.queue,
            charge.action,
            charge.lost,
            charge.broken,
        )
        for group in groups
        if (noted := last_eviction(group)) is not None
        for charge in noted.lately
        if now - DAY < charge.moment <= now
    ]
    for entry in sorted(entries, key=lambda entry: entry.moment):
        ledger_of(cluster).note(entry)


def claims_of(cluster: ClusterModel, bind: Bind) -> Iterable[ClaimRecord]:
    task = cluster.tasks[bind.task]
    for name, devices in bind.claims.items():
        record = cluster.devices.records.get((task.namespace, name))
        if record is not None:
            yield replace(record, allocated=record.allocated or devices, reserved_for=(*record.reserved_for, bind.task))
