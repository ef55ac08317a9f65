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
MOST_STEPS = 4_000_000
"""What looking for patterns in all texts of one object may take (rules/values/patterns.py): some seconds at worst."""


class SchemaEffort:
    """What judging one object may still take, for all its sinks together."""

    __slots__ = ("steps", "trials")

    def __init__(self) -> None:
        self.trials, self.steps = MOST_TRIALS, MOST_STEPS

    @property
    def spent(self) -> str:
        """Why it ends here; empty while it does not."""
        if self.trials <= 0:
            return f"its schema has alternatives that would have to be tried more than {MOST_TRIALS} times"
        return "its schema has patterns that take too long to look for in so much text" if self.steps <= 0 else ""


class Sink:
    """Collects problems. `prefix` is the field they are below (status, when only that is judged)."""

    def __init__(self, prefix: str = "", effort: SchemaEffort | None = None) -> None:
        self.prefix = prefix
        self.problems: list[Problem] = []
        self.effort = effort or SchemaEffort()

    @property
    def exhausted(self) -> bool:
        """It took too much: what was found is not all."""
        return self.effort.trials <= 0 or self.effort.steps <= 0

    @property
    def full(self) -> bool:
        """More would not be reported."""
        return len(self.problems) > MOST_PROBLEMS or self.exhausted

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
