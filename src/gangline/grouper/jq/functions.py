"""What jq can do with values: order, arithmetic, and the functions that only read. Used by parser.py. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cmp_to_key, partial, reduce
from itertools import chain, groupby, islice
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from gangline.grouper.jq.budget import spend, spend_on
from gangline.grouper.jq.expressions import Function, Run, replaced, tested, text_of
from gangline.grouper.jq.filters import counted
from gangline.grouper.jq.values import (
    LONGEST,
    JqError,
    add,
    as_json,
    as_key,
    brief,
    compare,
    divide,
    elements,
    index,
    place,
    same,
    shown,
    truthy,
    type_of,
    whole,
)

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LOWER, _UPPER = str.maketrans(ascii_uppercase, ascii_lowercase), str.maketrans(ascii_lowercase, ascii_uppercase)


# --- functions --------------------------------------------------------------------------------------------------------


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
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return whole(float(value))
    return _number(value)


def _number(value: Any) -> Any:
    if type_of(value) != "number":
        raise JqError(f"{brief(value)} is not a number")
    return value


def _sorted(value: Any) -> list[Any]:
    return sorted(_array(value), key=cmp_to_key(compare))


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise JqError(f"an array is needed, not {type_of(value)}")
    return value


def _unique(value: Any) -> list[Any]:
    ordered = _sorted(value)
    return [item for at, item in enumerate(ordered) if at == 0 or not same(item, ordered[at - 1])]


def _sum(value: Any) -> Any:
    parts = [*elements(value)]
    for form, union in ((str, "".join), (list, chain.from_iterable)):
        if parts and all(isinstance(part, form) for part in parts):
            if sum(len(part) for part in parts) > LONGEST:
                raise JqError(f"a text or list of more than {LONGEST} parts")
            spend_on(*parts)
            return form(union(parts))
    return reduce(add, parts, None)


def _joined(parts: list[Any], by: Any) -> Any:
    texts = [shown(part) if type_of(part) in ("boolean", "number") else part for part in parts]
    between = [piece for text in texts for piece in (by, text)][1:]
    return _sum(["", *(piece for piece in between if piece is not None)])


def _flat(value: Any) -> list[Any]:
    spend_on(value)
    return [out for element in elements(value) for out in (_flat(element) if isinstance(element, list) else [element])]


def _entries(value: Any) -> list[dict[str, Any]]:
    spend(len(_keys(value)))
    return [{"key": key, "value": value[key]} for key in _keys(value)]


def _from_entries(value: Any) -> dict[str, Any]:
    return dict(_entry(element) for element in elements(value))


def _entry(element: Any) -> tuple[str, Any]:
    key = next((index(element, name) for name in ("key", "Key", "name", "Name") if truthy(index(element, name))), None)
    return as_key(key), index(element, "value" if _has(element, "value") else "Value")


def _contains(value: Any, other: Any) -> bool:
    if type_of(value) != type_of(other) or (isinstance(value, bool) and value is not other):
        raise JqError(f"{type_of(value)} cannot contain {type_of(other)}")
    return _holds(value, other)


def _holds(value: Any, other: Any) -> bool:
    spend_on(value if isinstance(value, str) else None)
    if isinstance(value, str) and isinstance(other, str):
        return other in value
    if isinstance(value, list) and isinstance(other, list):
        return all(any(_holds(item, wanted) for item in value) for wanted in other)
    if isinstance(value, dict) and isinstance(other, dict):
        return all(key in value and _holds(value[key], wanted) for key, wanted in other.items())
    return same(value, other)


def _has(value: Any, key: Any) -> bool:
    if value is None:
        return False
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and type_of(key) == "number":
        return bool(0 <= key < len(value))
    raise JqError(f"{type_of(value)} cannot have {brief(key)}")


PLAIN: dict[str, Callable[[Any], Any]] = {
    "length": _length,
    "keys": _keys,
    "tonumber": _to_number,
    "tostring": shown,
    "type": type_of,
    "add": _sum,
    "sort": _sorted,
    "unique": _unique,
    "flatten": _flat,
    "reverse": lambda value: [] if value is None else _array(value)[::-1],
    "to_entries": _entries,
    "from_entries": _from_entries,
    "first": lambda value: index(value, 0),
    "last": lambda value: index(value, -1),
    "min": lambda value: next(iter(_sorted(value)), None),
    "max": lambda value: next(reversed(_sorted(value)), None),
    "any": lambda value: any(truthy(element) for element in elements(value)),
    "all": lambda value: all(truthy(element) for element in elements(value)),
    "ascii_downcase": lambda value: text_of(value).translate(_LOWER),
    "ascii_upcase": lambda value: text_of(value).translate(_UPPER),
    "floor": lambda value: math.floor(_number(value)),
    "ceil": lambda value: math.ceil(_number(value)),
    "round": lambda value: math.floor(abs(_number(value)) + 0.5) * (1 if value >= 0 else -1),
    "abs": lambda value: abs(_number(value)),
    "tojson": as_json,
    "fromjson": lambda value: json.loads(text_of(value)),
    "trim": lambda value: text_of(value).strip(),
    "ltrim": lambda value: text_of(value).lstrip(),
    "rtrim": lambda value: text_of(value).rstrip(),
}
"""One value in, one out."""
WITH_VALUE: dict[str, Callable[[Any, Any], Any]] = {
    "has": _has,
    "contains": _contains,
    "inside": lambda value, other: _contains(other, value),
    "in": lambda value, other: _has(other, value),
    "nth": index,
    "getpath": lambda value, path: reduce(index, _array(path), value),
    "startswith": lambda value, start: text_of(value).startswith(text_of(start)),
    "endswith": lambda value, end: text_of(value).endswith(text_of(end)),
    "split": lambda value, by: divide(text_of(value), text_of(by)),
    "join": lambda value, by: _joined([*elements(value)], by),
    "ltrimstr": lambda value, start: text_of(value).removeprefix(text_of(start)),
    "rtrimstr": lambda value, end: text_of(value).removesuffix(text_of(end)),
}
"""A value and an argument that is a value."""


def _map(value: Any, run: Run) -> list[Any]:
    return [out for element in elements(value) for out in counted(run(element))]


def _map_values(value: Any, run: Run) -> Any:
    if isinstance(value, dict):
        return {key: outs[0] for key, item in value.items() if (outs := [*counted(run(item))][:1])}
    return [out for element in elements(value) for out in [*counted(run(element))][:1]]


def _by(value: Any, run: Run) -> list[tuple[Any, Any]]:
    return [([*counted(run(item))], item) for item in _array(value)]


def _first_order(a: tuple[Any, Any], b: tuple[Any, Any]) -> int:
    return compare(a[0], b[0])


def _sort_by(value: Any, run: Run) -> list[Any]:
    return [item for _, item in sorted(_by(value, run), key=cmp_to_key(_first_order))]


def _groups(value: Any, run: Run) -> list[list[Any]]:
    ordered = sorted(_by(value, run), key=cmp_to_key(_first_order))
    return [[item for _, item in group] for _, group in groupby(ordered, key=lambda pair: as_json(pair[0]))]


def _last_largest(value: Any, run: Run) -> Any:
    return next(reversed(_sort_by(value, run)), None)


WITH_FILTER: dict[str, Callable[[Any, Run], Any]] = {
    "map": _map,
    "map_values": _map_values,
    "sort_by": _sort_by,
    "any": lambda value, run: any(truthy(out) for element in elements(value) for out in counted(run(element))),
    "all": lambda value, run: all(truthy(out) for element in elements(value) for out in counted(run(element))),
    "with_entries": lambda value, run: _from_entries(_map(_entries(value), run)),
    "min_by": lambda value, run: next(iter(_sort_by(value, run)), None),
    "max_by": _last_largest,
    "group_by": _groups,
    "unique_by": lambda value, run: [group[0] for group in _groups(value, run)],
    "add": lambda value, run: _sum([*counted(run(value))]),
    "isempty": lambda value, run: next((False for _ in run(value)), True),
}
"""A value and an argument that is asked about its parts."""


def _select(value: Any, arguments: list[Run]) -> Iterator[Any]:
    return (value for item in counted(arguments[0](value)) if truthy(item))


def _error(value: Any, arguments: list[Run]) -> Iterator[Any]:
    raise JqError(shown(next(arguments[0](value), "")) if arguments else shown(value))


def _of_type(*wanted: str) -> Function:
    return lambda value, arguments: iter((value,) if type_of(value) in wanted else ())


def _limit(value: Any, arguments: list[Run]) -> Iterator[Any]:
    for most in arguments[0](value):
        if _number(most) < 0:
            raise JqError("limit needs a number from 0 up")
        yield from islice(counted(arguments[1](value)), -place(-most))


def _last(value: Any, arguments: list[Run]) -> Iterator[Any]:
    return iter([*counted(arguments[0](value))][-1:])


def _some(value: Any, arguments: list[Run]) -> Iterator[Any]:
    yield any(truthy(out) for item in counted(arguments[0](value)) for out in counted(arguments[1](item)))


def _every(value: Any, arguments: list[Run]) -> Iterator[Any]:
    yield all(truthy(out) for item in counted(arguments[0](value)) for out in counted(arguments[1](item)))


SPECIAL: dict[tuple[str, int], Function] = {
    ("select", 1): _select,
    ("empty", 0): lambda value, arguments: iter(()),
    ("error", 0): _error,
    ("error", 1): _error,
    ("limit", 2): _limit,
    ("last", 1): _last,
    ("first", 1): lambda value, arguments: islice(arguments[0](value), 1),
    ("any", 2): _some,
    ("all", 2): _every,
    ("test", 1): tested,
    ("test", 2): tested,
    ("sub", 2): replaced(False),
    ("sub", 3): replaced(False),
    ("gsub", 2): replaced(True),
    ("gsub", 3): replaced(True),
    ("values", 0): _of_type("boolean", "number", "string", "array", "object"),
    ("nulls", 0): _of_type("null"),
    ("strings", 0): _of_type("string"),
    ("numbers", 0): _of_type("number"),
    ("booleans", 0): _of_type("boolean"),
    ("arrays", 0): _of_type("array"),
    ("objects", 0): _of_type("object"),
    ("iterables", 0): _of_type("array", "object"),
    ("scalars", 0): _of_type("null", "boolean", "number", "string"),
}


def find(name: str, count: int) -> Function | None:
    """The function of a name and a number of arguments."""
    if (name, count) in SPECIAL:
        return SPECIAL[name, count]
    if count == 0 and name in PLAIN:
        plain = PLAIN[name]
        return lambda value, arguments: iter((_guarded(partial(plain, value), value),))
    if count == 1 and name in WITH_VALUE:
        two = WITH_VALUE[name]
        return lambda value, arguments: (
            _guarded(partial(two, value, item), value, item) for item in arguments[0](value)
        )
    if count == 1 and name in WITH_FILTER:
        filtering = WITH_FILTER[name]
        return lambda value, arguments: iter((_guarded(partial(filtering, value, arguments[0]), value),))
    return None


def _guarded(run: Callable[[], Any], *operands: Any) -> Any:
    spend_on(*operands)
    try:
        return run()
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise JqError(str(error)) from error
