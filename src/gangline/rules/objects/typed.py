"""An object read as its types say and written back as a program with those types would write it.

Wrong types are named with their path; zero values, empty lists and absent structs come out as the shape tables of
`api/tables` state it, quantities and durations in their canonical text. A webhook that defaults must not remove what a
user wrote, so it keeps values that are given but empty; an object made from another has them no more. Nothing here
knows what a field means."""

from __future__ import annotations

from typing import Any

from gangline.api.notation import Field, Struct, Type, struct
from gangline.api.resources import QuantityError, canonical
from gangline.errors import Problem
from gangline.rules.values import times

_ZERO: dict[str, Any] = {
    "str": "",
    "int32": 0,
    "int64": 0,
    "int": 0,
    "float": 0,
    "bool": False,
    "quantity": "0",
    "intstr": 0,
}
_LIMITS = {"int32": 2**31, "int64": 2**63, "int": 2**63}
OWN_TABLE = "grove"
"""In this table a struct or number that is not marked may be absent without being zero."""
POINTERS = ("Pack",)
"""Types whose texts, too, are kept when they are empty."""


class TypedReading:
    """One pass over an object; collects what is of a wrong type."""

    def __init__(self, keep_empty: bool = False) -> None:
        self.keep_empty = keep_empty
        self.problems: list[Problem] = []

    def read(self, type: Type, value: Any, path: str) -> Any:
        match type.form:
            case "struct":
                return self._struct(struct(type.table, type.name), value, path)
            case "list" if type.inner is not None:
                return self._list(type.inner, value, path)
            case "map" if type.inner is not None:
                return self._map(type.inner, value, path)
            case "scalar":
                return self._scalar(type.name, value, path)
        return value

    def _wrong(self, path: str, value: Any, wanted: str) -> None:
        self.problems.append(Problem(path, f"cannot read {_kind(value)} as {wanted}", "FieldValueTypeInvalid", value))

    def _struct(self, shape: Struct, value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            self._wrong(path, value, "an object")
            return {}
        values: dict[str, Any] = {}
        for field in shape.fields:
            given = value.get(field.name)
            where = f"{path}.{field.name}" if path else field.name
            if given is None:
                values.update(self._absent(shape, field))
                continue
            item = self.read(field.type, given, where)
            if self.keep_empty or not _left_out(shape, field, item):
                values[field.name] = item
        return values

    def _absent(self, shape: Struct, field: Field) -> dict[str, Any]:
        """What is written for a field that was not given: mostly nothing."""
        optional = field.pointer or field.omit_zero or (shape.table == OWN_TABLE and not field.always)
        if field.type.form == "struct" and not optional:
            return {field.name: self.read(field.type, {}, "")}
        if field.type.name == "quantity" and not optional:
            return {field.name: _ZERO["quantity"]}
        if not field.always:
            return {}
        plain = not field.pointer and field.type.form == "scalar"
        return {field.name: _ZERO.get(field.type.name) if plain else None}

    def _list(self, inner: Type, value: Any, path: str) -> Any:
        if not isinstance(value, list):
            self._wrong(path, value, "a list")
            return []
        zero = {} if inner.form == "struct" else _ZERO.get(inner.name)
        return [
            self.read(inner, zero if item is None else item, f"{path}[{index}]") for index, item in enumerate(value)
        ]

    def _map(self, inner: Type, value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            self._wrong(path, value, "a map")
            return {}
        return {key: self.read(inner, item, path) for key, item in value.items() if item is not None}

    def _scalar(self, name: str, value: Any, path: str) -> Any:
        if name in _LIMITS:
            return self._integer(name, value, path)
        if name == "quantity":
            return self._quantity(value, path)
        wanted: tuple[type, ...] = {
            "str": (str,),
            "bytes": (str,),
            "time": (str,),
            "microtime": (str,),
            "bool": (bool,),
            "float": (int, float),
            "intstr": (int, str),
        }.get(name, (object,))
        if not isinstance(value, wanted) or (isinstance(value, bool) and name in ("float", "intstr")):
            self._wrong(path, value, name)
        return value

    def _integer(self, name: str, value: Any, path: str) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not -_LIMITS[name] <= value < _LIMITS[name]:
            self._wrong(path, value, name)
            return 0
        return value

    def _quantity(self, value: Any, path: str) -> Any:
        try:
            return canonical(value)
        except (QuantityError, TypeError, ValueError):
            self._wrong(path, value, "a quantity")
            return value


def plain(table: str, name: str, value: Any) -> Any:
    """A value of a type without what is given but empty."""
    return TypedReading().read(Type("struct", name, table), value, "")


def _left_out(shape: Struct, field: Field, value: Any) -> bool:
    """Whether a value that was given is left out again because it is empty."""
    if field.always or field.type.form in ("struct", "either"):
        return field.omit_zero and not value
    if field.type.form in ("list", "map"):
        return not value
    if shape.name in POINTERS:
        return False
    plain = field.type.name in ("str", "bool") or (field.type.name in _LIMITS and shape.table != OWN_TABLE)
    return plain and not field.pointer and not value


def _kind(value: Any) -> str:
    names: dict[type, str] = {
        bool: "a boolean",
        dict: "an object",
        list: "a list",
        str: f"text {value!r}",
        int: f"number {value}",
        float: f"number {value}",
    }
    return names.get(type(value), "null")


def go_duration(text: str) -> str | None:
    """A duration in Go's own words (`1h30m0s`), or None for text that is none."""
    nanos = times.nanoseconds(text)
    return None if nanos is None else times.canonical(nanos)
