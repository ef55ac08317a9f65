"""Protobuf → plain data, driven by the table of field numbers; writing.py goes the other way. Pure."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from typing import Any

from gangline.cluster.server.wire.protobuf.tables import MAGIC, SCHEMA, Message, NotUnderstood, message_name, messages
from gangline.rules.values.documents import DocumentUnreadable, read_json
from gangline.rules.values.times import canonical, micro_timestamp, timestamp

Obj = dict[str, Any]
_DAMAGE = (
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    OSError,
    RecursionError,
    DocumentUnreadable,
    struct.error,
)
"""What reading bytes that are no object of their kind ends in."""


def decode(body: bytes) -> Obj:
    """An object, from its envelope."""
    if not body.startswith(MAGIC):
        raise NotUnderstood("the body does not begin as protobuf does")
    try:
        envelope = dict(wire_fields(body[len(MAGIC) :]))
        about = {number: value.decode() for number, value in wire_fields(envelope.get(1, b""))}
        api_version, kind = about.get(1, ""), about.get(2, "")
        name = message_name(api_version, kind)
        return {"apiVersion": api_version, "kind": kind} | _read(envelope.get(2, b""), messages()[name])
    except NotUnderstood:
        raise
    except _DAMAGE as error:
        raise NotUnderstood(f"the body is cut off or damaged: {error}") from None


def _read(data: bytes, message: Message) -> Obj:
    fields: Obj = {}
    for number, raw in wire_fields(data):
        field = message.get(number)
        if field is None:
            continue
        if field.form == "=":
            fields |= _read(raw, messages()[field.type])
        elif field.form == "*":
            fields.setdefault(field.name, []).append(_value(raw, field.type))
        elif field.form == "%":
            entry = dict(wire_fields(raw))
            fields.setdefault(field.name, {})[entry.get(1, b"").decode()] = _value(entry.get(2, b""), field.type)
        else:
            value = _value(raw, field.type)
            if value is not None and not (field.drop_empty and value in ("", 0, False)):
                fields[field.name] = value
    return fields


def _value(raw: Any, kind: str) -> Any:
    reader = _SCALARS.get(kind)
    return reader(raw) if reader is not None else _read(raw, messages()[kind])


def _number(raw: int) -> int:
    return raw - (1 << 64) if raw >= 1 << 63 else raw


def _parts(raw: bytes) -> dict[int, Any]:
    return dict(wire_fields(raw))


def _moment(raw: bytes, printed: Callable[[float], str]) -> str | None:
    parts = _parts(raw)
    return printed(_number(parts.get(1, 0)) + parts.get(2, 0) / 1e9) if parts else None


def _number_or_text(raw: bytes) -> int | str:
    parts = _parts(raw)
    return str(parts.get(3, b"").decode()) if parts.get(1, 0) == 1 else _number(parts.get(2, 0))


def _schema_or(raw: bytes, number: int, other: Callable[[], Any]) -> Any:
    """The JSON schema under a number, or what stands in its place."""
    schema = _parts(raw).get(number)
    return other() if schema is None else _read(schema, messages()[SCHEMA])


def _json(raw: bytes) -> Any:
    inner = _parts(raw).get(1, b"")
    return read_json(inner) if inner else None


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "s": lambda raw: raw.decode(),
    "b": bool,
    "i": _number,
    "f": lambda raw: struct.unpack("<d", raw)[0],
    "y": lambda raw: base64.b64encode(raw).decode(),
    "q": lambda raw: _parts(raw).get(1, b"0").decode(),
    "t": lambda raw: _moment(raw, timestamp),
    "u": lambda raw: _moment(raw, micro_timestamp),
    "d": lambda raw: canonical(_number(_parts(raw).get(1, 0))),
    "x": _number_or_text,
    "r": _json,
    "@items": lambda raw: [value.decode() for _, value in wire_fields(raw)],
    "@schemas": lambda raw: _schema_or(
        raw, 1, lambda: [_read(item, messages()[SCHEMA]) for _, item in wire_fields(raw)]
    ),
    "@schema-or-flag": lambda raw: _schema_or(raw, 2, lambda: bool(_parts(raw).get(1, 0))),
    "@schema-or-texts": lambda raw: _schema_or(raw, 1, lambda: [value.decode() for _, value in wire_fields(raw)]),
}


def wire_fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an integer, or bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield number, value
            continue
        if wire == 2:
            length, position = _varint(data, position)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise NotUnderstood(f"a field of wire type {wire}")
        if position + length > len(data):
            raise IndexError("a field is longer than the body")
        yield number, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFF_FFFF_FFFF_FFFF, position
    raise NotUnderstood("a number of more than ten bytes")
