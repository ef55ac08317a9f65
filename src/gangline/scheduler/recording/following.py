"""Follows a recording without deciding anything: which records a scheduler knew after each cycle, and what changed.

Stands between the pieces of a recording (`segments.py`) and what is shown of them (`stories.py`, `usage.py`). A segment
that begins anew is compared with what was known before, so that a restart of the scheduler changes nothing. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gangline.scheduler.decisions import Bind, Evict
from gangline.scheduler.model.task import gpu_quota, share_of
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, Record, TaskRecord
from gangline.scheduler.thought.booking import bound, evicted
from gangline.scheduler.thought.changes import GoneRecord

_UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_OF_GANG = re.compile(rf"\bpg-([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)-{_UID}\b")
"""What a PodGroup is called that stands for a gang or a Job."""


def shown(text: str) -> str:
    """A text in the names that users know: of gangs and Jobs, not of the PodGroups that stand for them."""
    return _OF_GANG.sub(lambda match: match[1], text)


@dataclass(slots=True)
class KnownRecords:
    """By uid or name."""

    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    gangs: dict[str, GangRecord] = field(default_factory=dict)
    nodes: dict[str, NodeRecord] = field(default_factory=dict)
    queues: dict[str, QueueRecord] = field(default_factory=dict)
    _members: dict[str, dict[str, None]] = field(default_factory=dict)
    """Tasks by the gang they belong to."""

    def put(self, record: Record) -> None:
        if isinstance(record, TaskRecord):
            self._forget(record.uid)
            self.tasks[record.uid] = record
            self._members.setdefault(record.gang, {})[record.uid] = None
        elif isinstance(record, GangRecord):
            self.gangs[record.uid] = record
        elif isinstance(record, NodeRecord):
            self.nodes[record.name] = record
        elif isinstance(record, QueueRecord):
            self.queues[record.name] = record

    def drop(self, gone: GoneRecord) -> None:
        if gone.type is TaskRecord:
            self._forget(gone.key)
        elif gone.type is GangRecord:
            self.gangs.pop(gone.key, None)
        elif gone.type is NodeRecord:
            self.nodes.pop(gone.key, None)
        elif gone.type is QueueRecord:
            self.queues.pop(gone.key, None)

    def _forget(self, uid: str) -> None:
        task = self.tasks.pop(uid, None)
        if task is not None:
            members = self._members[task.gang]
            del members[uid]
            if not members:
                del self._members[task.gang]

    def members(self, gang: str) -> list[TaskRecord]:
        """The tasks of a gang."""
        return [self.tasks[uid] for uid in self._members.get(gang, {})]

    def title(self, gang: str) -> str:
        """What users call it."""
        record = self.gangs.get(gang)
        return shown((record.name if record is not None else "") or gang.rpartition("/")[2])

    def gpus(self, task: TaskRecord) -> float:
        """What a task asks for; GPU memory as a share of a device of its node."""
        asked = gpu_quota(task.gpu)
        if not task.gpu.memory:
            return asked
        node = self.nodes.get(task.node)
        return task.gpu.count * share_of(task.gpu.memory, node.gpu_memory) if node is not None else asked


@dataclass(frozen=True, slots=True)
class TaskTurn:
    """A task before and after something happened to it; None: it was not there, or is no longer."""

    before: TaskRecord | None
    after: TaskRecord | None


@dataclass(frozen=True, slots=True)
class GangTurn:
    before: GangRecord | None
    after: GangRecord | None


@dataclass(frozen=True, slots=True)
class FollowedCycle:
    """`seen`: what came from the cluster before the cycle decided; `booked`: what its decisions changed."""

    cycle: RecordedCycle
    seen: tuple[TaskTurn, ...]
    gangs: tuple[GangTurn, ...]
    booked: tuple[TaskTurn, ...]


class PoolFollower:
    """What the scheduler of one node pool knew. `known` is up to date after each `take`."""

    def __init__(self) -> None:
        self.known = KnownRecords()
        self._anew: KnownRecords | None = None

    def begin(self, start: SegmentStart) -> None:
        self._anew = KnownRecords()
        for record in start.picture.records:
            self._anew.put(record)

    def take(self, cycle: RecordedCycle) -> FollowedCycle:
        if self._anew is not None:
            seen, gangs = self._compared(self._anew, cycle)
        else:
            seen, gangs = self._changed(cycle)
        return FollowedCycle(cycle, tuple(seen), tuple(gangs), tuple(self._booked(cycle)))

    def _changed(self, cycle: RecordedCycle) -> tuple[list[TaskTurn], list[GangTurn]]:
        tasks: list[TaskTurn] = []
        gangs: list[GangTurn] = []
        known = self.known
        for change in cycle.changes:
            if isinstance(change, TaskRecord):
                tasks.append(TaskTurn(known.tasks.get(change.uid), change))
            elif isinstance(change, GangRecord):
                gangs.append(GangTurn(known.gangs.get(change.uid), change))
            elif isinstance(change, GoneRecord) and change.type is TaskRecord:
                tasks.append(TaskTurn(known.tasks.get(change.key), None))
            elif isinstance(change, GoneRecord) and change.type is GangRecord:
                gangs.append(GangTurn(known.gangs.get(change.key), None))
            self._put(known, change)
        return tasks, gangs

    def _compared(self, anew: KnownRecords, cycle: RecordedCycle) -> tuple[list[TaskTurn], list[GangTurn]]:
        """The first cycle of a segment: what is other than what was known at the end of the segment before."""
        for change in cycle.changes:
            self._put(anew, change)
        before, self.known, self._anew = self.known, anew, None
        tasks = [
            TaskTurn(before.tasks.get(uid), anew.tasks.get(uid))
            for uid in {**before.tasks, **anew.tasks}
            if before.tasks.get(uid) != anew.tasks.get(uid)
        ]
        gangs = [
            GangTurn(before.gangs.get(uid), anew.gangs.get(uid))
            for uid in {**before.gangs, **anew.gangs}
            if before.gangs.get(uid) != anew.gangs.get(uid)
        ]
        return tasks, gangs

    def _put(self, known: KnownRecords, change: Record | GoneRecord) -> None:
        if isinstance(change, GoneRecord):
            known.drop(change)
        else:
            known.put(change)

    def _booked(self, cycle: RecordedCycle) -> list[TaskTurn]:
        turns: list[TaskTurn] = []
        for commit in cycle.decisions.commits:
            task = self.known.tasks.get(commit.task)
            if task is None or not isinstance(commit, Bind | Evict):
                continue
            after = bound(task, commit) if isinstance(commit, Bind) else evicted(task)
            self.known.put(after)
            turns.append(TaskTurn(task, after))
        return turns
