"""Connections that do not behave: too many, too slow, no TLS, no reader. None of them keeps others out, and none
fills the log."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import logging
import socket
import ssl
import struct
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

import pytest

from cluster.server.conftest import MAPS, TOKEN, config_map, in_process
from embedded import PATIENCE, until
from gangline.client.connections.tls import BufferlessTls
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.connection import SOCKET_BUFFERS, ConnectionTimeouts
from gangline.cluster.server.wire.http import ListenerSettings, ServerListener, serve

ASK = f"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
Listen = Callable[..., Awaitable[ServerListener]]


@pytest.fixture
async def listen(server: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Listen]:
    """Listens with settings; deadlines are looked at all the time."""
    monkeypatch.setattr("gangline.cluster.server.wire.http.SWEEP_SECONDS", 0.005)
    made: list[ServerListener] = []

    async def start(tls: bool = True, **settings: Any) -> ServerListener:
        made.append(await serve(server, tls=tls, settings=ListenerSettings(**settings)))
        return made[-1]

    yield start
    for listener in made:
        await listener.close()


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def connect(listener: ServerListener, tls: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", listener.port, ssl=trusting() if tls else None)


async def healthy(listener: ServerListener, tls: bool) -> bool:
    reader, writer = await connect(listener, tls)
    writer.write(ASK)
    found = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return found.startswith(b"HTTP/1.1 200 ")


async def is_ended(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


# --- too slow ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\nHos",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n30000000\r\nab",
    ],
)
async def test_who_does_not_end_what_it_began_is_hung_up_on(listen: Listen, tls: bool, said: bytes) -> None:
    listener = await listen(
        tls,
        patience=ConnectionTimeouts(handshake=30, head=0.05, body=0.05)
        if tls
        else ConnectionTimeouts(0.05, 0.05, 0.05),
    )
    reader, writer = await connect(listener, tls)
    writer.write(said)
    assert await is_ended(reader)


async def test_who_never_begins_the_handshake_or_stops_in_it_is_hung_up_on(listen: Listen) -> None:
    listener = await listen(patience=ConnectionTimeouts(handshake=0.05))
    for said in (b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"):
        reader, writer = await connect(listener, False)
        writer.write(said)
        assert await is_ended(reader)


async def test_who_asks_nothing_more_is_hung_up_on_and_who_watches_is_not(listen: Listen, server: Server) -> None:
    listener = await listen(False, patience=ConnectionTimeouts(idle=0.05))
    watching, other = await connect(listener, False)
    other.write(
        f"GET {MAPS}?watch=true&resourceVersion={server.revision} HTTP/1.1\r\nHost: x\r\n".encode()
        + f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
    )
    await watching.readuntil(b"\r\n\r\n")
    reader, writer = await connect(listener, False)
    writer.write(ASK)
    assert (await reader.read()).endswith(b"ok")
    await in_process(server).post(MAPS, config_map("a"))
    assert b'"name":"a"' in await watching.readuntil(b"\n\r\n")


async def test_who_asks_nothing_does_not_keep_it_from_closing(listen: Listen) -> None:
    """A client whose program does something else does not even say goodbye."""
    listener = await listen(farewell=10 * PATIENCE)

    def ask() -> ssl.SSLSocket:
        client = trusting().wrap_socket(socket.create_connection(("127.0.0.1", listener.port)))
        client.sendall(ASK)
        assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
        return client

    with await asyncio.to_thread(ask):
        async with asyncio.timeout(PATIENCE):
            await listener.close()


async def test_who_does_not_take_its_answer_is_hung_up_on(listen: Listen, server: Server) -> None:
    for number in range(10):
        await in_process(server).post(MAPS, config_map(f"m{number}", {"text": "z" * 1_000_000}))
    listener = await listen(False, patience=ConnectionTimeouts(stalled=0.05))
    with socket.create_connection(("127.0.0.1", listener.port)) as plug:
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plug.sendall(ASK.replace(b"/healthz", MAPS.encode()))
        await until(lambda: len(listener._connections) == 1)
        await until(lambda: not listener._connections)


async def test_requests_without_end_are_not_answered_faster_than_the_answers_are_taken(
    listen: Listen, server: Server
) -> None:
    await in_process(server).post(MAPS, config_map("large", {"text": "z" * 1_000_000}))
    listener, loop = await listen(False), asyncio.get_running_loop()
    with socket.create_connection(("127.0.0.1", listener.port)) as plug:
        plug.setblocking(False)
        asking = loop.create_task(loop.sock_sendall(plug, ASK.replace(b"/healthz", MAPS.encode()) * 20_000))
        await until(lambda: any(item._paused and item._held_back for item in listener._connections))
        [connection] = listener._connections
        assert connection._transport.get_write_buffer_size() + len(connection._held) < 2_000_000
        assert await healthy(listener, False)
        asking.cancel()


async def watch_without_reading(
    listener: ServerListener, tls: bool, query: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A watcher that has been answered, and takes nothing from now on. Its buffer is smaller than what is sent, and
    large enough that megabytes do not trickle when it reads on."""
    plug = socket.create_connection(("127.0.0.1", listener.port))
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 262_144)
    reader, writer = await asyncio.open_connection(
        sock=plug, limit=30_000_000, ssl=trusting() if tls else None, server_hostname="x" if tls else None
    )
    writer.write(ASK.replace(b"/healthz", f"{MAPS}?watch=true&{query}".encode()))
    await reader.readuntil(b"\r\n\r\n")
    reading(writer).pause_reading()
    return reader, writer


