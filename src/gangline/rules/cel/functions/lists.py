"""CEL functions of lists and sets: order, sums, extremes, and parts.

standard.py lists them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.rules.cel.functions.operators import add, contained
from gangline.rules.cel.values import CelError, equal, order


def is_sorted(items: list[Any]) -> bool:
    return all(not less(items[at + 1], items[at]) for at in range(len(items) - 1))


def less(left: Any, right: Any) -> bool:
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
