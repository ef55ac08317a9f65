"""Playing only a part of a trace: its first days, the first jobs to arrive, or a number of jobs picked evenly over the
whole time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gangline.lab.jobs import TraceJob

DAY = 86_400.0


def last_moment(jobs: Sequence[TraceJob], days: float | None) -> float:
    """When so many days since the first arrival are over."""
    return math.inf if days is None or not jobs else min(job.arrival for job in jobs) + days * DAY


def selected(
    jobs: Sequence[TraceJob], first: int | None, number: int | None, until: float = math.inf
) -> list[TraceJob]:
    ordered = sorted([job for job in jobs if job.arrival <= until], key=lambda job: job.arrival)[:first]
    if number is None or number >= len(ordered):
        return ordered
    return [ordered[place * len(ordered) // number] for place in range(number)]
