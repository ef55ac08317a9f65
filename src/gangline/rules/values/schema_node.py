"""One schema form for every kind: what a custom resource's OpenAPI schema and a built-in kind's table are both compiled
into.

A `SchemaNode` describes one place of an object. Walkers drive by it: admission (admit.py), validation (validate.py),
server-side apply, strategic merge, OpenAPI output. Nodes are built once, then only read; a type that contains itself
shares its `fields` dict."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gangline.api import notation
from gangline.api.notation import MISSING, Field, Type

GRANULAR, ATOMIC, SET, MAP = "granular", "atomic", "set", "map"


@dataclass(slots=True, eq=False)
class SchemaNode:
    """`shape`: struct (named fields), map, list, scalar, intstr, either, any.

    `scalar` is string, integer, number, boolean; `form` its finer meaning (int32, time, quantity, bytes…).
    """

    shape: str
    scalar: str = ""
    form: str = ""
    type_name: str = ""
    fields: dict[str, SchemaNode] = field(default_factory=dict)
    values: SchemaNode | None = None
    items: SchemaNode | None = None
    atomic: bool = False
    list_type: str = ATOMIC
    keys: tuple[str, ...] = ()
    keep_unknown: bool = False
    embedded: bool = False
    typed: bool = False
    nullable: bool = False
    default: Any = MISSING
    required: tuple[str, ...] = ()
    merge: bool = False
    merge_key: str = ""
    retain_keys: bool = False
    pointer: bool = False
    always: bool = False
    omit_zero: bool = False
    checks: Mapping[str, Any] = field(default_factory=dict)
    """The value checks of an OpenAPI schema, as written."""
    made: dict[str, Any] = field(default_factory=dict)
    """What others compiled from this node, under their own words: it goes when the node goes."""

    def child(self, name: str) -> SchemaNode | None:
        """The node of one key: a declared field, else what the values of the map are."""
        return self.fields.get(name) or self.values


ANY = SchemaNode("any", keep_unknown=True)
_SCALAR = {
    "str": "string",
    "int32": "integer",
    "int64": "integer",
    "float": "number",
    "bool": "boolean",
    "bytes": "string",
    "time": "string",
    "microtime": "string",
    "quantity": "string",
}
_structs: dict[tuple[str, str], SchemaNode] = {}


def builtin_node(table: str, name: str) -> SchemaNode:
    """The node of a type of `api/tables`; one per type."""
    known = _structs.get((table, name))
    if known is not None:
        return known
    struct = notation.struct(table, name)
    node = SchemaNode("struct", type_name=f"{table}.{name}", atomic=struct.atomic, typed=struct.typed)
    _structs[table, name] = node
    if struct.typed:
        node.fields["apiVersion"] = node.fields["kind"] = SchemaNode("scalar", "string", "str")
    if struct.meta:
        node.fields["metadata"] = builtin_node("meta", "ObjectMeta")
    for item in struct.fields:
        node.fields[item.name] = _field_node(item)
    node.required = tuple(item.name for item in struct.fields if item.required)
    return node


def _field_node(item: Field) -> SchemaNode:
    node = copy.copy(_type_node(item.type))
    node.made = {}
    node.pointer, node.always, node.omit_zero = item.pointer, item.always, item.omit_zero
    node.merge, node.merge_key, node.retain_keys = item.merge, item.merge_key, item.retain_keys
    node.default = item.default
    node.atomic = node.atomic or item.atomic
    if node.shape == "list":
        node.list_type, node.keys = item.list_type or ATOMIC, item.keys
    return node


def _type_node(kind: Type) -> SchemaNode:
    if kind.form == "struct":
        return builtin_node(kind.table, kind.name)
    if kind.form == "scalar":
        return _scalar_node(kind.name)
    assert kind.inner is not None
    inner = _type_node(kind.inner)
    if kind.form == "either":
        either = copy.copy(inner)
        either.made = {}
        either.shape = "either"
        return either
    if kind.form == "list":
        return SchemaNode("list", items=inner)
    return SchemaNode("map", values=inner)


def _scalar_node(name: str) -> SchemaNode:
    if name == "intstr":
        return SchemaNode("intstr", form=name)
    if name in ("raw", "json"):
        return SchemaNode("any", form=name, keep_unknown=True)
    return SchemaNode("scalar", _SCALAR[name], name)
