"""Prometheus metrics that every component shares. Components add their own beside these."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

RECONCILES = Counter("gangline_reconciles_total", "Reconciles by how they ended", ["controller", "outcome"])
SECONDS = Histogram(
    "gangline_reconcile_seconds", "Time of one reconcile", ["controller"], buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 10)
)
EVENTS_DROPPED = Counter(
    "gangline_events_dropped_total", "Events not written because too many came at once", ["component"]
)
RESTARTS = Counter("gangline_background_restarts_total", "Background work that failed and was started again", ["task"])
WATCH_RESTARTS = Counter(
    "gangline_watch_restarts_total", "Lists and watches begun again, by kind and why", ["resource", "why"]
)
UNREAD = Counter(
    "gangline_unread_objects_total", "Objects that could not be read and were left as they were", ["resource"]
)


class ReconcileMeter:
    """One controller's reconciles, with its labels looked up once."""

    def __init__(self, controller: str) -> None:
        self._seconds = SECONDS.labels(controller)
        self._outcomes = {
            outcome: RECONCILES.labels(controller, outcome) for outcome in ("done", "again", "stale", "failed")
        }

    def note(self, outcome: str, seconds: float) -> None:
        self._seconds.observe(seconds)
        self._outcomes[outcome].inc()