def reading(writer: asyncio.StreamWriter) -> asyncio.ReadTransport:
    return cast(asyncio.ReadTransport, writer.transport)


async def grow(server: Server, times: int) -> None:
    for number in range(times):
        await in_process(server).merge(f"{MAPS}/large", {"data": {"text": str(number % 10) * 900_000}})


@pytest.mark.parametrize("tls", [False, True])
async def test_watchers_that_never_read_hold_a_few_pieces_each_and_share_the_event(
    listen: Listen, server: Server, tls: bool
) -> None:
    await in_process(server).post(MAPS, config_map("large"))
    listener = await listen(tls)
    watchers = [await watch_without_reading(listener, tls, f"resourceVersion={server.revision}") for _ in range(5)]
    await grow(server, 8)
    await until(lambda: sum(item._paused for item in listener._connections) == 5)
    for connection in listener._connections:
        assert connection._transport.get_write_buffer_size() <= SOCKET_BUFFERS
    [shelf] = [shelf for shelf in server.store.shelves() if shelf.key == ("", "configmaps")]
    kept = {id(line) for change in shelf.changes for line in change.lines.values()}
    assert {id(connection._rest.obj) for connection in listener._connections if connection._rest} <= kept
    for _, writer in watchers:
        writer.transport.abort()


