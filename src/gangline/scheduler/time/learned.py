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
RATIOS = "ratios"
LEAST = 5
"""Fewer runs than this say nothing."""
QUANTILE = 0.8
MOST_RATIOS, LEAST_RATIOS = 200, 20
LATE, LONGEST_RATIO = 0.99, 5.0
"""Of a hundred gangs one runs longer than a promise counts on; none is taken for more than five times late."""
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


class LearnedRuntimes:
    def __init__(self) -> None:
        self._runs: dict[LearnedKey, _Runs] = {}
        self.overruns = Overruns()
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
        return {**kept, **({RATIOS: list(self.overruns.ratios)} if self.overruns.ratios else {})}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """What is no memory of ours is left out."""
        self._runs, self.overruns = {}, Overruns()
        for text, seconds in list(saved.items())[-MOST_KEYS - 1 :]:
            known = [float(run) for run in seconds if _is_runtime(run)] if isinstance(seconds, list) else []
            if text == RATIOS:
                self.overruns.ratios.extend(known)
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
