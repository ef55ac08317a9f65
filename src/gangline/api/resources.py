"""Quantities: exact arithmetic on what Kubernetes writes as `500m`, `1Gi` or `2`.

A quantity is kept as an integer number of nano-units, so sums never lose a digit. Formatting follows Kubernetes'
canonical form. Nothing here knows what a resource means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gangline.api.kept import kept

NANO = 10**9
MOST = 2**63 - 1
"""Units of a quantity in binary form; what is more counts as so many."""
LONGEST = 256
"""Letters of a quantity, at most."""
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_PATTERN = re.compile(r"^([+-]?)(\d+(?:\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?\Z", re.ASCII)


class QuantityError(ValueError):
    """The text is not a quantity."""


@kept(16384)
def _parse(text: str) -> int:
    match = _PATTERN.match(text) if len(text) <= LONGEST else None
    if match is None:
        raise QuantityError(f"{text[:LONGEST]!r} is not a quantity: write a number such as 2, 500m or 1.5Gi")
    sign, number, suffix = match.groups()
    whole, _, fraction = number.partition(".")
    digits, scale = int((whole + fraction) or "0"), len(fraction)
    numerator = digits * NANO
    if suffix in _BINARY:
        numerator *= _BINARY[suffix]
        exponent = -scale
    else:
        exponent = (
            int(suffix[1:]) if suffix and suffix[0] in "eE" and len(suffix) > 1 else _DECIMAL[suffix or ""]
        ) - scale
    if exponent >= 0:
        amount: int = numerator * 10 ** min(exponent, 60)
    else:
        amount = -(-numerator // 10 ** min(-exponent, 60))
    return -amount if sign == "-" else amount


def nanos(value: Any) -> int:
    """A quantity as an integer number of nano-units, rounded away from zero below that as Kubernetes does."""
    if isinstance(value, bool):
        raise QuantityError(f"{value!r} is not a quantity")
    if isinstance(value, int):
        return value * NANO
    return _parse(value if isinstance(value, str) else repr(value))


def units(value: Any) -> int:
    """Whole units, rounded up (Kubernetes' `Value`)."""
    return -(-nanos(value) // NANO)


def milli(value: Any) -> int:
    """Thousandths, rounded up (Kubernetes' `MilliValue`)."""
    return -(-nanos(value) // 10**6)


def number(value: Any) -> float:
    """A quantity as a float, for scores and displays only."""
    return nanos(value) / NANO


@kept(16384)
def _canonical(text: str) -> str:
    amount, match = _parse(text), _PATTERN.match(text)
    number, suffix = (match.group(2), match.group(3) or "") if match else ("", "")
    if _stays(number, suffix):
        return text
    if suffix in _BINARY:
        return binary(min(amount, MOST * NANO))
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return exponential(amount)
    return decimal(amount)


def _stays(number: str, suffix: str) -> bool:
    """What Kubernetes takes for canonical as it is written, sign and all: few digits, a power of a thousand, no zero
    too many."""
    whole, _, fraction = number.partition(".")
    whole = whole.lstrip("0") or "0"
    if suffix in _BINARY:
        room = 15 - len(whole) - (list(_BINARY).index(suffix) + 1) * 3 - 1
        return not fraction and room >= 0 and int(whole) % 8 != 0
    power = int(suffix[1:]) if suffix[:1] in ("e", "E") and len(suffix) > 1 else _DECIMAL[suffix]
    power, digits = power - len(fraction), whole + fraction
    return len(digits) <= 18 and power >= -9 and power % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def canonical(value: Any) -> str:
    """The one spelling Kubernetes stores for a quantity: `1000m` → `1`, `1024Mi` → `1Gi`."""
    return _canonical(value if isinstance(value, str) else str(value))


def decimal(amount: int) -> str:
    """Nano-units in decimal form, with the largest suffix that loses nothing."""
    if amount == 0:
        return "0"
    for suffix, power in reversed(_DECIMAL.items()):
        unit = 10 ** (power + 9)
        if amount % unit == 0:
            return f"{amount // unit}{suffix}"
    return f"{amount}n"


def exponential(amount: int) -> str:
    """Nano-units with a power of ten that is one of a thousand."""
    if amount == 0:
        return "0"
    for power in range(18, -10, -3):
        unit = 10 ** (power + 9)
        if amount % unit == 0:
            return f"{amount // unit}" + (f"e{power}" if power else "")
    return f"{amount}e-9"


def binary(amount: int) -> str:
    """Nano-units in binary form; what is not whole falls back to decimal."""
    if amount % NANO or -1024 * NANO < amount < 1024 * NANO:
        return decimal(amount)
    whole = amount // NANO
    for suffix, unit in reversed(_BINARY.items()):
        if whole % unit == 0:
            return f"{whole // unit}{suffix}"
    return str(whole)


ResourceList = Mapping[str, Any]


def add(*lists: ResourceList) -> dict[str, int]:
    """The sum of resource lists, in nano-units."""
    total: dict[str, int] = {}
    for item in lists:
        for name, value in item.items():
            total[name] = total.get(name, 0) + nanos(value)
    return total
