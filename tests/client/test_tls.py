"""TLS to a server: sessions are resumed, and where they cannot be, begun anew."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from urllib.parse import urlsplit

import pytest

from embedded import embedded
from gangline.client.connections.connection import ClientConnection
from gangline.client.connections.exchange import ask
from gangline.client.connections.response_reader import HeldBytes
from gangline.client.connections.tls import ResumedTls
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.http import serve

ROOM = memoryview(bytearray(64 * 1024))


async def is_resumed(tls: ResumedTls, url: str) -> bool:
    """One connection with one answer; whether it resumed a session."""
    where, connection = urlsplit(url), ClientConnection(ROOM, HeldBytes(), lambda ended: None)
    made = await tls.connect(connection, where.hostname or "", where.port or 0, ROOM)
    answer = await ask(connection, b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n", False, 60)
    assert answer.status == 401  # nobody said who asks
    tls.answered(made)
    connection.abort()
    return made.session_reused is True


def trusting(server: Server) -> ResumedTls:
    return ResumedTls(ssl.create_default_context(cadata=server.secrets.authority.pair.certificate.decode()))


async def test_later_connections_resume_the_session_of_the_first() -> None:
    async with embedded() as server:
        listener, tls = await serve(server), trusting(server)
        assert [await is_resumed(tls, listener.url) for _ in range(3)] == [False, True, True]
        await listener.close()


async def test_who_does_not_know_the_ticket_shakes_hands_anew_and_gives_another() -> None:
    async with embedded() as server:
        one, other, tls = await serve(server), await serve(server), trusting(server)
        assert [await is_resumed(tls, one.url) for _ in range(2)] == [False, True]
        assert [await is_resumed(tls, other.url) for _ in range(2)] == [False, True]
        await one.close()
        await other.close()


async def test_who_gives_up_in_the_middle_of_a_handshake_leaves_no_connection_behind() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        began.set()
        with contextlib.suppress(ConnectionError):
            await reader.read()
        ended.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    connection, port = ClientConnection(ROOM, HeldBytes(), lambda gone: None), server.sockets[0].getsockname()[1]
    tls = ResumedTls(ssl.create_default_context())
    calling = asyncio.create_task(tls.connect(connection, "127.0.0.1", port, ROOM))
    await began.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await ended.wait()
    server.close()
