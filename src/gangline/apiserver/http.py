"""The server over HTTP: a listener whose connections carry requests to `Server.handle` and its answers back.

TLS and the life of connections are here; connection.py reads and writes them. Nothing here knows what a request means.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass

from gangline.apiserver.connection import Connection, Rounds
from gangline.apiserver.identity import server_context
from gangline.apiserver.server import Server

LOOPBACK = ("127.0.0.1", "localhost", "::1")
IDLE_SECONDS = 300.0
SWEEP_SECONDS = 30.0
FAREWELL_SECONDS = 1.0


@dataclass(slots=True)
class Listener:
    url: str
    port: int
    _listening: asyncio.Server
    _connections: set[Connection]
    _sweeper: asyncio.Task[None]

    async def close(self) -> None:
        """Let what is being answered finish, for a second; then hang up."""
        self._listening.close()
        self._sweeper.cancel()
        left = list(self._connections)
        for connection in left:
            connection.leave()
        if left:
            await asyncio.wait([connection.gone for connection in left], timeout=FAREWELL_SECONDS)
        for connection in list(self._connections):
            connection.abort()
        await self._listening.wait_closed()


async def serve(server: Server, host: str = "127.0.0.1", port: int = 0, tls: bool = True) -> Listener:
    """Listen, and answer with `server`. Port 0 takes a free one; without `tls`, plain HTTP."""
    context: ssl.SSLContext | None = None
    if tls:
        names = ("localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
        context = server_context(server.secrets.authority, tuple(dict.fromkeys((*names, host))))
    connections: set[Connection] = set()
    rounds = Rounds()
    listening = await asyncio.get_running_loop().create_server(
        lambda: Connection(server, connections, rounds), host, port, ssl=context, backlog=512)
    bound = listening.sockets[0].getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return Listener(f"{'https' if tls else 'http'}://{shown}:{bound}", bound, listening, connections, asyncio.create_task(
        _sweep(connections)))


async def _sweep(connections: set[Connection]) -> None:
    """Hang up on those who have asked nothing for long, or never end what they began to ask."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        late = asyncio.get_running_loop().time() - IDLE_SECONDS
        for connection in [each for each in connections if not each.busy and each.since < late]:
            connection.leave()
