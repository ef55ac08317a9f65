"""Time stamps and durations as Kubernetes and KAI write them: the one place where they are read and printed. Nothing
here knows what time it is.

`duration` reads what people write, days and weeks included, as seconds. `nanoseconds` and `canonical` read and print
exactly as Go does (`90s` is stored as `1m30s`), so that a stored object is equal to upstream's."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_SECOND = 10**9
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
    "d": 86400 * _SECOND,
    "w": 604800 * _SECOND,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w)", re.ASCII)
_GO = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_LONGEST = 2**63 - 1
_LETTERS = 1000
"""Of a duration, at most: Python counts no further, and no duration needs so many."""


def timestamp(moment: float) -> str:
    """Seconds since 1970 as RFC 3339, as Kubernetes writes it."""
    return utc_text(datetime.fromtimestamp(moment, UTC))


def micro_timestamp(moment: float) -> str:
    """The same with microseconds, as leases use it."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def utc_text(moment: datetime, fraction: str = "") -> str:
    """A moment in UTC as RFC 3339; `fraction` is what stands behind its whole seconds."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def seconds_of(text: str) -> float:
    """An RFC 3339 time stamp as seconds since 1970. Raises ValueError on anything else."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def seconds(text: object) -> float | None:
    """The same; None when there is no time stamp, or the text is none."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return seconds_of(text)
    except ValueError:
        return None


def is_go_duration(text: str) -> bool:
    """Whether Go reads the text as a duration: no days, no weeks."""
    return _GO.fullmatch(text) is not None


def duration(text: str) -> float:
    """`1h30m`, `2d`, `500ms` as seconds. Raises ValueError on anything else."""
    body = text.strip()
    length = _nanoseconds(body[1:] if body.startswith(("+", "-")) else body)
    if length is None:
        raise ValueError(f"{text!r} is not a duration: write for example 90s, 1h30m or 2d")
    return (-length if body.startswith("-") else length) / _SECOND


def nanoseconds(text: str) -> int | None:
    """A duration as Go reads it; None when the text is none, or too long for Go."""
    length = _nanoseconds(text.lstrip("+-")) if is_go_duration(text) else None
    if length is None or length > _LONGEST:
        return None
    return -length if text.startswith("-") else length


def _nanoseconds(body: str) -> int | None:
    if body == "0":
        return 0
    parts = _PART.findall(body) if len(body) <= _LETTERS else ()
    if not parts or "".join(number + unit for number, unit in parts) != body:
        return None
    return sum(_part(number, _UNITS[unit]) for number, unit in parts)


def _part(number: str, unit: int) -> int:
    whole, _, fraction = number.partition(".")
    return int(whole or "0") * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)


def canonical(nanos: int) -> str:
    """A duration as Go prints it."""
    if nanos == 0:
        return "0s"
    sign, rest = ("-", -nanos) if nanos < 0 else ("", nanos)
    if rest < _SECOND:
        unit, size = next((u, _UNITS[u]) for u in ("ms", "µs", "ns") if rest >= _UNITS[u])
        return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, left = divmod(rest, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    text = (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "")
    return f"{sign}{text}{_decimal(left, _SECOND)}s"


def as_duration(value: float) -> str:
    """Seconds in the form `1h2m3.5s`."""
    return canonical(round(value * _SECOND))


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)


def brief(length: float) -> str:
    """A duration as kubectl shows ages: `2m10s`, coarser the longer it is."""
    total = int(length)
    if total < -1:
        return "<invalid>"
    if total < 0:
        return "0s"
    if total < 120:
        return f"{total}s"
    minutes, hours, days = total // 60, total // 3600, total // 86400
    if minutes < 10:
        return f"{minutes}m{total % 60}s" if total % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 730:
        return f"{days}d"
    years = days // 365
    return f"{years}y{days % 365}d" if years < 8 and days % 365 else f"{years}y"


def spoken(seconds: float) -> str:
    """A duration as people say it: `2 min 10 s`."""
    whole = int(seconds)
    days, hours, minutes, rest = whole // 86400, whole // 3600 % 24, whole // 60 % 60, whole % 60
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    shown = [f"{number} {unit}" for number, unit in parts if number][:2]
    return " ".join(shown) or "0 s"
