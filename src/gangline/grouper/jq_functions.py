"""What jq can do with values: order, arithmetic, and the functions that only read. Used by jq.py. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cmp_to_key
from typing import Any

from gangline.errors import GanglineError


class JqError(GanglineError):
    """An expression that cannot be read, or that does not fit the value it was given."""


Run = Callable[[Any], Iterator[Any]]
Function = Callable[[Any, list[Run]], Iterator[Any]]


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
    first, second = _RANK[type_of(a)], _RANK[type_of(b)]
    if first != second or a is None:
        return (first > second) - (first < second)
    if isinstance(a, list):
        pairs = (compare(x, y) for x, y in zip(a, b, strict=False))
        return next((order for order in pairs if order), (len(a) > len(b)) - (len(a) < len(b)))
    if isinstance(a, dict):
        keys = compare(sorted(a), sorted(b))
        return keys or compare([a[key] for key in sorted(a)], [b[key] for key in sorted(a)])
    return int(a > b) - int(a < b)


def index(value: Any, key: Any) -> Any:
    if value is None and isinstance(key, str | int | float | None):
        return None
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int | float) and not isinstance(key, bool):
        at = math.floor(key)
        return value[at] if -len(value) <= at < len(value) else None
    raise JqError(f"{type_of(value)} has no {key!r}")


def elements(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        return iter(value.values())
    if isinstance(value, list):
        return iter(value)
    raise JqError(f"cannot go through {type_of(value)}")


def as_key(value: Any) -> str:
    if not isinstance(value, str):
        raise JqError(f"a key must be a string, not {type_of(value)}")
    return value


def shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _whole(value: float) -> int | float:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _add(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    kinds = {type_of(a), type_of(b)}
    if kinds == {"object"}:
        return a | b
    if kinds <= {"number"} or kinds <= {"string"} or kinds <= {"array"}:
        return a + b
    raise JqError(f"cannot add {type_of(a)} and {type_of(b)}")


def _numbers(operation: Callable[[Any, Any], Any], word: str) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        if {type_of(a), type_of(b)} != {"number"}:
            raise JqError(f"cannot {word} {type_of(a)} and {type_of(b)}")
        try:
            return _whole(operation(a, b))
        except ZeroDivisionError:
            raise JqError(f"cannot {word} {a} by 0") from None

    return run


def _subtract(a: Any, b: Any) -> Any:
    if isinstance(a, list) and isinstance(b, list):
        return [each for each in a if not any(same(each, other) for other in b)]
    return _numbers(lambda x, y: x - y, "subtract")(a, b)


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, str) and isinstance(b, str):
        return a.split(b) if b else list(a)
    return _numbers(lambda x, y: x / y, "divide")(a, b)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": _add, "-": _subtract, "*": _numbers(lambda a, b: a * b, "multiply"), "/": _divide,
    "%": _numbers(lambda a, b: int(math.fmod(int(a), int(b))) if int(b) else a % 0, "take the rest of"),
}


# --- functions ---------------------------------------------------------------------------------------------------------------


def _length(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, bool):
        raise JqError("a boolean has no length")
    return abs(value) if isinstance(value, int | float) else len(value)


def _keys(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(value)
    if isinstance(value, list):
        return list(range(len(value)))
    raise JqError(f"{type_of(value)} has no keys")


def _to_number(value: Any) -> Any:
    try:
        return _whole(float(value)) if isinstance(value, str) else 0 + value
    except (ValueError, TypeError):
        raise JqError(f"{value!r} is not a number") from None


def _sorted(value: Any) -> list[Any]:
    return sorted(_array(value), key=cmp_to_key(compare))


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise JqError(f"an array is needed, not {type_of(value)}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise JqError(f"a string is needed, not {type_of(value)}")
    return value


def _unique(value: Any) -> list[Any]:
    ordered = _sorted(value)
    return [each for at, each in enumerate(ordered) if at == 0 or not same(each, ordered[at - 1])]


def _sum(value: Any) -> Any:
    total: Any = None
    for each in elements(value):
        total = _add(total, each)
    return total


def _flat(value: Any) -> list[Any]:
    return [out for each in _array(value) for out in (_flat(each) if isinstance(each, list) else [each])]


def _entries(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        raise JqError(f"{type_of(value)} has no entries")
    return [{"key": key, "value": each} for key, each in value.items()]


def _from_entries(value: Any) -> dict[str, Any]:
    return {shown(each.get("key", each.get("name"))): each.get("value") for each in _array(value)}


def _contains(value: Any, other: Any) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return other in value
    if isinstance(value, list) and isinstance(other, list):
        return all(any(_contains(each, wanted) for each in value) for wanted in other)
    if isinstance(value, dict) and isinstance(other, dict):
        return all(key in value and _contains(value[key], wanted) for key, wanted in other.items())
    return same(value, other)


def _has(value: Any, key: Any) -> bool:
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and isinstance(key, int):
        return 0 <= key < len(value)
    raise JqError(f"{type_of(value)} cannot have {key!r}")


def _test(value: Any, pattern: Any) -> bool:
    try:
        return re.search(_text(pattern), _text(value)) is not None
    except re.error as error:
        raise JqError(f"{pattern!r} is not a regular expression: {error}") from error


PLAIN: dict[str, Callable[[Any], Any]] = {
    "length": _length, "keys": _keys, "tonumber": _to_number, "tostring": shown, "type": type_of, "add": _sum, "sort": _sorted,
    "unique": _unique, "flatten": _flat, "reverse": lambda value: _array(value)[::-1], "to_entries": _entries,
    "from_entries": _from_entries, "first": lambda value: index(value, 0), "last": lambda value: index(value, -1),
    "min": lambda value: next(iter(_sorted(value)), None), "max": lambda value: next(reversed(_sorted(value)), None),
    "any": lambda value: any(truthy(each) for each in elements(value)), "all": lambda value: all(truthy(each) for each in elements(value)),
    "ascii_downcase": lambda value: _text(value).lower(), "ascii_upcase": lambda value: _text(value).upper(),
    "floor": math.floor, "ceil": math.ceil, "abs": abs, "tojson": lambda value: json.dumps(value, separators=(",", ":")),
    "fromjson": lambda value: json.loads(_text(value)), "trim": lambda value: _text(value).strip(),
}
"""One value in, one out."""

WITH_VALUE: dict[str, Callable[[Any, Any], Any]] = {
    "has": _has, "contains": _contains, "inside": lambda value, other: _contains(other, value), "test": _test,
    "startswith": lambda value, start: _text(value).startswith(_text(start)),
    "endswith": lambda value, end: _text(value).endswith(_text(end)),
    "split": lambda value, by: _divide(_text(value), _text(by)),
    "join": lambda value, by: _text(by).join("" if each is None else shown(each) for each in _array(value)),
    "ltrimstr": lambda value, start: value.removeprefix(start) if isinstance(value, str) and isinstance(start, str) else value,
    "rtrimstr": lambda value, end: value.removesuffix(end) if isinstance(value, str) and isinstance(end, str) else value,
}
"""A value and an argument that is a value."""


def _map(value: Any, run: Run) -> list[Any]:
    return [out for each in elements(value) for out in run(each)]


def _map_values(value: Any, run: Run) -> Any:
    if isinstance(value, dict):
        return {key: next(outs) for key, each in value.items() if (outs := iter([*run(each)][:1]))}
    return [out for each in elements(value) for out in [*run(each)][:1]]


def _by(value: Any, run: Run) -> list[tuple[Any, Any]]:
    return [([*run(each)], each) for each in _array(value)]


def _first_order(a: tuple[Any, Any], b: tuple[Any, Any]) -> int:
    return compare(a[0], b[0])


def _sort_by(value: Any, run: Run) -> list[Any]:
    return [each for _, each in sorted(_by(value, run), key=cmp_to_key(_first_order))]


WITH_FILTER: dict[str, Callable[[Any, Run], Any]] = {
    "map": _map, "map_values": _map_values, "sort_by": _sort_by,
    "any": lambda value, run: any(truthy(out) for each in elements(value) for out in run(each)),
    "all": lambda value, run: all(truthy(out) for each in elements(value) for out in run(each)),
    "with_entries": lambda value, run: _from_entries(_map(_entries(value), run)),
    "min_by": lambda value, run: next(iter(_sort_by(value, run)), None),
    "max_by": lambda value, run: next(reversed(_sort_by(value, run)), None),
}
"""A value and an argument that is asked about its parts."""


def _select(value: Any, arguments: list[Run]) -> Iterator[Any]:
    return (value for each in arguments[0](value) if truthy(each))


def _error(value: Any, arguments: list[Run]) -> Iterator[Any]:
    raise JqError(shown(next(arguments[0](value), "")) if arguments else shown(value))


def _values(value: Any, arguments: list[Run]) -> Iterator[Any]:
    return iter(() if value is None else (value,))


SPECIAL: dict[tuple[str, int], Function] = {
    ("select", 1): _select, ("empty", 0): lambda value, arguments: iter(()), ("values", 0): _values,
    ("error", 0): _error, ("error", 1): _error,
    ("first", 1): lambda value, arguments: iter([*arguments[0](value)][:1]),
}


def find(name: str, count: int) -> Function | None:
    """The function of a name and a number of arguments."""
    if (name, count) in SPECIAL:
        return SPECIAL[name, count]
    if count == 0 and name in PLAIN:
        plain = PLAIN[name]
        return lambda value, arguments: iter((_guarded(lambda: plain(value)),))
    if count == 1 and name in WITH_VALUE:
        two = WITH_VALUE[name]
        return lambda value, arguments: (two(value, each) for each in arguments[0](value))
    if count == 1 and name in WITH_FILTER:
        filtering = WITH_FILTER[name]
        return lambda value, arguments: iter((filtering(value, arguments[0]),))
    return None


def _guarded(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except (TypeError, ValueError) as error:
        raise JqError(str(error)) from error
