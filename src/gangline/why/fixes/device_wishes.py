"""What a CEL selector asks of a device, read from the tree of its expression: attributes and capacities with which it
would hold.

Asked by devices.py for the devices of a new node. Evaluates nothing and promises nothing: whether such a device will do
is tried with the whole change. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gangline.api import resources
from gangline.api.meta import Raw
from gangline.rules.cel.syntax import parse
from gangline.rules.cel.tree import Call, CelSyntaxError, Const, Expr, ListLit, Select

OPPOSITE = {"_==_": "_!=_", "_<_": "_>=_", "_>_": "_<=_"}
OPPOSITE |= {right: left for left, right in OPPOSITE.items()}
TURNED = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_"}
ABOVE, BELOW = ("_>_", "_!=_"), ("_<_",)
"""Comparisons that the value itself does not meet: one that is larger, or smaller, does."""
ORDERED = {"isGreaterThan": "_>_", "isLessThan": "_<_"}
TEXTS = ("startsWith", "endsWith", "contains", "matches")
UNWRAPPED = ("orValue", "lowerAscii", "upperAscii", "value", "trim")
TWICE = {"_||_": "_&&_", "_&&_": "_||_"}


class DevicePath(NamedTuple):
    """`device.attributes["example.com"].model` is (attributes, example.com, model)."""

    field: str
    domain: str
    name: str


Wish = tuple[DevicePath, Any]
"""A path, and the value that would do; an attribute as {type: value}, a capacity as {value: quantity}. None: any."""


def as_selected(device: Raw, driver: str, expression: str) -> Raw:
    """The device of this driver with what makes the selector hold, as far as its expression tells."""
    try:
        wishes = list(_wishes(parse(expression), True))
    except (CelSyntaxError, RecursionError):
        return device
    changed = dict(device)
    for path, value in sorted(wishes, key=lambda wish: wish[1] is not None):
        name = path.name if path.domain == driver else f"{path.domain}/{path.name}"
        there = changed.get(path.field) or {}
        if value is not None or name not in there:
            usual: Raw = {"bool": True} if path.field == "attributes" else {"value": "1"}
            changed[path.field] = {**there, name: value or usual}
    return changed


def _wishes(expr: Expr, holds: bool) -> Iterator[Wish]:
    """What makes an expression true (`holds`) or false."""
    if isinstance(expr, Call) and expr.name == "!_":
        yield from _wishes(expr.args[0], not holds)
    elif isinstance(expr, Call) and expr.name in TWICE:
        every = (expr.name if holds else TWICE[expr.name]) == "_&&_"
        for side in expr.args if every else expr.args[:1]:
            yield from _wishes(side, holds)
    elif isinstance(expr, Select) and expr.test:
        path = _path(expr)
        if path is not None and holds:
            yield path, None
    elif isinstance(expr, Call):
        yield from _of_call(expr, holds)
    else:
        path = _path(expr)
        if path is not None:
            yield path, {"bool": holds}


def _of_call(call: Call, holds: bool) -> Iterator[Wish]:
    if call.name == "@in":
        yield from _of_membership(call, holds)
    elif call.name in OPPOSITE:
        yield from _of_comparison(call.name if holds else OPPOSITE[call.name], call.args)
    elif call.name in ORDERED and call.target is not None:
        name = ORDERED[call.name] if holds else OPPOSITE[ORDERED[call.name]]
        yield from _measured(name, call.target, call.args[0])
    elif call.name in TEXTS and call.target is not None and holds:
        path, text = _path(call.target), _constant(call.args[0])
        if path is not None and isinstance(text, str):
            yield path, {"string": _plain(text) if call.name == "matches" else text}
    else:
        path = _path(call)
        if path is not None:
            yield path, {"bool": holds}


def _of_membership(call: Call, holds: bool) -> Iterator[Wish]:
    """`path in [a, b]`, and `"name" in device.attributes["domain"]`."""
    member, among = call.args
    path, name, domain = _path(member), _constant(member), _domain(among)
    if domain is not None and isinstance(name, str):
        if holds:
            yield DevicePath(*domain, name), None
    elif path is not None and isinstance(among, ListLit):
        values = [_constant(item) for item in among.items]
        if holds and values:
            yield path, _attribute(values[0])
        elif not holds:
            yield path, _beside(values)


def _of_comparison(name: str, sides: Sequence[Expr]) -> Iterator[Wish]:
    """A path against a constant, on whichever side; and `path.compareTo(x) >= 0`."""
    left, right = sides
    if _constant(left) is not None:
        left, right, name = right, left, TURNED.get(name, name)
    value = _constant(right)
    if isinstance(left, Call) and left.name == "compareTo" and left.target is not None and value == 0:
        yield from _measured(name, left.target, left.args[0])
        return
    path = _path(left)
    if path is None or value is None:
        return
    if name == "_!=_":
        yield path, _beside([value])
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path, {"int": value + _step(name)}
    else:
        yield path, _attribute(value)


def _measured(name: str, target: Expr, against: Expr) -> Iterator[Wish]:
    """A capacity against `quantity("80Gi")`, an attribute against `semver("1.2.3")`."""
    path = _path(target)
    made = against.args[0] if isinstance(against, Call) and against.args else against
    text = _constant(made)
    if path is None or not isinstance(text, str) or not isinstance(against, Call):
        return
    if against.name == "quantity":
        yield path, {"value": _amount(text, name)}
    elif against.name == "semver":
        yield path, {"version": _version(text, name)}


def _step(name: str) -> int:
    """What is added to a value so that it is above, below or beside it."""
    return (name in ABOVE) - (name in BELOW)


def _amount(text: str, name: str) -> str:
    """Twice as much, or half, where the amount itself will not do."""
    try:
        nanos = resources.nanos(text)
    except ValueError:
        return text
    if name in ABOVE or name in BELOW:
        nanos = nanos * 2 if name in ABOVE else nanos // 2
        return resources.binary(nanos) if "i" in text else resources.decimal(nanos)
    return text


def _version(text: str, name: str) -> str:
    first, dot, rest = text.removeprefix("v").partition(".")
    step = _step(name)
    if not step or not first.isdigit():
        return text
    return f"{max(int(first) + step, 0)}{dot}{rest}"


def _attribute(value: Any) -> Raw:
    kinds_of_values = {bool: "bool", int: "int"}
    return {kinds_of_values.get(type(value), "string"): value}


def _beside(values: Sequence[Any]) -> Raw:
    """A value that is none of these."""
    first = values[0] if values else ""
    if isinstance(first, bool):
        return {"bool": not first}
    if isinstance(first, int):
        return {"int": max(value for value in values if isinstance(value, int)) + 1}
    return {"string": f"not-{first}"}


def _plain(pattern: str) -> str:
    """A text that a simple pattern matches; of others, the pattern."""
    return pattern.removeprefix("^").removesuffix("$").replace(".*", "").replace("\\", "")


def _constant(expr: Expr) -> Any:
    """None: it is no constant."""
    return expr.value if isinstance(expr, Const) else None


def _path(expr: Expr) -> DevicePath | None:
    """The attribute or capacity that an expression names."""
    if isinstance(expr, Select):
        domain = _domain(expr.operand)
        return DevicePath(*domain, expr.field) if domain is not None else None
    if isinstance(expr, Call) and expr.name in ("_[_]", "_[?_]"):
        domain, name = _domain(expr.args[0]), _constant(expr.args[1])
        return DevicePath(*domain, name) if domain is not None and isinstance(name, str) else None
    return _path(expr.target) if isinstance(expr, Call) and expr.name in UNWRAPPED and expr.target is not None else None


def _domain(expr: Expr) -> tuple[str, str] | None:
    """`device.attributes["example.com"]` is (attributes, example.com)."""
    if not isinstance(expr, Call) or expr.name not in ("_[_]", "_[?_]"):
        return None
    of, domain = expr.args[0], _constant(expr.args[1])
    known = isinstance(of, Select) and of.field in ("attributes", "capacity")
    return (of.field, domain) if known and isinstance(of, Select) and isinstance(domain, str) else None