async def test_of_those_who_never_read_the_first_are_hung_up_on_when_too_much_waits(
    listen: Listen, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    await in_process(server).post(MAPS, config_map("large"))
    listener = await listen(False, waiting_bytes=6 * SOCKET_BUFFERS - 1, grace=0.0)
    began = f"resourceVersion={server.revision}"
    await grow(server, 10)
    watchers = [await watch_without_reading(listener, False, began) for _ in range(6)]
    await until(lambda: len(listener._connections) < 6 and all(item._paused for item in listener._connections))
    assert "closed that take no answers: what waits to be sent is more than" in caplog.text
    last, writer = watchers[-1]
    reading(writer).resume_reading()
    for number in range(10):
        assert (await last.readuntil(str(number).encode() * 900_000)).count(b'"type":"MODIFIED"') == 1
    for _, writer in watchers:
        writer.transport.abort()


async def test_a_watcher_that_stands_still_does_not_keep_objects_that_it_will_never_be_told(
    listen: Listen, server: Server
) -> None:
    for number in range(20):
        await in_process(server).post(MAPS, config_map(f"m{number}", {"text": "z" * 900_000}))
    listener = await listen(False)
    reader, writer = await watch_without_reading(listener, False, "resourceVersion=0")
    await until(lambda: any(item._paused for item in listener._connections))
    [connection] = listener._connections
    shelf = server.store.shelf(("", "configmaps"))
    shelf.remember(shelf.changes[-1])
    shelf.remember(shelf.changes[-1])
    shelf.shrink(0)
    await until(lambda: connection._watch is not None and not inspect.isgenerator(connection._watch._first))
    reading(writer).resume_reading()
    told = await reader.readuntil(b"0\r\n\r\n")
    assert told.count(b'"type":"ADDED"') < 20
    assert b'"code":410' in told
    writer.transport.abort()


# --- too many ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tls", [False, True])
async def test_an_address_that_holds_too_many_silent_connections_loses_the_oldest_and_is_still_served(
    listen: Listen, tls: bool
) -> None:
    listener = await listen(tls, per_address=3)
    held = [await connect(listener, tls) for _ in range(8)]
    for reader, _ in held[:5]:
        assert await is_ended(reader)
    assert await healthy(listener, tls)
    held[-1][1].write(ASK)
    assert (await held[-1][0].readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")


async def test_when_every_connection_of_an_address_is_in_use_a_new_one_is_refused(listen: Listen) -> None:
    listener = await listen(per_address=2)
    held = [await connect(listener, True) for _ in range(2)]
    for reader, writer in held:
        writer.write(ASK)
        await reader.readuntil(b"\r\n\r\n")
    with pytest.raises(OSError):
        await connect(listener, True)
    held[0][1].close()
    await until(lambda: len(listener._connections) == 1)
    assert await healthy(listener, True)


# --- not filling anything ----------------------------------------------------------------------------------


def misbehave(port: int) -> None:
    """A port scan, plain HTTP, half a handshake, a bad certificate check, resets, a silent end."""
    for said in (b"", ASK, b"\x16\x03\x01", b"\x80\x2e\x01\x03\x01", bytes(5000), b"\x15\x03\x01\x00\x02\x02\x28"):
        for reset in (False, True):
            with socket.create_connection(("127.0.0.1", port)) as plug:
                plug.sendall(said)
                if reset:
                    plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with pytest.raises(ssl.SSLError), socket.create_connection(("127.0.0.1", port)) as plug:
        ssl.create_default_context().wrap_socket(plug, server_hostname="localhost")
    for said in (ASK, b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n", ASK * 100):
        with socket.create_connection(("127.0.0.1", port)) as plug, trusting().wrap_socket(plug) as secure:
            secure.sendall(said)
            secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def test_connections_that_fail_leave_nothing_in_the_log_and_nothing_in_memory(
    listen: Listen, caplog: pytest.LogCaptureFixture
) -> None:
    listener = await listen()
    gc.collect()
    gc.disable()
    try:
        with caplog.at_level(logging.INFO):
            await asyncio.to_thread(misbehave, listener.port)
            await until(lambda: not listener._callers)
            assert await healthy(listener, True)
            await until(lambda: not any(isinstance(get_object, BufferlessTls) for get_object in gc.get_objects()))
    finally:
        gc.enable()
    assert caplog.records == []


async def test_who_breaks_off_before_a_long_answer_leaves_nothing_in_the_log(
    listen: Listen, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(4):
        await in_process(server).post(MAPS, config_map(f"m-{number}", {"text": "x" * 900_000}))
    listener = await listen()

    def break_off() -> None:
        secure = trusting().wrap_socket(socket.create_connection(("127.0.0.1", listener.port)))
        secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        secure.sendall(ASK.replace(b"/healthz", MAPS.encode()))
        secure.close()

    with caplog.at_level(logging.INFO):
        for _ in range(5):
            await asyncio.to_thread(break_off)
        await until(lambda: not listener._callers)
    assert caplog.records == []


async def test_who_forgot_the_tls_is_told(listen: Listen) -> None:
    reader, writer = await connect(await listen(), False)
    writer.write(ASK)
    assert (await reader.read()).endswith(b"\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
    writer.close()


async def test_an_idle_connection_has_no_buffer_of_its_own(listen: Listen) -> None:
    """What OpenSSL takes is not seen here; `make bench BENCH=connections` measures it all."""
    listener, count = await listen(), 20

    def open_all() -> list[ssl.SSLSocket]:
        context = trusting()
        return [context.wrap_socket(socket.create_connection(("127.0.0.1", listener.port))) for _ in range(count)]

    for plug in await asyncio.to_thread(open_all):
        plug.close()
    tracemalloc.start()
    try:
        plugs = await asyncio.to_thread(open_all)
        await until(lambda: len(listener._connections) >= count)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    for plug in plugs:
        plug.close()
    assert used / count < 50_000


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01"])
@pytest.mark.parametrize("rounds", range(8))
async def test_no_connection_outlives_the_listener_however_late_it_came(
    listen: Listen, rounds: int, said: bytes
) -> None:
    """A connection takes some rounds of the loop from the queue of the socket to its protocol."""
    listener = await listen()
    with socket.create_connection(("127.0.0.1", listener.port)) as late:
        late.setblocking(False)
        late.send(said)
        for _ in range(rounds):
            await asyncio.sleep(0)
        await listener.close()
        with contextlib.suppress(ConnectionError):
            assert await asyncio.wait_for(asyncio.get_running_loop().sock_recv(late, 1), PATIENCE) == b""
