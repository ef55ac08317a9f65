"""Time stamps and durations as Kubernetes and KAI write them. Nothing here knows what time it is.

`duration` reads what people write, days and weeks included, as seconds. `nanoseconds` and `canonical` read and print
exactly as Go does (`90s` is stored as `1m30s`), so that a stored object is equal to upstream's."""

from __future__ import annotations

import re
from datetime import datetime

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
_LONGEST = 2**63 - 1


def seconds(text: str | None) -> float | None:
    """An RFC 3339 time stamp as seconds since the epoch; None when there is none or it is not one."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def duration(text: str) -> float:
    """`1h30m`, `2d`, `500ms` as seconds. Raises ValueError on anything else."""
    body = text.strip()
    length = _nanoseconds(body.lstrip("+-"))
    if length is None:
        raise ValueError(f"{text!r} is not a duration: write for example 90s, 1h30m or 2d")
    return (-length if body.startswith("-") else length) / _SECOND


def nanoseconds(text: str) -> int | None:
    """A duration as Go reads it; None when the text is none, or too long for Go."""
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    length = None if "d" in body or "w" in body else _nanoseconds(body)
    return None if length is None or length > _LONGEST else sign * length


def _nanoseconds(body: str) -> int | None:
    if body == "0":
        return 0
    parts = _PART.findall(body)
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
