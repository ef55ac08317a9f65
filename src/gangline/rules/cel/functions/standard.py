"""The standard library of CEL: the Python function behind each name, methods under `.name`; and those of times and
optionals.

signatures.py says which kinds they take. The checker reads the lines, emitted programs call the functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gangline.rules.cel.functions.conversions import to_bool, to_double, to_int, to_string, to_timestamp, to_uint
from gangline.rules.cel.functions.lists import (
    distinct,
    extreme,
    flatten,
    has_all,
    is_sorted,
    less,
    list_range,
    slice_,
    sort,
    total,
)
from gangline.rules.cel.functions.operators import (
    add,
    compare,
    contained,
    divide,
    index,
    modulo,
    multiply,
    negate,
    optional_index,
    size,
    subtract,
)
from gangline.rules.cel.functions.signatures import CLOCK
from gangline.rules.cel.functions.texts import (
    ascii_case,
    char_at,
    find,
    find_all,
    format_,
    index_of,
    join,
    last_index_of,
    matches,
    quote,
    replace,
    split,
    substring,
    text_of,
)
from gangline.rules.cel.values import NONE, CelError, Duration, Optional, TypeOf, duration, type_name


def optional_value(value: Optional) -> Any:
    if not value.present:
        raise CelError("optional.none() dereference")
    return value.content


def non_zero(value: Any) -> Optional:
    empty = value is None or value is False or value in ("", 0, b"") or value == [] or value == {}
    return NONE if empty else Optional(value, True)


def _clock(name: str) -> Callable[..., int]:
    def read(value: Any, zone: str = "UTC") -> int:
        if isinstance(value, Duration):
            return int(
                value.nanos / {"getHours": 3600e9, "getMinutes": 60e9, "getSeconds": 1e9, "getMilliseconds": 1e6}[name]
            )
        moment: datetime = value.astimezone(_zone(zone))
        return {
            "getFullYear": moment.year,
            "getMonth": moment.month - 1,
            "getDate": moment.day,
            "getDayOfMonth": moment.day - 1,
            "getDayOfWeek": moment.isoweekday() % 7,
            "getDayOfYear": moment.timetuple().tm_yday - 1,
            "getHours": moment.hour,
            "getMinutes": moment.minute,
            "getSeconds": moment.second,
            "getMilliseconds": moment.microsecond // 1000,
        }[name]

    return read


def _zone(name: str) -> Any:
    offset = re.fullmatch(r"([+-]?)([0-9]{2}):([0-9]{2})", name)
    if offset:
        shift = timedelta(hours=int(offset.group(2)), minutes=int(offset.group(3)))
        return datetime.strptime(name if name[0] in "+-" else f"+{name}", "%z").tzinfo if shift else ZoneInfo("UTC")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise CelError(f"unknown time zone {name}") from None


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "-_": negate,
    "@in": contained,
    "_[_]": index,
    "_[?_]": optional_index,
    "_<_": compare(lambda a, b: a < b),
    "_<=_": compare(lambda a, b: a <= b),
    "_>_": compare(lambda a, b: a > b),
    "_>=_": compare(lambda a, b: a >= b),
    "size": size,
    ".size": size,
    "type": lambda value: TypeOf(type_name(value)),
    "dyn": lambda value: value,
    "int": to_int,
    "uint": to_uint,
    "double": to_double,
    "bool": to_bool,
    "string": to_string,
    "bytes": lambda value: value.encode() if isinstance(value, str) else value,
    "timestamp": to_timestamp,
    "duration": duration,
    ".contains": lambda text, part: text_of(part) in text_of(text),
    ".startsWith": lambda text, part: text_of(text).startswith(text_of(part)),
    ".endsWith": lambda text, part: text_of(text).endswith(text_of(part)),
    ".matches": matches,
    "matches": matches,
    ".charAt": char_at,
    ".indexOf": index_of,
    ".lastIndexOf": last_index_of,
    ".lowerAscii": ascii_case(False),
    ".upperAscii": ascii_case(True),
    ".replace": replace,
    ".split": split,
    ".substring": substring,
    ".trim": str.strip,
    ".reverse": lambda value: value[::-1],
    ".format": format_,
    "strings.quote": quote,
    ".join": join,
    ".find": find,
    ".findAll": find_all,
    ".isSorted": is_sorted,
    ".sum": total,
    ".min": extreme("min", less),
    ".max": extreme("max", lambda a, b: less(b, a)),
    ".distinct": distinct,
    ".sort": sort,
    ".slice": slice_,
    ".flatten": flatten,
    "lists.range": list_range,
    ".first": lambda items: Optional(items[0], True) if items else NONE,
    ".last": lambda items: Optional(items[-1], True) if items else NONE,
    "sets.contains": has_all,
    "sets.equivalent": lambda a, b: has_all(a, b) and has_all(b, a),
    "sets.intersects": lambda a, b: any(contained(item, b) for item in a),
    "optional.of": lambda value: Optional(value, True),
    "optional.none": lambda: NONE,
    "optional.ofNonZeroValue": non_zero,
    ".hasValue": lambda value: value.present,
    ".value": optional_value,
    **{f".{name}": _clock(name) for name in CLOCK},
}
