"""What a call costs, known from its arguments before it is made: its result is paid for before it takes any room.

    charge(name) -> (most, arguments…) -> steps      by the name of the function, methods under `.name`
    weight(value, most) -> steps                     how much there is inside a value

Nothing is counted further than `most`.

Ten letters are a step, as in Kubernetes' own costs; so is each part of a list that is made or looked at. runtime.py
charges. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gangline.rules.values.patterns import BadPattern, worked_out

Charge = Callable[..., int]
LETTERS = 10
_CLAUSE = re.compile(r"%(?:\.([0-9]+))?([a-zA-Z%])")
_LONGEST_NUMBER = 400


def weight(value: Any, most: int) -> int:
    """The parts of a value, and its letters by tens. Parts that stand in it several times count each time."""
    total, todo = 0, [value]
    while todo and total <= most:
        part = todo.pop()
        total += 1
        if isinstance(part, list):
            todo.extend(part)
        elif isinstance(part, dict):
            todo.extend(part.values())
            total += len(part)
        elif isinstance(part, str | bytes):
            total += len(part) // LETTERS
    return total


def _letters(value: Any) -> int:
    return len(value) // LETTERS if isinstance(value, str | list | bytes) else 0


def first(most: int, *args: Any) -> int:
    """What looks through its first argument once."""
    return _letters(args[0]) if args else 0


def both(most: int, left: Any, right: Any) -> int:
    """What makes one of two."""
    return _letters(left) + _letters(right)


def least(most: int, left: Any, right: Any) -> int:
    """What compares two."""
    return min(_letters(left), _letters(right))


def _all(most: int, value: Any, *_: Any) -> int:
    return weight(value, most)


def _format(most: int, text: str, args: list[Any]) -> int:
    clauses = [(precision, verb) for precision, verb in _CLAUSE.findall(text) if verb != "%"]
    return (
        len(text)
        + sum(_clause(most, precision, verb, arg) for (precision, verb), arg in zip(clauses, args, strict=False))
    ) // LETTERS


def _clause(most: int, precision: str, verb: str, value: Any) -> int:
    if isinstance(value, str | bytes):
        return 2 * len(value)
    if isinstance(value, list | dict):
        return 2 * LETTERS * weight(value, most)
    digits = int(precision[:12] or "0")
    return _LONGEST_NUMBER + (digits if verb in "fe" else 0)


def _replace(most: int, text: str, old: str, new: str, limit: int = -1) -> int:
    count = text.count(old) if limit < 0 else min(limit, text.count(old))
    return (2 * len(text) + count * max(0, len(new) - len(old))) // LETTERS


def _split(most: int, text: str, mark: str, limit: int = -1) -> int:
    pieces = text.count(mark) + 1
    return len(text) // LETTERS + (pieces if limit < 0 else min(limit, pieces))


def _join(most: int, items: list[Any], mark: str = "") -> int:
    return len(items) + (sum(len(item) for item in items) + len(mark) * len(items)) // LETTERS


def _matches(most: int, text: str, pattern: str, *_: Any) -> int:
    """What a short expression asks for may be long: its program counts as well."""
    return max((len(text) + 1) // LETTERS * max(1, len(pattern) // 4), _searched(text, pattern))


def _searched(text: str, pattern: str) -> int:
    try:
        program, steps = worked_out(pattern)
    except BadPattern:
        return len(pattern)
    return steps + program.steps(text)


def _find_all(most: int, text: str, pattern: str, *_: Any) -> int:
    return len(text) + _matches(most, text, pattern)


def _contained(most: int, item: Any, container: Any) -> int:
    if isinstance(container, list):
        return len(container) if isinstance(item, int | float | bool) else weight(container, most)
    return _letters(item)


def _key(most: int, container: Any, key: Any) -> int:
    """A key is compared with one that is like it."""
    return _letters(key)


def _distinct(most: int, items: list[Any]) -> int:
    """Lists and maps are compared with those before them that are different."""
    whole = [item for item in items if isinstance(item, list | dict)]
    return weight(items, most) + (len(whole) - 1) * weight(whole, most) // 2 if whole else weight(items, most)


def _product(most: int, left: list[Any], right: list[Any]) -> int:
    return 2 * len(left) * len(right) + weight(left, most) + weight(right, most)


def _index_of(most: int, where: Any, *_: Any) -> int:
    return weight(where, most) if isinstance(where, list) else _letters(where)


_CHARGES: dict[str, Charge] = {
    "_+_": both,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), least),
    ".format": _format,
    ".replace": _replace,
    ".split": _split,
    ".join": _join,
    ".matches": _matches,
    "matches": _matches,
    ".find": _matches,
    ".findAll": _find_all,
    "@in": _contained,
    **dict.fromkeys(("_[_]", "_[?_]"), _key),
    ".distinct": _distinct,
    ".flatten": _all,
    ".sort": _all,
    ".isSorted": _all,
    ".sum": _all,
    ".min": _all,
    ".max": _all,
    ".indexOf": _index_of,
    ".lastIndexOf": _index_of,
    "lists.range": lambda most, count: max(0, count),
    "sets.contains": _product,
    "sets.equivalent": _product,
    "sets.intersects": _product,
    ".validate": lambda most, form, text: len(text) // LETTERS,
}


def charge(name: str) -> Charge:
    return _CHARGES.get(name, first)
