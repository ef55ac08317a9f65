"""A checked tree → Python source → a function.

The function takes the variables and a budget. Errors of one side of && and || are forgiven when the other side decides, as CEL demands.
Every round of a comprehension and every library call spends from the budget.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from gangline.schema.cel import access, kubernetes, standard
from gangline.schema.cel.kinds import Kind, field_of
from gangline.schema.cel.syntax import Call, Const, Expr, Ident, ListLit, Macro, MapLit, Select
from gangline.schema.cel.values import NONE, CelError, Optional, OutOfBudget, TypeOf, UInt, duration, equal, no_overload, timestamp
from gangline.schema.node import MAP, SET, Node
from gangline.schema.problems import compact

FUNCTIONS: dict[str, Callable[..., Any]] = {**standard.FUNCTIONS, **kubernetes.FUNCTIONS, **access.FUNCTIONS}
_CHEAP = frozenset(("_<_", "_<=_", "_>_", "_>=_", "_+_", "_-_", "_*_", "_/_", "_%_", "-_", "_[_]", "_[?_]", ".hasValue", ".value"))


class Budget:
    """How many steps are left."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutOfBudget("operation cancelled: actual cost limit exceeded")


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
        self.globals: dict[str, Any] = {"__builtins__": {}, **_RUNTIME}
        self.count = 0

    def constant(self, value: Any) -> str:
        self.count += 1
        name = f"k{self.count}"
        self.globals[name] = value
        return name

    def code(self, node: Expr) -> str:
        text: str = getattr(self, f"_{type(node).__name__.lower()}")(node)
        return text

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
        found = field_of(inner, node.field) if inner.name == "object" else None
        name = self.constant(found[0] if found else node.field)
        if node.test:
            return f"_has({operand}, {name})"
        convert = self.constant(_conversion(found[1])) if found and _conversion(found[1]) else "None"
        if node.optional or kind.name == "optional_type":
            return f"_opt_select({operand}, {name}, {convert})"
        text = f"_select({operand}, {name})"
        return text if convert == "None" else f"{convert}({text})"

    def _listlit(self, node: ListLit) -> str:
        if any(node.optional):
            flags = self.constant(node.optional)
            return f"_list_opt([{', '.join(map(self.code, node.items))}], {flags})"
        return f"[{', '.join(map(self.code, node.items))}]"

    def _maplit(self, node: MapLit) -> str:
        entries = ", ".join(f"({self.code(key)}, {self.code(value)}, {optional})" for key, value, optional in node.entries)
        return f"_map_lit([{entries}])"

    def _call(self, node: Call) -> str:
        name = node.name if node.target is None else f".{node.name}"
        args = [*([node.target] if node.target is not None else []), *node.args]
        if name in ("_==_", "_!=_"):
            text = self._equality(args[0], args[1])
            return f"(not {text})" if name == "_!=_" else text
        codes = [self.code(arg) for arg in args]
        if name in ("_&&_", "_||_"):
            return f"_{'and' if name == '_&&_' else 'or'}(lambda: {codes[0]}, lambda: {codes[1]})"
        if name == "_?_:_":
            return f"(({codes[1]}) if _bool({codes[0]}) else ({codes[2]}))"
        if name == "!_":
            return f"(not _bool({codes[0]}))"
        if name in (".or", ".orValue"):
            return f"_opt_{'or' if name == '.or' else 'value'}({codes[0]}, lambda: {codes[1]})"
        function = self.constant(FUNCTIONS[name])
        if name in _CHEAP:
            return f"{function}({', '.join(codes)})"
        return f"_call(_b, {function}, {', '.join(codes)})" if codes else f"{function}()"

    def _equality(self, left: Expr, right: Expr) -> str:
        node = _ordered_node(left.kind) or _ordered_node(right.kind)
        if node is not None:
            return f"_same({self.constant(node)}, {self.code(left)}, {self.code(right)})"
        return f"_equal({self.code(left)}, {self.code(right)})"

    def _macro(self, node: Macro) -> str:
        target = self.code(node.target)
        names = ", ".join(f"v_{name}" for name in node.variables)
        bodies = [f"lambda {names}: {self.code(body)}" for body in node.bodies]
        if node.name in ("optMap", "optFlatMap"):
            return f"_{node.name}({target}, {bodies[0]})"
        pairs = f"_pairs(_b, {target})" if len(node.variables) == 2 else f"_items(_b, {target})"
        return f"_m_{node.name}({pairs}, {len(node.variables)}, {', '.join(bodies)})"


