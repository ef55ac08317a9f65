"""What ran when on which GPUs, and how many GPUs each queue used and waited for, from a recording.

The reading side of the flight recorder for pages and plots: feed `PastUse` the pieces of a recording
(`files.recorded`), in their order, then ask. Pure: knows no file and no clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gangline.scheduler.model.status import ACTIVE_USED, Status
from gangline.scheduler.recording.following import PoolFollower, TaskTurn, shown
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.records import NodeRecord, TaskRecord
from gangline.scheduler.thought.changes import GoneRecord, TakenChange

WAITING = Status.PENDING


@dataclass(slots=True)
class GpuSpan:
    """A pod held GPUs of a node from `start` until `end` (None: it still does). `running`: since when it was seen to
    run. `lane`: which GPU of the node it is drawn on, from 0; who shares a device shares its lane. `gang` and
    `namespace` are as users know them. `ended`: ended, failed, evicted, deleted, or "" while it lasts."""

    pod: str
    namespace: str
    gang: str
    queue: str
    node: str
    gpus: float
    start: float
    end: float | None = None
    running: float | None = None
    lane: int = 0
    devices: tuple[str, ...] = ()
    """Names of the shared devices it is on; none where it has whole ones."""
    ended: str = ""


@dataclass(slots=True)
class UsageSample:
    """GPUs on average between `start` and `end`: what there was, who used it, and who waited for how many."""

    start: float
    end: float
    capacity: float = 0.0
    used: dict[str, float] = field(default_factory=dict)
    waiting: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Totals:
    """What holds now, by queue."""

    capacity: float = 0.0
    used: dict[str, float] = field(default_factory=dict)
    waiting: dict[str, float] = field(default_factory=dict)


class PoolUse:
    """Of one node pool. What was over before `since` is forgotten."""

    def __init__(self, since: float = 0.0) -> None:
        self.follower = PoolFollower()
        self._since = since
        self.spans: list[GpuSpan] = []
        self.steps: list[tuple[float, _Totals]] = []
        """What held from each moment on."""
        self._open: dict[str, GpuSpan] = {}
        self._waits: dict[str, tuple[str, float]] = {}
        self._capacity = 0.0
        self._used: dict[str, float] = {}
        self._waiting: dict[str, float] = {}
        self._evicted: set[str] = set()
        self._lanes: dict[str, dict[int, set[str]]] = {}

    def begin(self, start: SegmentStart) -> None:
        self.follower.begin(start)
        self._capacity = -1.0

    def take(self, cycle: RecordedCycle) -> None:
        followed = self.follower.take(cycle)
        if self._capacity < 0 or any(_of_nodes(change) for change in cycle.changes):
            nodes = self.follower.known.nodes.values()
            self._capacity = sum(node.allocatable.get("gpu", 0) for node in nodes if node.ready)
        self._evicted |= {evict.task for evict in cycle.decisions.evictions}
        for turn in (*followed.seen, *followed.booked):
            self._turned(turn, cycle.now)
        totals = _Totals(self._capacity, _rounded(self._used), _rounded(self._waiting))
        if cycle.now <= self._since:
            self.steps.clear()
            self.spans = list(self._open.values())
        if not self.steps or self.steps[-1][1] != totals:
            self.steps.append((cycle.now, totals))

    def _turned(self, turn: TaskTurn, now: float) -> None:
        task = turn.after or turn.before
        if task is None:
            return
        self._count_waiting(task, turn.after is not None and turn.after.status is WAITING)
        holds = turn.after is not None and bool(turn.after.node) and bool(turn.after.status & ACTIVE_USED)
        span = self._open.get(task.uid)
        if span is not None and (not holds or span.node != task.node):
            self._close(task.uid, span, turn.after, now)
            span = None
        if holds and span is None:
            span = self._begin(task, now)
        if span is not None and span.running is None and task.status is Status.RUNNING:
            span.running = now

    def _begin(self, task: TaskRecord, now: float) -> GpuSpan | None:
        known = self.follower.known
        gpus = known.gpus(task)
        if not gpus or task.utility:
            return None
        gang = known.gangs.get(task.gang)
        span = GpuSpan(
            task.name or task.uid,
            task.namespace,
            shown(gang.name or gang.uid) if gang is not None else "",
            gang.queue if gang is not None else "",
            task.node,
            gpus,
            now,
            devices=task.gpu_groups,
        )
        span.lane = self._lane(task, gpus)
        self._used[span.queue] = self._used.get(span.queue, 0.0) + gpus
        self._open[task.uid] = span
        self.spans.append(span)
        return span

    def _lane(self, task: TaskRecord, gpus: float) -> int:
        """The first GPU of the node that nobody is drawn on, or that of those it shares a device with."""
        lanes = self._lanes.setdefault(task.node, {})
        if task.gpu_groups:
            device = f"device {task.gpu_groups[0]}"
            shared = next((lane for lane, users in lanes.items() if device in users), None)
            if shared is not None:
                lanes[shared] |= {device, task.uid}
                return shared
        needed = max(int(-(-gpus // 1)), 1)
        lane = 0
        while any(lanes.get(lane + offset) for offset in range(needed)):
            lane += 1
        for offset in range(needed):
            lanes[lane + offset] = {task.uid, *(f"device {group}" for group in task.gpu_groups)}
        return lane

    def _close(self, uid: str, span: GpuSpan, after: TaskRecord | None, now: float) -> None:
        span.end = now
        status = after.status if after is not None else None
        if uid in self._evicted:
            span.ended = "evicted"
        else:
            span.ended = {Status.SUCCEEDED: "ended", Status.FAILED: "failed"}.get(status or Status.UNKNOWN, "deleted")
        self._evicted.discard(uid)
        del self._open[uid]
        self._used[span.queue] -= span.gpus
        lanes = self._lanes.get(span.node, {})
        for lane in [lane for lane, users in lanes.items() if uid in users]:
            lanes[lane].discard(uid)
            if all(user.startswith("device ") for user in lanes[lane]):
                del lanes[lane]

    def _count_waiting(self, task: TaskRecord, waits: bool) -> None:
        queue, gpus = self._waits.pop(task.uid, ("", 0.0))
        if gpus:
            self._waiting[queue] -= gpus
        gang = self.follower.known.gangs.get(task.gang)
        asked = self.follower.known.gpus(task) if waits and gang is not None else 0.0
        if gang is not None and asked:
            self._waits[task.uid] = gang.queue, asked
            self._waiting[gang.queue] = self._waiting.get(gang.queue, 0.0) + asked


class PastUse:
    """All node pools of a recording together; what was over before `since` is forgotten."""

    def __init__(self, since: float = 0.0) -> None:
        self._since = since
        self.pools: dict[str, PoolUse] = {}
        self.first: float | None = None
        self.last: float | None = None
        """Moments of the first and last cycle that was taken."""
        self._pool = PoolUse()

    def take(self, piece: SegmentStart | RecordedCycle) -> None:
        if isinstance(piece, SegmentStart):
            self._pool = self.pools.setdefault(piece.pool, PoolUse(self._since))
            self._pool.begin(piece)
            return
        self._pool.take(piece)
        self.first = piece.now if self.first is None else min(self.first, piece.now)
        self.last = piece.now if self.last is None else max(self.last, piece.now)

    def spans(self, since: float | None = None, until: float | None = None) -> list[GpuSpan]:
        """Who held GPUs between two moments, by node, lane and time."""
        spans = [
            span
            for pool in self.pools.values()
            for span in pool.spans
            if (until is None or span.start < until) and (since is None or span.end is None or span.end > since)
        ]
        return sorted(spans, key=lambda span: (span.node, span.lane, span.start, span.pod))

    def samples(self, since: float, until: float, number: int = 120) -> list[UsageSample]:
        """Averages over equal parts of the time between two moments; nothing is known before the first cycle."""
        if until <= since or number < 1:
            return []
        width = (until - since) / number
        samples = [UsageSample(since + width * place, since + width * (place + 1)) for place in range(number)]
        for pool in self.pools.values():
            ends = [*(moment for moment, _ in pool.steps[1:]), max(until, self.last or until)]
            for (start, totals), end in zip(pool.steps, ends, strict=True):
                _spread(samples, since, width, start, end, totals)
        return samples


def _spread(samples: list[UsageSample], since: float, width: float, start: float, end: float, totals: _Totals) -> None:
    """Add what held from start to end to the samples it touches."""
    first, last = int((start - since) // width), int((end - since) // width)
    for sample in samples[max(first, 0) : max(last + 1, 0)]:
        part = (min(end, sample.end) - max(start, sample.start)) / width
        if part <= 0:
            continue
        sample.capacity += totals.capacity * part
        for into, amounts in ((sample.used, totals.used), (sample.waiting, totals.waiting)):
            for queue, gpus in amounts.items():
                into[queue] = into.get(queue, 0.0) + gpus * part


def _of_nodes(change: TakenChange) -> bool:
    return isinstance(change, NodeRecord) or (isinstance(change, GoneRecord) and change.type is NodeRecord)


def _rounded(amounts: dict[str, float]) -> dict[str, float]:
    """Without what is nothing but the crumbs of sums."""
    return {queue: gpus for queue, amount in amounts.items() if (gpus := round(amount, 6))}


def past_use(pieces: Iterable[SegmentStart | RecordedCycle], since: float = 0.0) -> PastUse:
    """Of a whole recording, as far as it lasted beyond `since`."""
    use = PastUse(since)
    for piece in pieces:
        use.take(piece)
    return use
