"""Scalars that have one canonical text on the wire: quantities, times, base64.

Used while an object is admitted, so that what is stored is what every reader compares. `BadForm` carries the text a
client reads."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime

from gangline.api import resources
from gangline.api.kept import kept
from gangline.errors import GanglineError
from gangline.rules.values.times import utc_text

QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class BadForm(GanglineError):
    """A scalar whose text cannot be read."""


def quantity(text: str) -> str:
    """The canonical text of a quantity: `1024Mi` is `1Gi`, `0.5` is `500m`."""
    try:
        return resources.canonical(text.strip() if isinstance(text, str) else text)
    except resources.QuantityError:
        raise BadForm(unreadable_quantity(text)) from None


_HAS_SUFFIX = re.compile(r"[+-]?[0-9]*\.?[0-9]*[eEinumkKMGTP]*[-+]?[0-9]*", re.ASCII)


def unreadable_quantity(text: object) -> str:
    """Why a text is no quantity."""
    plain = str(text).strip()
    return "unable to parse quantity's suffix" if plain and _HAS_SUFFIX.fullmatch(plain) else QUANTITY_RULE


_MILLI = resources.NANO // 1000


@kept(4096)
def listed_quantity(text: str) -> str:
    """The same in a list of resources, where what is finer than a thousandth is rounded up: `0.1m` is `1m`."""
    plain = quantity(text)
    amount = resources.nanos(plain)
    if amount % _MILLI == 0:
        return plain
    thousandths = -(-abs(amount) // _MILLI) * _MILLI
    shown = resources.exponential if "e" in plain.lower() and not plain.endswith("E") else resources.decimal
    return shown(thousandths if amount >= 0 else -thousandths)


_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)\Z", re.ASCII)


@kept(4096)
def time(text: str) -> str:
    """A time in UTC, in whole seconds."""
    return _time(text, micro=False)


@kept(4096)
def micro_time(text: str) -> str:
    """A time in UTC with six digits below the second, which the text must have too."""
    return _time(text, micro=True)


def _time(text: str, micro: bool) -> str:
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
    return utc_text(moment, tail)


def bytes_(text: str) -> str:
    """Standard base64, checked; returned in canonical form."""
    bare = text.replace("\n", "").replace("\r", "")
    try:
        return base64.b64encode(base64.b64decode(bare, validate=True)).decode()
    except (binascii.Error, ValueError):
        raise BadForm(f"illegal base64 data at input byte {_first_bad(bare)}") from None


def _first_bad(text: str) -> int:
    match = re.match(r"[A-Za-z0-9+/]*", text)
    end = match.end() if match else 0
    return end if end < len(text) else end - end % 4
