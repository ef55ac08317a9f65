"""Bytes to plain data and back: JSON, YAML and protobuf bodies in, JSON, YAML or protobuf answers out.

Undecodable bodies are refused here, with the code and reason of a kube-apiserver; whether the data makes sense is for
others to say."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from gangline.api.yaml_text import FAST_DUMPER
from gangline.cluster.server.status import bad_request, unsupported_media_type
from gangline.cluster.server.wire import protobuf
from gangline.rules.values.documents import DocumentUnreadable, read_json, read_yaml

PROTOBUF = "application/vnd.kubernetes.protobuf"
YAML = "application/yaml"
BODY_TYPES = ("application/json", YAML, PROTOBUF)
encode = msgspec.json.encode
_decode = msgspec.json.Decoder().decode
YAML_TYPES = (YAML, "application/apply-patch+yaml")


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML body, read: its data and what is told of keys that stand twice, or why it cannot be read."""

    data: Any = None
    doubled: list[str] = field(default_factory=list)
    fault: str = ""


def media_type(content_type: str) -> str:
    return content_type.split(";", 1)[0].strip().lower()


def decode_body(
    body: bytes, content_type: str, expected: str, doubled: list[str], document: Document | None = None
) -> Any:
    """The data of a request body. `expected` is the kind named in a refusal; `doubled` receives what is told of YAML
    keys given twice; `document` is the body, if it was read as YAML before."""
    kind = media_type(content_type)
    if kind in ("application/json", ""):
        return decode_json(body, expected)
    if kind == YAML:
        return decode_yaml(body, expected, doubled, document)
    if kind == PROTOBUF:
        with suppress(protobuf.NotUnderstood):
            return protobuf.decode(body)
    raise unsupported_media_type(BODY_TYPES)


def decode_json(body: bytes, expected: str) -> Any:
    try:
        return read_json(body)
    except DocumentUnreadable as error:
        raise _unrecognised(expected, f"json parse error: {error}", body) from None


def decode_yaml(body: bytes, expected: str, doubled: list[str], document: Document | None = None) -> Any:
    read = document or read_document(body)
    if read.fault:
        raise _unrecognised(expected, f"yaml: {read.fault}", body)
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
    told = body[:200].decode("utf-8", "replace") or "<empty>"
    if not expected:
        return bad_request(f"couldn't get version/kind; {why}")
    return bad_request(
        f"the object provided is unrecognized (must be of type {expected}): couldn't get version/kind; {why} ({told})"
    )


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
    doubled: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> _Pairs:
        return _Pairs(pairs)

    def walk(value: Any, path: str) -> None:
        if isinstance(value, _Pairs):
            seen: set[str] = set()
            for key, item in value.pairs:
                here = f"{path}.{key}" if path else key
                if key in seen:
                    doubled.append(here)
                seen.add(key)
                walk(item, here)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{path}[{index}]")

    try:
        walk(json.loads(body, object_pairs_hook=note), "")
    except (ValueError, RecursionError):
        return []
    return doubled


class _Pairs:
    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def to_yaml(body: bytes) -> bytes:
    text: str = yaml.dump(
        _decode(body), Dumper=FAST_DUMPER, sort_keys=True, allow_unicode=True, default_flow_style=False
    )
    return text.encode()


def to_protobuf(body: bytes) -> bytes:
    """JSON as protobuf; what is protobuf stays as it is."""
    return body if body.startswith(protobuf.MAGIC) else protobuf.encode(_decode(body))


PRINTERS = {YAML: to_yaml, PROTOBUF: to_protobuf}
"""How the JSON of an answer is printed for those who asked for something else."""
