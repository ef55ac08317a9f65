"""The server over HTTP: a listener whose connections carry requests to `Server.handle` and its answers back.

The life of connections is here: how many there may be, and how long they may take. silent_connection.py lets them in,
connection.py reads and writes them. Nothing here knows what a request means.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
from dataclasses import dataclass, field

from gangline.cluster.server.access.identity import server_context
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.connection import ConnectionTimeouts, ServerConnection, WatcherRounds
from gangline.cluster.server.wire.connection_limits import Callers
from gangline.cluster.server.wire.send_backlog import GRACE_SECONDS, MOST_BYTES, SendBacklog
from gangline.cluster.server.wire.silent_connection import ListenerEntrance, SilentConnection

SWEEP_SECONDS = 1.0
FAREWELL_SECONDS = 1.0
PER_ADDRESS = 2000
OTHER_FILES = 128
"""Files and sockets that this process needs besides its connections."""
ROOM = 256 * 1024
"""Bytes read at once, at most."""


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    per_address: int = PER_ADDRESS
    """Connections that one address may have."""
    overall: int = field(default_factory=lambda: max(_files() - OTHER_FILES, _files() // 2))
    patience: ConnectionTimeouts = field(default_factory=ConnectionTimeouts)
    waiting_bytes: int = MOST_BYTES
    """What may wait to be sent, over all connections, before the slowest is hung up on."""
    grace: float = GRACE_SECONDS
    """Seconds that each may stand still all the same."""
    farewell: float = FAREWELL_SECONDS
    """Seconds that connections have to end by themselves when the listener closes."""


def _files() -> int:
    """How many this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000_000 if soft == resource.RLIM_INFINITY else soft


@dataclass(slots=True)
class ServerListener:
    url: str
    port: int
    _listening: asyncio.Server
    _connections: set[ServerConnection]
    _callers: Callers
    _sweeper: asyncio.Task[None]
    _farewell: float

    async def close(self) -> None:
        """Let what is being answered finish, for a moment; then hang up. Who asks nothing is not waited for: he need
        not even hear that the connection ends."""
        await self._stop_listening()
        self._sweeper.cancel()
        left = list(self._connections)
        ends = [connection.ended() for connection in left if connection.busy]
        for connection in left:
            connection.leave()
        if ends:
            await asyncio.wait(ends, timeout=self._farewell)
        for connection in list(self._connections):
            connection.abort()
        await self._listening.wait_closed()

    async def _stop_listening(self) -> None:
        """Connections on their way in still arrive, and are turned away: asyncio would forget them, and the other side
        would wait."""
        self._callers.close()
        for listening in self._listening.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        await asyncio.sleep(0)
        self._listening.close()


async def serve(
    server: Server, host: str = "127.0.0.1", port: int = 0, tls: bool = True, settings: ListenerSettings | None = None
) -> ServerListener:
    """Listen, and answer with `server`. Port 0 takes a free one; without `tls`, plain HTTP."""
    settings, loop = settings or ListenerSettings(), asyncio.get_running_loop()
    connections: set[ServerConnection] = set()
    rounds, room, patience = WatcherRounds(), memoryview(bytearray(ROOM)), settings.patience
    backlog = SendBacklog(settings.waiting_bytes, settings.grace, loop.time)
    entrance = ListenerEntrance(
        lambda spoke, gone: ServerConnection(server, connections, rounds, backlog, patience, room, spoke, gone),
        _context(server, host) if tls else None,
        patience.handshake,
        room,
        Callers(settings.per_address, settings.overall, loop.time),
        set(),
    )
    listening = await loop.create_server(lambda: SilentConnection(entrance), host, port, backlog=512)
    bound = listening.sockets[0].getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return ServerListener(
        f"{'https' if tls else 'http'}://{shown}:{bound}",
        bound,
        listening,
        connections,
        entrance.callers,
        asyncio.create_task(_sweep(connections, entrance.waiting, backlog)),
        settings.farewell,
    )


def _context(server: Server, host: str) -> ssl.SSLContext:
    names = ("localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
    context = server_context(server.secrets.authority, tuple(dict.fromkeys((*names, host))))
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context


async def _sweep(connections: set[ServerConnection], waiting: set[SilentConnection], backlog: SendBacklog) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        _tidy(connections, waiting, asyncio.get_running_loop().time())
        backlog.shrink()


def _tidy(connections: set[ServerConnection], waiting: set[SilentConnection], now: float) -> None:
    """Hang up on who has asked nothing for long, does not end what it began to ask, or does not take its answer."""
    for doorway in [item for item in waiting if item.deadline < now]:
        doorway.abort()
    for connection in list(connections):
        if connection.deadline < now:
            connection.expire()
        else:
            connection.tidy()
