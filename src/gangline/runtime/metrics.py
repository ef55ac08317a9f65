"""Prometheus metrics that every component shares. Components add their own beside these.
"""

from __future__ import annotations

from prometheus_client import Counter, Histogram

RECONCILES = Counter("gangline_reconciles_total", "Reconciles by how they ended", ["controller", "outcome"])
SECONDS = Histogram("gangline_reconcile_seconds", "Time of one reconcile", ["controller"],
                    buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 10))
EVENTS_DROPPED = Counter("gangline_events_dropped_total", "Events not written because too many came at once", ["component"])
