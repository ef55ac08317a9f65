"""Values of jq: their types, their order, arithmetic, and how they are shown and indexed. Pure."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

from gangline.errors import GanglineError
from gangline.grouper.jq.budget import spend, spend_on, spend_on_all


class JqError(GanglineError):
    """An expression that cannot be read, or that does not fit the value it was given."""


class Unsupported(JqError):
    """What jq can do and we cannot."""


LONGEST = 1_000_000
"""Letters of a text and items of a list, at most."""
EXACT = 2**53
"""From here on numbers are no longer exact: all numbers of jq are of 64 bits, with a floating point."""
LARGEST = sys.float_info.max
_QUOTED = 100


def type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = ((int | float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next(name for form, name in names if isinstance(value, form))


_RANK = {"null": 0, "boolean": 1, "number": 3, "string": 4, "array": 5, "object": 6}


def truthy(value: Any) -> bool:
    return value is not None and value is not False


def same(a: Any, b: Any) -> bool:
    return compare(a, b) == 0


def compare(a: Any, b: Any) -> int:
    """jq's order of all values: by type, then by content."""
    spend()
    first, second = _RANK[type_of(a)], _RANK[type_of(b)]
    if first != second or a is None:
        return (first > second) - (first < second)
    if isinstance(a, list):
        pairs = (compare(x, y) for x, y in zip(a, b, strict=False))
        return next((order for order in pairs if order), (len(a) > len(b)) - (len(a) < len(b)))
    if isinstance(a, dict):
        spend_on(a, b)
        keys = compare(sorted(a), sorted(b))
        return keys or compare([a[key] for key in sorted(a)], [b[key] for key in sorted(a)])
    return int(a > b) - int(a < b)


def index(value: Any, key: Any) -> Any:
    if value is None and isinstance(key, str | int | float) and not isinstance(key, bool):
        return None
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    if isinstance(value, list | str) and isinstance(key, int | float) and not isinstance(key, bool):
        at = place(key)
        return value[at] if -len(value) <= at < len(value) else None
    if isinstance(value, list) and isinstance(key, list):
        return _places(value, key)
    raise JqError(f"{type_of(value)} has no {brief(key)}")


def _places(value: list[Any], part: list[Any]) -> list[int]:
    """At which indexes one list occurs in another."""
    spend(len(value) * len(part))
    ends = range(len(part), len(value) + 1) if part else range(0)
    return [end - len(part) for end in ends if same(value[end - len(part) : end], part)]


def place(number: float) -> int:
    """A whole number to count with: the one below, and never more than any list has."""
    return math.floor(max(-EXACT, min(number, EXACT)))


def brief(value: Any) -> str:
    """A value as an error quotes it: short, whatever it is."""
    if isinstance(value, list | dict):
        return f"an {type_of(value)}"
    text = repr(value[:_QUOTED] if isinstance(value, str) else value)
    return text if len(text) <= _QUOTED + 2 else f"{text[:_QUOTED]}…"


def elements(value: Any) -> Iterator[Any]:
    spend_on(value)
    if isinstance(value, dict):
        return iter([value[key] for key in sorted(value)])
    if isinstance(value, list):
        return iter(value)
    raise JqError(f"cannot iterate over {type_of(value)}")


def as_key(value: Any) -> str:
    if not isinstance(value, str):
        raise JqError(f"a key must be a string, not {type_of(value)}")
    return value


def shown(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str:
    spend_on_all(value)
    return json.dumps(_plain(value), separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    """With whole numbers written as such."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else whole(value)


def whole(value: Any) -> Any:
    """A number as jq has it: whole ones as such while they are exact, larger ones as near as they can be had."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < EXACT else max(-LARGEST, min(value, LARGEST))
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT:
        return float(value) if abs(value) < LARGEST else math.copysign(LARGEST, value)
    return value


def add(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    kinds = {type_of(a), type_of(b)}
    spend_on(a, b)
    if kinds == {"object"}:
        return a | b
    if kinds <= {"number"}:
        return whole(whole(a) + whole(b))
    if kinds <= {"string"} or kinds <= {"array"}:
        if len(a) + len(b) > LONGEST:
            raise JqError(f"a text or list of more than {LONGEST} parts")
        return a + b
    raise JqError(f"cannot add {type_of(a)} and {type_of(b)}")


def _numbers(operation: Callable[[Any, Any], Any], word: str) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        if {type_of(a), type_of(b)} != {"number"}:
            raise JqError(f"cannot {word} {type_of(a)} and {type_of(b)}")
        try:
            return whole(operation(whole(a), whole(b)))
        except ZeroDivisionError:
            raise JqError(f"cannot {word} {brief(a)} by 0") from None

    return run


def _subtract(a: Any, b: Any) -> Any:
    if isinstance(a, list) and isinstance(b, list):
        return [item for item in a if not any(same(item, other) for other in b)]
    return _numbers(lambda x, y: x - y, "subtract")(a, b)


def divide(a: Any, b: Any) -> Any:
    if isinstance(a, str) and isinstance(b, str):
        spend_on(a, b)
        spend(a.count(b))
        return a.split(b) if a and b else list(a)
    return _numbers(lambda x, y: x / y, "divide")(a, b)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": _subtract,
    "*": _numbers(lambda a, b: a * b, "multiply"),
    "/": divide,
    "%": _numbers(lambda a, b: int(math.fmod(int(a), int(b))) if int(b) else a % 0, "take the rest of"),
}
