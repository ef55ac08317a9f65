"""The standard functions and operators of CEL, and the extensions for strings, lists, sets, optionals and regular
expressions.

One line per overload in SIGNATURES (`kind .method(kinds) -> kind`, or `function(kinds) -> kind`), one Python function
per name in FUNCTIONS, methods under `.name`. The checker reads the lines, emitted programs call the functions."""

from __future__ import annotations

import ipaddress
import math
import re
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from string import ascii_lowercase, ascii_uppercase
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gangline.rules.cel.values import (
    NONE,
    CelError,
    Duration,
    Optional,
    TypeOf,
    UInt,
    checked,
    duration,
    duration_text,
    equal,
    float_text,
    no_overload,
    order,
    timestamp,
    timestamp_text,
    type_name,
)
from gangline.rules.values.patterns import BadPattern, compile_pattern, finder

SIGNATURES = """
!_(bool) -> bool
_==_(A, A) -> bool
_!=_(A, A) -> bool
@in(A, list(A)) -> bool
@in(A, map(A, B)) -> bool
_[_](list(A), int) -> A
_[_](map(A, B), A) -> B
_[_](optional_type(list(A)), int) -> optional_type(A)
_[_](optional_type(map(A, B)), A) -> optional_type(B)
_[?_](list(A), int) -> optional_type(A)
_[?_](map(A, B), A) -> optional_type(B)
_[?_](optional_type(list(A)), int) -> optional_type(A)
_[?_](optional_type(map(A, B)), A) -> optional_type(B)
_?_:_(bool, A, A) -> A
_+_(int, int) -> int
_+_(uint, uint) -> uint
_+_(double, double) -> double
_+_(string, string) -> string
_+_(bytes, bytes) -> bytes
_+_(list(A), list(A)) -> list(A)
_+_(timestamp, duration) -> timestamp
_+_(duration, timestamp) -> timestamp
_+_(duration, duration) -> duration
_-_(int, int) -> int
_-_(uint, uint) -> uint
_-_(double, double) -> double
_-_(timestamp, timestamp) -> duration
_-_(timestamp, duration) -> timestamp
_-_(duration, duration) -> duration
-_(int) -> int
-_(double) -> double
size(string) -> int
size(bytes) -> int
size(list(A)) -> int
size(map(A, B)) -> int
string .size() -> int
bytes .size() -> int
list(A) .size() -> int
map(A, B) .size() -> int
type(A) -> type
dyn(A) -> dyn
int(int) -> int
int(uint) -> int
int(double) -> int
int(string) -> int
int(timestamp) -> int
uint(uint) -> uint
uint(int) -> uint
uint(double) -> uint
uint(string) -> uint
double(double) -> double
double(int) -> double
double(uint) -> double
double(string) -> double
bool(bool) -> bool
bool(string) -> bool
string(string) -> string
string(bool) -> string
string(int) -> string
string(uint) -> string
string(double) -> string
string(bytes) -> string
string(timestamp) -> string
string(duration) -> string
bytes(bytes) -> bytes
bytes(string) -> bytes
timestamp(timestamp) -> timestamp
timestamp(string) -> timestamp
timestamp(int) -> timestamp
duration(duration) -> duration
duration(string) -> duration
string .contains(string) -> bool
string .startsWith(string) -> bool
string .endsWith(string) -> bool
string .matches(string) -> bool
matches(string, string) -> bool
string .charAt(int) -> string
string .indexOf(string) -> int
string .indexOf(string, int) -> int
string .lastIndexOf(string) -> int
string .lastIndexOf(string, int) -> int
string .lowerAscii() -> string
string .upperAscii() -> string
string .replace(string, string) -> string
string .replace(string, string, int) -> string
string .split(string) -> list(string)
string .split(string, int) -> list(string)
string .substring(int) -> string
string .substring(int, int) -> string
string .trim() -> string
string .format(list(dyn)) -> string
strings.quote(string) -> string
list(string) .join() -> string
list(string) .join(string) -> string
string .find(string) -> string
string .findAll(string) -> list(string)
string .findAll(string, int) -> list(string)
list(A) .isSorted() -> bool
list(int) .sum() -> int
list(uint) .sum() -> uint
list(double) .sum() -> double
list(duration) .sum() -> duration
list(A) .min() -> A
list(A) .max() -> A
list(A) .indexOf(A) -> int
list(A) .lastIndexOf(A) -> int
list(A) .distinct() -> list(A)
list(A) .reverse() -> list(A)
list(A) .sort() -> list(A)
list(A) .slice(int, int) -> list(A)
list(A) .flatten() -> list(dyn)
list(A) .flatten(int) -> list(dyn)
list(A) .first() -> optional_type(A)
list(A) .last() -> optional_type(A)
lists.range(int) -> list(int)
sets.contains(list(A), list(A)) -> bool
sets.equivalent(list(A), list(A)) -> bool
sets.intersects(list(A), list(A)) -> bool
optional.of(A) -> optional_type(A)
optional.none() -> optional_type(A)
optional.ofNonZeroValue(A) -> optional_type(A)
optional_type(A) .hasValue() -> bool
optional_type(A) .value() -> A
optional_type(A) .or(optional_type(A)) -> optional_type(A)
optional_type(A) .orValue(A) -> A
"""
SIGNATURES += "".join(
    f"_{mark}_({kind}, {kind}) -> {kind}\n" for mark in ("*", "/") for kind in ("int", "uint", "double")
)
SIGNATURES += "".join(f"_%_({kind}, {kind}) -> {kind}\n" for kind in ("int", "uint"))
_NUMBERS = ("int", "uint", "double")
_ORDERED = [
    *((a, b) for a in _NUMBERS for b in _NUMBERS),
    *((k, k) for k in ("bool", "string", "bytes", "timestamp", "duration")),
]
SIGNATURES += "".join(
    f"_{mark}_({left}, {right}) -> bool\n" for mark in ("<", "<=", ">", ">=") for left, right in _ORDERED
)
_CLOCK = (
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
)
SIGNATURES += "".join(f"timestamp .{name}() -> int\ntimestamp .{name}(string) -> int\n" for name in _CLOCK)
SIGNATURES += "".join(
    f"duration .{name}() -> int\n" for name in ("getHours", "getMinutes", "getSeconds", "getMilliseconds")
)


