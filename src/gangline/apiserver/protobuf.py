"""The few kinds that kubectl sends as protobuf whatever it is told: reviews, token requests, evictions, and the simplest things it creates.

A body of any other kind in protobuf is not understood (415). Answers are always JSON or YAML. The tables hold field numbers and types: text,
number, bytes, flag, another table (`name`), `[type]` for a list, `{type}` for a map from texts.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

MAGIC = b"k8s\x00"
Obj = dict[str, Any]
Table = dict[int, tuple[str, str]]

_TABLES: dict[str, Table] = {
    "Unknown": {1: ("typeMeta", "TypeMeta"), 2: ("raw", "raw")},
    "TypeMeta": {1: ("apiVersion", "text"), 2: ("kind", "text")},
    "ObjectMeta": {1: ("name", "text"), 2: ("generateName", "text"), 3: ("namespace", "text"), 5: ("uid", "text"),
                   6: ("resourceVersion", "text"), 11: ("labels", "{text}"), 12: ("annotations", "{text}"), 14: ("finalizers", "[text]")},
    "DeleteOptions": {1: ("gracePeriodSeconds", "number"), 2: ("preconditions", "Preconditions"), 3: ("orphanDependents", "flag"),
                      4: ("propagationPolicy", "text"), 5: ("dryRun", "[text]")},
    "Preconditions": {1: ("uid", "text"), 2: ("resourceVersion", "text")},
    "Eviction": {1: ("metadata", "ObjectMeta"), 2: ("deleteOptions", "DeleteOptions")},
    "Binding": {1: ("metadata", "ObjectMeta"), 2: ("target", "ObjectReference")},
    "ObjectReference": {1: ("kind", "text"), 2: ("namespace", "text"), 3: ("name", "text"), 4: ("uid", "text"), 5: ("apiVersion", "text")},
    "ResourceAttributes": {1: ("namespace", "text"), 2: ("verb", "text"), 3: ("group", "text"), 4: ("version", "text"),
                           5: ("resource", "text"), 6: ("subresource", "text"), 7: ("name", "text")},
    "NonResourceAttributes": {1: ("path", "text"), 2: ("verb", "text")},
    "SelfSubjectAccessReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "SelfSubjectAccessReviewSpec")},
    "SelfSubjectAccessReviewSpec": {1: ("resourceAttributes", "ResourceAttributes"), 2: ("nonResourceAttributes", "NonResourceAttributes")},
    "SubjectAccessReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "SubjectAccessReviewSpec")},
    "SubjectAccessReviewSpec": {1: ("resourceAttributes", "ResourceAttributes"), 2: ("nonResourceAttributes", "NonResourceAttributes"),
                                3: ("user", "text"), 4: ("groups", "[text]"), 6: ("uid", "text")},
    "SelfSubjectRulesReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "SelfSubjectRulesReviewSpec")},
    "SelfSubjectRulesReviewSpec": {1: ("namespace", "text")},
    "SelfSubjectReview": {1: ("metadata", "ObjectMeta")},
    "TokenRequest": {1: ("metadata", "ObjectMeta"), 2: ("spec", "TokenRequestSpec")},
    "TokenRequestSpec": {1: ("audiences", "[text]"), 3: ("boundObjectRef", "BoundObjectReference"), 4: ("expirationSeconds", "number")},
    "BoundObjectReference": {1: ("kind", "text"), 2: ("apiVersion", "text"), 3: ("name", "text"), 4: ("uid", "text")},
    "Namespace": {1: ("metadata", "ObjectMeta")},
    "ServiceAccount": {1: ("metadata", "ObjectMeta")},
    "ConfigMap": {1: ("metadata", "ObjectMeta"), 2: ("data", "{text}"), 3: ("binaryData", "{bytes}"), 4: ("immutable", "flag")},
    "Secret": {1: ("metadata", "ObjectMeta"), 2: ("data", "{bytes}"), 3: ("type", "text"), 4: ("stringData", "{text}"),
               5: ("immutable", "flag")},
}
_INNER = {"Unknown", "TypeMeta", "ObjectMeta", "Preconditions", "ObjectReference", "ResourceAttributes", "NonResourceAttributes",
          "BoundObjectReference"}
KINDS = frozenset(name for name in _TABLES if name not in _INNER and not name.endswith("Spec"))


class NotUnderstood(ValueError):
    """Not protobuf as Kubernetes frames it, or of a kind without a table."""


def decode(body: bytes) -> Obj:
    """An object, from its envelope."""
    if not body.startswith(MAGIC):
        raise NotUnderstood("the body does not begin as protobuf does")
    try:
        envelope = _message(body[len(MAGIC):], "Unknown")
        about: Obj = envelope.get("typeMeta") or {}
        kind = about.get("kind", "")
        if kind not in KINDS:
            raise NotUnderstood(f"{kind or 'an object without a kind'} is not understood as protobuf")
        return {**about, **_message(envelope.get("raw") or b"", kind)}
    except (IndexError, UnicodeDecodeError) as error:
        raise NotUnderstood(f"the body is cut off or damaged: {error}") from None


def _message(data: bytes, table_name: str) -> Obj:
    table, found = _TABLES[table_name], dict[str, Any]()
    for number, value in _fields(data):
        if number not in table:
            continue
        name, kind = table[number]
        if kind.startswith("["):
            found.setdefault(name, []).append(_value(value, kind[1:-1]))
        elif kind.startswith("{"):
            entry = dict(_fields(value))
            found.setdefault(name, {})[_value(entry.get(1, b""), "text")] = _value(entry.get(2, b""), kind[1:-1])
        else:
            item = _value(value, kind)
            if item not in ("", {}) or kind not in ("text", "ObjectMeta"):
                found[name] = item
    return found


def _value(value: Any, kind: str) -> Any:
    if kind == "number":
        return value - (1 << 64) if value >= 1 << 63 else value
    if kind == "flag":
        return bool(value)
    if kind == "raw":
        return value
    if kind == "bytes":
        return base64.b64encode(value).decode()
    return value.decode() if kind == "text" else _message(value, kind)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield number, value
        elif wire == 2:
            length, position = _varint(data, position)
            if position + length > len(data):
                raise IndexError("a field is longer than the body")
            yield number, data[position: position + length]
            position += length
        elif wire in (1, 5):
            position += 8 if wire == 1 else 4
        else:
            raise NotUnderstood(f"a field of wire type {wire}")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result, shift = 0, 0
    while True:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
