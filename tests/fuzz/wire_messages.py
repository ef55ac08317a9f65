"""Bodies in protobuf: messages as the tables of the server name their fields, with values that may be anything."""

from __future__ import annotations

import struct
from random import Random

from fuzz import odd
from gangline.cluster.server.wire.protobuf import tables

DEEPEST = 5


def envelope(random: Random, api_version: str, kind: str) -> bytes:
    """An object of a kind, most of the time whole."""
    try:
        message = tables.messages()[tables.message_name(api_version, kind)]
    except tables.NotUnderstood:
        raw = random.randbytes(40)
    else:
        raw = _message(random, message, 0)
    body = b"k8s\x00" + _bytes(1, _bytes(1, api_version.encode()) + _bytes(2, kind.encode())) + _bytes(2, raw)
    return odd.broken(random, body) if random.random() < 0.2 else body


def _message(random: Random, message: tables.Message, depth: int) -> bytes:
    return b"".join(_field(random, number, field, depth) for number, field in message.items() if _wanted(random, field))


def _wanted(random: Random, field: tables.WireField) -> bool:
    return random.random() < (0.9 if field.name in ("metadata", "name") else 0.25)


def _field(random: Random, number: int, field: tables.WireField, depth: int) -> bytes:
    if random.random() < 0.03:
        return random.choice((_number(number, random.choice(odd.NUMBERS)), _bytes(number, random.randbytes(9))))
    if field.form == "%":
        entry = _bytes(1, odd.text(random).encode("utf-8", "surrogatepass")) + _value(random, 2, field.type, depth)
        return _bytes(number, entry)
    times = random.choice((0, 1, 2)) if field.form == "*" else 1
    return b"".join(_value(random, number, field.type, depth) for _ in range(times))


def _value(random: Random, number: int, kind: str, depth: int) -> bytes:
    if kind in ("i", "b"):
        return _number(number, random.choice(odd.NUMBERS))
    if kind == "f":
        value = random.choice((0.5, 1e308, float("nan"), float("inf"), -0.0))
        return _varint(number << 3 | 1) + struct.pack("<d", value)
    if kind in ("s", "y"):
        return _bytes(number, odd.text(random).encode())
    if kind == "q":
        return _bytes(number, _bytes(1, odd.text(random).encode()))
    if kind in ("t", "u", "d"):
        return _bytes(number, _number(1, random.choice(odd.NUMBERS)) + _number(2, random.choice(odd.NUMBERS)))
    if kind == "x":
        return _bytes(number, _number(1, random.randrange(3)) + _number(2, 1) + _bytes(3, odd.text(random).encode()))
    if kind == "r" or kind.startswith("@"):
        return _bytes(number, _bytes(1, random.choice((b"{}", b"null", b"[", odd.text(random).encode()))))
    if depth >= DEEPEST:
        return b""
    return _bytes(number, _message(random, tables.messages()[kind], depth + 1))


def _number(number: int, value: float) -> bytes:
    return _varint(number << 3) + _varint(int(value) % (1 << 64))


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])
