"""How long a gang is expected to run: what its PodGroup says, else the longest that one of its pods says, else what was
learned from gangs like it, else nothing is known."""

from __future__ import annotations

from gangline.scheduler.model.gang import GangInfo


def expected_runtime(gang: GangInfo) -> float | None:
    """Seconds from the gang's start to its end."""
    stated = stated_runtime(gang)
    return gang.record.learned_runtime if stated is None else stated


def stated_runtime(gang: GangInfo) -> float | None:
    """The same, where somebody said so."""
    if gang.record.expected_runtime is not None:
        return gang.record.expected_runtime
    runtimes = [task.record.expected_runtime for task in gang.tasks.values()]
    known = [seconds for seconds in runtimes if seconds is not None]
    return max(known) if known and len(known) == len(runtimes) else None
