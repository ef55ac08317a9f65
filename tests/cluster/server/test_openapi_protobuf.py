"""The OpenAPI v2 document in protobuf says what it says in JSON. The messages are read here by their numbers alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

from cluster.server.conftest import Api

ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
Fields = Iterator[tuple[int, bytes | int]]


def fields(data: bytes) -> Fields:
    """The fields of a message: numbers and eight bytes as they are, everything else as bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
            yield tag >> 3, value
            continue
        length, at = (8, at) if tag & 7 == 1 else varint(data, at)
        yield tag >> 3, data[at : at + length]
        at += length


def varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return number, at


def inner(data: bytes, number: int) -> bytes:
    return next(value for at, value in fields(data) if at == number and isinstance(value, bytes))


def named(data: bytes, number: int) -> dict[str, bytes]:
    entries = [value for at, value in fields(data) if at == number and isinstance(value, bytes)]
    return {inner(entry, 1).decode(): inner(entry, 2) for entry in entries}


async def test_every_definition_and_path_is_there_in_protobuf(api: Api) -> None:
    told = (await api.get("/openapi/v2")).body
    answer = await api.call("GET", "/openapi/v2", accept=ASKED)
    assert (answer.status, inner(answer.body, 1)) == (200, b"2.0")
    assert set(named(inner(answer.body, 9), 1)) == set(told["definitions"])
    assert set(named(inner(answer.body, 8), 2)) == set(told["paths"])


async def test_a_definition_has_its_fields_in_protobuf(api: Api) -> None:
    told = (await api.get("/openapi/v2")).body["definitions"]["io.k8s.api.core.v1.PodSpec"]
    document = (await api.call("GET", "/openapi/v2", accept=ASKED)).body
    schema = named(inner(document, 9), 1)["io.k8s.api.core.v1.PodSpec"]
    properties = named(inner(schema, 25), 1)
    assert set(properties) == set(told["properties"])
    assert [value.decode() for at, value in fields(schema) if at == 19 and isinstance(value, bytes)] == told["required"]
    containers = properties["containers"]
    assert inner(inner(containers, 22), 1) == b"array"
    assert inner(inner(inner(containers, 23), 1), 1).decode() == "#/definitions/io.k8s.api.core.v1.Container"
    extensions = {name: json.loads(inner(value, 2)) for name, value in named(containers, 31).items()}
    assert extensions["x-kubernetes-patch-merge-key"] == "name"
