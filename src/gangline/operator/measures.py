"""What the operator tells Prometheus beside its reconciles: each write by kind and outcome, and why it looks again
later."""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter, Histogram

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
