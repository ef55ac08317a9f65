"""Cron schedules as the server judges them: five fields or a descriptor, in the words a kube-apiserver uses for what is wrong.

When a schedule comes due is for `world/cronjobs` to know. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_DURATION = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*|0", re.ASCII)
_MONTHS = {name: number for number, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct",
                                                       "nov", "dec"), 1)}
_DAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}


class Bounds(NamedTuple):
    low: int
    high: int
    names: dict[str, int]


_FIELDS = (Bounds(0, 59, {}), Bounds(0, 23, {}), Bounds(1, 31, {}), Bounds(1, 12, _MONTHS), Bounds(0, 6, _DAYS))


class _Unreadable(Exception):
    """What is wrong with a part of a schedule."""


def schedule_problems(schedule: str) -> Iterator[str]:
    try:
        _check(re.sub(r"^(?:CRON_)?TZ=\S* ?", "", schedule).strip())
    except _Unreadable as wrong:
        yield str(wrong)
    if "TZ" in schedule:
        yield "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"


def _check(text: str) -> None:
    if text.startswith("@"):
        _check_descriptor(text)
        return
    fields = text.split()
    if len(fields) != 5:
        raise _Unreadable(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, bounds in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
            if part:
                _check_part(part, bounds)


def _check_descriptor(text: str) -> None:
    if text in _DESCRIPTORS:
        return
    if not text.startswith("@every "):
        raise _Unreadable(f"unrecognized descriptor: {text}")
    length = text.removeprefix("@every ")
    if not _DURATION.fullmatch(length):
        raise _Unreadable(f'failed to parse duration {text}: time: invalid duration "{length}"')


def _check_part(part: str, bounds: Bounds) -> None:
    span, *steps = part.split("/")
    ends = span.split("-")
    if ends[0] in ("*", "?"):
        start, end = bounds.low, bounds.high
    else:
        if len(ends) > 2:
            raise _Unreadable(f"too many hyphens: {part}")
        start, end = _number(ends[0], bounds.names), _number(ends[-1], bounds.names)
    step = 1
    if len(steps) > 1:
        raise _Unreadable(f"too many slashes: {part}")
    if steps:
        step = _number(steps[0], {})
        end = bounds.high if len(ends) == 1 else end
    _check_range(part, start, end, step, bounds)


def _check_range(part: str, start: int, end: int, step: int, bounds: Bounds) -> None:
    if start < bounds.low:
        raise _Unreadable(f"beginning of range ({start}) below minimum ({bounds.low}): {part}")
    if end > bounds.high:
        raise _Unreadable(f"end of range ({end}) above maximum ({bounds.high}): {part}")
    if start > end:
        raise _Unreadable(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if step == 0:
        raise _Unreadable(f"step of range should be a positive number: {part}")


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise _Unreadable(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    if int(text) < 0:
        raise _Unreadable(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)