def _conversion(kind: Kind) -> Callable[[Any], Any] | None:
    """How the JSON value of a field becomes a value of its kind."""
    return _CONVERSIONS.get(kind.name)


def _double(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        raise CelError("invalid base64") from None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"double": _double, "timestamp": timestamp, "duration": duration, "bytes": _bytes}


def _ordered_node(kind: Kind) -> Node | None:
    """The schema of a value in which some list's order does not count."""
    if kind is None:
        return None
    node: Any = kind.node
    return node if node is not None and _unordered(node) else None


def _unordered(node: Node, depth: int = 0) -> bool:
    if depth > 12:
        return False
    if node.shape == "list":
        return node.list_type in (SET, MAP) or (node.items is not None and _unordered(node.items, depth + 1))
    children = [*node.fields.values(), *([node.values] if node.values else [])]
    return any(_unordered(child, depth + 1) for child in children if not child.type_name)


def same(node: Node | None, left: Any, right: Any) -> bool:
    """Equality that knows which lists are sets."""
    if node is None or type(left) is not type(right):
        return equal(left, right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(node.child(name), item, right[name]) for name, item in left.items())
    if not isinstance(left, list) or node.shape != "list":
        return equal(left, right)
    if len(left) != len(right):
        return False
    if node.list_type == MAP:
        known = {compact([item.get(key) for key in node.keys]): item for item in right}
        return all(same(node.items, item, known.get(compact([item.get(key) for key in node.keys]))) for item in left)
    if node.list_type == SET:
        return sorted(map(compact, left)) == sorted(map(compact, right))
    return all(same(node.items, a, b) for a, b in zip(left, right, strict=True))


def _select(operand: Any, name: str) -> Any:
    if type(operand) is dict:
        try:
            return operand[name]
        except KeyError:
            raise CelError(f"no such key: {name}") from None
    if isinstance(operand, dict):
        raise CelError(f"no such key: {name}")
    if isinstance(operand, Mapping):
        return operand[name]
    raise no_overload(f"select {name}")


def _has(operand: Any, name: str) -> bool:
    if isinstance(operand, Optional):
        return operand.present and _has(operand.content, name)
    if isinstance(operand, dict):
        return name in operand and operand[name] is not None
    raise no_overload("has")


def _opt_select(operand: Any, name: str, convert: Callable[[Any], Any] | None) -> Optional:
    if isinstance(operand, Optional):
        if not operand.present:
            return NONE
        operand = operand.content
    if not isinstance(operand, dict):
        raise no_overload("select")
    if name not in operand:
        return NONE
    return Optional(convert(operand[name]) if convert else operand[name], True)


