"""Why a pod was evicted: when, from where, for whom, by which rule, at what price, and whether its gang came back.

Reads the pieces of a recording in their order. Pure: knows no file and no clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from gangline.rules.values.times import timestamp
from gangline.scheduler.decisions import Evict
from gangline.scheduler.recording.following import KnownRecords, PoolFollower, shown
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.records import TaskRecord


@dataclass(frozen=True, slots=True)
class NamedGang:
    """As it was when somebody was evicted."""

    name: str
    namespace: str
    queue: str
    priority: int
    gpus: float
    pods: int


@dataclass(slots=True)
class PodEviction:
    """`by` is None where a gang below its minimum gave back what it held. `again`: when pods of its gang were placed
    next."""

    moment: float
    pod: str
    namespace: str
    node: str
    gang: NamedGang
    action: str
    message: str
    lost_gpu_hours: float
    with_it: int
    """Pods that were evicted in the same cycle, this one among them."""
    by: NamedGang | None = None
    again: float | None = None

    def as_data(self) -> dict[str, Any]:
        return {"time": timestamp(self.moment)} | asdict(self)


@dataclass(slots=True)
class PodPast:
    """What a recording knows of pods of one name. `seen`: it was there. `others`: names of pods that were evicted.
    `members`: pods of a gang of that name."""

    evictions: list[PodEviction] = field(default_factory=list)
    seen: bool = False
    others: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)

    def meet(self, task: TaskRecord, gang: str, name: str) -> None:
        self.seen |= task.name == name
        if gang == name:
            self.members.add(task.name)


def past_of(pod: str, pieces: Iterable[SegmentStart | RecordedCycle], namespace: str = "") -> PodPast:
    """`pod`: a name. `namespace` empty: any."""
    past, pools, follower = PodPast(), dict[str, PoolFollower](), PoolFollower()
    open_: dict[str, list[PodEviction]] = {}
    for piece in pieces:
        if isinstance(piece, SegmentStart):
            follower = pools.setdefault(piece.pool, PoolFollower())
            follower.begin(piece)
            continue
        followed = follower.take(piece)
        known = follower.known
        for turn in followed.seen:
            task = turn.after or turn.before
            if task is not None and namespace in ("", task.namespace):
                past.meet(task, known.title(task.gang), pod)
        for bind in piece.decisions.binds if open_ else ():
            task = known.tasks.get(bind.task)
            for eviction in open_.pop(task.gang, []) if task is not None else ():
                eviction.again = piece.now
        for evict in piece.decisions.evictions:
            task = known.tasks.get(evict.task)
            if task is None:
                continue
            past.others.add(task.name)
            if task.name == pod and namespace in ("", task.namespace):
                eviction = _eviction(evict, piece, known)
                past.evictions.append(eviction)
                open_.setdefault(task.gang, []).append(eviction)
    return past


def _eviction(evict: Evict, cycle: RecordedCycle, known: KnownRecords) -> PodEviction:
    task = known.tasks[evict.task]
    return PodEviction(
        cycle.now,
        task.name,
        task.namespace,
        evict.node,
        _named(task.gang, known),
        evict.action,
        shown(evict.message),
        evict.lost / 3600,
        len(cycle.decisions.evictions),
        _named(evict.preemptor, known) if evict.preemptor else None,
    )


def _named(gang: str, known: KnownRecords) -> NamedGang:
    record, tasks = known.gangs.get(gang), known.members(gang)
    return NamedGang(
        known.title(gang),
        record.namespace if record is not None else "",
        record.queue if record is not None else "",
        record.priority if record is not None else 0,
        sum(known.gpus(task) for task in tasks),
        len(tasks),
    )
