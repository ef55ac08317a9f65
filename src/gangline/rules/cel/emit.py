"""A checked tree → Python source → a function.

The function takes the variables and a budget. Errors of one side of && and || are forgiven when the other side decides,
as CEL demands. Every round of a comprehension and every library call spends from the budget, before it is made
(charges.py)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from gangline.rules.cel.charges import charge, first
from gangline.rules.cel.functions import access, kubernetes, standard
from gangline.rules.cel.kinds import CelType, field_of
from gangline.rules.cel.runtime import RUNTIME
from gangline.rules.cel.tree import LEVELS, Call, Const, Expr, Ident, ListLit, Macro, MapLit, Select, chain
from gangline.rules.cel.values import CelError, TypeOf, UInt, duration, timestamp
from gangline.rules.values.schema_node import MAP, SET, SchemaNode

FUNCTIONS: dict[str, Callable[..., Any]] = {**standard.FUNCTIONS, **kubernetes.FUNCTIONS, **access.FUNCTIONS}
_CHEAP = frozenset(("_-_", "_*_", "_/_", "_%_", "-_", ".hasValue", ".value"))
_CHEAP_NUMBERS = frozenset(("_<_", "_<=_", "_>_", "_>=_", "_+_", "_[_]", "_[?_]"))
"""Cheap as well, where they cannot be about texts or lists."""
_NUMBERS = frozenset(("int", "uint", "double", "bool", "timestamp", "duration"))
_NESTED = 12
"""Operators of one level that are written inside each other; more are written side by side."""


def build(tree: Expr, names: list[str]) -> Callable[..., Any]:
    """A function of the named variables and a budget."""
    source = _Emitter(names)
    body = source.code(tree)
    params = ", ".join(f"v_{name}" for name in names)
    code = f"lambda {params + ', ' if params else ''}_b: {body}"
    function: Callable[..., Any] = eval(compile(code, "<cel>", "eval"), source.globals)
    return function


class _Emitter:
    def __init__(self, names: list[str]) -> None:
        self.globals: dict[str, Any] = {"__builtins__": {}, **RUNTIME}
        self.count = 0

    def constant(self, value: Any) -> str:
        self.count += 1
        name = f"k{self.count}"
        self.globals[name] = value
        return name

    def code(self, node: Expr) -> str:
        return _CODES[type(node)](self, node)

    def _const(self, node: Const) -> str:
        if node.form in ("bool", "null", "int"):
            return repr(node.value)
        return self.constant(UInt(node.value) if node.form == "uint" else node.value)

    def _ident(self, node: Ident) -> str:
        if node.kind is not None and node.kind.name == "type":
            return self.constant(TypeOf(node.name))
        return f"v_{node.name}"

    def _select(self, node: Select) -> str:
        operand, kind = self.code(node.operand), node.operand.kind
        inner = kind.args[0] if kind.name == "optional_type" else kind
        field = field_of(inner, node.field) if inner.name == "object" else None
        name = self.constant(field[0] if field else node.field)
        if node.test:
            return f"_has({operand}, {name})"
        convert = self._converted(field[1]) if field else "None"
        if node.optional or kind.name == "optional_type":
            return f"_opt_select({operand}, {name}, {convert})"
        text = f"_select({operand}, {name})"
        return text if convert == "None" else f"{convert}({text})"

    def _converted(self, kind: CelType) -> str:
        """How the JSON value of a field becomes a value of its kind; what may be long is paid for each time."""
        conversion = _CONVERSIONS.get(kind.name)
        if conversion is None:
            return "None"
        name = self.constant(conversion)
        return name if conversion is not _bytes else f"(lambda text: _call(_b, {name}, {self.constant(first)}, text))"

    def _listlit(self, node: ListLit) -> str:
        if any(node.optional):
            flags = self.constant(node.optional)
            return f"_list_opt([{', '.join(map(self.code, node.items))}], {flags})"
        return f"[{', '.join(map(self.code, node.items))}]"

    def _maplit(self, node: MapLit) -> str:
        entries = ", ".join(
            f"({self.code(key)}, {self.code(value)}, {optional})" for key, value, optional in node.entries
        )
        return f"_map_lit([{entries}])"

    def _call(self, node: Call) -> str:
        name = node.name if node.target is None else f".{node.name}"
        args = [*([node.target] if node.target is not None else []), *node.args]
        form = _FORMS.get(name)
        if form is not None:
            return form(self, node, args)
        if LEVELS.get(name, 0) > LEVELS["_==_"] and len(chain(node)[1]) > _NESTED:
            return self._long(node)
        codes = [self.code(arg) for arg in args]
        function = self.constant(FUNCTIONS[name])
        if name in _CHEAP or (name in _CHEAP_NUMBERS and any(_is_number(arg) for arg in args)):
            return f"{function}({', '.join(codes)})"
        return f"_call(_b, {function}, {self.constant(charge(name))}, {', '.join(codes)})" if codes else f"{function}()"

    def _and(self, node: Call, args: list[Expr]) -> str:
        return f"_and({self._sides(node)})"

    def _or(self, node: Call, args: list[Expr]) -> str:
        return f"_or({self._sides(node)})"

    def _sides(self, node: Call) -> str:
        """The operands of a chain of && or ||, none of which is worked out before it is needed."""
        first, calls = chain(node)
        return ", ".join(f"lambda: {self.code(side)}" for side in (first, *(call.args[1] for call in calls)))

    def _equals(self, node: Call, args: list[Expr]) -> str:
        return self._equality(args[0], args[1])

    def _differs(self, node: Call, args: list[Expr]) -> str:
        return f"(not {self._equality(args[0], args[1])})"

    def _choice(self, node: Call, args: list[Expr]) -> str:
        test, yes, no = (self.code(arg) for arg in args)
        return f"(({yes}) if _bool({test}) else ({no}))"

    def _negation(self, node: Call, args: list[Expr]) -> str:
        return f"(not _bool({self.code(args[0])}))"

    def _opt_or(self, node: Call, args: list[Expr]) -> str:
        return f"_opt_or({self.code(args[0])}, lambda: {self.code(args[1])})"

    def _opt_value(self, node: Call, args: list[Expr]) -> str:
        return f"_opt_value({self.code(args[0])}, lambda: {self.code(args[1])})"

    def _long(self, node: Call) -> str:
        """Arithmetic of many operands."""
        first, calls = chain(node)
        steps = []
        for call in calls:
            function, cost = self.constant(FUNCTIONS[call.name]), self.constant(charge(call.name))
            steps.append(f"({function}, {cost}, {self.code(call.args[1])})")
        return f"_fold(_b, {self.code(first)}, [{', '.join(steps)}])"

    def _equality(self, left: Expr, right: Expr) -> str:
        node = _ordered_node(left.kind) or _ordered_node(right.kind)
        if node is not None:
            return f"_same(_b, {self.constant(node)}, {self.code(left)}, {self.code(right)})"
        return f"_equal(_b, {self.code(left)}, {self.code(right)})"

    def _macro(self, node: Macro) -> str:
        target = self.code(node.target)
        names = ", ".join(f"v_{name}" for name in node.variables)
        bodies = [f"lambda {names}: {self.code(body)}" for body in node.bodies]
        if node.name in ("optMap", "optFlatMap"):
            return f"_{node.name}({target}, {bodies[0]})"
        rows = "_pairs" if len(node.variables) == 2 else "_items"
        return f"_m_{node.name}(_b, {rows}({target}), {', '.join(bodies)})"


_CODES: dict[type[Expr], Callable[[_Emitter, Any], str]] = {
    Const: _Emitter._const,
    Ident: _Emitter._ident,
    Select: _Emitter._select,
    ListLit: _Emitter._listlit,
    MapLit: _Emitter._maplit,
    Call: _Emitter._call,
    Macro: _Emitter._macro,
}
_FORMS: dict[str, Callable[[_Emitter, Call, list[Expr]], str]] = {
    "_&&_": _Emitter._and,
    "_||_": _Emitter._or,
    "_==_": _Emitter._equals,
    "_!=_": _Emitter._differs,
    "_?_:_": _Emitter._choice,
    "!_": _Emitter._negation,
    ".or": _Emitter._opt_or,
    ".orValue": _Emitter._opt_value,
}
"""Calls that are no calls of a function."""


def _is_number(node: Expr) -> bool:
    return node.kind is not None and node.kind.name in _NUMBERS


def _double(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        raise CelError("invalid base64") from None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "double": _double,
    "timestamp": timestamp,
    "duration": duration,
    "bytes": _bytes,
}


def _ordered_node(kind: CelType) -> SchemaNode | None:
    """The schema of a value in which some list's order does not count."""
    if kind is None:
        return None
    node: Any = kind.node
    return node if node is not None and _unordered(node) else None


def _unordered(node: SchemaNode, depth: int = 0) -> bool:
    if depth > 12:
        return False
    if node.shape == "list":
        return node.list_type in (SET, MAP) or (node.items is not None and _unordered(node.items, depth + 1))
    children = [*node.fields.values(), *([node.values] if node.values else [])]
    return any(_unordered(child, depth + 1) for child in children if not child.type_name)
