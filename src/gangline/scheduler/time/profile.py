"""When the GPUs of a node become free: who holds how many of them, and until when that is expected to last.

An end is the start plus the expected runtime. Work that runs longer than expected, or of which nothing is expected, is
taken to be about half way: what has run for an hour runs for another one. Pure; the time is handed in."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.status import ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.time.expected import stated_runtime

LEAST_LEFT = 60.0
"""Seconds that work which is overdue is taken to need at least."""
LEAST_UNKNOWN = 3600.0
"""The same for work of which nothing is known."""
NEWTON_STEPS = 3
LOG_2 = math.log(2)
GUESSED_ANEW = 300.0
"""Guesses are made anew after so many seconds, for each node at another moment, so that a large cluster does not make
all of them in one cycle."""


@dataclass(frozen=True, slots=True)
class GpuHold:
    """GPUs of one node held by one task (or by all that share a device). `end` is infinite where nothing is
    expected. `gang`: who holds them, "" for a pod of nobody's gang."""

    gpus: float
    start: float
    end: float
    gang: str = ""
    stated: bool = True
    """Somebody said when it ends; False where that was learned, or is not known."""

    def expected_end(self, now: float, window: float) -> float:
        """When it will be over, as it looks now. `window`: guesses are the same from this moment on, unless one turns
        out to be wrong."""
        if now < self.end < math.inf:
            return self.end
        moment = min(max(window, self.start if self.end == math.inf else self.end), now)
        while True:
            guess = moment + max(moment - self.start, LEAST_UNKNOWN if self.end == math.inf else LEAST_LEFT)
            if guess > now:
                return guess
            moment = guess


def holds_of(node: NodeInfo, now: float) -> list[GpuHold]:
    """Everything that holds GPUs of the node. What is leaving is not counted."""
    gpu_holds: list[GpuHold] = []
    devices: dict[str, GpuHold] = {}
    for placed in node.placed.values():
        if placed.status & Status.RELEASING:
            continue
        start, end, stated = _span(placed.task, now)
        holder = placed.task.gang.uid if placed.task.gang is not None else ""
        if placed.groups:
            for group in placed.groups:
                known = devices.get(group)
                devices[group] = (
                    GpuHold(1, start, end, holder, stated)
                    if known is None
                    else GpuHold(1, min(known.start, start), max(known.end, end), holder, stated and known.stated)
                )
        elif placed.charge[GPU]:
            gpu_holds.append(GpuHold(placed.charge[GPU], start, end, holder, stated))
    return [*gpu_holds, *devices.values()]


def _span(task: TaskInfo, now: float) -> tuple[float, float, bool]:
    """From when to when it holds its GPUs, and whether somebody said so."""
    gang = task.gang
    if gang is None:
        return now, math.inf, False
    start = min(_starts(gang), default=now) if gang.last_start is None else gang.last_start
    stated = stated_runtime(gang)
    expected = gang.record.learned_runtime if stated is None else stated
    return start, math.inf if expected is None else start + expected, stated is not None


def _starts(gang: GangInfo) -> Iterator[float]:
    """When nodes took on its pods: what is known where nobody wrote when it started."""
    for task in gang.tasks.values():
        if task.record.started is not None and task.status & ALLOCATED:
            yield task.record.started