def add(left: Any, right: Any) -> Any:
    if isinstance(left, bool) or isinstance(right, bool):
        raise no_overload("_+_")
    if isinstance(left, int) and isinstance(right, int):
        return checked(left + right, left)
    if isinstance(left, float) and isinstance(right, float):
        return left + right
    if isinstance(left, datetime) and isinstance(right, Duration):
        return left + timedelta(microseconds=right.nanos // 1000)
    if isinstance(left, Duration) and isinstance(right, datetime):
        return right + timedelta(microseconds=left.nanos // 1000)
    if isinstance(left, Duration) and isinstance(right, Duration):
        return Duration(left.nanos + right.nanos)
    if type(left) is type(right) and isinstance(left, str | bytes | list):
        return left + right
    raise no_overload("_+_")


def subtract(left: Any, right: Any) -> Any:
    if isinstance(left, datetime) and isinstance(right, datetime):
        return Duration(int((left - right) / timedelta(microseconds=1)) * 1000)
    if isinstance(left, datetime) and isinstance(right, Duration):
        return left - timedelta(microseconds=right.nanos // 1000)
    if isinstance(left, Duration) and isinstance(right, Duration):
        return Duration(left.nanos - right.nanos)
    if isinstance(left, float) and isinstance(right, float):
        return left - right
    if _whole(left) and _whole(right):
        return checked(left - right, left)
    raise no_overload("_-_")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def multiply(left: Any, right: Any) -> Any:
    if isinstance(left, float) and isinstance(right, float):
        return left * right
    if _whole(left) and _whole(right):
        return checked(left * right, left)
    raise no_overload("_*_")


def divide(left: Any, right: Any) -> Any:
    if isinstance(left, float) and isinstance(right, float):
        if right == 0:
            return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)
        return left / right
    if not (_whole(left) and _whole(right)):
        raise no_overload("_/_")
    if right == 0:
        raise CelError("division by zero")
    return checked(abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1), left)


def modulo(left: Any, right: Any) -> Any:
    if not (_whole(left) and _whole(right)):
        raise no_overload("_%_")
    if right == 0:
        raise CelError("modulus by zero")
    return checked(int(math.copysign(1, left)) * (abs(left) % abs(right)), left)


def negate(value: Any) -> Any:
    if isinstance(value, float):
        return -value
    if _whole(value) and not isinstance(value, UInt):
        return checked(-value)
    raise no_overload("-_")


def _compare(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: test(*order(left, right))


def contained(item: Any, container: Any) -> bool:
    if isinstance(container, dict):
        return item in container if isinstance(item, str | int | bool) else False
    if isinstance(container, list):
        return any(equal(item, entry) for entry in container)
    raise no_overload("@in")


def index(container: Any, key: Any) -> Any:
    if isinstance(container, Optional):
        return optional_index(container, key)
    if isinstance(container, list):
        at = int(key) if isinstance(key, float) and key.is_integer() else key
        if not _whole(at):
            raise no_overload("_[_]")
        if not 0 <= at < len(container):
            raise CelError(f"index out of bounds: {at}")
        return container[at]
    if isinstance(container, dict):
        try:
            return container[key]
        except KeyError:
            raise CelError(f"no such key: {key}") from None
    raise no_overload("_[_]")


def optional_index(container: Any, key: Any) -> Optional:
    if isinstance(container, Optional):
        if not container.present:
            return NONE
        container = container.content
    if isinstance(container, list):
        return Optional(container[key], True) if _whole(key) and 0 <= key < len(container) else NONE
    if isinstance(container, dict):
        return Optional(container[key], True) if key in container else NONE
    raise no_overload("_[?_]")


def size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise no_overload("size")


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
    number = to_int(value) if not isinstance(value, str) else int(value) if value.isascii() and value.isdigit() else -1
    if not 0 <= number < 2**64:
        raise CelError("unsigned integer overflow")
    return UInt(number)


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
        return float_text(value)
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
    if _whole(value):
        try:
            return datetime.fromtimestamp(value, tz=timestamp("1970-01-01T00:00:00Z").tzinfo)
        except (OverflowError, ValueError, OSError):
            raise CelError("timestamp overflow") from None
    return timestamp(value)


def matches(text: Any, pattern: Any) -> bool:
    try:
        return finder(_text(pattern))(_text(text))
    except BadPattern as error:
        raise CelError(str(error)) from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise no_overload()
    return value


def char_at(text: str, at: int) -> str:
    if not 0 <= at <= len(text):
        raise CelError(f"index out of range: {at}")
    return text[at : at + 1]


def index_of(where: Any, what: Any, start: int = 0) -> int:
    if isinstance(where, list):
        return next((at for at, item in enumerate(where) if equal(item, what)), -1)
    if not 0 <= start <= len(_text(where)):
        raise CelError(f"index out of range: {start}")
    return _text(where).find(_text(what), start)


def last_index_of(where: Any, what: Any, start: int | None = None) -> int:
    if isinstance(where, list):
        return next((at for at in range(len(where) - 1, -1, -1) if equal(where[at], what)), -1)
    if start is not None and not 0 <= start <= len(where):
        raise CelError(f"index out of range: {start}")
    return _text(where).rfind(what) if start is None else where.rfind(what, 0, start + len(what))


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    return text.replace(old, new, limit)


def split(text: str, mark: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if mark == "":
        letters = list(text)
        return letters if limit < 0 or len(letters) <= limit else [*letters[: limit - 1], "".join(letters[limit - 1 :])]
    return text.split(mark, limit - 1 if limit > 0 else -1)


def substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    if not 0 <= stop <= len(text):
        raise CelError(f"index out of range: {stop}")
    if start > stop:
        raise CelError(f"invalid substring range. start: {start}, end: {stop}")
    return text[start:stop]


def ascii_case(upper: bool) -> Callable[[str], str]:
    before, after = (ascii_lowercase, ascii_uppercase) if upper else (ascii_uppercase, ascii_lowercase)
    table = str.maketrans(before, after)
    return lambda text: _text(text).translate(table)


def join(items: list[Any], mark: str = "") -> str:
    return mark.join(_text(item) for item in items)


def quote(text: str) -> str:
    table = {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
    return '"' + "".join(table.get(char, char) for char in text) + '"'


def format_(text: str, args: list[Any]) -> str:
    """printf-like: %s %d %f %e %x %X %o %b %%."""
    left = list(args)

    def one(match: re.Match[str]) -> str:
        if match.group(2) == "%":
            return "%"
        if not left:
            raise CelError("index out of range: not enough arguments for format")
        return _formatted(left.pop(0), match.group(2), match.group(1))

    return re.sub(r"%(\.[0-9]+)?([a-zA-Z%])", one, text)


def _formatted(value: Any, verb: str, precision: str | None) -> str:
    digits = int(precision[1:]) if precision and len(precision) < 12 else 6 if not precision else sys.maxsize
    if verb == "s":
        return _shown(value)
    if verb == "d" and _whole(value):
        return str(int(value))
    if verb in "fe" and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{float(value):.{digits}{verb}}"
    if verb in "xX":
        text = (
            value.encode().hex()
            if isinstance(value, str)
            else value.hex()
            if isinstance(value, bytes)
            else f"{value:x}"
        )
        return text.upper() if verb == "X" else text
    if verb in "ob" and isinstance(value, int):
        return f"{int(value):{verb}}"
    raise CelError(f'error during formatting: unrecognized formatting clause "{verb}" or wrong argument')


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_shown(key)}: {_shown(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, TypeOf):
        return value.name
    return to_string(value)


def find(text: str, pattern: str) -> str:
    return next((str(match.group()) for match in _each(text, pattern)), "")


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = (str(match.group()) for match in _each(text, pattern))
    return list(found if limit < 0 else islice(found, limit))


def _each(text: str, pattern: str) -> Iterator[Any]:
    try:
        yield from compile_pattern(_text(pattern)).each(_text(text))
    except BadPattern as error:
        raise CelError(str(error)) from None


def is_sorted(items: list[Any]) -> bool:
    return all(not _less(items[at + 1], items[at]) for at in range(len(items) - 1))


def _less(left: Any, right: Any) -> bool:
    a, b = order(left, right)
    return bool(a < b)


def total(items: list[Any]) -> Any:
    if not items:
        return 0
    result = items[0]
    for item in items[1:]:
        result = add(result, item)
    return result


def extreme(name: str, better: Callable[[Any, Any], bool]) -> Callable[[list[Any]], Any]:
    def choose(items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if better(item, best):
                best = item
        return best

    return choose


def distinct(items: list[Any]) -> list[Any]:
    out: list[Any] = []
    seen: set[tuple[bool, Any]] = set()
    unhashed: list[Any] = []
    for item in items:
        if isinstance(item, list | dict):
            if not any(equal(item, entry) for entry in unhashed):
                unhashed.append(item)
                out.append(item)
        elif (key := (isinstance(item, bool), item)) not in seen:
            seen.add(key)
            out.append(item)
    return out


def sort(items: list[Any]) -> list[Any]:
    if not is_sorted(items):
        for item in items[1:]:
            order(items[0], item)
    return sorted(items)


def slice_(items: list[Any], start: int, end: int) -> list[Any]:
    if not 0 <= start <= end <= len(items):
        raise CelError(f"cannot slice({start}, {end}) list of length {len(items)}")
    return items[start:end]


def flatten(items: list[Any], depth: int = 1) -> list[Any]:
    out: list[Any] = []
    for item in items:
        out.extend(flatten(item, depth - 1) if isinstance(item, list) and depth > 0 else [item])
    return out


def list_range(count: int) -> list[int]:
    if count > 1_000_000:
        raise CelError("lists.range: too many elements")
    return list(range(count))


def has_all(items: list[Any], wanted: list[Any]) -> bool:
    return all(contained(item, items) for item in wanted)


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
    "_<_": _compare(lambda a, b: a < b),
    "_<=_": _compare(lambda a, b: a <= b),
    "_>_": _compare(lambda a, b: a > b),
    "_>=_": _compare(lambda a, b: a >= b),
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
    ".contains": lambda text, part: _text(part) in _text(text),
    ".startsWith": lambda text, part: _text(text).startswith(_text(part)),
    ".endsWith": lambda text, part: _text(text).endswith(_text(part)),
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
    ".min": extreme("min", _less),
    ".max": extreme("max", lambda a, b: _less(b, a)),
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
    **{f".{name}": _clock(name) for name in _CLOCK},
}
