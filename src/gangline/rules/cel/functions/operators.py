"""The operators of CEL: arithmetic, order, membership, and what stands at an index.

Pure; standard.py lists them by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from gangline.rules.cel.values import NONE, CelError, Duration, Optional, UInt, checked, equal, no_overload, order


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
    if is_whole(left) and is_whole(right):
        return checked(left - right, left)
    raise no_overload("_-_")


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def multiply(left: Any, right: Any) -> Any:
    if isinstance(left, float) and isinstance(right, float):
        return left * right
    if is_whole(left) and is_whole(right):
        return checked(left * right, left)
    raise no_overload("_*_")


def divide(left: Any, right: Any) -> Any:
    if isinstance(left, float) and isinstance(right, float):
        if right == 0:
            return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)
        return left / right
    if not (is_whole(left) and is_whole(right)):
        raise no_overload("_/_")
    if right == 0:
        raise CelError("division by zero")
    return checked(abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1), left)


def modulo(left: Any, right: Any) -> Any:
    if not (is_whole(left) and is_whole(right)):
        raise no_overload("_%_")
    if right == 0:
        raise CelError("modulus by zero")
    return checked(int(math.copysign(1, left)) * (abs(left) % abs(right)), left)


def negate(value: Any) -> Any:
    if isinstance(value, float):
        return -value
    if is_whole(value) and not isinstance(value, UInt):
        return checked(-value)
    raise no_overload("-_")


def compare(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
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
        if not is_whole(at):
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
        return Optional(container[key], True) if is_whole(key) and 0 <= key < len(container) else NONE
    if isinstance(container, dict):
        return Optional(container[key], True) if key in container else NONE
    raise no_overload("_[?_]")


def size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise no_overload("size")
