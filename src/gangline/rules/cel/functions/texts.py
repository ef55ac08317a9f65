"""CEL functions of texts: searching, cutting, case, patterns, and formatting.

standard.py lists them by name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from gangline.rules.cel.functions.conversions import to_string
from gangline.rules.cel.functions.operators import is_whole
from gangline.rules.cel.values import CelError, TypeOf, equal, no_overload
from gangline.rules.values.patterns import BadPattern, compile_pattern


def matches(text: Any, pattern: Any) -> bool:
    try:
        return compile_pattern(text_of(pattern)).found(text_of(text))
    except BadPattern as error:
        raise CelError(str(error)) from None


def text_of(value: Any) -> str:
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
    if not 0 <= start <= len(text_of(where)):
        raise CelError(f"index out of range: {start}")
    return text_of(where).find(text_of(what), start)


def last_index_of(where: Any, what: Any, start: int | None = None) -> int:
    if isinstance(where, list):
        return next((at for at in range(len(where) - 1, -1, -1) if equal(where[at], what)), -1)
    if start is not None and not 0 <= start <= len(where):
        raise CelError(f"index out of range: {start}")
    searched = text_of(where) if start is None else where[: start + len(text_of(what))]
    return _last_place(searched, text_of(what))


def _last_place(text: str, what: str) -> int:
    """As `rfind`, which takes the product of both lengths at worst: from the other end, `find` takes their sum."""
    at = text[::-1].find(what[::-1])
    return -1 if at < 0 else len(text) - at - len(what)


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
    return lambda text: text_of(text).translate(table)


def join(items: list[Any], mark: str = "") -> str:
    return mark.join(text_of(item) for item in items)


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

    def formatted(match: re.Match[str]) -> str:
        if match.group(2) == "%":
            return "%"
        if not left:
            raise CelError("index out of range: not enough arguments for format")
        return _formatted(left.pop(0), match.group(2), match.group(1))

    return re.sub(r"%(\.[0-9]+)?([a-zA-Z%])", formatted, text)


def _formatted(value: Any, verb: str, precision: str | None) -> str:
    if verb == "s":
        return _shown(value)
    if verb == "d" and is_whole(value):
        return str(int(value))
    if verb in "fe" and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{float(value):.{_digits(precision)}{verb}}"
    if verb in "xX":
        return _hexadecimal(value).upper() if verb == "X" else _hexadecimal(value)
    if verb in "ob" and isinstance(value, int):
        return f"{int(value):{verb}}"
    raise CelError(f'error during formatting: unrecognized formatting clause "{verb}" or wrong argument')


def _digits(precision: str | None) -> int:
    if not precision:
        return 6
    return int(precision[1:]) if len(precision) < 12 else sys.maxsize


def _hexadecimal(value: Any) -> str:
    if isinstance(value, str):
        return value.encode().hex()
    return value.hex() if isinstance(value, bytes) else f"{value:x}"


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
    return next((str(match.group()) for match in _all_matches(text, pattern)), "")


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    matches = (str(match.group()) for match in _all_matches(text, pattern))
    return list(matches if limit < 0 else islice(matches, limit))


def _all_matches(text: str, pattern: str) -> Iterator[Any]:
    try:
        yield from compile_pattern(text_of(pattern)).each(text_of(text))
    except BadPattern as error:
        raise CelError(str(error)) from None
