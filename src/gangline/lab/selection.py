"""Playing only a part of a trace: the first jobs to arrive, or a number of jobs picked evenly over the whole time."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.lab.jobs import TraceJob


def selected(jobs: Sequence[TraceJob], first: int | None, number: int | None) -> list[TraceJob]:
    ordered = sorted(jobs, key=lambda job: job.arrival)[:first]
    if number is None or number >= len(ordered):
        return ordered
    return [ordered[place * len(ordered) // number] for place in range(number)]
