"""Figures of a simulation: who waited how long, how busy the GPUs were, what was lost, and where idle GPUs went.

`engine.py` tells what happens and when; `figures()` is the answer, in the form that `-o json` prints. Nothing here
decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gangline.rules.capacity.idle_causes import NO_DEMAND, STARTING

HOUR = 3600.0
SIZE_CLASSES: tuple[tuple[str, Callable[[float], bool]], ...] = (
    ("all", lambda gpus: True),
    ("1..8", lambda gpus: gpus <= 8),
    ("9..15", lambda gpus: 8 < gpus < 16),
    (">=16", lambda gpus: gpus >= 16),
)


@dataclass(slots=True)
class JobRun:
    """One job on its way: how long it waited in all, and since when it waits or runs."""

    name: str
    queue: str
    gpus: float
    since: float
    remaining: float
    running: bool = False
    started: bool = False
    waited: float = 0.0
    evictions: int = 0
    ended: float | None = None
    epoch: int = 0
    """Counts starts, so that the end of an evicted run is not taken for that of the next."""
    latest: float | None = None
    """The start that was promised to it, if any."""
    promised: tuple[float, float] = (0.0, 0.0)
    """When that was promised, and the start that was reserved for it then."""


@dataclass(slots=True)
class GpuClock:
    """GPU-seconds since the first moment: held, held while somebody waited, idle by cause. What became free since the
    last cycle is about to be given away."""

    capacity: float
    now: float
    busy: float = 0.0
    waiting: float = 0.0
    """GPUs that waiting jobs ask for."""
    causes: Mapping[str, float] = field(default_factory=dict)
    """Why GPUs were idle after the last cycle."""
    held_seconds: float = 0.0
    capacity_seconds: float = 0.0
    contended_held: float = 0.0
    contended_capacity: float = 0.0
    idle: dict[str, float] = field(default_factory=dict)
    by_queue: dict[str, float] = field(default_factory=dict)
    points: list[tuple[float, float, float]] = field(default_factory=list)
    """(time, GPUs held, GPUs asked for by waiting jobs), for plots."""

    def advance(self, now: float) -> None:
        seconds = now - self.now
        if seconds <= 0:
            return
        self.now = now
        self.held_seconds += self.busy * seconds
        self.capacity_seconds += self.capacity * seconds
        idle = max(self.capacity - self.busy, 0.0) * seconds
        if self.waiting <= 0:
            self._idle(NO_DEMAND, idle)
            return
        self.contended_held += self.busy * seconds
        self.contended_capacity += self.capacity * seconds
        attributed = sum(self.causes.values()) * seconds
        part = min(idle / attributed, 1.0) if attributed else 0.0
        for cause, gpus in self.causes.items():
            self._idle(cause, gpus * seconds * part)
        self._idle(STARTING, max(idle - attributed, 0.0))

    def _idle(self, cause: str, gpu_seconds: float) -> None:
        if gpu_seconds:
            self.idle[cause] = self.idle.get(cause, 0.0) + gpu_seconds

    def mark(self) -> None:
        self.points.append((self.now, self.busy, self.waiting))


@dataclass(slots=True)
class PlayedTrace:
    """What came of a simulation."""

    settings: str
    runs: list[JobRun]
    clock: GpuClock
    first: float
    last: float
    allocated: float
    """GPUs held when the last job had arrived."""
    lost_gpu_seconds: float = 0.0
    evictions: int = 0
    evicted_at_once: int = 0
    """Of these, how many in the very cycle that had placed the gang."""
    promises_made: int = 0
    promises_kept: int = 0
    cycles: int = 0
    wall: float = 0.0
    quotas: dict[str, float] = field(default_factory=dict)


def figures(played: PlayedTrace) -> dict[str, Any]:
    clock = played.clock
    return {
        "settings": played.settings,
        "jobs": len(played.runs),
        "waits": {name: waits([run for run in played.runs if belongs(run.gpus)]) for name, belongs in SIZE_CLASSES},
        "used_percent": percent(clock.held_seconds, clock.capacity_seconds),
        "used_while_waiting_percent": percent(clock.contended_held, clock.contended_capacity),
        "gpus_allocated_percent": percent(played.allocated, clock.capacity),
        "evictions": played.evictions,
        "evicted_at_once": played.evicted_at_once,
        "lost_gpu_hours": round(played.lost_gpu_seconds / HOUR, 1),
        "promises": {"made": played.promises_made, "kept": played.promises_kept},
        "queues": _queues(played),
        "idle": {cause: round(seconds / HOUR, 1) for cause, seconds in sorted(clock.idle.items())},
        "makespan_h": round((played.last - played.first) / HOUR, 2),
        "cycles": played.cycles,
        "wall_s": round(played.wall, 1),
    }


def percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def waits(runs: Sequence[JobRun]) -> dict[str, float | int]:
    """Hours that jobs which started spent waiting, and how many never started."""
    hours = sorted(run.waited / HOUR for run in runs if run.started)
    return {
        "mean_h": _rounded(sum(hours) / len(hours) if hours else 0.0),
        "p50_h": _rounded(quantile(hours, 0.5)),
        "p99_h": _rounded(quantile(hours, 0.99)),
        "max_h": _rounded(hours[-1] if hours else 0.0),
        "never": sum(not run.started for run in runs),
    }


def quantile(ordered: Sequence[float], part: float) -> float:
    """Between the two nearest values, as numpy and spreadsheets do it."""
    if not ordered:
        return 0.0
    place = part * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _rounded(hours: float) -> float:
    return round(hours, 3)


def _queues(played: PlayedTrace) -> dict[str, dict[str, float]]:
    """`share`: the part of all held GPU-seconds in per cent; `borrowed`: GPU-hours above the queue's quota, 0 without
    one."""
    total = sum(played.clock.by_queue.values())
    by_queue: dict[str, list[JobRun]] = {}
    for run in played.runs:
        by_queue.setdefault(run.queue, []).append(run)
    seconds = played.clock.capacity_seconds / played.clock.capacity if played.clock.capacity else 0.0
    return {
        name: {
            "mean_h": float(waits(runs)["mean_h"]),
            "share": percent(played.clock.by_queue.get(name, 0.0), total),
            "borrowed": _borrowed(played.clock.by_queue.get(name, 0.0), played.quotas.get(name, -1.0), seconds),
        }
        for name, runs in sorted(by_queue.items())
    }


def _borrowed(held: float, quota: float, seconds: float) -> float:
    return round(max(held - quota * seconds, 0.0) / HOUR, 1) if quota >= 0 else 0.0


def thinned(points: Iterable[tuple[float, float, float]], most: int) -> list[tuple[float, float, float]]:
    """At most so many points: the mean of each stretch."""
    curve = list(points)
    if len(curve) <= most:
        return curve
    size = -(-len(curve) // most)
    parts = [curve[start : start + size] for start in range(0, len(curve), size)]
    return [
        (part[0][0], sum(point[1] for point in part) / len(part), sum(point[2] for point in part) / len(part))
        for part in parts
    ]
