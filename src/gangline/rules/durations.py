"""Durations exactly as Go reads and prints them: `90s` is stored as `1m30s`.

Kept to the nanosecond, without the days and weeks that people may write elsewhere, so that a stored group is equal to upstream's.
"""

from __future__ import annotations

import re

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_LONGEST = 2**63 - 1


def nanoseconds(text: str) -> int | None:
    """A duration in nanoseconds; None when the text is none."""
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if body == "0":
        return 0
    parts = _PART.findall(body)
    if not parts or "".join(number + unit for number, unit in parts) != body:
        return None
    total = sum(_part(number, _UNITS[unit]) for number, unit in parts)
    return sign * total if total <= _LONGEST else None


def _part(number: str, unit: int) -> int:
    whole, _, fraction = number.partition(".")
    return int(whole or "0") * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)


def canonical(nanos: int) -> str:
    """A duration as Go prints it."""
    if nanos == 0:
        return "0s"
    sign, rest = ("-", -nanos) if nanos < 0 else ("", nanos)
    if rest < 10**9:
        unit, size = next((u, _UNITS[u]) for u in ("ms", "µs", "ns") if rest >= _UNITS[u])
        return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, seconds = divmod(rest, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "")
    return f"{sign}{text}{_decimal(seconds, 10**9)}s"


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
