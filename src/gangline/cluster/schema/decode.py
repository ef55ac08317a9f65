"""Built-in kinds: read an object the way the real server's typed decoder does, and write it back as its encoder would.

A decoder per node, compiled once to a closure: unknown fields are dropped and counted, nulls are absent, zero values
are left out or written as the table says, quantities and times get their canonical text. The fast pass knows no paths;
only when it met something unknown or of a wrong type does `unknown_fields` / `located` walk again to say where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gangline.errors import GanglineError
from gangline.rules.values import canonical as forms
from gangline.rules.values.schema_node import SchemaNode

Decoder = Callable[[Any, list[str]], Any]
"""value, list that collects the names of unknown fields → clean value"""


class WrongType(GanglineError):
    """A value that cannot be read as what the field is; once `located`, the text says which field."""

    def __init__(self, given: str, wanted: str, text: str = "") -> None:
        self.given, self.wanted = given, wanted
        super().__init__(text or f"cannot read {given} as {wanted}")


_decoders: dict[int, Decoder] = {}
_KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}
_PLAIN: dict[str, type] = {"string": str, "boolean": bool}
_MOST_PLANS = 1024
_LIMITS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_FORMS: dict[str, Callable[[str], str]] = {
    "quantity": forms.quantity,
    "time": forms.time,
    "microtime": forms.micro_time,
    "bytes": forms.bytes_,
}


def decoder(node: SchemaNode) -> Decoder:
    """The decoder of a node; compiled at first use."""
    known = _decoders.get(id(node))
    if known is None:
        holder: list[Decoder] = []
        _decoders[id(node)] = lambda value, unknown: holder[0](value, unknown)
        known = _COMPILERS[node.shape](node)
        holder.append(known)
        _decoders[id(node)] = known
        _kept.append(node)
    return known


_kept: list[SchemaNode] = []
"""Nodes whose ids are keys of `_decoders`: they must not be freed."""


def _struct(node: SchemaNode) -> Decoder:
    fields = [
        _Field(name, _as_given(child), decoder(child), _absent(child), _drops_zero(child))
        for name, child in node.fields.items()
    ]
    plans: dict[tuple[str, ...], _Plan] = {}
    """Objects that name the same fields are read the same way: most objects of a kind name few of the many there
    are."""

    def decode(value: Any, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise WrongType(_kind_of(value), "an object")
        given = tuple(value)
        plan = plans.get(given)
        if plan is None:
            plan = _remember(
                plans,
                given,
                (
                    [field for field in fields if field.name in value or field.absent is not None],
                    [name for name in given if name not in node.fields],
                ),
            )
        out: dict[str, Any] = {}
        for name, as_given, read, absent, drops_zero in plan[0]:
            item = value.get(name)
            if item is None:
                if absent is not None:
                    absent(out, name)
                continue
            if type(item) is not as_given:
                item = read(item, unknown)
            if item:
                out[name] = item
            elif not drops_zero:
                out[name] = None if type(item) is list else item
        unknown += plan[1]
        return out

    return decode


class _Field(NamedTuple):
    name: str
    as_given: type | None
    """Values of exactly this type are kept as they are."""
    read: Decoder
    absent: Callable[[dict[str, Any], str], None] | None
    drops_zero: bool


_Plan = tuple[list[_Field], list[str]]
"""The fields to read or to fill in, and the names of unknown ones."""


def _remember(plans: dict[tuple[str, ...], _Plan], given: tuple[str, ...], plan: _Plan) -> _Plan:
    if len(plans) >= _MOST_PLANS:
        plans.clear()
    plans[given] = plan
    return plan


def _as_given(node: SchemaNode) -> type | None:
    return _PLAIN.get(node.scalar) if node.shape == "scalar" and node.form not in _FORMS else None


def _absent(node: SchemaNode) -> Callable[[dict[str, Any], str], None] | None:
    """What is written for a field that was not given: mostly nothing."""
    if node.shape == "struct" and not node.pointer and not node.omit_zero:
        read = decoder(node)
        return lambda out, name: out.__setitem__(name, read({}, []))
    if node.form in ("time", "microtime") and not node.pointer and not node.omit_zero:
        return lambda out, name: out.__setitem__(name, None)
    if not node.always and (node.pointer or node.form not in ("quantity", "intstr")):
        return None
    zero = _ZERO.get(node.form) if not node.pointer else None
    return lambda out, name: out.__setitem__(name, zero)


_ZERO: dict[str, Any] = {
    "str": "",
    "int32": 0,
    "int64": 0,
    "float": 0,
    "bool": False,
    "quantity": "0",
    "intstr": 0,
    "bytes": "",
}


def _drops_zero(node: SchemaNode) -> bool:
    """Whether a given value that is empty is left out again."""
    if node.omit_zero and node.shape == "struct":
        return True
    if node.always or node.shape in ("struct", "either"):
        return False
    if node.shape in ("list", "map"):
        return True
    return not node.pointer and node.form not in ("time", "quantity", "raw", "json", "intstr", "microtime")


def _list(node: SchemaNode) -> Decoder:
    assert node.items is not None
    read = decoder(node.items)
    of_null = _of_null(node.items, read, _ZERO.get(node.items.form))

    def decode(value: Any, unknown: list[str]) -> Any:
        if type(value) is not list:
            raise WrongType(_kind_of(value), "a list")
        return [read(item, unknown) if item is not None else of_null() for item in value]

    return decode


def _map(node: SchemaNode) -> Decoder:
    assert node.values is not None
    read = decoder(node.values) if node.values.form != "quantity" else _formed("quantity", forms.listed_quantity)
    zero: Any = None if node.values.shape in ("map", "list") else _ZERO.get(node.values.form)
    of_null = _of_null(node.values, read, zero)

    def decode(value: Any, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise WrongType(_kind_of(value), "a map")
        return {name: read(item, unknown) if item is not None else of_null() for name, item in value.items()}

    return decode


def _of_null(node: SchemaNode, read: Decoder, zero: Any) -> Callable[[], Any]:
    """What stands for null inside a list or map: an object of defaults, or the empty value."""
    return (lambda: read({}, [])) if node.shape == "struct" else (lambda: zero)


def _scalar(node: SchemaNode) -> Decoder:
    if node.form in _FORMS:
        return _formed(node.form, _FORMS[node.form])
    kinds = _KINDS[node.scalar]
    if node.scalar == "integer":
        return _integer(node.form)

    def decode(value: Any, unknown: list[str]) -> Any:
        if type(value) not in kinds:
            raise WrongType(_kind_of(value), node.scalar)
        return value

    return decode


def _integer(form: str) -> Decoder:
    least, most = _LIMITS[form]

    def decode(value: Any, unknown: list[str]) -> Any:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not least <= value <= most:
            raise WrongType(_kind_of(value), form)
        return value

    return decode


def _formed(form: str, canonical: Callable[[str], str]) -> Decoder:
    def decode(value: Any, unknown: list[str]) -> Any:
        if form == "quantity" and type(value) in (int, float):
            value = str(value)
        if type(value) is not str:
            if form == "quantity":
                raise forms.BadForm(forms.QUANTITY_RULE)
            raise WrongType(_kind_of(value), form)
        return canonical(value)

    return decode


def _intstr(node: SchemaNode) -> Decoder:
    def decode(value: Any, unknown: list[str]) -> Any:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) not in (int, str):
            raise WrongType(_kind_of(value), "integer or string")
        return value

    return decode


def _either(node: SchemaNode) -> Decoder:
    """What may also be of another type is read by a decoder of its own, which tells of no unknown fields."""
    read = _struct(node)
    return lambda value, unknown: read(value, []) if type(value) is dict else value


def _any(node: SchemaNode) -> Decoder:
    return lambda value, unknown: value


_COMPILERS: dict[str, Callable[[SchemaNode], Decoder]] = {
    "struct": _struct,
    "list": _list,
    "map": _map,
    "scalar": _scalar,
    "intstr": _intstr,
    "either": _either,
    "any": _any,
}


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {dict: "object", list: "array", str: "string", int: "integer", float: "number"}
    return names.get(type(value), "null")


def unknown_fields(node: SchemaNode, value: Any, path: str = "") -> list[str]:
    """The paths of fields the node does not know, in the order they stand."""
    fields: list[str] = []
    if node.shape == "struct" and isinstance(value, dict):
        for name, item in value.items():
            child = node.fields.get(name)
            where = f"{path}.{name}" if path else name
            if child is None:
                fields.append(where)
            else:
                fields.extend(unknown_fields(child, item, where))
    elif node.shape == "map" and isinstance(value, dict) and node.values is not None:
        for name, item in value.items():
            fields.extend(unknown_fields(node.values, item, f"{path}.{name}"))
    elif node.shape == "list" and isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            fields.extend(unknown_fields(node.items, item, f"{path}[{index}]"))
    return fields


def first_bad_form(node: SchemaNode, value: Any) -> forms.BadForm | None:
    """The first text that cannot be read, whatever else is wrong."""
    for _, child, item in _children(node, value):
        if item is None:
            continue
        inner = first_bad_form(child, item)
        if inner is not None:
            return inner
        if isinstance(item, dict) and child.shape in ("struct", "map"):
            continue
        try:
            if child.form:
                decoder(child)(item, [])
        except forms.BadForm as error:
            return error
        except WrongType:
            if child.form == "quantity":
                return forms.BadForm(forms.unreadable_quantity(item))
    return None


def located(node: SchemaNode, value: Any, error: WrongType) -> WrongType:
    """The same error with its field: the type that has it, and the way to it."""
    holder, path = node, ""
    while (step := _wrong_child(node, value)) is not None:
        name, node, value = step
        if name:
            path = f"{path}.{name}" if path else name
        if node.shape == "struct" and _wrong_child(node, value) is not None:
            holder = node
    if not path:
        return error
    given = _JSON_KINDS.get(error.given, error.given)
    if given == "number" and node.scalar in ("integer", "number"):
        given = f"number {value}"
    return WrongType(
        error.given,
        error.wanted,
        f"json: cannot unmarshal {given} into Go struct field "
        f"{holder.type_name.rpartition('.')[2]}.{path} of type {_UID if path.endswith('.uid') else _go_type(node)}",
    )


_UID = "types.UID"
_JSON_KINDS = {"integer": "number", "boolean": "bool"}
_GO_TYPES = {
    "str": "string",
    "float": "float64",
    "quantity": "resource.Quantity",
    "time": "v1.Time",
    "microtime": "v1.MicroTime",
    "bytes": "[]uint8",
    "intstr": "intstr.IntOrString",
}


def _go_type(node: SchemaNode) -> str:
    """What the real server's language calls the type of a field, as far as our tables know it."""
    if node.shape == "list" and node.items is not None:
        return f"[]{_go_type(node.items)}"
    if node.shape == "map" and node.values is not None:
        return f"map[string]{_go_type(node.values)}"
    return f"v1.{node.type_name.rpartition('.')[2]}" if node.type_name else _GO_TYPES.get(node.form, node.form)


def _wrong_child(node: SchemaNode, value: Any) -> tuple[str, SchemaNode, Any] | None:
    """The first child that cannot be read: its name (items and values of a map have none), its node, its value."""
    for name, child, item in _children(node, value):
        try:
            if item is not None:
                decoder(child)(item, [])
        except WrongType:
            return name, child, item
        except forms.BadForm:
            continue
    return None


def _children(node: SchemaNode, value: Any) -> Iterator[tuple[str, SchemaNode, Any]]:
    if node.shape in ("struct", "either") and isinstance(value, dict):
        yield from ((name, child, value[name]) for name, child in node.fields.items() if name in value)
    elif node.shape == "map" and isinstance(value, dict) and node.values is not None:
        yield from (("", node.values, item) for item in value.values())
    elif node.shape == "list" and isinstance(value, list) and node.items is not None:
        yield from (("", node.items, item) for item in value)
