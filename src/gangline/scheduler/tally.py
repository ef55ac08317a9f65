"""What a cycle counted on its way: gangs looked at, searches and how they ended, scenarios tried and dropped, seconds
of each part.

The core counts and the shell tells (`loop/metrics.py`). Seconds come from a stopwatch that the shell hands in; without
one they are 0. No decision depends on anything here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

R = TypeVar("R")


class SearchOutcome(NamedTuple):
    """How the search for one gang ended: solved, generators_exhausted, deadline_exhausted or not_attempted. `reduced`:
    the action had less of its budget left than a gang may use."""

    action: str
    result: str
    reduced: bool


class ScenarioCount(NamedTuple):
    """What scenarios are counted by; `state`: emitted, simulated, validator_rejected or duplicate."""

    action: str
    generator: str
    state: str


class GeneratorRun(NamedTuple):
    """How one generator of scenarios ended."""

    action: str
    generator: str
    result: str


class QueueShare(NamedTuple):
    """What a queue is due in this cycle, and its part of the past: cpu (milli-cores), memory (bytes), gpu."""

    queue: str
    shown: str
    fair: tuple[float, float, float]
    used: tuple[float, float, float]


@dataclass(slots=True)
class CycleTally:
    stopwatch: Callable[[], float] = lambda: 0.0
    acted: Counter[str] = field(default_factory=Counter)
    """Gangs that an action looked at."""
    filtered: Counter[str] = field(default_factory=Counter)
    """Sets of victims that an action dropped without a simulation."""
    searches: Counter[SearchOutcome] = field(default_factory=Counter)
    scenarios: Counter[ScenarioCount] = field(default_factory=Counter)
    exhausted: Counter[str] = field(default_factory=Counter)
    """Actions that ended because their budget was used up."""
    solved: Counter[str] = field(default_factory=Counter)
    searching: list[tuple[GeneratorRun, float]] = field(default_factory=list)
    times: dict[str, float] = field(default_factory=dict)
    """Seconds of each action, and of `open` and `close`."""
    plugins: dict[str, float] = field(default_factory=dict)
    """Seconds to open each plugin's part of the session."""
    shares: list[QueueShare] = field(default_factory=list)

    def clocked(self, into: dict[str, float], name: str, work: Callable[[], R]) -> R:
        """Do the work and note how long it took, even if it fails."""
        began = self.stopwatch()
        try:
            return work()
        finally:
            into[name] = self.stopwatch() - began