class NodeFuture:
    """What a node holds, and when there is room on it; kept until the node counts other pods.

    `used` is the node's sum of what is used when this was worked out. It holds until the first end, and guesses for a
    few minutes. Whoever asks in between gets the same answer, whenever it was worked out."""

    __slots__ = ("_slots", "_with_another", "ends", "used", "valid_until")

    def __init__(self, node: NodeInfo, now: float) -> None:
        self.used = node.used
        holds = holds_of(node, now)
        window = _window(node.name, now)
        self.ends = _one_after_the_other([(hold.expected_end(now, window), hold) for hold in holds], window)
        self.valid_until = min([end for end, _ in self.ends], default=math.inf)
        if any(not now < hold.end < math.inf for hold in holds):
            self.valid_until = min(self.valid_until, window + GUESSED_ANEW)
        self._slots: dict[float, list[float]] = {}
        self._with_another: float | None = None

    def free_with_another(self, node: NodeInfo, now: float) -> float:
        """When all would be over if one more started now of which nothing is known."""
        if self._with_another is None:
            window, another = _window(node.name, now), GpuHold(0, now, math.inf)
            guesses = [(hold.expected_end(now, window), hold) for _, hold in self.ends]
            guesses.append((another.expected_end(now, window), another))
            self._with_another = max([end for end, _ in _one_after_the_other(guesses, window)])
        return self._with_another

    @property
    def known(self) -> bool:
        """Whether every end is expected at some time."""
        return all(math.isfinite(hold.end) for _, hold in self.ends)

    def free_at(self, node: NodeInfo, moment: float) -> float:
        """GPUs that nobody holds any more at that moment; what may last for ever is not counted on."""
        held = [hold.gpus for end, hold in self.ends if hold.end == math.inf or end > moment]
        return node.allocatable[GPU] - sum(held)

    def slot_times(self, node: NodeInfo, gpus: float) -> list[float]:
        """When there is room for one pod with so many GPUs, for a second one, …; a moment that is past means now."""
        kept = self._slots.get(gpus)
        if kept is None:
            kept = self._slots[gpus] = slot_times(self.steps(node), gpus)
        return kept

    def steps(self, node: NodeInfo, more: Iterable[tuple[float, float]] = ()) -> list[tuple[float, float]]:
        """When GPUs become free: (moment, GPUs free from then on). `more`: (until, GPUs) that others have a right to
        until then."""
        ends = sorted([*[(end, hold.gpus) for end, hold in self.ends], *more])
        free = node.allocatable[GPU] - sum([gpus for _, gpus in ends])
        steps = [(-math.inf, free)]
        for end, gpus in ends:
            free += gpus
            steps.append((end, free))
        return steps


def _one_after_the_other(ends: list[tuple[float, GpuHold]], window: float) -> list[tuple[float, GpuHold]]:
    """Later ends for pieces of work of which nothing is known: that all of them are over takes longer than the guess
    for any one. Work that ran for a time t ends within another t with a chance of 1 in 2, and within 2t with a chance
    of 2 in 3. So the second of two pieces counts as over when both are over with a chance of 1 in 2, and so on."""
    blind = sorted([item for item in ends if item[1].end == math.inf], key=_guess)
    if len(blind) < 2:
        return ends
    left = [guess - window for guess, _ in blind]
    later, over = list[tuple[float, GpuHold]](), 0.0
    for place, (_, hold) in enumerate(blind):
        over = _all_over(left[: place + 1], over + left[place])
        later.append((window + over, hold))
    return [*[item for item in ends if item[1].end != math.inf], *later]


def _guess(item: tuple[float, GpuHold]) -> float:
    return item[0]


def _all_over(left: list[float], moment: float) -> float:
    """When all pieces of work are over with a chance of 1 in 2; each alone is so after its time in `left`. This is the
    root of sum(log(1 + left / t)) = log(2). `moment`: not later than that, such as when all but the longest are over,
    and then its own time. Newton's steps come from below and do not pass the root."""
    for _ in range(NEWTON_STEPS if len(left) > 1 else 0):
        above = sum([math.log1p(time / moment) for time in left]) - LOG_2
        moment += above / sum([time / (moment * (moment + time)) for time in left])
    return moment


def _window(node: str, now: float) -> float:
    offset = zlib.crc32(node.encode()) % GUESSED_ANEW
    return math.floor((now - offset) / GUESSED_ANEW) * GUESSED_ANEW + offset


MOST_SLOTS = 10_000
"""Pods of one gang on one node: no machine takes as many, whatever a Node says."""


def slot_times(steps: Iterable[tuple[float, float]], gpus: float) -> list[float]:
    times: list[float] = []
    for moment, free in steps:
        if moment == math.inf:
            break
        fitting = min(int((free + 1e-9) / gpus), MOST_SLOTS)
        times += [moment] * (fitting - len(times))
    return times
