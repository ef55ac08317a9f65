"""Reading a recorded row strictly: every key is read, or the row fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class UnknownKey(Exception):
    pass


class Row:
    """`given` is what upstream's function was given, `out` what it answered."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        only(case, "id", "name", "in", "out", "order", "any_order")
        self.given: dict[str, Any] = case["in"]
        self.out: Any = case["out"]
        self.order: str = case.get("order", "name")
        self.any_order: bool = case.get("any_order", False)

    def read(self, *keys: str) -> list[Any]:
        only(self.given, *keys)
        return [self.given.get(key) for key in keys]


def only(record: Mapping[str, Any], *keys: str) -> None:
    unknown = sorted(set(record) - set(keys))
    if unknown:
        raise UnknownKey(f"unknown key {', '.join(unknown)}")


def differs(ours: Any, theirs: Any) -> str:
    return "" if same(ours, theirs) else f"ours {ours!r}, recorded {theirs!r}"


def same(ours: Any, theirs: Any) -> bool:
    """Equal, numbers to six decimals."""
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        return set(ours) == set(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list) and isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs, strict=True))
    if isinstance(theirs, int | float) and isinstance(ours, int | float) and not isinstance(theirs, bool):
        return abs(ours - theirs) <= 1e-6 * max(1.0, abs(theirs))
    return bool(ours == theirs)
