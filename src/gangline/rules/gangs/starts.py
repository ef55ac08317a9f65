"""When a waiting gang starts: what the scheduler promised, as it stands in a status, and in words.

The scheduler writes it on the PodGroup, the operator hands it on to the PodGang, commands and the page tell it.
Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from gangline.api.kai import StartStatus
from gangline.api.meta import Raw
from gangline.rules.values.times import seconds, timestamp

UNSAID = "too little is known of those before it"


@dataclass(frozen=True, slots=True)
class StartTimes:
    """Seconds since 1970. `latest` is the promise; None where too little is known to make one. `waits_for`: the gang
    whose end makes room. `reason`: why the promise is not the first one."""

    expected: float
    latest: float | None = None
    waits_for: str = ""
    reason: str = ""


def start_status(times: StartTimes) -> Raw:
    """As it is written; what is not known is taken away."""
    return {
        "expected": timestamp(times.expected),
        "latest": None if times.latest is None else timestamp(times.latest),
        "waitsFor": times.waits_for or None,
        "reason": times.reason or None,
    }


def start_times(status: StartStatus | None) -> StartTimes | None:
    """None where no start is known."""
    expected = seconds(status.expected) if status is not None else None
    if status is None or expected is None:
        return None
    return StartTimes(expected, seconds(status.latest), status.waits_for, status.reason)


def start_text(times: StartTimes, now: float) -> str:
    """For people, in UTC; the day is named where it is not today."""
    when = f" (when {times.waits_for.rpartition('/')[2]} ends)" if times.waits_for else ""
    if times.latest is None:
        text = f"starts probably at {clock_text(times.expected, now)}{when}; not promised: {UNSAID}"
    else:
        probably = f", probably at {clock_text(times.expected, now)}" if times.expected < times.latest else ""
        text = f"starts by {clock_text(times.latest, now)} at the latest{when}{probably}"
    return f"{text}; revised: {times.reason}" if times.reason else text


def clock_text(moment: float, now: float) -> str:
    """A moment in whole minutes."""
    then, today = datetime.fromtimestamp(math.ceil(moment / 60) * 60, UTC), datetime.fromtimestamp(now, UTC)
    return f"{then:%H:%M} UTC" if then.date() == today.date() else f"{then:%Y-%m-%d %H:%M} UTC"
