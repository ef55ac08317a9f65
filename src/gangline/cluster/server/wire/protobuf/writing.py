"""Plain data → protobuf, driven by the table of field numbers; reading.py goes the other way. Pure.

A kind's message becomes one function, made when the first object of the kind is written: it walks the fields an object
has, not those it could have. What is not in the table is left out, as Go leaves out what its types do not have; so is
null. Go reads fields in any order, and takes an absent one for its zero value."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

import msgspec

from gangline.cluster.server.wire.protobuf.tables import MAGIC, SCHEMA, Message, WireField, message_name, messages
from gangline.rules.values.times import nanoseconds

Obj = dict[str, Any]
Writer = Callable[[Any], bytes]
"""The bytes of one value."""
_VARINT, _EIGHT_BYTES, _BYTES = 0, 1, 2
_WIRE_TYPES = {"b": _VARINT, "i": _VARINT, "f": _EIGHT_BYTES}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT = [bytes([number]) for number in range(128)]


def encode(obj: Obj) -> bytes:
    """An object in its envelope."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    return enveloped(api_version, kind, _of(message_name(api_version, kind))(obj))


def enveloped(api_version: str, kind: str, body: bytes) -> bytes:
    about = tagged(1, api_version.encode()) + tagged(2, kind.encode())
    return MAGIC + tagged(1, about) + tagged(2, body)


def listed(api_version: str, kind: str, about: Obj, items: Iterable[bytes]) -> bytes:
    """The list of a kind, from its metadata and from items that `item_writer` wrote."""
    return enveloped(api_version, kind, tagged(1, _of("meta.ListMeta")(about)) + b"".join(items))


def item_writer(api_version: str, kind: str) -> Writer:
    """Writes objects of a kind as the items of their list."""
    write = _of(message_name(api_version, kind))
    return lambda obj: tagged(2, write(obj))


def watch_event(kind: str, body: bytes) -> bytes:
    """What happened to an object (in its envelope), as one frame of a watch."""
    event = tagged(1, kind.encode()) + tagged(2, tagged(1, body))
    return len(event).to_bytes(4, "big") + event


def tagged(number: int, data: bytes) -> bytes:
    """Bytes under a field's number."""
    return varint(number << 3 | _BYTES) + varint(len(data)) + data


def varint(number: int) -> bytes:
    if 0 <= number < 128:
        return _SHORT[number]
    number &= 0xFFFF_FFFF_FFFF_FFFF
    parts = bytearray()
    while number > 127:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


# --- messages -----------------------------------------------------------------------------------------------


@cache
def _of(name: str) -> Writer:
    """The writer of a type: of a scalar, or of a message."""
    return _SCALARS.get(name) or _message(messages()[name])


def _message(message: Message) -> Writer:
    own = {field.name: _field(number, field) for number, field in message.items() if field.form != "="}
    inlined = [(number, field.type) for number, field in message.items() if field.form == "="]

    def write(obj: Obj) -> bytes:
        return b"".join([own[name](value) for name, value in obj.items() if value is not None and name in own])

    def write_both(obj: Obj) -> bytes:
        return write(obj) + b"".join([tagged(number, _of(inner)(obj)) for number, inner in inlined])

    return write_both if inlined else write


def _field(number: int, field: WireField) -> Writer:
    write = _one(number, field.type)
    if field.form == "*":
        return lambda items: b"".join([write(item) for item in items])
    if field.form == "%":
        key, value = _one(1, "s"), _one(2, field.type)
        return lambda entries: b"".join([tagged(number, key(name) + value(item)) for name, item in entries.items()])
    return write


def _one(number: int, kind: str) -> Writer:
    """One value under its number."""
    tag = varint(number << 3 | _WIRE_TYPES.get(kind, _BYTES))
    if kind in _WIRE_TYPES:
        bare = _SCALARS[kind]
        return lambda value: tag + bare(value)

    def write(value: Any) -> bytes:
        data = _of(kind)(value)
        size = len(data)
        return tag + (_SHORT[size] if size < 128 else varint(size)) + data

    return write


# --- scalars ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _moment(text: str) -> bytes:
    moment = datetime.fromisoformat(text)
    nanos = moment.microsecond * 1000
    whole = b"\x08" + varint(int((moment.replace(microsecond=0) - _EPOCH).total_seconds()))
    return whole + b"\x10" + varint(nanos) if nanos else whole


def _quantity(value: int | str) -> bytes:
    """Kubernetes takes spaces around an amount in JSON only."""
    return tagged(1, str(value).strip().encode())


def _number_or_text(value: int | str) -> bytes:
    return b"\x08\x01" + tagged(3, value.encode()) if isinstance(value, str) else b"\x10" + varint(value)


def _schema(number: int, value: Obj) -> bytes:
    return tagged(number, _of(SCHEMA)(value))


def _schemas(value: Obj | list[Obj]) -> bytes:
    return b"".join([_schema(2, item) for item in value]) if isinstance(value, list) else _schema(1, value)


def _schema_or_flag(value: Obj | bool) -> bytes:
    return b"\x08" + _SHORT[value] if isinstance(value, bool) else b"\x08\x01" + _schema(2, value)


def _schema_or_texts(value: Obj | list[str]) -> bytes:
    return b"".join([tagged(2, item.encode()) for item in value]) if isinstance(value, list) else _schema(1, value)


_SCALARS: dict[str, Writer] = {
    "s": str.encode,
    "b": lambda value: _SHORT[bool(value)],
    "i": varint,
    "f": lambda value: struct.pack("<d", value),
    "y": base64.b64decode,
    "q": _quantity,
    "t": _moment,
    "u": _moment,
    "d": lambda value: b"\x08" + varint(nanoseconds(value) or 0),
    "x": _number_or_text,
    "r": lambda value: tagged(1, msgspec.json.encode(value)),
    "@items": lambda value: b"".join([tagged(1, item.encode()) for item in value]),
    "@schemas": _schemas,
    "@schema-or-flag": _schema_or_flag,
    "@schema-or-texts": _schema_or_texts,
}
