"""The OpenAPI v2 document as protobuf, in which client-go asks for it (`OpenAPISchema`).

The messages are those of gnostic's OpenAPIv2.proto, as far as our documents have them: definitions with all their
fields, paths with their operations. Pure."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

from gangline.cluster.server.wire.protobuf.writing import tagged, varint

Obj = dict[str, Any]
Writer = Callable[[int, Any], bytes]
"""A value under the number of its field."""
FORM = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ASKED = (FORM, FORM.replace("v2.v1", "v2@v1"))
"""The names that clients have for this form."""


def document_v2_protobuf(document: Obj) -> bytes:
    return b"".join(
        [
            _text(1, document["swagger"]),
            tagged(2, _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])),
            tagged(8, b"".join(_named(2, path, _path_item(item)) for path, item in document["paths"].items())),
            tagged(9, b"".join(_named(1, name, _schema(item)) for name, item in document["definitions"].items())),
            *(tagged(12, b"".join(_named(1, name, b"") for name in item)) for item in document["security"]),
            tagged(13, b"".join(map(_security, document["securityDefinitions"].items()))),
        ]
    )


def _text(number: int, text: str) -> bytes:
    return tagged(number, text.encode())


def _texts(number: int, texts: list[str]) -> bytes:
    return b"".join(_text(number, text) for text in texts)


def _whole(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(int(value))


def _double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def _any(number: int, value: Any) -> bytes:
    """Any value, as YAML."""
    return tagged(number, _text(2, json.dumps(value) + "\n"))


def _named(number: int, name: str, value: bytes) -> bytes:
    return tagged(number, _text(1, name) + tagged(2, value))


def _schema(schema: Obj) -> bytes:
    parts = [_SCHEMA[name](value) for name, value in schema.items() if name in _SCHEMA]
    return b"".join([*parts, _extensions(31, schema)])


def _extensions(number: int, schema: Obj) -> bytes:
    """What Kubernetes adds to OpenAPI."""
    own = [(name, value) for name, value in schema.items() if name.startswith("x-")]
    return b"".join(tagged(number, _text(1, name) + _any(2, value)) for name, value in own)


def _types(kind: str | list[str]) -> bytes:
    return tagged(22, _texts(1, [kind] if isinstance(kind, str) else kind))


def _additional(schema: Obj | bool) -> bytes:
    return tagged(21, _whole(2, schema) if isinstance(schema, bool) else tagged(1, _schema(schema)))


def _field(number: int, write: Writer) -> Callable[[Any], bytes]:
    return lambda value: write(number, value)


_SCHEMA: Mapping[str, Callable[[Any], bytes]] = {
    "$ref": _field(1, _text),
    "format": _field(2, _text),
    "title": _field(3, _text),
    "description": _field(4, _text),
    "default": _field(5, _any),
    "multipleOf": _field(6, _double),
    "maximum": _field(7, _double),
    "exclusiveMaximum": _field(8, _whole),
    "minimum": _field(9, _double),
    "exclusiveMinimum": _field(10, _whole),
    "maxLength": _field(11, _whole),
    "minLength": _field(12, _whole),
    "pattern": _field(13, _text),
    "maxItems": _field(14, _whole),
    "minItems": _field(15, _whole),
    "uniqueItems": _field(16, _whole),
    "maxProperties": _field(17, _whole),
    "minProperties": _field(18, _whole),
    "required": _field(19, _texts),
    "enum": lambda values: b"".join(_any(20, value) for value in values),
    "additionalProperties": _additional,
    "type": _types,
    "items": lambda items: tagged(23, tagged(1, _schema(items))) if isinstance(items, dict) else b"",
    "allOf": lambda schemas: b"".join(tagged(24, _schema(schema)) for schema in schemas),
    "properties": lambda fields: tagged(25, b"".join(_named(1, name, _schema(item)) for name, item in fields.items())),
}
_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "options": 6, "head": 7, "patch": 8}


def _path_item(item: Obj) -> bytes:
    return b"".join(tagged(_METHODS[method], _operation(item[method])) for method in item)


def _operation(operation: Obj) -> bytes:
    answers = (
        _named(1, code, tagged(1, _text(1, answer["description"]))) for code, answer in operation["responses"].items()
    )
    return b"".join(
        [
            _text(3, operation.get("description", "")),
            _text(5, operation["operationId"]),
            *(_query_parameter(item) for item in operation.get("parameters", ())),
            tagged(9, b"".join(answers)),
            _whole(11, operation.get("deprecated", False)),
            _extensions(13, operation),
        ]
    )


def _query_parameter(item: Obj) -> bytes:
    parameter = _text(2, item["in"]) + _text(4, item["name"]) + _text(6, item["type"]) + _whole(20, item["uniqueItems"])
    return tagged(8, tagged(1, tagged(2, tagged(3, parameter))))


def _security(named: tuple[str, Obj]) -> bytes:
    name, item = named
    fields = b"".join(_text(at, item[key]) for at, key in enumerate(("type", "name", "in", "description"), 1))
    return _named(1, name, tagged(2, fields))
