"""Scalars that have one canonical text on the wire: quantities, times, base64.

Used while an object is admitted, so that what is stored is what every reader compares. `BadForm` carries the text a client reads.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache

from gangline.errors import GanglineError

QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_QUANTITY = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE]?)\Z")
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BY_EXPONENT = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BY_POWER = {power: suffix for suffix, power in _BINARY.items()}
_NANO = 10**9
_LARGEST = 2**63 - 1


class BadForm(GanglineError):
    """A scalar whose text cannot be read."""


@lru_cache(maxsize=4096)
def quantity(text: str) -> str:
    """The canonical text of a quantity: `1024Mi` is `1Gi`, `0.5` is `500m`."""
    amount, form = parse_quantity(text)
    if form == "Ki" and not -1024 < amount < 1024:
        return _binary(amount)
    return _decimal(amount, exponent=form == "e")


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> tuple[Fraction, str]:
    """Exact amount, and the family of its suffix: `Ki`, `e` or empty."""
    match = _QUANTITY.match(text)
    if match is None or len(text) > 256:
        raise BadForm(QUANTITY_RULE)
    sign, digits, suffix = match.groups()
    amount, form = _scaled(Fraction(digits if digits[-1] != "." else digits[:-1]), suffix)
    amount = _bounded(amount)
    return (-amount if sign == "-" else amount), form


def _scaled(number: Fraction, suffix: str) -> tuple[Fraction, str]:
    if suffix in _BINARY:
        return number * 1024 ** _BINARY[suffix], "Ki"
    if suffix in _DECIMAL:
        return number * Fraction(10) ** _DECIMAL[suffix], ""
    exponent = int(suffix[1:])
    if abs(exponent) > 100:
        raise BadForm(QUANTITY_RULE)
    return number * Fraction(10) ** exponent, "e"


def _bounded(amount: Fraction) -> Fraction:
    """No finer than a billionth (rounded up), no larger than 2^63-1."""
    nanos = amount * _NANO
    if nanos.denominator != 1:
        amount = Fraction(-(-nanos.numerator // nanos.denominator), _NANO)
    return min(amount, Fraction(_LARGEST))


def _binary(amount: Fraction) -> str:
    number = -(-amount.numerator // amount.denominator)
    power = 0
    while power < 6 and number % 1024 == 0 and number:
        number //= 1024
        power += 1
    return f"{number}{_BY_POWER.get(power, '')}"


def _decimal(amount: Fraction, exponent: bool) -> str:
    number, power = int(amount * _NANO), -9
    if number == 0:
        return "0"
    while number % 1000 == 0 and power < 18:
        number //= 1000
        power += 3
    if exponent:
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_BY_EXPONENT[power]}"


_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)\Z")


def time(text: str, micro: bool = False) -> str:
    """A time in UTC: whole seconds, or six digits below the second (which the text must then have)."""
    match = _TIME.match(text)
    layout = "2006-01-02T15:04:05.000000Z07:00" if micro else "2006-01-02T15:04:05Z07:00"
    if match is None:
        raise BadForm(f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"')
    seconds, fraction, zone = match.groups()
    if micro and fraction is None:
        raise BadForm(f'parsing time "{text}" as "{layout}": cannot parse "{zone}" as ".000000"')
    try:
        moment = datetime.fromisoformat(seconds + ("+00:00" if zone == "Z" else zone)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadForm(f'parsing time "{text}": {error}') from None
    tail = f".{(fraction or '.')[1:7].ljust(6, '0')}" if micro else ""
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + tail + "Z"


def bytes_(text: str) -> str:
    """Standard base64, checked; returned in canonical form."""
    bare = text.replace("\n", "").replace("\r", "")
    try:
        return base64.b64encode(base64.b64decode(bare, validate=True)).decode()
    except (binascii.Error, ValueError):
        raise BadForm(f"illegal base64 data at input byte {_first_bad(bare)}") from None


def _first_bad(text: str) -> int:
    match = re.match(r"[A-Za-z0-9+/]*", text)
    return match.end() if match else 0
