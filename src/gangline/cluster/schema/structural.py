"""A custom resource's OpenAPI schema → a Node.

The root gains apiVersion, kind and metadata; embedded resources gain theirs. What the structural rules forbid is
refused elsewhere (definition.py); here every schema compiles to something."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from gangline.api.notation import MISSING
from gangline.rules.values.schema_node import ATOMIC, MAP, SET, SchemaNode, builtin_node

CHECKS = (
    "enum",
    "format",
    "maxLength",
    "minLength",
    "pattern",
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "multipleOf",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxProperties",
    "minProperties",
    "required",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "x-kubernetes-validations",
)
_STRING = SchemaNode("scalar", "string", "str")


def structural_node(schema: Mapping[str, Any], root: bool = True) -> SchemaNode:
    node = _node(schema)
    if root:
        _as_resource(node)
    return node


def _node(schema: Mapping[str, Any]) -> SchemaNode:
    node = _shaped(schema)
    node.nullable = bool(schema.get("nullable"))
    node.keep_unknown = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    node.embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    node.default = copy.deepcopy(schema["default"]) if schema.get("default") is not None else MISSING
    node.checks = {name: schema[name] for name in CHECKS if schema.get(name) is not None}
    node.required = tuple(schema.get("required") or ())
    if node.embedded:
        _as_resource(node)
    return node


def _shaped(schema: Mapping[str, Any]) -> SchemaNode:
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        return SchemaNode("intstr")
    if kind == "object":
        return _object(schema)
    if kind == "array":
        return _array(schema)
    if kind in ("string", "integer", "number", "boolean"):
        return SchemaNode("scalar", kind, schema.get("format") or "")
    return _untyped(schema)


def _untyped(schema: Mapping[str, Any]) -> SchemaNode:
    """No type: anything, though declared properties still count when it is an object."""
    node = SchemaNode("any", keep_unknown=True)
    node.fields = {name: _node(child) for name, child in (schema.get("properties") or {}).items()}
    return node


def _object(schema: Mapping[str, Any]) -> SchemaNode:
    node = SchemaNode("struct", atomic=schema.get("x-kubernetes-map-type") == ATOMIC)
    node.fields = {name: _node(child) for name, child in (schema.get("properties") or {}).items()}
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        node.shape, node.values = "map", _node(extra)
    elif extra is True:
        node.shape, node.values = "map", SchemaNode("any", keep_unknown=True)
    return node


def _array(schema: Mapping[str, Any]) -> SchemaNode:
    items = schema.get("items")
    kind = schema.get("x-kubernetes-list-type") or ATOMIC
    return SchemaNode(
        "list",
        items=_node(items) if isinstance(items, dict) else SchemaNode("any", keep_unknown=True),
        list_type=kind if kind in (SET, MAP) else ATOMIC,
        keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
    )


def _as_resource(node: SchemaNode) -> None:
    node.typed = True
    node.fields = {
        **node.fields,
        "apiVersion": _STRING,
        "kind": _STRING,
        "metadata": builtin_node("meta", "ObjectMeta"),
    }
