"""CEL conversions from one kind of value to another.

Pure; standard.py lists them by name.
"""

from __future__ import annotations

import ipaddress
import re
from datetime import datetime
from typing import Any

from gangline.rules.cel.functions.operators import is_whole
from gangline.rules.cel.values import (
    CelError,
    Duration,
    UInt,
    checked,
    duration_text,
    no_overload,
    timestamp,
    timestamp_text,
)


def to_int(value: Any) -> int:
    if isinstance(value, bool):
        raise no_overload("int")
    if isinstance(value, float):
        if not -(2.0**63) < value < 2.0**63:
            raise CelError("integer overflow")
        return int(value)
    if isinstance(value, datetime):
        return int(value.timestamp())
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]+", value):
            raise CelError("type conversion error from 'string' to 'int'")
        return checked(int(value))
    if isinstance(value, int):
        return checked(int(value))
    raise no_overload("int")


def to_uint(value: Any) -> UInt:
    number = to_int(value) if not isinstance(value, str) else _digits_only(value)
    if not 0 <= number < 2**64:
        raise CelError("unsigned integer overflow")
    return UInt(number)


def _digits_only(text: str) -> int:
    """The number that a text of digits is; -1: it is none."""
    return int(text) if text.isascii() and text.isdigit() else -1


def to_double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise no_overload("double")
    try:
        return float(value)
    except ValueError:
        raise CelError("type conversion error from 'string' to 'double'") from None


def to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value in ("1", "t", "T", "TRUE", "true", "True"):
            return True
        if value in ("0", "f", "F", "FALSE", "false", "False"):
            return False
        raise CelError("type conversion error from 'string' to 'bool'")
    raise no_overload("bool")


def to_string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, datetime):
        return timestamp_text(value)
    if isinstance(value, Duration):
        return duration_text(value)
    if isinstance(value, ipaddress.IPv4Address | ipaddress.IPv6Address):
        return str(value)
    if isinstance(value, str | int):
        return str(int(value)) if isinstance(value, int) else value
    raise no_overload("string")


def to_timestamp(value: Any) -> datetime:
    if is_whole(value):
        try:
            return datetime.fromtimestamp(value, tz=timestamp("1970-01-01T00:00:00Z").tzinfo)
        except (OverflowError, ValueError, OSError):
            raise CelError("timestamp overflow") from None
    return timestamp(value)
