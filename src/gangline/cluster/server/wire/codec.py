"""Bytes to plain data and back: JSON, YAML and protobuf bodies in, JSON, YAML or protobuf answers out.

Undecodable bodies are refused here, with the code and reason of a kube-apiserver; whether the data makes sense is for
others to say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gangline.api.kept import kept
from gangline.cluster.server.status import bad_request, unsupported_media_type
from gangline.cluster.server.wire import protobuf
from gangline.cluster.server.wire.yaml_answers import yaml_answer
from gangline.rules.values.documents import DocumentUnreadable, read_json, read_yaml

PROTOBUF = "application/vnd.kubernetes.protobuf"
YAML = "application/yaml"
JSON_TYPE = "application/json"
BODY_TYPES = (JSON_TYPE, YAML, PROTOBUF)
_SHOWN = 30
_PARAMETERS = re.compile(r'[^;]*(?:;\s*[^\s;="]+=(?:[^\s;"]+|"(?:[^"\\]|\\.)*")\s*)*;?\s*')
encode = msgspec.json.encode
_decode = msgspec.json.Decoder().decode
YAML_TYPES = (YAML, "application/apply-patch+yaml")


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML body, read: its data and the warnings about duplicate keys, or why it cannot be read."""

    data: Any = None
    doubled: list[str] = field(default_factory=list)
    fault: str = ""


@kept(256)
def media_type(content_type: str) -> str:
    return content_type.split(";", 1)[0].strip().lower()


@kept(256)
def exact_media_type(content_type: str) -> str:
    """The same, where what follows has to be parameters; empty where it is not."""
    return media_type(content_type) if _PARAMETERS.fullmatch(content_type) else ""


def decode_body(
    body: bytes, content_type: str, expected: str, doubled: list[str], document: Document | None = None
) -> Any:
    """The data of a request body. `expected` is the kind named in a refusal; `doubled` receives what is told of YAML
    keys given twice; `document` is the body, if it was read as YAML before."""
    kind = check_body_type(content_type)
    if kind == JSON_TYPE:
        return decode_json(body, expected)
    if kind == YAML:
        return decode_yaml(body, expected, doubled, document)
    return decode_protobuf(body, expected)


def check_body_type(content_type: str) -> str:
    """In which form a body is, JSON unless it says otherwise; raises for one that cannot be read."""
    kind = exact_media_type(content_type) if content_type else JSON_TYPE
    if kind not in BODY_TYPES:
        raise unsupported_media_type(BODY_TYPES)
    return kind


def decode_protobuf(body: bytes, expected: str) -> Any:
    if not body.startswith(protobuf.MAGIC):
        why = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        raise _unrecognised(expected, why, body)
    with suppress(protobuf.NotUnderstood):
        return protobuf.decode(body)
    raise unsupported_media_type(BODY_TYPES)


def decode_json(body: bytes, expected: str) -> Any:
    try:
        return read_json(body)
    except DocumentUnreadable as error:
        raise _unrecognised(expected, f"couldn't get version/kind; json parse error: {error}", body) from None


def decode_yaml(body: bytes, expected: str, doubled: list[str], document: Document | None = None) -> Any:
    read = document or read_document(body)
    if read.fault:
        raise _unrecognised(expected, f"couldn't get version/kind; yaml: {read.fault}", body)
    doubled.extend(read.doubled)
    return read.data


def read_document(body: bytes) -> Document:
    """A YAML body. JSON is YAML too, and is read as what it is."""
    if body.startswith(b"{"):
        with suppress(DocumentUnreadable):
            data = read_json(body)
            if not has_duplicates(body, data):
                return Document(data)
    doubled: list[str] = []
    try:
        return Document(read_yaml(body, doubled), doubled)
    except DocumentUnreadable as error:
        return Document(fault=str(error))


def _unrecognised(expected: str, why: str, body: bytes) -> Exception:
    if not expected:
        return bad_request(why)
    return bad_request(f"the object provided is unrecognized (must be of type {expected}): {why} ({summary(body)})")


def summary(body: bytes) -> str:
    """The beginning of a body that cannot be read: its text if that is an object, its bytes if not."""
    begin = body[:_SHOWN].decode("utf-8", "replace") if body.startswith(b"{") else body[:_SHOWN].hex()
    return f"{begin} ..." if len(body) > _SHOWN else begin or "<empty>"


def not_an_object(data: Any, expected: str = "", body: bytes = b"") -> Exception:
    """Why a body that is a list, a text or a number stands for nothing."""
    type_meta = (
        """struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }"""
    )
    why = f"json: cannot unmarshal {json_name(data)} into Go value of type {type_meta}"
    return _unrecognised(expected, f"couldn't get version/kind; json parse error: {why}", body)


_JSON_NAMES = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}


def json_name(data: Any) -> str:
    return _JSON_NAMES[type(data)]


def has_duplicates(body: bytes, data: Any) -> bool:
    """Whether a JSON body may name a key twice; `data` is what it was decoded to. Says no quickly for what we wrote
    ourselves."""
    size = len(encode(data))
    if size == len(body) or size == len(body.replace(b'": ', b'":').replace(b", ", b",")):
        return False
    seen = [False]

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        seen[0] = seen[0] or len(fields) != len(pairs)
        return fields

    try:
        json.loads(body, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return False
    return seen[0]


def duplicate_fields(body: bytes) -> list[str]:
    """The dotted paths of JSON keys that occur twice in one object, in the order they are found."""
    return [path for path, again in keys_in_order(body) if again]


def keys_in_order(body: bytes) -> list[tuple[str, bool]]:
    """The dotted paths of all keys of a JSON body as they stand in it, and whether the same object had each before."""
    try:
        return list(_keys(json.loads(body, object_pairs_hook=_Pairs), ""))
    except (ValueError, RecursionError):
        return []


@dataclass(frozen=True, slots=True)
class _Pairs:
    pairs: list[tuple[str, Any]]


def _keys(value: Any, path: str) -> Iterator[tuple[str, bool]]:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value.pairs:
            here = f"{path}.{key}" if path else key
            yield here, key in seen
            seen.add(key)
            yield from _keys(item, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _keys(item, f"{path}[{index}]")


def to_yaml(body: bytes) -> bytes:
    return yaml_answer(_decode(body))


def to_protobuf(body: bytes) -> bytes:
    """JSON as protobuf; what is protobuf stays as it is."""
    return body if body.startswith(protobuf.MAGIC) else protobuf.encode(_decode(body))


PRINTERS = {YAML: to_yaml, PROTOBUF: to_protobuf}
"""How the JSON of an answer is printed for those who asked for something else."""
