"""Requests over HTTP, to a real API server or to the embedded one in another process.

Adds the bearer token (asked for anew when it may have changed), keeps connections (connection.py), and turns "no
answer" into `Unavailable`. Through a proxy aiohttp carries them instead (proxied.py, imported only then, since aiohttp
takes longer to import than a command may take). Nothing here knows kinds; client.py does."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from gangline.client.connections.connection import ClientConnection
from gangline.client.connections.exchange import ask
from gangline.client.connections.pool import ConnectionPool
from gangline.client.connections.response_reader import HeldBytes
from gangline.client.connections.tls import ResumedTls
from gangline.client.wire import ByteStream, Request, Response, no_answer
from gangline.errors import ConfigError, Unavailable
from gangline.rules.values.hosts import checked_proxy

if TYPE_CHECKING:
    from gangline.client.connections.proxied import Proxied

Token = Callable[[], Awaitable[str]]
CONNECTING, PATIENCE = 10.0, 60.0
"""Seconds for a connection to be made, and without a byte of an answer."""
ROOM = 256 * 1024
"""Bytes read at once, at most."""
_PLAIN = "/%:@!$&'()*+,;=~"
"""What may stand in a path as it is; a path that is already quoted stays as it is."""
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/%:@!$&'()*+,;=~._-]*")


@lru_cache(maxsize=256)
def _query(query: tuple[tuple[str, str], ...]) -> str:
    return f"?{urlencode(query)}" if query else ""


def target_of(request: Request) -> str:
    path = request.path if _PLAIN_PATH.fullmatch(request.path) else quote(request.path, safe=_PLAIN)
    return path + _query(request.query)


def _environment_proxy(server: str) -> str:
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return ""
    from urllib.request import getproxies_environment, proxy_bypass

    named, where = getproxies_environment(), urlsplit(server)
    return "" if proxy_bypass(where.netloc) else named.get(where.scheme, "")


def _line(server: str, tls: ssl.SSLContext | None, proxy: str | None) -> Direct | Proxied:
    if not checked_proxy(proxy or _environment_proxy(server)):
        return Direct(server, tls)
    from gangline.client.connections.proxied import Proxied

    return Proxied(server, tls, proxy)


class Http:
    """A Transport to one server."""

    def __init__(
        self,
        server: str,
        tls: ssl.SSLContext | None = None,
        token: Token | None = None,
        agent: str = "gangline",
        proxy: str | None = None,
    ) -> None:
        self.server = server.rstrip("/")
        self._token = token
        self._agent = agent
        self._line = _line(self.server, tls, proxy)

    async def send(self, request: Request) -> Response:
        headers = {"Accept": request.accept, "User-Agent": self._agent, **request.headers}
        if request.body:
            headers["Content-Type"] = request.content_type
        if self._token is not None:
            headers["Authorization"] = f"Bearer {await self._token()}"
        watching = bool(request.query) and request.argument("watch") in ("true", "1")
        try:
            answer = await self._line.send(request, headers, watching)
        except OSError as error:
            raise no_answer(self.server, error) from error
        if answer.stream is not None:
            answer.stream = _whole(answer.stream)
        return answer

    async def close(self) -> None:
        await self._line.close()


async def _whole(stream: ByteStream) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in stream:
            yield chunk
    except OSError as error:
        raise Unavailable({"message": f"the watch was cut off: {error}", "code": 503}) from error
    finally:
        await stream.aclose()


class Direct:
    """Connections of our own; each serves one request after the other."""

    def __init__(self, server: str, tls: ssl.SSLContext | None) -> None:
        where = urlsplit(server)
        self._secure = where.scheme == "https"
        self._host, self._port = where.hostname or "", where.port or (443 if self._secure else 80)
        self._name, self._prefix = where.netloc.rpartition("@")[2], where.path
        self._tls = ResumedTls(tls) if tls is not None else None
        self._room, self._together = memoryview(bytearray(ROOM)), HeldBytes()
        self._connections: dict[ClientConnection, None] = {}
        self._pool = ConnectionPool()

    async def send(self, request: Request, headers: dict[str, str], watching: bool) -> Response:
        text = self._text(request, headers)
        connection = await self._connection()
        answer = await ask(connection, text, watching, PATIENCE)
        if self._tls is not None and connection.tls is not None:
            self._tls.answered(connection.tls)
        if connection.usable:
            self._pool.give(connection)
        return answer

    def _text(self, request: Request, headers: dict[str, str]) -> bytes:
        lines = [
            f"{request.method} {self._prefix}{target_of(request)} HTTP/1.1",
            f"Host: {self._name}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        if request.body or request.method != "GET":
            lines.append(f"Content-Length: {len(request.body)}")
        if any("\n" in line or "\r" in line for line in lines):
            raise ConfigError("a header of a request would hold a line break; look at the token and the names in it")
        return "\r\n".join((*lines, "", "")).encode() + request.body

    async def _connection(self) -> ClientConnection:
        """One that is free, or the first that becomes so."""
        free = self._pool.take()
        if free is None and not self._pool.may_open():
            place = self._pool.wait()
            try:
                free = await place
            except asyncio.CancelledError:
                self._pool.give_back(place)
                raise
            if free is not None and not free.usable:
                return await self._connection()
        if free is not None:
            return free
        try:
            return await self._open()
        finally:
            self._pool.opened()

    async def _open(self) -> ClientConnection:
        if self._secure and self._tls is None:
            self._tls = ResumedTls(ssl.create_default_context())
        connection = ClientConnection(self._room, self._together, self._gone)
        async with asyncio.timeout(CONNECTING):  # wait_for may lose a cancellation that comes with a failure
            if self._secure and self._tls is not None:
                connection.tls = await self._tls.connect(connection, self._host, self._port, self._room)
            else:
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: connection, self._host, self._port)
        self._connections[connection] = None
        return connection

    def _gone(self, connection: ClientConnection) -> None:
        self._connections.pop(connection, None)
        self._pool.forget(connection)

    async def close(self) -> None:
        for connection in list(self._connections):
            connection.abort()
        await asyncio.sleep(0)
