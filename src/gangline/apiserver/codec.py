"""Bytes to plain data and back: JSON and YAML bodies in, JSON or YAML answers out.

Undecodable bodies are refused here, with the code and reason of a kube-apiserver; whether the data makes sense is for others to say.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec
import yaml

from gangline.apiserver import protobuf
from gangline.apiserver.status import bad_request, unsupported_media_type

PROTOBUF = "application/vnd.kubernetes.protobuf"
BODY_TYPES = ("application/json", "application/yaml", PROTOBUF)
encode = msgspec.json.encode
_decode = msgspec.json.Decoder().decode
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: type[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _PlainLoader(_Loader):  # type: ignore[misc]  # YAML as Kubernetes reads it: no dates, no sexagesimals
    yaml_implicit_resolvers = {
        first: [(tag, expression) for tag, expression in rules if tag != "tag:yaml.org,2002:timestamp"]
        for first, rules in _Loader.yaml_implicit_resolvers.items()
    }
    doubled: list[str]
    """What is told about keys that stand twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.value in seen:
                self.doubled.append(f'line {key.start_mark.line + 1}: key "{key.value}" already set in map')
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_yaml_map(self, node: Any) -> Any:
        """In one go, so that every mapping passes `construct_mapping`."""
        found: dict[Any, Any] = {}
        yield found
        found.update(self.construct_mapping(node))


_PlainLoader.add_constructor("tag:yaml.org,2002:map", _PlainLoader.construct_yaml_map)


def media_type(content_type: str) -> str:
    return content_type.split(";", 1)[0].strip().lower()


def decode_body(body: bytes, content_type: str, expected: str, doubled: list[str] | None = None) -> Any:
    """The data of a request body. `expected` is the kind named in a refusal; `doubled` receives what is told of YAML keys given twice."""
    kind = media_type(content_type)
    if kind in ("application/json", ""):
        return decode_json(body, expected)
    if kind == "application/yaml":
        return decode_yaml(body, expected, doubled)
    if kind == PROTOBUF:
        with suppress(protobuf.NotUnderstood):
            return protobuf.decode(body)
    raise unsupported_media_type(BODY_TYPES)


def decode_json(body: bytes, expected: str) -> Any:
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unrecognised(expected, "json parse error: " + _go_words(body, str(error)), body) from None


def decode_yaml(body: bytes, expected: str, doubled: list[str] | None = None) -> Any:
    """`doubled` receives what is told about keys that stand twice. JSON is YAML too, and is read as what it is."""
    if body.startswith(b"{"):
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            data = _decode(body)
            if not has_duplicates(body, data):
                return data
    try:
        loader = _PlainLoader(body)
        loader.doubled = [] if doubled is None else doubled
        return loader.get_single_data()
    except (yaml.YAMLError, ValueError, UnicodeDecodeError, RecursionError) as error:
        raise _unrecognised(expected, f"yaml: {error}", body) from None


def _go_words(body: bytes, words: str) -> str:
    return "unexpected end of JSON input" if not body.strip() or "truncated" in words else words


def _unrecognised(expected: str, why: str, body: bytes) -> Exception:
    told = body[:200].decode("utf-8", "replace") or "<empty>"
    if not expected:
        return bad_request(f"couldn't get version/kind; {why}")
    return bad_request(f"the object provided is unrecognized (must be of type {expected}): couldn't get version/kind; {why} ({told})")


def has_duplicates(body: bytes, data: Any) -> bool:
    """Whether a JSON body may name a key twice; `data` is what it was decoded to. Says no quickly for what we wrote ourselves."""
    size = len(encode(data))
    if size == len(body) or size == len(body.replace(b'": ', b'":').replace(b", ", b",")):
        return False
    seen = [False]

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        seen[0] = seen[0] or len(found) != len(pairs)
        return found

    try:
        json.loads(body, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return False
    return seen[0]


def duplicate_fields(body: bytes) -> list[str]:
    """The dotted paths of JSON keys that occur twice in one object, in the order they are found."""
    found: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> _Pairs:
        return _Pairs(pairs)

    def walk(value: Any, path: str) -> None:
        if isinstance(value, _Pairs):
            seen: set[str] = set()
            for key, item in value.pairs:
                here = f"{path}.{key}" if path else key
                if key in seen:
                    found.append(here)
                seen.add(key)
                walk(item, here)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{path}[{index}]")

    try:
        walk(json.loads(body, object_pairs_hook=note), "")
    except (ValueError, RecursionError):
        return []
    return found


class _Pairs:
    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def to_yaml(body: bytes) -> bytes:
    text: str = yaml.dump(_decode(body), Dumper=_Dumper, sort_keys=True, allow_unicode=True, default_flow_style=False)
    return text.encode()
