"""TLS around a connection, without a buffer of its own; and to one server, with sessions that are resumed.

asyncio's protocol keeps a quarter of a megabyte for each connection to read into. Here many connections read into one
place: what came is taken from it before anybody else reads.

A full handshake costs both sides a signature and the look at a certificate, as much as one or two writes, and a crowd
of binds opens dozens of connections at once. So a connection resumes the session of an earlier one, if the server gave
a ticket for it: its name and certificate were checked when the session began. A server that does not know the ticket
any more makes a full handshake, and its next ticket is kept. Nothing here knows HTTP."""

from __future__ import annotations

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from typing import cast

HANDSHAKE, GOODBYE = 60.0, 5.0
"""Seconds for the handshake, and for the other side to answer our close_notify."""


class BufferlessTls(SSLProtocol):
    """`room` is where bytes arrive. `shaken` is done when the handshake is. `gone` is called when the connection has
    ended."""

    max_size = 0  # of the buffer that is not needed
    _ssl_buffer_view: memoryview
    _app_protocol_get_buffer: Callable[[int], memoryview]
    _app_protocol_buffer_updated: Callable[[int], None]

    def __init__(
        self,
        inner: asyncio.BufferedProtocol,
        context: ssl.SSLContext,
        room: memoryview,
        *,
        server_name: str = "",
        shaken: asyncio.Future[None] | None = None,
        seconds: float = HANDSHAKE,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        """`server_name`: whom we call; empty: we are called. `seconds` for the handshake."""
        super().__init__(
            asyncio.get_running_loop(),
            inner,
            context,
            shaken,  # type: ignore[arg-type]
            server_side=not server_name,
            server_hostname=server_name or None,
            ssl_handshake_timeout=seconds,  # type: ignore[arg-type]
            ssl_shutdown_timeout=GOODBYE,
        )
        self._ssl_buffer_view, self._gone = room, gone

    def get_buffer(self, n: int) -> memoryview:
        return self._ssl_buffer_view

    def connection_lost(self, exc: BaseException | None) -> None:
        """What is left of a connection is freed now, not when the collector of cycles comes by: that is seldom."""
        super().connection_lost(exc)
        self._gone()
        del self._app_protocol_get_buffer, self._app_protocol_buffer_updated
        if exc is not None:
            exc.__traceback__ = None


class ResumedTls:
    """Stands for a context where asyncio asks one to begin a connection."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._session: ssl.SSLSession | None = None

    async def connect(self, inner: asyncio.BufferedProtocol, host: str, port: int, room: memoryview) -> ssl.SSLObject:
        """Returns once the handshake is done."""
        loop = asyncio.get_running_loop()
        shaken: asyncio.Future[None] = loop.create_future()
        context = cast("ssl.SSLContext", self)
        plain, protocol = await loop.create_connection(
            lambda: BufferlessTls(inner, context, room, server_name=host, shaken=shaken), host, port
        )
        try:
            await shaken
        except BaseException:  # a cancellation, too, must not leave a connection behind
            plain.abort()
            raise
        made = cast("ssl.SSLObject", protocol._get_extra_info("ssl_object"))
        if not made.session_reused:
            self._session = None
        return made

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | None = None,
    ) -> ssl.SSLObject:
        return self._context.wrap_bio(incoming, outgoing, server_side, server_hostname, self._session)

    def answered(self, connection: ssl.SSLObject) -> None:
        """The ticket comes after the handshake, before the first answer."""
        if self._session is None:
            session = connection.session
            self._session = session if session is not None and session.has_ticket else None
