"""What the operator tells Prometheus beside its reconciles: each write by kind and outcome, why it looks again later,
and which backend each set was given."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

if TYPE_CHECKING:
    from gangline.operator.backends import Selection

WRITES = Counter(
    "gangline_operator_writes_total", "Writes of the operator by how they ended", ["kind", "verb", "outcome"]
)
SECONDS = Histogram(
    "gangline_operator_write_seconds",
    "Time of one write of the operator",
    ["verb"],
    buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 10),
)
WAITS = Counter(
    "gangline_operator_waits_total", "Looks that ended with another one planned, by reason", ["controller", "reason"]
)
SELECTIONS = Counter("gangline_backend_selections_total", "Backends chosen for sets, and how", ["backend", "source"])

PACE, TERMINATION, DEADLINE, UNSEEN, TROUBLE = (
    "pace",
    "termination-delay",
    "progress-deadline",
    "own-write-unseen",
    "backend-trouble",
)
BACKLOG = "backlog"


@cache
def _writes(kind: str, verb: str, outcome: str) -> Counter:
    return WRITES.labels(kind, verb, outcome)


@cache
def _seconds(verb: str) -> Histogram:
    return SECONDS.labels(verb)


def wrote(kind: str, verb: str, outcome: str, seconds: float) -> None:
    _writes(kind, verb, outcome).inc()
    _seconds(verb).observe(seconds)


def waits(controller: str, reason: str) -> None:
    WAITS.labels(controller, reason).inc()


def selected(selection: Selection) -> None:
    """One count per set and generation."""
    SELECTIONS.labels(selection.backend.name, selection.source).inc()
