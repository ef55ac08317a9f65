"""What is expected of a job's runtime: exactly what it will be, wrong by up to a factor, learned from what ended
before, or nothing.

`engine.py` asks when a job arrives and tells when one ends. `learned` is the scheduler's own memory
(`scheduler/time/learned.py`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gangline.errors import BadInput
from gangline.lab.arrivals import noises
from gangline.lab.jobs import TraceJob
from gangline.scheduler.time.learned import LearnedRuntimes


class ExpectedRuntimes:
    """Nothing is known."""

    def stated(self, job: TraceJob) -> float | None:
        """What somebody says."""
        return None

    def learned(self, job: TraceJob) -> float | None:
        """What jobs like it took."""
        return None

    def ended(self, job: TraceJob, seconds: float) -> None:
        """A job ended by itself after so long."""


class _Known(ExpectedRuntimes):
    def __init__(self, jobs: Sequence[TraceJob], factors: Sequence[float]) -> None:
        self._factors = {job.name: factor for job, factor in zip(jobs, factors, strict=True)}

    def stated(self, job: TraceJob) -> float | None:
        return job.duration * self._factors[job.name] if math.isfinite(job.duration) else None


class _Learned(ExpectedRuntimes):
    def __init__(self) -> None:
        self._memory = LearnedRuntimes()

    def learned(self, job: TraceJob) -> float | None:
        return self._memory.expected(job.name, job.queue, job.all_gpus)

    def ended(self, job: TraceJob, seconds: float) -> None:
        self._memory.note(job.name, job.queue, job.all_gpus, seconds)


def expected_runtimes(kind: str, jobs: Sequence[TraceJob], seed: int) -> ExpectedRuntimes:
    """`exact`, `noisy:F`, `learned` or `none`."""
    if kind == "exact":
        return _Known(jobs, [1.0] * len(jobs))
    if kind == "learned":
        return _Learned()
    if kind == "none":
        return ExpectedRuntimes()
    word, _, factor = kind.partition(":")
    try:
        value = float(factor)
    except ValueError:
        value = 0.0
    if word != "noisy" or not math.isfinite(value) or value < 1:
        raise BadInput(f"--runtimes {kind}: write exact, noisy:F with F from 1 on (noisy:3), learned or none")
    return _Known(jobs, noises(len(jobs), value, seed))
