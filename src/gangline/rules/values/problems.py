"""How a Problem reads: the wording Kubernetes uses for field errors, one function per kind of wrongness.

Every rule of the server, for custom and built-in kinds alike, makes its Problems here; the message is the whole text
after the path."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

from gangline.errors import Problem

OMIT: Any = object()
MOST_TOLD = 10
"""How often a list is quoted whole for what is wrong with its items."""
MOST_SHOWN = 1000
"""How many values of a list or map a message quotes, and how many of those that are supported."""
LONGEST_SHOWN = 64 * 1024
"""Letters of one text that a message quotes."""


def show(value: Any) -> str:
    """A value as a message quotes it; of a very large one, the beginning."""
    value = beginning(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, str):
        return quote(value)
    return compact(value)


def beginning(value: Any) -> Any:
    """A value, or of a very large one the part that is quoted."""
    return _beginning(value, [MOST_SHOWN])


def _beginning(value: Any, room: list[int]) -> Any:
    """As much of a value as there is room for."""
    room[0] -= 1
    if isinstance(value, str):
        return value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}..."
    if isinstance(value, list):
        return [_beginning(item, room) for item in islice(value, MOST_SHOWN) if room[0] > 0]
    if isinstance(value, dict):
        return {name: _beginning(item, room) for name, item in islice(value.items(), MOST_SHOWN) if room[0] > 0}
    return value


def compact(value: Any, *, ordered: bool = True) -> str:
    """JSON as the real server prints it: no spaces, sorted keys (unless not to be ordered), the three HTML characters
    escaped."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=ordered, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else go_quoted(text)


def number(value: float) -> str:
    """A number without a needless fraction."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e21 else repr(value)


def _say(path: str, kind: str, title: str, value: Any, detail: str) -> Problem:
    message = title if value is OMIT else f"{title}: {show(value)}"
    return Problem(path, f"{message}: {detail}" if detail else message, kind, None if value is OMIT else value)


def invalid(path: str, value: Any, detail: str) -> Problem:
    return _say(path, "FieldValueInvalid", "Invalid value", value, detail)


def type_invalid(path: str, value: Any, detail: str) -> Problem:
    return _say(path, "FieldValueTypeInvalid", "Invalid value", value, detail)


def required(path: str, detail: str = "") -> Problem:
    return _say(path, "FieldValueRequired", "Required value", OMIT, detail)


def forbidden(path: str, detail: str) -> Problem:
    return _say(path, "FieldValueForbidden", "Forbidden", OMIT, detail)


def duplicate(path: str, value: Any) -> Problem:
    return _say(path, "FieldValueDuplicate", "Duplicate value", value, "")


def repeated(path: str, item: Any) -> Problem:
    """An item of a list whose key another one has, as it stands."""
    return Problem(path, f"Duplicate value: {compact(beginning(item), ordered=False)}", "FieldValueDuplicate", item)


def not_found(path: str, value: Any) -> Problem:
    return _say(path, "FieldValueNotFound", "Not found", value, "")


def unsupported(path: str, value: Any, supported: Iterable[Any]) -> Problem:
    allowed = ", ".join(
        quote(item) if isinstance(item, str) else quote(compact(item)) for item in islice(supported, MOST_SHOWN)
    )
    return _say(
        path, "FieldValueNotSupported", "Unsupported value", value, f"supported values: {allowed}" if allowed else ""
    )


def too_long(path: str, limit: int) -> Problem:
    return _say(
        path, "FieldValueTooLong", "Too long", OMIT, f"may not be more than {limit} byte{'' if limit == 1 else 's'}"
    )


def too_many(path: str, actual: int, limit: int) -> Problem:
    return _say(
        path, "FieldValueTooMany", "Too many", actual, f"must have at most {limit} item{'' if limit == 1 else 's'}"
    )


_TYPES: dict[type, str] = {
    str: "string",
    int: "int64",
    float: "float64",
    bool: "bool",
    dict: "map[string]interface {}",
    list: "[]interface {}",
    type(None): "<nil>",
}
_ESCAPES = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", '"': '"', "\\": "\\"}


def go_type(value: Any) -> str:
    return _TYPES[type(value)]


def go_text(value: Any) -> str:
    if isinstance(value, dict):
        return "map[" + " ".join(f"{name}:{go_text(value[name])}" for name in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(go_text(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)


def go_quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(mark: str) -> str:
    if mark in _ESCAPES:
        return "\\" + _ESCAPES[mark]
    number = ord(mark)
    if mark.isprintable():
        return mark
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
