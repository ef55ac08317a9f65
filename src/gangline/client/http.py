"""Requests over HTTP, to a real API server or to the embedded one in another process.

Adds the bearer token (asked for anew when it may have changed), keeps connections (connection.py), and turns "no
answer" into `Unavailable`. Through a proxy aiohttp carries them instead. Nothing here knows kinds; client.py does."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import lru_cache
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import aiohttp
from yarl import URL

from gangline.client.connection import ClientConnection
from gangline.client.exchange import ask
from gangline.client.response_reader import LONGEST_BODY
from gangline.client.wire import ByteStream, Request, Response
from gangline.errors import ConfigError, Unavailable

Token = Callable[[], Awaitable[str]]
CONNECTING, PATIENCE = 10.0, 60.0
"""Seconds for a connection to be made, and without a byte of an answer."""
ROOM = 256 * 1024
"""Bytes read at once, at most."""
KEPT = 30.0
"""Seconds for which a connection that nobody uses is kept: servers keep them longer, and one must not be ended while we
send."""
_PLAIN = "/%:@!$&'()*+,;=~"
"""What may stand in a path as it is; a path that is already quoted stays as it is."""
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/%:@!$&'()*+,;=~._-]*")


@lru_cache(maxsize=256)
def _query(query: tuple[tuple[str, str], ...]) -> str:
    return f"?{urlencode(query)}" if query else ""


def _target(request: Request) -> str:
    path = request.path if _PLAIN_PATH.fullmatch(request.path) else quote(request.path, safe=_PLAIN)
    return path + _query(request.query)


def _environment_names_proxy(server: str) -> bool:
    named, where = getproxies_environment(), urlsplit(server)
    return where.scheme in named and not proxy_bypass(where.netloc)


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
        proxied = bool(proxy) or _environment_names_proxy(self.server)
        self._line: Direct | Proxied = Proxied(self.server, tls, proxy) if proxied else Direct(self.server, tls)

    async def send(self, request: Request) -> Response:
        headers = {"Accept": request.accept, "User-Agent": self._agent, **request.headers}
        if request.body:
            headers["Content-Type"] = request.content_type
        if self._token is not None:
            headers["Authorization"] = f"Bearer {await self._token()}"
        watching = bool(request.query) and request.argument("watch") in ("true", "1")
        try:
            answer = await self._line.send(request, headers, watching)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable(
                {
                    "message": f"no answer from {self.server}: {error or type(error).__name__}",
                    "reason": "ServiceUnavailable",
                    "code": 503,
                }
            ) from error
        if answer.stream is not None:
            answer.stream = _whole(answer.stream)
        return answer

    async def close(self) -> None:
        await self._line.close()


async def _whole(stream: ByteStream) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in stream:
            yield chunk
    except (aiohttp.ClientError, OSError) as error:
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
        self._tls = tls
        self._room = memoryview(bytearray(ROOM))
        self._connections: dict[ClientConnection, None] = {}
        self._free: dict[ClientConnection, None] = {}

    async def send(self, request: Request, headers: dict[str, str], watching: bool) -> Response:
        text = self._text(request, headers)
        connection = await self._connection()
        answer = await ask(connection, text, watching, PATIENCE)
        if connection.usable:
            connection.free_since = asyncio.get_running_loop().time()
            self._free[connection] = None
        return answer

    def _text(self, request: Request, headers: dict[str, str]) -> bytes:
        lines = [
            f"{request.method} {self._prefix}{_target(request)} HTTP/1.1",
            f"Host: {self._name}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        if request.body or request.method != "GET":
            lines.append(f"Content-Length: {len(request.body)}")
        if any("\n" in line or "\r" in line for line in lines):
            raise ConfigError("a header of a request would hold a line break; look at the token and the names in it")
        return "\r\n".join((*lines, "", "")).encode() + request.body

    async def _connection(self) -> ClientConnection:
        """One that is free, or a new one."""
        oldest = asyncio.get_running_loop().time() - KEPT
        while self._free:
            connection, _ = self._free.popitem()
            if connection.usable and connection.free_since > oldest:
                return connection
            connection.abort()
        return await self._open()

    async def _open(self) -> ClientConnection:
        if self._secure and self._tls is None:
            self._tls = ssl.create_default_context()
        opening = asyncio.get_running_loop().create_connection(
            lambda: ClientConnection(self._room, self._gone),
            self._host,
            self._port,
            ssl=self._tls if self._secure else None,
        )
        _, connection = await asyncio.wait_for(opening, CONNECTING)
        self._connections[connection] = None
        return connection

    def _gone(self, connection: ClientConnection) -> None:
        self._connections.pop(connection, None)
        self._free.pop(connection, None)

    async def close(self) -> None:
        for connection in list(self._connections):
            connection.abort()
        await asyncio.sleep(0)


_READING = aiohttp.ClientTimeout(total=None, connect=CONNECTING, sock_read=PATIENCE)
_WATCHING = aiohttp.ClientTimeout(total=None, connect=CONNECTING, sock_read=None)


class Proxied:
    """Through the proxy that the kubeconfig or the environment names."""

    def __init__(self, server: str, tls: ssl.SSLContext | None, proxy: str | None) -> None:
        self._server, self._tls, self._proxy = server, tls, proxy
        self._session: aiohttp.ClientSession | None = None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(ssl=self._tls if self._tls is not None else True, limit=0)
            self._session = aiohttp.ClientSession(
                connector=connector,
                auto_decompress=True,
                trust_env=self._proxy is None,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def send(self, request: Request, headers: dict[str, str], watching: bool) -> Response:
        url = URL(f"{self._server}{_target(request)}", encoded=True)
        answer = await self._connected().request(
            request.method,
            url,
            data=request.body or None,
            headers=headers,
            timeout=_WATCHING if watching else _READING,
            proxy=self._proxy,
        )
        answered_headers = {key.lower(): value for key, value in answer.headers.items()}
        warnings = tuple(answer.headers.getall("Warning", []))
        if watching and answer.status == 200:
            return Response(
                200,
                content_type=answer.content_type,
                headers=answered_headers,
                warnings=warnings,
                stream=_chunks(answer),
            )
        return Response(answer.status, await _body(answer), answer.content_type, answered_headers, warnings)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in _chunks(answer):
        body += chunk
        if len(body) > LONGEST_BODY:
            raise ConnectionError(f"an answer is larger than {LONGEST_BODY} bytes")
    return bytes(body)


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in answer.content.iter_any():
            yield chunk
    finally:
        answer.close()
