"""Protobuf → plain data, driven by the table of field numbers."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from gangline.cluster.server.wire.protobuf.fields import FIELDS
from gangline.rules.values.documents import DocumentUnreadable, read_json
from gangline.rules.values.times import micro_timestamp, timestamp

MAGIC = b"k8s\x00"
Obj = dict[str, Any]
GROUPS = {
    "": "core",
    "rbac.authorization.k8s.io": "rbac",
    "admissionregistration.k8s.io": "admissionregistration",
    "meta.k8s.io": "meta",
}
EVERYWHERE = ("DeleteOptions",)
"""Kinds of `meta` that are sent under the version of the kind they are about."""


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


class NotUnderstood(ValueError):
    """Not protobuf as Kubernetes frames it, or of a kind without a table."""


class WireField(NamedTuple):
    name: str
    type: str
    form: str
    """Empty, `*` for a list, `%` for a map, `=` for fields that stand in the message itself."""
    drop_empty: bool


Message = Mapping[int, WireField]


@cache
def _messages() -> dict[str, Message]:
    messages: dict[str, Message] = {}
    group = ""
    for line in FIELDS.replace("\n  ", " ").splitlines():
        if line.startswith("["):
            group = line[1:-1]
        else:
            name, _, fields = line.partition(": ")
            messages[f"{group}.{name}"] = dict(_field(item, group) for item in fields.split(", "))
    return messages


def _field(text: str, group: str) -> tuple[int, WireField]:
    number, name, kind = text.split(" ")
    many = kind[0] if kind[0] in "*%" else ""
    form = "=" if name == "=" else many
    base = kind.lstrip("*%").rstrip("?")
    return int(number), WireField(name, group + base if base.startswith(".") else base, form, kind.endswith("?"))


def decode(body: bytes) -> Obj:
    """An object, from its envelope."""
    if not body.startswith(MAGIC):
        raise NotUnderstood("the body does not begin as protobuf does")
    try:
        envelope = dict(_wire(body[len(MAGIC) :]))
        about = {number: value.decode() for number, value in _wire(envelope.get(1, b""))}
        api_version, kind = about.get(1, ""), about.get(2, "")
        return {"apiVersion": api_version, "kind": kind} | _read(envelope.get(2, b""), _message_of(api_version, kind))
    except NotUnderstood:
        raise
    except _DAMAGE as error:
        raise NotUnderstood(f"the body is cut off or damaged: {error}") from None


def _message_of(api_version: str, kind: str) -> Message:
    group, _, version = api_version.rpartition("/")
    short = GROUPS.get(group, group.partition(".")[0])
    message = _messages().get(f"{short}.{version}.{kind}") or (
        _messages().get(f"meta.{kind}") if kind in EVERYWHERE else None
    )
    if message is None:
        raise NotUnderstood(f"{kind or 'an object without a kind'} of {api_version} is not understood as protobuf")
    return message


def _read(data: bytes, message: Message) -> Obj:
    fields: Obj = {}
    for number, raw in _wire(data):
        field = message.get(number)
        if field is None:
            continue
        if field.form == "=":
            fields |= _read(raw, _messages()[field.type])
        elif field.form == "*":
            fields.setdefault(field.name, []).append(_value(raw, field.type))
        elif field.form == "%":
            entry = dict(_wire(raw))
            fields.setdefault(field.name, {})[entry.get(1, b"").decode()] = _value(entry.get(2, b""), field.type)
        else:
            value = _value(raw, field.type)
            if value is not None and not (field.drop_empty and value in ("", 0, False)):
                fields[field.name] = value
    return fields


def _value(raw: Any, kind: str) -> Any:
    reader = _SCALARS.get(kind)
    return reader(raw) if reader is not None else _read(raw, _messages()[kind])


def _number(raw: int) -> int:
    return raw - (1 << 64) if raw >= 1 << 63 else raw


def _parts(raw: bytes) -> dict[int, Any]:
    return dict(_wire(raw))


def _moment(raw: bytes, printed: Callable[[float], str]) -> str | None:
    parts = _parts(raw)
    return printed(_number(parts.get(1, 0)) + parts.get(2, 0) / 1e9) if parts else None


def _number_or_text(raw: bytes) -> int | str:
    parts = _parts(raw)
    return str(parts.get(3, b"").decode()) if parts.get(1, 0) == 1 else _number(parts.get(2, 0))


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
    "d": lambda raw: f"{_number(_parts(raw).get(1, 0)) / 1e9:g}s",
    "x": _number_or_text,
    "r": _json,
    "@items": lambda raw: [value.decode() for _, value in _wire(raw)],
}


def _wire(data: bytes) -> Iterator[tuple[int, Any]]:
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