def _bool(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise no_overload()


def _and(left: Callable[[], Any], right: Callable[[], Any]) -> bool:
    try:
        if not _bool(left()):
            return False
    except OutOfBudget:
        raise
    except CelError:
        if _bool(right()):
            raise
        return False
    return _bool(right())


def _or(left: Callable[[], Any], right: Callable[[], Any]) -> bool:
    try:
        if _bool(left()):
            return True
    except OutOfBudget:
        raise
    except CelError:
        if not _bool(right()):
            raise
        return True
    return _bool(right())


def _opt_or(value: Any, other: Callable[[], Any]) -> Any:
    return value if value.present else other()


def _opt_value(value: Any, other: Callable[[], Any]) -> Any:
    if not isinstance(value, Optional):
        raise no_overload("orValue")
    return value.content if value.present else other()


def _call(budget: Budget, function: Callable[..., Any], *args: Any) -> Any:
    first = args[0] if args else None
    budget.spend(1 + (len(first) // 10 if isinstance(first, str | list | bytes) else 0))
    try:
        return function(*args)
    except (TypeError, AttributeError, IndexError, KeyError):
        raise no_overload() from None
    except (ValueError, OverflowError, ArithmeticError) as error:
        raise CelError(str(error)) from None


def _items(budget: Budget, target: Any) -> list[tuple[Any, ...]]:
    if not isinstance(target, list | dict):
        raise no_overload("comprehension")
    return [(item, budget) for item in target]


def _pairs(budget: Budget, target: Any) -> list[tuple[Any, ...]]:
    if isinstance(target, dict):
        return [(key, value, budget) for key, value in target.items()]
    if isinstance(target, list):
        return [(at, value, budget) for at, value in enumerate(target)]
    raise no_overload("comprehension")


def _all(rows: list[tuple[Any, ...]], count: int, test: Callable[..., Any]) -> bool:
    return _unless(rows, test, True)


def _exists(rows: list[tuple[Any, ...]], count: int, test: Callable[..., Any]) -> bool:
    return _unless(rows, test, False)


def _unless(rows: list[tuple[Any, ...]], test: Callable[..., Any], answer: bool) -> bool:
    """`answer`, unless a row says otherwise: that one decides, whatever failed before it. Else the first failure is raised."""
    failure: CelError | None = None
    for row in rows:
        row[-1].spend(3)
        try:
            if _bool(test(*row[:-1])) is not answer:
                return not answer
        except OutOfBudget:
            raise
        except CelError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return answer


def _kept(rows: list[tuple[Any, ...]], test: Callable[..., Any] | None) -> list[tuple[Any, ...]]:
    out = []
    for row in rows:
        row[-1].spend(3)
        if test is None or _bool(test(*row[:-1])):
            out.append(row[:-1])
    return out


def _split(bodies: tuple[Callable[..., Any], ...]) -> tuple[Callable[..., Any] | None, Callable[..., Any]]:
    return (bodies[0], bodies[1]) if len(bodies) == 2 else (None, bodies[0])


def _exists_one(rows: list[tuple[Any, ...]], count: int, test: Callable[..., Any]) -> bool:
    return len(_kept(rows, test)) == 1


def _filter(rows: list[tuple[Any, ...]], count: int, test: Callable[..., Any]) -> list[Any]:
    return [row[0] for row in _kept(rows, test)]


def _map(rows: list[tuple[Any, ...]], count: int, *bodies: Callable[..., Any]) -> list[Any]:
    test, body = _split(bodies)
    return [body(*row) for row in _kept(rows, test)]


def _transform_map(rows: list[tuple[Any, ...]], count: int, *bodies: Callable[..., Any]) -> dict[Any, Any]:
    test, body = _split(bodies)
    return {row[0]: body(*row) for row in _kept(rows, test)}


def _transform_entry(rows: list[tuple[Any, ...]], count: int, *bodies: Callable[..., Any]) -> dict[Any, Any]:
    test, body = _split(bodies)
    out: dict[Any, Any] = {}
    for row in _kept(rows, test):
        for key, value in body(*row).items():
            if key in out:
                raise CelError(f"insert failed: key {key} already exists")
            out[key] = value
    return out


def _sort_by(rows: list[tuple[Any, ...]], count: int, key: Callable[..., Any]) -> list[Any]:
    keyed = [(key(*row), row[0]) for row in _kept(rows, None)]
    standard.sort([each for each, _ in keyed])
    return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]


def _opt_map(value: Any, body: Callable[..., Any]) -> Any:
    return Optional(body(value.content), True) if value.present else NONE


def _opt_flat_map(value: Any, body: Callable[..., Any]) -> Any:
    return body(value.content) if value.present else NONE


def _list_opt(items: list[Any], flags: list[bool]) -> list[Any]:
    out = []
    for item, optional in zip(items, flags, strict=True):
        if not optional:
            out.append(item)
        elif item.present:
            out.append(item.content)
    return out


def _map_lit(entries: list[tuple[Any, Any, bool]]) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key, value, optional in entries:
        if optional and not value.present:
            continue
        if key in out:
            raise CelError(f"insert failed: key {key} already exists")
        out[key] = value.content if optional else value
    return out


_RUNTIME: dict[str, Any] = {
    "_select": _select, "_has": _has, "_opt_select": _opt_select, "_bool": _bool, "_and": _and, "_or": _or, "_opt_or": _opt_or,
    "_opt_value": _opt_value, "_call": _call, "_items": _items, "_pairs": _pairs, "_equal": equal, "_same": same,
    "_list_opt": _list_opt, "_map_lit": _map_lit, "_optMap": _opt_map, "_optFlatMap": _opt_flat_map,
    "_m_all": _all, "_m_exists": _exists, "_m_exists_one": _exists_one, "_m_existsOne": _exists_one, "_m_filter": _filter, "_m_map": _map,
    "_m_transformList": _map, "_m_transformMap": _transform_map, "_m_transformMapEntry": _transform_entry, "_m_sortBy": _sort_by,
}
