"""Values of CEL that Python has no own form for, equality, order, and what each value is called.

bool, int, float, str, bytes, list, dict and None stand for themselves; unsigned integers are `UInt`. Everything raises
CelError with the text a person reads."""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from gangline.errors import GanglineError
from gangline.rules.values import times


class CelError(GanglineError):
    """An expression could not be evaluated."""


class OutOfBudget(CelError):
    """An expression took more steps than it may."""


class UInt(int):
    pass


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent; `NONE` is the absent one."""

    content: Any = None
    present: bool = False


NONE = Optional()


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    nanos: int


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    nanos: int


@dataclass(frozen=True, slots=True)
class Url:
    parts: Any
    text: str


@dataclass(frozen=True, slots=True)
class Format:
    name: str


@dataclass(frozen=True, slots=True)
class TypeOf:
    name: str


@dataclass(frozen=True, slots=True)
class Semver:
    major: int
    minor: int
    patch: int
    pre: tuple[str, ...]

    def rank(self) -> tuple[Any, ...]:
        marks = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre)
        return (self.major, self.minor, self.patch, 0 if self.pre else 1, marks)


_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:?\d\d)?)?\Z", re.ASCII)


def duration(text: Any) -> Duration:
    if isinstance(text, Duration):
        return text
    nanos = times.nanoseconds(text) if isinstance(text, str) else None
    if nanos is None:
        raise CelError(f'time: invalid duration "{text}"')
    return Duration(nanos)


def float_text(value: float) -> str:
    """A double as Go prints it: the fewest digits that mean it, an exponent where it is below -4 or above 5."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:+}".replace("inf", "Inf")
    sign, digits, power = Decimal(repr(value)).normalize().as_tuple()
    exponent = len(digits) + int(power) - 1
    if value == 0 or -4 <= exponent < 6:
        return ("-" if sign else "") + f"{abs(Decimal(repr(value)).normalize()):f}"
    first, *rest = map(str, digits)
    return f"{'-' if sign else ''}{first}{'.' if rest else ''}{''.join(rest)}e{exponent:+03d}"


def duration_text(value: Duration) -> str:
    seconds, nanos = divmod(abs(value.nanos), 10**9)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{'-' if value.nanos < 0 else ''}{seconds}{fraction}s"


def timestamp(text: Any) -> datetime:
    if isinstance(text, datetime):
        return text
    match = _TIME.match(text) if isinstance(text, str) else None
    if match is None:
        raise CelError(f'invalid timestamp "{text}"')
    year, month, day, hour, minute, second, part, zone = match.groups()
    try:
        moment = datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((part or "0")[:6].ljust(6, "0")),
            tzinfo=UTC,
        )
    except ValueError as error:
        raise CelError(f'invalid timestamp "{text}": {error}') from None
    if zone and zone not in "zZ":
        digits = zone[1:].replace(":", "")
        shift = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        moment += -shift if zone[0] == "+" else shift
    return moment


def timestamp_text(moment: datetime) -> str:
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return times.utc_text(moment, fraction)


_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    type(None): "null_type",
    Optional: "optional_type",
    datetime: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    Quantity: "kubernetes.Quantity",
    Url: "kubernetes.URL",
    Semver: "kubernetes.Semver",
    TypeOf: "type",
    Format: "kubernetes.NamedFormat",
    ipaddress.IPv4Address: "net.IP",
    ipaddress.IPv6Address: "net.IP",
    ipaddress.IPv4Interface: "net.CIDR",
    ipaddress.IPv6Interface: "net.CIDR",
}


def type_name(value: Any) -> str:
    return _NAMES.get(type(value), type(value).__name__)


def no_overload(name: str = "") -> CelError:
    return CelError("no such overload" + (f": {name}" if name else ""))


def equal(left: Any, right: Any) -> bool:
    """CEL equality: numbers by value, booleans are no numbers, and so on downwards."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(item, right[name]) for name, item in left.items())
    if isinstance(left, Optional) and isinstance(right, Optional):
        return left.present == right.present and equal(left.content, right.content)
    return bool(left == right)


def order(left: Any, right: Any) -> tuple[Any, Any]:
    """Two comparable forms, or no_overload."""
    if isinstance(left, bool) or isinstance(right, bool):
        if not (isinstance(left, bool) and isinstance(right, bool)):
            raise no_overload("compare")
    elif isinstance(left, int | float) and isinstance(right, int | float):
        return left, right
    if type(left) is not type(right) or not isinstance(left, bool | str | bytes | datetime | Duration):
        raise no_overload("compare")
    return left, right


def checked(value: int, like: Any = 0) -> int:
    """An integer that still fits."""
    if isinstance(like, UInt):
        if not 0 <= value < 2**64:
            raise CelError("unsigned integer overflow")
        return UInt(value)
    if not -(2**63) <= value < 2**63:
        raise CelError("integer overflow")
    return value
