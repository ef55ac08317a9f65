"""Runtimes learned from what ended before: by owner name pattern, queue and size, coarser where nothing finer was seen.

The expectation is a high quantile of the last runs: a gang that ends sooner than expected hurts nobody, one that ends
later delays others. `saved` and `restore` keep the memory over restarts. Nothing here knows a clock."""

from __future__ import annotations

import math
import re
from bisect import insort
from collections import deque
from collections.abc import Mapping
from typing import Any

KEPT = 32
"""How many of the last runs are kept per key."""
MOST_KEYS = 512
"""The keys that were noted last; together with what is kept of each, all of it fits into an object of a cluster."""
LONGEST_KEY = 300
RATIOS, DELAYS = "ratios", "delays"
LEAST = 5
"""Fewer runs than this say nothing."""
QUANTILE = 0.8
MOST_RATIOS, LEAST_RATIOS = 200, 20
LATE, LONGEST_RATIO = 0.99, 5.0
"""Of a hundred gangs one runs longer than backfill counts on; none is taken for more than five times late."""
IN_TIME, LEAST_WAIT = 0.98, 600.0
"""So many promised starts should be kept: with two of a hundred to spare for what comes in bursts."""
_NUMBERS = re.compile(r"[0-9a-f]{5,}|\d+")

LearnedKey = tuple[str, ...]


def name_pattern(name: str) -> str:
    """A name without what changes from run to run: `train-17` and `train-18` are the same work."""
    return _NUMBERS.sub("#", name)


class _Runs:
    """The last runs of one key, in the order they ended and sorted."""

    __slots__ = ("last", "sorted")

    def __init__(self) -> None:
        self.last: deque[float] = deque()
        self.sorted: list[float] = []

    def add(self, seconds: float) -> None:
        self.last.append(seconds)
        insort(self.sorted, seconds)
        if len(self.last) > KEPT:
            self.sorted.remove(self.last.popleft())

    def quantile(self) -> float:
        return self.sorted[min(int(QUANTILE * len(self.sorted)), len(self.sorted) - 1)]


class Overruns:
    """How much longer than stated gangs run, of the last that ended: by this a promised start is put off, so that it is
    kept nearly always."""

    def __init__(self) -> None:
        self.ratios: deque[float] = deque(maxlen=MOST_RATIOS)

    def note(self, stated: float, seconds: float) -> None:
        if stated > 0:
            self.ratios.append(round(seconds / stated, 3))

    def factor(self) -> float:
        """1 where gangs end as they say, or too few have ended."""
        return self.learned() or 1.0

    def learned(self) -> float | None:
        """The same; None where too few have ended."""
        if len(self.ratios) < LEAST_RATIOS:
            return None
        ordered = sorted(self.ratios)
        return min(max(ordered[min(int(LATE * len(ordered)), len(ordered) - 1)], 1.0), LONGEST_RATIO)


class StartDelays:
    """How much later than reserved gangs started that were promised a start, of the last ones: by this the next promise
    is put off, so that it is kept nearly always, whatever makes starts late here. A part of the time that they had to
    wait, or of ten minutes where that was less."""

    def __init__(self) -> None:
        self.delays: deque[float] = deque(maxlen=MOST_RATIOS)

    def note(self, promised: float, reserved: float, started: float) -> None:
        """A gang to which a start was promised at that time."""
        self.delays.append(round(max(started - reserved, 0.0) / max(reserved - promised, LEAST_WAIT), 3))

    def latest(self, now: float, reserved: float, unless: float) -> float:
        """The start that can be promised now. `unless`: by how many times the wait is put off where too few have
        started."""
        late = unless - 1.0
        if len(self.delays) >= LEAST_RATIOS:
            ordered = sorted(self.delays)
            late = ordered[min(int(IN_TIME * len(ordered)), len(ordered) - 1)]
        return reserved + late * max(reserved - now, LEAST_WAIT)


class LearnedRuntimes:
    def __init__(self) -> None:
        self._runs: dict[LearnedKey, _Runs] = {}
        self.overruns = Overruns()
        self.delays = StartDelays()
        self.noted = 0
        """How many ends were noted by this memory."""

    def note(self, name: str, queue: str, gpus: float, seconds: float) -> None:
        """A gang ended by itself after so long."""
        for key in _keys(name, queue, gpus):
            runs = self._runs.pop(key, None) or _Runs()
            runs.add(seconds)
            self._runs[key] = runs
        while len(self._runs) > MOST_KEYS:
            del self._runs[next(iter(self._runs))]
        self.noted += 1

    def expected(self, name: str, queue: str, gpus: float) -> float | None:
        """The finest memory that is rich enough; None where there is none."""
        for key in _keys(name, queue, gpus):
            runs = self._runs.get(key)
            if runs is not None and len(runs.last) >= LEAST:
                return runs.quantile()
        return None

    def saved(self) -> dict[str, list[float]]:
        """The oldest key first."""
        kept = {"\n".join(key): [round(seconds, 1) for seconds in runs.last] for key, runs in self._runs.items()}
        beside = {RATIOS: list(self.overruns.ratios), DELAYS: [1.0 + delay for delay in self.delays.delays]}
        return {**kept, **{name: numbers for name, numbers in beside.items() if numbers}}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """What is no memory of ours is left out."""
        self._runs, self.overruns, self.delays = {}, Overruns(), StartDelays()
        for text, seconds in list(saved.items())[-MOST_KEYS - 2 :]:
            known = [float(run) for run in seconds if _is_runtime(run)] if isinstance(seconds, list) else []
            if text == RATIOS:
                self.overruns.ratios.extend(known)
            elif text == DELAYS:
                self.delays.delays.extend(delay - 1.0 for delay in known)
            elif known and len(text) <= LONGEST_KEY:
                runs = self._runs[tuple(text.split("\n"))] = _Runs()
                for run in known[-KEPT:]:
                    runs.add(run)


def _is_runtime(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _keys(name: str, queue: str, gpus: float) -> tuple[LearnedKey, ...]:
    """From the finest to the coarsest."""
    size = f"{gpus:g}"
    return ("name", queue, name_pattern(name), size), ("queue", queue, size), ("size", size)
