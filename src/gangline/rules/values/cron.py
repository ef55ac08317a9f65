"""Cron schedules as Kubernetes reads them: the rules of robfig/cron, which the API server judges by and the controller
runs by.

Five fields of numbers, names, ranges, lists and steps, or a descriptor such as `@daily` or `@every 1h30m`. `*` and `?`
are the same. Day of month and day of week are joined by "or", unless one of them is a star (a star with a step is
none). Errors are in upstream's words. `due` says what a clock asks: the last moment that has come, and the
next. Nothing here knows what time it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple, TypeAlias

from gangline.rules.values.times import nanoseconds

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_DAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_LONGEST_INTEGER = 19
FARTHEST = 5
"""Years after which a schedule that has not come is taken to never come."""


class CronError(ValueError):
    """What is wrong with a schedule, as robfig/cron says it."""


class _Bounds(NamedTuple):
    low: int
    high: int
    names: dict[str, int]


class _Field(NamedTuple):
    values: frozenset[int]
    star: bool


_FIELDS = (_Bounds(0, 59, {}), _Bounds(0, 23, {}), _Bounds(1, 31, {}), _Bounds(1, 12, _MONTHS), _Bounds(0, 6, _DAYS))


# --- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calendar:
    """A schedule of five fields."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    both: bool
    """The day must be right by both fields: one of them is a star."""

    def on(self, day: datetime) -> bool:
        days_match = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return all(days_match) if self.both else any(days_match)


@dataclass(frozen=True, slots=True)
class Every:
    """A schedule that comes again so many seconds after it came."""

    seconds: int


Schedule: TypeAlias = Calendar | Every


def parse(text: str) -> Schedule:
    """The schedule that a text means; CronError says what is wrong with it. A time zone is not part of it."""
    text = text.strip()
    if not text:
        raise CronError("empty spec string")
    if text.startswith("@"):
        return _descriptor(text)
    parts = text.split()
    if len(parts) != 5:
        raise CronError(f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]")
    minutes, hours, days, months, weekdays = (_field(part, bounds) for part, bounds in zip(parts, _FIELDS, strict=True))
    return Calendar(
        minutes.values, hours.values, days.values, months.values, weekdays.values, days.star or weekdays.star
    )


def _descriptor(text: str) -> Schedule:
    if text in _DESCRIPTORS:
        return parse(_DESCRIPTORS[text])
    if not text.startswith(_EVERY):
        raise CronError(f"unrecognized descriptor: {text}")
    length = nanoseconds(text.removeprefix(_EVERY))
    if length is None:
        raise CronError(f'failed to parse duration {text}: time: invalid duration "{text.removeprefix(_EVERY)}"')
    return Every(max(length // 10**9, 1))


def _field(text: str, bounds: _Bounds) -> _Field:
    parts = [_part(part, bounds) for part in text.split(",") if part]
    return _Field(frozenset().union(*(item.values for item in parts)), any(item.star for item in parts))


def _part(part: str, bounds: _Bounds) -> _Field:
    span, *steps = part.split("/")
    ends = span.split("-")
    star = ends[0] in ("*", "?")
    if star:
        start, end = bounds.low, bounds.high
    else:
        start = _number(ends[0], bounds.names)
        if len(ends) > 2:
            raise CronError(f"too many hyphens: {part}")
        end = _number(ends[-1], bounds.names)
    if len(steps) > 1:
        raise CronError(f"too many slashes: {part}")
    step = _number(steps[0], {}) if steps else 1
    if steps and len(ends) == 1:
        end = bounds.high
    _check(part, start, end, step, bounds)
    return _Field(frozenset(range(start, end + 1, step)), star and step == 1)


def _check(part: str, start: int, end: int, step: int, bounds: _Bounds) -> None:
    if start < bounds.low:
        raise CronError(f"beginning of range ({start}) below minimum ({bounds.low}): {part}")
    if end > bounds.high:
        raise CronError(f"end of range ({end}) above maximum ({bounds.high}): {part}")
    if start > end:
        raise CronError(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if step == 0:
        raise CronError(f"step of range should be a positive number: {part}")


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch(r"[-+]?[0-9]+", text, re.ASCII):
        raise CronError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    if len(text.lstrip("+-").lstrip("0")) > _LONGEST_INTEGER or not -(2**63) <= int(text) < 2**63:
        raise CronError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    if int(text) < 0:
        raise CronError(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)


# --- when it comes ----------------------------------------------------------------------------------------------------


def next_after(schedule: Schedule, moment: float, zone: tzinfo = UTC) -> float | None:
    """The first moment of the schedule after this one, both in seconds since 1970; None when it does not come for
    years."""
    second = int(moment // 1)
    if isinstance(schedule, Every):
        return float(second + schedule.seconds)
    try:
        return _next(schedule, second, zone)
    except (OverflowError, ValueError, OSError):  # beyond the years that a calendar has
        return None


def _next(schedule: Calendar, second: int, zone: tzinfo) -> float | None:
    """Days are gone through by the calendar, hours and minutes as they pass: an hour that a change of clocks skips does
    not come."""
    if not all((schedule.minutes, schedule.hours, schedule.months)):
        return None
    at = (second // 60 + 1) * 60
    last = datetime.fromtimestamp(at, zone).year + FARTHEST
    while (local := datetime.fromtimestamp(at, zone)).year <= last:
        if local.month not in schedule.months:
            at = _midnight(local.year + local.month // 12, local.month % 12 + 1, 1, zone)
        elif not schedule.on(local):
            following = local.replace(tzinfo=None) + timedelta(days=1)
            at = _midnight(following.year, following.month, following.day, zone)
        elif local.hour not in schedule.hours:
            at += 3600 - local.minute * 60
        elif local.minute not in schedule.minutes:
            at += 60 * (
                min((minute for minute in schedule.minutes if minute > local.minute), default=60) - local.minute
            )
        else:
            return float(at)
    return None


def _midnight(year: int, month: int, day: int, zone: tzinfo) -> int:
    """The first moment of a day, also where the clocks skip midnight."""
    moment = int(datetime(year, month, day, tzinfo=zone).timestamp())
    local = datetime.fromtimestamp(moment, zone)
    return moment if local.day == day else moment + 3600 * (24 - local.hour)


def due(schedule: Schedule, since: float, now: float, zone: tzinfo = UTC) -> tuple[float | None, float | None]:
    """The last moment of the schedule after `since` that has come by `now`, and the next one; how many were missed
    costs nothing."""
    first = next_after(schedule, since, zone)
    if first is None or first > now:
        return None, first
    if isinstance(schedule, Every):
        last = first + (now - first) // schedule.seconds * schedule.seconds
        return last, last + schedule.seconds
    low, high = int(first) - 1, int(now // 1) + 1
    while high - low > 1:  # something comes after `low` and by `now`; nothing does after `high`
        middle = (low + high) // 2
        start = next_after(schedule, middle, zone)
        low, high = (middle, high) if start is not None and start <= now else (low, middle)
    last = next_after(schedule, low, zone) or first
    return last, next_after(schedule, last, zone)
