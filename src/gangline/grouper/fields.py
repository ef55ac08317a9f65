"""Reading fields of owners whose schema we do not have, strictly: absent is None, another type than expected is an
error.

Used by the groupers. A number that is no whole number, or `null`, counts as another type, so a typing mistake in a
workload becomes a readable event instead of a gang of the wrong size."""

from __future__ import annotations

import re
from typing import Any, TypeVar, cast

from gangline.api.meta import Raw
from gangline.grouper.grouping import Ungroupable

T = TypeVar("T")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NAMES = {int: "a whole number", str: "a text", bool: "true or false", dict: "an object", list: "a list"}


def _field(obj: Any, path: tuple[str, ...], form: type[T]) -> T | None:
    value = obj
    for step in path:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise Ungroupable(f"{'.'.join(path)}: what holds {step!r} is not an object")
        if step not in value:
            return None
        value = value[step]
    if not isinstance(value, form) or (form is int and isinstance(value, bool)):
        raise Ungroupable(f"{'.'.join(path)} must be {_NAMES[form]}, not {value!r}")
    return value


def integer(obj: Any, *path: str) -> int | None:
    return _field(obj, path, int)


def text(obj: Any, *path: str) -> str | None:
    return _field(obj, path, str)


def boolean(obj: Any, *path: str) -> bool | None:
    return _field(obj, path, bool)


def mapping(obj: Any, *path: str) -> Raw | None:
    return cast("Raw | None", _field(obj, path, dict))


def items(obj: Any, *path: str) -> list[Any] | None:
    return cast("list[Any] | None", _field(obj, path, list))


def whole(value: str, bits: int = 64) -> int | None:
    """A decimal number as it may stand in a label or annotation; None when it is none or does not fit."""
    if not _INTEGER.fullmatch(value):
        return None
    number = int(value)
    return number if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None
