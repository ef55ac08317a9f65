"""The tree of a CEL expression, and the words for a fault in its text.

syntax.py makes it, checker.py gives each node its kind, emit.py and cost.py walk over it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gangline.errors import GanglineError


class CelSyntaxError(GanglineError):
    """The text is not an expression, or does not type-check. `at` is the offset of the first fault."""

    def __init__(self, message: str, at: int, text: str = "") -> None:
        self.at = at
        line = text.count("\n", 0, at) + 1
        start = text.rfind("\n", 0, at) + 1
        source = text[start:].split("\n", 1)[0]
        column = at - start
        super().__init__(f"ERROR: <input>:{line}:{column + 1}: {message}\n | {source}\n | {'.' * column}^")


@dataclass(eq=False, slots=True)
class Expr:
    at: int
    kind: Any = field(default=None, init=False)
    """The static type, set by the checker."""


@dataclass(eq=False, slots=True)
class Const(Expr):
    value: Any
    form: str


@dataclass(eq=False, slots=True)
class Ident(Expr):
    name: str


@dataclass(eq=False, slots=True)
class Select(Expr):
    operand: Expr
    field: str
    optional: bool = False
    test: bool = False
    """has(): only whether it is there."""


@dataclass(eq=False, slots=True)
class Call(Expr):
    target: Expr | None
    name: str
    args: list[Expr]


@dataclass(eq=False, slots=True)
class ListLit(Expr):
    items: list[Expr]
    optional: list[bool]


@dataclass(eq=False, slots=True)
class MapLit(Expr):
    entries: list[tuple[Expr, Expr, bool]]


@dataclass(eq=False, slots=True)
class Macro(Expr):
    """`target.name(variables…, bodies…)`."""

    name: str
    target: Expr
    variables: list[str]
    bodies: list[Expr]


LEVELS = {
    "_||_": 1,
    "_&&_": 2,
    **dict.fromkeys(("_==_", "_!=_", "_<=_", "_>=_", "_<_", "_>_", "@in"), 3),
    "_+_": 4,
    "_-_": 4,
    "_*_": 5,
    "_/_": 5,
    "_%_": 5,
}
"""Operators of two operands; those of one level follow each other without brackets."""


def chain(tree: Call) -> tuple[Expr, list[Call]]:
    """`a + b - c` taken apart: its first operand, and the operators that follow, each with its second one."""
    calls = [tree]
    while (
        (left := calls[-1].args[0])
        and isinstance(left, Call)
        and left.target is None
        and (LEVELS.get(left.name, 0) == LEVELS[tree.name])
    ):
        calls.append(left)
    return calls[-1].args[0], calls[::-1]
