"""TLS around a connection, without a buffer of its own.

asyncio's protocol keeps a quarter of a megabyte for each connection to read into. Here all of a listener's connections
read into one place: what came is taken from it before anybody else reads. silent_connection.py makes these when the
first byte has come. Nothing here knows HTTP; whoever speaks no TLS, or stops in the middle of a handshake, is hung up
on without a word."""

from __future__ import annotations

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable

GOODBYE_SECONDS = 5.0
"""How long the other side may take to answer our close_notify."""


class TlsProtocol(SSLProtocol):
    max_size = 0  # of the buffer that is not needed
    _ssl_buffer_view: memoryview
    _app_protocol_get_buffer: Callable[[int], memoryview]
    _app_protocol_buffer_updated: Callable[[int], None]

    def __init__(
        self,
        inner: asyncio.BufferedProtocol,
        context: ssl.SSLContext,
        seconds: float,
        room: memoryview,
        gone: Callable[[], None],
    ) -> None:
        """`seconds` for the handshake. `room` is where bytes arrive. `gone` is called when the connection has ended."""
        super().__init__(
            asyncio.get_running_loop(),
            inner,
            context,
            None,  # type: ignore[arg-type]
            server_side=True,
            ssl_handshake_timeout=seconds,  # type: ignore[arg-type]
            ssl_shutdown_timeout=GOODBYE_SECONDS,
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
