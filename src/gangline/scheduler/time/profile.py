"""When the GPUs of a node become free: who holds how many of them, and until when that is expected to last.

An end is the start plus the expected runtime. Work that runs longer than expected, or of which nothing is expected, is
taken to be about half way: what has run for an hour runs for another one. Pure; the time is handed in."""

from __future__ import annotations

import math
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

    def expected_end(self, now: float) -> float:
        """When it will be over, as it looks now."""
        if self.end == math.inf:
            return now + max(now - self.start, LEAST_UNKNOWN)
        return self.end if self.end > now else now + max(now - self.start, LEAST_LEFT)


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


def free_at(node: NodeInfo, holds: list[GpuHold], moment: float, now: float) -> float:
    """GPUs of the node that nobody holds any more at that moment; what may last for ever is not counted on."""
    return node.allocatable[GPU] - sum(
        [hold.gpus for hold in holds if hold.end == math.inf or hold.expected_end(now) > moment]
    )


class NodeFuture:
    """What a node holds, and when there is room on it; kept until the node counts other pods.

    `used` is the node's sum of what is used when this was worked out. As long as every end is known and none is
    overdue, the moments do not depend on the time."""

    __slots__ = ("_slots", "_sure_until", "holds", "used")

    def __init__(self, node: NodeInfo, now: float) -> None:
        self.used = node.used
        self.holds = holds_of(node, now)
        self._sure_until = min([hold.end for hold in self.holds], default=math.inf)
        if any(not math.isfinite(hold.end) for hold in self.holds):
            self._sure_until = -math.inf
        self._slots: dict[float, list[float]] = {}

    @property
    def known(self) -> bool:
        """Whether every end is expected at some time."""
        return all(math.isfinite(hold.end) for hold in self.holds)

    def slot_times(self, node: NodeInfo, gpus: float, now: float) -> list[float]:
        """When there is room for one pod with so many GPUs, for a second one, …; a moment that is past means now."""
        if now >= self._sure_until:
            return slot_times(self.steps(node, now), gpus)
        kept = self._slots.get(gpus)
        if kept is None:
            kept = self._slots[gpus] = slot_times(self.steps(node, now), gpus)
        return kept

    def steps(self, node: NodeInfo, now: float, more: Iterable[tuple[float, float]] = ()) -> list[tuple[float, float]]:
        """When GPUs become free: (moment, GPUs free from then on). `more`: (until, GPUs) that others have a right to
        until then."""
        ends = sorted([*[(hold.expected_end(now), hold.gpus) for hold in self.holds], *more])
        free = node.allocatable[GPU] - sum([gpus for _, gpus in ends])
        steps = [(-math.inf, free)]
        for end, gpus in ends:
            free += gpus
            steps.append((end, free))
        return steps


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
