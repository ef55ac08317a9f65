"""What a scheduler recorded, as a trace: which gangs arrived, how long each ran, on which nodes, in which queues.

The run time of a gang that ended is known. A gang that was still running gets the time that it had run. A gang that
never started gets the time that was expected or, without one, the median of the others. Pure: `files.py` of the
recording reads."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from gangline.lab.jobs import Machine, NodeChange, TraceJob
from gangline.scheduler.model.status import ALLOCATED
from gangline.scheduler.recording.following import FollowedCycle, PoolFollower
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, TaskRecord

USUAL = 3600.0
"""Seconds that a gang runs of which nothing is known, where nothing is known of any other."""


@dataclass(slots=True)
class RecordedTrace:
    """`machines` are those of the first cycle; `changes` say which came and went later."""

    jobs: list[TraceJob] = field(default_factory=list)
    machines: list[Machine] = field(default_factory=list)
    changes: list[NodeChange] = field(default_factory=list)
    queues: list[QueueRecord] = field(default_factory=list)


@dataclass(slots=True)
class _Life:
    """A gang from its arrival until its PodGroup went."""

    record: GangRecord
    arrival: float
    pods: dict[str, tuple[TaskRecord, float]] = field(default_factory=dict)
    """The most pods it had at a time, with their GPUs."""
    started: float | None = None
    ran: float | None = None


class PoolTrace:
    """Of one node pool."""

    def __init__(self) -> None:
        self.follower = PoolFollower()
        self.lives: list[_Life] = []
        self.machines: dict[str, Machine] = {}
        self.changes: list[NodeChange] = []
        self.queues: dict[str, QueueRecord] = {}
        self._open: dict[str, _Life] = {}
        self._nodes: dict[str, NodeRecord] | None = None

    def take(self, cycle: RecordedCycle) -> None:
        followed = self.follower.take(cycle)
        for turn in followed.gangs:
            if turn.after is not None and turn.after.uid not in self._open:
                life = self._open[turn.after.uid] = _Life(turn.after, min(turn.after.created or cycle.now, cycle.now))
                self.lives.append(life)
        for gang in self._touched(followed):
            self._look(gang, cycle.now)
        for turn in followed.gangs:
            if turn.after is None and turn.before is not None:
                self._close(self._open.pop(turn.before.uid, None), cycle.now)
        self.queues.update(self.follower.known.queues)
        self._compare_nodes(cycle.now)

    def end(self, now: float) -> None:
        for life in self._open.values():
            self._close(life, now)

    def _touched(self, followed: FollowedCycle) -> set[str]:
        turns = (*followed.seen, *followed.booked)
        return {task.gang for turn in turns if (task := turn.after or turn.before) is not None} & self._open.keys()

    def _look(self, gang: str, now: float) -> None:
        life, known = self._open[gang], self.follower.known
        members = known.members(gang)
        if len(members) > len(life.pods):
            life.pods = {task.uid: (task, known.gpus(task)) for task in members}
        held = any(task.status & ALLOCATED for task in members)
        if held and life.started is None:
            life.started = now
        elif not held:
            self._close(life, now)

    def _close(self, life: _Life | None, now: float) -> None:
        """It has no place any more: so long did it run. After an eviction it starts anew, and so does the count."""
        if life is not None and life.started is not None:
            life.ran, life.started = now - life.started, None

    def _compare_nodes(self, now: float) -> None:
        nodes = {name: node for name, node in self.follower.known.nodes.items() if node.ready}
        if self._nodes is None and nodes:
            self.machines = {name: _machine(node) for name, node in nodes.items()}
        elif self._nodes is not None and nodes.keys() != self._nodes.keys():
            self.changes += [NodeChange(now, name) for name in sorted(self._nodes.keys() - nodes.keys())]
            came = sorted(nodes.keys() - self._nodes.keys())
            self.changes += [NodeChange(now, name, _machine(nodes[name])) for name in came]
        self._nodes = nodes or self._nodes


def read(pieces: Iterable[SegmentStart | RecordedCycle]) -> RecordedTrace:
    pools: dict[str, PoolTrace] = {}
    pool, last = PoolTrace(), 0.0
    for piece in pieces:
        if isinstance(piece, SegmentStart):
            pool = pools.setdefault(piece.pool, PoolTrace())
            pool.follower.begin(piece)
        else:
            pool.take(piece)
            last = max(last, piece.now)
    trace = RecordedTrace()
    for pool in pools.values():
        pool.end(last)
        trace.machines += pool.machines.values()
        trace.changes += pool.changes
        trace.queues += [queue for queue in pool.queues.values() if queue not in trace.queues]
    lives = [life for pool in pools.values() for life in pool.lives if life.pods]
    ran = [life.ran for life in lives if life.ran]
    usual = median(ran) if ran else USUAL
    named = sorted(lives, key=lambda life: (life.arrival, life.record.uid))
    trace.jobs = [_job(life, f"{life.record.uid}-{number}", usual) for number, life in enumerate(named)]
    return trace


def _job(life: _Life, name: str, usual: float) -> TraceJob:
    record, pods = life.record, list(life.pods.values())
    first = pods[0][0]
    rule = record.tree.topology
    return TraceJob(
        name,
        life.arrival,
        life.ran or record.expected_runtime or usual,
        len(pods),
        _each([gpus for _, gpus in pods]),
        first.request.get("cpu", 0),
        first.request.get("memory", 0),
        record.queue,
        record.priority,
        rule.required if rule is not None else "",
        record.preemptible if record.preemptible is not None else record.priority < 100,
        record.checkpoint_interval,
    )


def _each(gpus: list[float]) -> float:
    """GPUs of each pod: a share, or whole ones, where pods differ those of the average pod."""
    mean = sum(gpus) / len(gpus)
    return round(mean, 2) if mean < 1 else float(math.ceil(mean))


def _machine(node: NodeRecord) -> Machine:
    amounts = node.allocatable
    return Machine(
        node.name,
        int(amounts.get("gpu", 0)),
        amounts.get("cpu", 0),
        amounts.get("memory", 0),
        node.labels.get("nvidia.com/gpu.product", ""),
        dict(node.labels),
    )
