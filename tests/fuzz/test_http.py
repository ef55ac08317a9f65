"""Requests and answers with mistakes in them, thrown from a seed: nothing fails, nothing hangs, and pieces change
nothing.

FUZZ_INPUTS and FUZZ_SEED say how many and which; a failure names the input.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
from collections.abc import Callable, Iterator

import pytest

from embedded import embedded
from gangline.client.connections.response_reader import ResponseReader
from gangline.client.wire import Response
from gangline.cluster.server.server import ServerSettings
from gangline.cluster.server.wire.connection import ConnectionTimeouts
from gangline.cluster.server.wire.http import ListenerSettings, ServerListener, serve
from gangline.cluster.server.wire.request_reader import RequestReader, WholeRequest

INPUTS, SEED = int(os.environ.get("FUZZ_INPUTS", "400")), int(os.environ.get("FUZZ_SEED", "15"))
AT_ONCE = 100
pytestmark = pytest.mark.timeout(120 + INPUTS // 10)
TOKEN = "fuzz"
WHO = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
MAPS = b"/api/v1/namespaces/default/configmaps"
BODY = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}'
JSON = b"Content-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(BODY)
CHUNKS = b"Transfer-Encoding: chunked\r\n\r\n5;a=b\r\n%b\r\n%x\r\n%b\r\n0\r\nT: x\r\n\r\n" % (
    BODY[:5],
    len(BODY) - 5,
    BODY[5:],
)

REQUESTS = [
    b"GET " + MAPS + b" HTTP/1.1\r\n" + WHO + b"\r\n",
    b"GET "
    + MAPS
    + b"?limit=5&labelSelector=a%3Db&fieldSelector=metadata.name%3Da HTTP/1.1\r\n"
    + WHO
    + b"Accept: application/json\r\n\r\n",
    b"GET " + MAPS + b"?watch=true&timeoutSeconds=1&resourceVersion=0 HTTP/1.1\r\n" + WHO + b"\r\n",
    b"GET " + MAPS + b"/a HTTP/1.1\r\n" + WHO + b"Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n\r\n",
    b"POST " + MAPS + b" HTTP/1.1\r\n" + WHO + JSON + LENGTH + BODY,
    b"POST " + MAPS + b"?dryRun=All&fieldValidation=Strict HTTP/1.1\r\n" + WHO + JSON + CHUNKS,
    b"PUT " + MAPS + b"/a HTTP/1.1\r\n" + WHO + b"Expect: 100-continue\r\n" + JSON + LENGTH + BODY,
    b"PATCH " + MAPS + b"/a HTTP/1.1\r\n" + WHO + b"Content-Type: application/merge-patch+json\r\n" + LENGTH + BODY,
    b"DELETE " + MAPS + b"/a?gracePeriodSeconds=0&propagationPolicy=Background HTTP/1.1\r\n" + WHO + b"\r\n",
    b"GET http://server/version?timeout=32s HTTP/1.1\r\n" + WHO + b"Connection: close\r\n\r\n",
    b"GET /healthz HTTP/1.0\r\n" + WHO + b"Connection: keep-alive\r\n\r\n",
    b"HEAD /version HTTP/1.1\r\n"
    + WHO
    + b"Impersonate-User: u\r\nImpersonate-Group: g\r\nImpersonate-Extra-x: y\r\n\r\n",
    b"POST /api/v1/namespaces/default/pods/a/exec?command=ls HTTP/1.1\r\n"
    + WHO
    + b"Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\n" + WHO + b"\r\n",
]
ANSWERS = [
    b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\nWarning: 299 - "x"\r\n\r\n{"a":1}',
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"4;x=y\r\nabcd\r\n3\r\nefg\r\n0\r\nT: x\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
]
SPICE = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\x00",
    b" ",
    b"\t",
    b":",
    b";",
    b",",
    b"%",
    b"%00",
    b"%ff",
    b"\xff\xfe",
    b"?",
    b"&",
    b"#",
    b"..",
    b"//",
    b"=",
    b"-6",
    b"+2",
    b"0x2",
    b"1_0",
    b"30000000",
    b"ffffffffffffffff",
    b"99999999999999999999",
    b"-1",
    b"1e9",
    b"\r\n\r\n",
    b"\r\n ",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 5\r\n",
    b"Host: y\r\n",
    b"Connection: close\r\n",
    b"Expect: 100-continue\r\n",
    b"Upgrade: h2c\r\nConnection: upgrade\r\n",
    b"Accept: */*;q=x\r\n",
    b"Content-Type: application/yaml\r\n",
    b"Impersonate-Uid: 1\r\n",
    b"Content-Type: application/apply-patch+yaml\r\n",
    b"Accept: application/vnd.kubernetes.protobuf\r\n",
    b"HTTP/1.1",
    b"x" * 3000,
    b"&limit=-1",
    b"&continue=x",
    b"&resourceVersion=99999999999999999999999",
    b"&timeoutSeconds=1e400",
    b"&watch=1&timeoutSeconds=1",
]


def mutated(chance: random.Random, bases: list[bytes]) -> bytes:
    data = chance.choice(bases) if chance.random() < 0.8 else chance.choice(bases) + chance.choice(bases)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((1, 1, 2, 8, 40)))
        data = chance.choice(CHANGES)(chance, data, at, to)
    return data


CHANGES: list[Callable[[random.Random, bytes, int, int], bytes]] = [
    lambda chance, data, at, to: data[:at] + chance.choice(SPICE) + data[at:],
    lambda chance, data, at, to: data[:at] + chance.choice(SPICE) + data[to:],
    lambda chance, data, at, to: data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
    lambda chance, data, at, to: data[:at] + data[to:],
    lambda chance, data, at, to: data[:to] + data[at:],
    lambda chance, data, at, to: data[:at],
    lambda chance, data, at, to: _after_line(data, at, chance.choice(SPICE)),
    lambda chance, data, at, to: _other_numbers(chance, data),
]


def _after_line(data: bytes, at: int, spice: bytes) -> bytes:
    end = data.find(b"\r\n", at)
    return data if end < 0 else data[: end + 2] + spice + data[end + 2 :]


def _other_numbers(chance: random.Random, data: bytes) -> bytes:
    return re.sub(rb"\d+", lambda found: chance.choice((b"0", b"-1", found[0] + b"0", b"9" * 20)), data, count=2)


def pieces(chance: random.Random, data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size = chance.choice((1, 2, 7, 60, 500, len(data)))
        yield data[at : at + size]
        at += size


def inputs(bases: list[bytes], count: int) -> Iterator[tuple[random.Random, bytes]]:
    for number in range(count):
        chance = random.Random(f"{SEED}/{number}")
        yield chance, mutated(chance, bases)


# --- over a socket -----------------------------------------------------------------------------------------


async def ask(listener: ServerListener, chance: random.Random, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    try:
        for piece in pieces(chance, data):
            if writer.is_closing():
                break
            writer.write(piece)
            await asyncio.sleep(0)
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_no_request_makes_the_server_fail(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("gangline.cluster.server.wire.http.SWEEP_SECONDS", 0.01)
    monkeypatch.setattr("gangline.cluster.server.wire.connection.FAREWELL_SECONDS", 0.01)
    left, patience = list(inputs(REQUESTS, INPUTS)), ConnectionTimeouts(0.1, 0.1, 0.1, 0.1, 1.0)
    async with embedded(settings=ServerSettings(tokens={TOKEN: "admin"})) as server:
        while left:
            batch, left = left[:AT_ONCE], left[AT_ONCE:]
            listener = await serve(server, tls=False, settings=ListenerSettings(patience=patience))
            asking = [asyncio.create_task(ask(listener, chance, data)) for chance, data in batch]
            unanswered = set(asking)
            while unanswered:
                answered, unanswered = await asyncio.wait(unanswered, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
                if not answered:
                    break  # what is left are watches without an end: closing ends them
            await listener.close()
            for (_, data), answers in zip(batch, await asyncio.gather(*asking), strict=True):
                check(data, answers, caplog)


def check(data: bytes, answers: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """A 500 without a reason is how a real API server answers a few wrong things; with one it is our failure."""
    assert b"InternalError" not in answers, (data, answers)
    assert not answers or answers.startswith(b"HTTP/1.1 "), (data, answers)
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert not told, (data, told)


# --- without a socket --------------------------------------------------------------------------------------


def read(data: Iterator[bytes]) -> list[object]:
    """What a reader makes of bytes: requests, and at the end a refusal if there is one."""
    reader = RequestReader(1_000_000, lambda asked: None)
    found: list[WholeRequest | Response] = []
    for piece in data:
        view = memoryview(piece)
        while len(view):
            view = view[reader.feed(view) :]
            found += reader.ready
            reader.ready.clear()
    return [
        (item.method, item.path, item.query, item.head.headers, item.body, item.stays)
        if isinstance(item, WholeRequest)
        else (item.status, item.body)
        for item in found
    ]


def test_requests_are_the_same_in_whatever_pieces_they_come() -> None:
    for chance, data in inputs(REQUESTS, 5 * INPUTS):
        assert read(iter([data])) == read(pieces(chance, data)), data


def hear(data: Iterator[bytes]) -> tuple[object, ...]:
    """What a reader makes of an answer: its head, whether it was all of it, its body, and whether there was trouble."""
    reader = ResponseReader()
    reader.expect()
    trouble = False
    try:
        for piece in data:
            reader.feed(memoryview(piece))
    except ValueError:
        trouble = True
    return reader.head, reader.complete, reader.take() if reader.complete else b"", trouble


def test_answers_are_the_same_in_whatever_pieces_they_come_and_what_is_none_is_said() -> None:
    for chance, data in inputs(ANSWERS, 5 * INPUTS):
        assert hear(iter([data])) == hear(pieces(chance, data)), data
