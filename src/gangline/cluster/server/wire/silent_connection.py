"""A connection without a request so far: it is counted, costs next to nothing, and is not kept for long.

http.py listens and makes these. With the first byte the TLS (client/connections/tls.py) and the reading of HTTP
(connection.py) take over; those who never send one, or stop in the middle of a handshake, are hung up on without a
word.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from gangline.client.connections.tls import BufferlessTls
from gangline.cluster.server.wire.connection import ServerConnection
from gangline.cluster.server.wire.connection_limits import Callers

LETTERS = range(ord("A"), ord("Z") + 1)
"""With one of them a request begins; TLS never does."""
NO_TLS = b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


@dataclass(frozen=True, slots=True)
class ListenerEntrance:
    """What all connections of a listener come through."""

    make: Callable[[Callable[[], None], Callable[[], None]], ServerConnection]
    """A connection that reads HTTP; it calls the first when a request has come, the second when it has ended."""
    context: ssl.SSLContext | None
    seconds: float
    """For the first byte, and for the handshake."""
    room: memoryview
    callers: Callers
    waiting: set[SilentConnection]


class SilentConnection(asyncio.BufferedProtocol):
    __slots__ = ("_entrance", "_transport", "address", "deadline")

    def __init__(self, entrance: ListenerEntrance) -> None:
        self._entrance = entrance

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else "somebody"
        self.deadline = asyncio.get_running_loop().time() + self._entrance.seconds
        if self._entrance.callers.enter(self):
            self._entrance.waiting.add(self)
        else:
            self._transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._entrance.room

    def buffer_updated(self, count: int) -> None:
        """The first bytes: from here on somebody else reads."""
        entrance, transport = self._entrance, self._transport
        entrance.waiting.discard(self)
        if entrance.context is not None and entrance.room[0] in LETTERS:
            transport.write(NO_TLS)
            transport.close()
            return
        inner: asyncio.BufferedProtocol = entrance.make(self._spoke, self._gone)
        if entrance.context is not None:
            tls = BufferlessTls(inner, entrance.context, entrance.room, seconds=entrance.seconds, gone=self._gone)
            inner = cast(asyncio.BufferedProtocol, tls)
        transport.set_protocol(inner)
        inner.connection_made(transport)
        inner.buffer_updated(count)

    def connection_lost(self, error: Exception | None) -> None:
        self._gone()

    def _spoke(self) -> None:
        self._entrance.callers.spoke(self)

    def _gone(self) -> None:
        self._entrance.waiting.discard(self)
        self._entrance.callers.leave(self)

    def abort(self) -> None:
        self._transport.abort()
