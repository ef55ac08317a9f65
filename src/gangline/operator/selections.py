"""How backends are chosen, as a metric: one count per set and generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter

if TYPE_CHECKING:
    from gangline.operator.backends import Selection

SELECTIONS = Counter("gangline_backend_selections_total", "Backends chosen for sets, and how", ["backend", "source"])


def count(selection: Selection) -> None:
    SELECTIONS.labels(selection.backend.name, selection.source).inc()
