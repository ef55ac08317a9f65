"""Time stamps and durations as Kubernetes and KAI write them, as seconds. Nothing here knows what time it is."""

from __future__ import annotations

import re
from datetime import datetime

_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|ns|w|d|h|m|s)")


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
    sign = -1.0 if body.startswith("-") else 1.0
    body = body.lstrip("+-")
    if body == "0":
        return 0.0
    parts = _PART.findall(body)
    if not parts or "".join(number + unit for number, unit in parts) != body:
        raise ValueError(f"{text!r} is not a duration: write for example 90s, 1h30m or 2d")
    return sign * sum(float(number) * _UNITS[unit] for number, unit in parts)


def as_duration(value: float) -> str:
    """Seconds in the form `1h2m3.5s`."""
    if value == 0:
        return "0s"
    sign, rest = ("-" if value < 0 else ""), abs(value)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    text = (f"{int(hours)}h" if hours else "") + (f"{int(minutes)}m" if minutes or hours else "")
    return f"{sign}{text}{rest:.9f}".rstrip("0").rstrip(".") + "s"
