"""Where a value of a custom resource stands, and what is found wrong there.

Used by the checks in validate.py; a path is made only when there is something to say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.errors import Problem
from gangline.rules.values import problems as say

Where = tuple[Any, Any] | None


def path_of(where: Where) -> str:
    parts: list[str] = []
    while where is not None:
        where, name = where
        parts.append(f"[{name}]" if type(name) is int else f".{name}")
    return "".join(reversed(parts)).lstrip(".")


MOST_PROBLEMS = 1000
"""How many problems of one object are looked for."""
MOST_TRIALS = 100_000
"""How often alternatives (anyOf, oneOf, allOf, not) are tried for one object."""


class Sink:
    """Collects problems. `prefix` is the field they are below (status, when only that is judged). `left` is how often
    alternatives may still be tried, for all sinks of one object."""

    def __init__(self, prefix: str = "", left: list[int] | None = None) -> None:
        self.prefix = prefix
        self.problems: list[Problem] = []
        self.left = [MOST_TRIALS] if left is None else left

    @property
    def exhausted(self) -> bool:
        """Alternatives were tried too often: what was found is not all."""
        return self.left[0] <= 0

    @property
    def full(self) -> bool:
        """More would not be told."""
        return len(self.problems) > MOST_PROBLEMS or self.left[0] <= 0

    def field(self, where: Where) -> str:
        path = path_of(where)
        return ".".join(filter(None, (self.prefix, path))) if not path.startswith("[") else self.prefix + path

    def whole(self, message: str) -> None:
        """A problem of an alternative as a whole, which the real server pins on no field."""
        self.problems.append(say.invalid(self.prefix or "<nil>", "", message))


Checker = Callable[[Any, Any, Where, Sink], None]


_TYPES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
}


def kind_of(value: Any) -> str:
    if type(value) is int and not -(2**63) <= value < 2**63:
        return "number"
    return _TYPES.get(type(value), "null")
