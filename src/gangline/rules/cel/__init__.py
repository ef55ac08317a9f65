"""CEL, compiled to Python.

    env = Env({"self": kind_of(node), "oldSelf": DYN})        variables and their static kinds
    program = compile(expr, env)                              raises CelSyntaxError: does not parse, or does not
    type-check
    value = program.evaluate({"self": obj, …}, budget)        raises CelError: cannot be evaluated (OutOfBudget: took
    too many steps)

    program.kind        static kind of the result
    program.uses(name)  whether a variable occurs
    program.cost(sizes) an upper bound of the steps (cost.py)

Works on decoded JSON. Used for rules of custom resources, webhooks' matchConditions, admission policies and device
selectors. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gangline.rules.cel.checker import check
from gangline.rules.cel.emit import build
from gangline.rules.cel.kinds import (
    AUTHORIZER,
    BOOL,
    DYN,
    STRING,
    CelType,
    kind_of,
    list_of,
    map_of,
    optional_of,
    variables_of,
)
from gangline.rules.cel.runtime import StepBudget
from gangline.rules.cel.syntax import parse, too_deep
from gangline.rules.cel.tree import Call, CelSyntaxError, Expr, Ident, ListLit, Macro, MapLit, Select
from gangline.rules.cel.values import NONE, CelError, Optional, OutOfBudget, no_overload

__all__ = [
    "AUTHORIZER",
    "BOOL",
    "CALL_LIMIT",
    "DYN",
    "NONE",
    "STRING",
    "CelError",
    "CelProgram",
    "CelSyntaxError",
    "CelType",
    "Env",
    "Optional",
    "OutOfBudget",
    "StepBudget",
    "compile",
    "kind_of",
    "list_of",
    "map_of",
    "optional_of",
    "variables_of",
]

CALL_LIMIT = 1_000_000
"""Steps one evaluation may take when no budget is given."""


@dataclass(frozen=True, slots=True)
class Env:
    """The variables an expression may use."""

    variables: Mapping[str, CelType] = field(default_factory=dict)


class CelProgram:
    """A compiled expression."""

    def __init__(self, text: str, tree: Expr, kind: CelType, names: list[str]) -> None:
        self.text = text
        self.tree = tree
        self.kind = kind
        self._names = names
        self._run: Callable[..., Any] = build(tree, names)

    def evaluate(self, variables: Mapping[str, Any], budget: StepBudget | int | None = None) -> Any:
        spend = budget if isinstance(budget, StepBudget) else StepBudget(CALL_LIMIT if budget is None else budget)
        try:
            return self._run(*(variables[name] for name in self._names), spend)
        except RecursionError:
            raise CelError("expression is nested too deeply") from None
        except (TypeError, AttributeError, LookupError):
            raise no_overload() from None
        except (ValueError, ArithmeticError) as error:
            raise CelError(str(error)) from None

    def uses(self, name: str) -> bool:
        return any(isinstance(part, Ident) and part.name == name for part in walk(self.tree))


def compile(text: str, env: Env) -> CelProgram:
    try:
        tree = parse(text)
        kind = check(tree, env.variables, text)
        return CelProgram(text, tree, kind, list(env.variables))
    except (RecursionError, MemoryError, SyntaxError):
        raise too_deep() from None


def walk(tree: Expr) -> list[Expr]:
    """Every part of a tree."""
    exprs = [tree]
    for part in exprs:
        exprs.extend(_parts(part))
    return exprs


def _parts(part: Expr) -> list[Expr]:
    if isinstance(part, Select):
        return [part.operand]
    if isinstance(part, Call):
        return [*([part.target] if part.target is not None else []), *part.args]
    if isinstance(part, ListLit):
        return part.items
    if isinstance(part, MapLit):
        return [item for key, value, _ in part.entries for item in (key, value)]
    return [part.target, *part.bodies] if isinstance(part, Macro) else []
