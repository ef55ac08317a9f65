"""The type of every part of an expression, or the first thing that cannot be.

Sets `kind` on each node. Fields of objects are looked up in their schema, functions in the signatures of the library.
What is `dyn` is left to run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gangline.rules.cel.functions import access, kubernetes, signatures
from gangline.rules.cel.kinds import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    TYPE,
    UINT,
    CelType,
    field_of,
    filled,
    fits,
    list_of,
    map_of,
    optional_of,
    read_kind,
)
from gangline.rules.cel.tree import (
    LEVELS,
    Call,
    CelSyntaxError,
    Const,
    Expr,
    Ident,
    ListLit,
    Macro,
    MapLit,
    Select,
    chain,
)
from gangline.rules.values.patterns import BadPattern, compile_pattern

_CONSTANTS = {"bool": BOOL, "int": INT, "uint": UINT, "double": DOUBLE, "string": STRING, "bytes": BYTES, "null": NULL}
_TYPE_NAMES = frozenset(("bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type", "dyn"))
NAMESPACES = frozenset(("sets", "optional", "strings", "ip", "format", "lists"))


@dataclass(frozen=True, slots=True)
class Overload:
    params: tuple[CelType, ...]
    result: CelType


@cache
def overloads() -> dict[str, list[Overload]]:
    """Function name (methods with a leading dot, their target first) → its overloads."""
    table: dict[str, list[Overload]] = {}
    for line in filter(None, (signatures.SIGNATURES + kubernetes.SIGNATURES + access.SIGNATURES).splitlines()):
        call, _, result = line.rpartition(" -> ")
        target, dot, rest = call.partition(" .")
        if not dot:
            target, rest = "", call
        name, _, params = rest[:-1].partition("(")
        kinds = [read_kind(target)] if dot else []
        kinds += list(read_kind(f"x({params})").args) if params else []
        table.setdefault(f".{name}" if dot else name, []).append(Overload(tuple(kinds), read_kind(result)))
    return table


def check(tree: Expr, variables: Mapping[str, CelType], text: str) -> CelType:
    return _Checker(text).kind(tree, dict(variables))


class _Checker:
    def __init__(self, text: str) -> None:
        self.text = text
        self.mixed = 0
        """Inside arguments of `format`, whose list may hold anything."""

    def error(self, message: str, at: int) -> CelSyntaxError:
        return CelSyntaxError(message, at, self.text)

    def kind(self, node: Expr, scope: dict[str, CelType]) -> CelType:
        kind = node.kind = _CHECKS[type(node)](self, node, scope)
        return kind

    def _const(self, node: Const, scope: dict[str, CelType]) -> CelType:
        return _CONSTANTS[node.form]

    def _ident(self, node: Ident, scope: dict[str, CelType]) -> CelType:
        if node.name in scope:
            return scope[node.name]
        if node.name in _TYPE_NAMES:
            return TYPE
        raise self.error(f"undeclared reference to '{node.name}' (in container '')", node.at)

    def _select(self, node: Select, scope: dict[str, CelType]) -> CelType:
        operand = self.kind(node.operand, scope)
        inner = operand.args[0] if operand.name == "optional_type" else operand
        field = self._field(node, inner)
        if node.test:
            return BOOL
        return optional_of(field) if node.optional or operand.name == "optional_type" else field

    def _field(self, node: Select, kind: CelType) -> CelType:
        if kind.name == "dyn":
            return DYN
        if kind.name == "map":
            return kind.args[1]
        if isinstance(kind.node, dict):
            if node.field not in kind.node:
                raise self.error(f"undefined field '{node.field}'", node.at)
            own: CelType = kind.node[node.field]
            return own
        if kind.name != "object":
            raise self.error(f"type '{kind}' does not support field selection", node.at)
        field = field_of(kind, node.field)
        if field is None:
            raise self.error(f"undefined field '{node.field}'", node.at)
        return field[1]

    def _listlit(self, node: ListLit, scope: dict[str, CelType]) -> CelType:
        kinds = [self.kind(item, scope) for item in node.items]
        kinds = [
            kind.args[0] if optional and kind.args else kind
            for kind, optional in zip(kinds, node.optional, strict=True)
        ]
        return list_of(self._alike(kinds, node.items))

    def _maplit(self, node: MapLit, scope: dict[str, CelType]) -> CelType:
        keys = [self.kind(key, scope) for key, _, _ in node.entries]
        values = [self.kind(value, scope) for _, value, _ in node.entries]
        values = [
            kind.args[0] if entry[2] and kind.args else kind for kind, entry in zip(values, node.entries, strict=True)
        ]
        return map_of(
            self._alike(keys, [key for key, _, _ in node.entries]),
            self._alike(values, [value for _, value, _ in node.entries]),
        )

    def _alike(self, kinds: list[CelType], parts: list[Expr]) -> CelType:
        """The one kind that all parts of a literal have."""
        for kind, part in zip(kinds[1:], parts[1:], strict=True):
            if not self.mixed and kind != kinds[0] and (kind.name == "object") == (kinds[0].name == "object"):
                raise self.error(f"expected type '{kinds[0]}' but found '{kind}'", part.at)
        return _common(kinds)

    def _call(self, node: Call, scope: dict[str, CelType]) -> CelType:
        if node.target is not None:
            self._qualify(node, scope)
        if node.target is None:
            if node.name in LEVELS:
                return self._chain(node, scope)
            if node.name not in overloads():
                raise self.error(f"undeclared reference to '{node.name}' (in container '')", node.at)
            return self._match(node, node.name, [self.kind(arg, scope) for arg in node.args])
        if node.name == "format":
            self.mixed += 1
        kinds = [self.kind(node.target, scope), *(self.kind(arg, scope) for arg in node.args)]
        if node.name == "format":
            self.mixed -= 1
        if f".{node.name}" not in overloads():
            raise self.error(f"undeclared reference to '{node.name}' (in container '')", node.at)
        return self._match(node, f".{node.name}", kinds)

    def _qualify(self, node: Call, scope: dict[str, CelType]) -> None:
        """`sets.contains(…)` is one function, not a method of something called sets."""
        target = node.target
        if isinstance(target, Ident) and target.name in NAMESPACES and target.name not in scope:
            node.name, node.target = f"{target.name}.{node.name}", None

    def _chain(self, node: Call, scope: dict[str, CelType]) -> CelType:
        first, calls = chain(node)
        kind = self.kind(first, scope)
        for call in calls:
            kinds = [kind, self.kind(call.args[1], scope)]
            is_logic = call.name in ("_&&_", "_||_")
            kind = call.kind = self._logic(call, kinds) if is_logic else self._match(call, call.name, kinds)
        return kind

    def _logic(self, node: Call, kinds: list[CelType]) -> CelType:
        if any(kind.name not in ("bool", "dyn") for kind in kinds):
            raise self._no_match(node, node.name, kinds)
        return BOOL

    def _match(self, node: Call, name: str, kinds: list[CelType]) -> CelType:
        results: list[CelType] = []
        for overload in overloads()[name]:
            bound: dict[str, CelType] = {}
            if len(overload.params) == len(kinds) and all(
                fits(given, wanted, bound) for given, wanted in zip(kinds, overload.params, strict=True)
            ):
                results.append(filled(overload.result, bound))
        if not results:
            raise self._no_match(node, name, kinds)
        self._check_pattern(node, name)
        return results[0] if all(result == results[0] for result in results) else DYN

    def _no_match(self, node: Call, name: str, kinds: list[CelType]) -> CelSyntaxError:
        shown = [str(kind) for kind in kinds]
        applied = f"{shown[0]}.({', '.join(shown[1:])})" if name.startswith(".") else f"({', '.join(shown)})"
        return self.error(f"found no matching overload for '{name.lstrip('.')}' applied to '{applied}'", node.at)

    def _check_pattern(self, node: Call, name: str) -> None:
        if name.lstrip(".") in ("matches", "find", "findAll"):
            pattern = node.args[0] if node.target is not None else node.args[1]
            if isinstance(pattern, Const):
                try:
                    compile_pattern(pattern.value)
                except BadPattern:
                    raise self.error("invalid matches argument", pattern.at) from None

    def _macro(self, node: Macro, scope: dict[str, CelType]) -> CelType:
        target = self.kind(node.target, scope)
        inner = self._variables(node, target, scope)
        kinds = [self.kind(body, inner) for body in node.bodies]
        tests = node.name in ("all", "exists", "exists_one", "existsOne", "filter") or len(kinds) == 2
        if tests and kinds[0].name not in ("bool", "dyn"):
            raise self.error(
                f"found no matching overload for '{node.name}' applied to a predicate of type '{kinds[0]}'", node.at
            )
        return self._macro_result(node, target, kinds)

    def _variables(self, node: Macro, target: CelType, scope: dict[str, CelType]) -> dict[str, CelType]:
        if node.name in ("optMap", "optFlatMap"):
            item = target.args[0] if target.name == "optional_type" else DYN
            return {**scope, node.variables[0]: item}
        if target.name == "list":
            first, second = INT, target.args[0]
        elif target.name == "map":
            first, second = target.args
        elif target.name == "dyn":
            first = second = DYN
        else:
            raise self.error(
                f"expression of type '{target}' cannot be range of a comprehension (must be list, map, or dynamic)",
                node.at,
            )
        if len(node.variables) == 2:
            return {**scope, node.variables[0]: first, node.variables[1]: second}
        return {**scope, node.variables[0]: first if target.name == "map" else second}

    def _macro_result(self, node: Macro, target: CelType, kinds: list[CelType]) -> CelType:
        name = node.name
        if name in ("all", "exists", "exists_one", "existsOne"):
            return BOOL
        if name == "filter":
            return list_of(target.args[0]) if target.args else list_of(DYN)
        if name in ("map", "transformList"):
            return list_of(kinds[-1])
        if name == "sortBy":
            return list_of(target.args[0]) if target.name == "list" else list_of(DYN)
        if name == "transformMap":
            keys = target.args[0] if target.name == "map" else _INDEXES.get(target.name, DYN)
            return map_of(keys, kinds[-1])
        if name == "transformMapEntry":
            return kinds[-1] if kinds[-1].name == "map" else map_of(DYN, DYN)
        return optional_of(kinds[0]) if name == "optMap" else kinds[0]


_INDEXES = {"list": INT}
"""What the keys are of a map that is made from something that has none."""
_CHECKS: dict[type[Expr], Callable[[_Checker, Any, dict[str, CelType]], CelType]] = {
    Const: _Checker._const,
    Ident: _Checker._ident,
    Select: _Checker._select,
    ListLit: _Checker._listlit,
    MapLit: _Checker._maplit,
    Call: _Checker._call,
    Macro: _Checker._macro,
}


def _common(kinds: list[CelType]) -> CelType:
    if kinds and all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    return DYN
