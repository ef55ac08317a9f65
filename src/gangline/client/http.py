"""Requests over HTTP, to a real API server or to the embedded one in another process.

A thin layer on aiohttp: it adds the bearer token (asked for anew when it may have changed), keeps connections, and turns
"no answer" into `Unavailable`. Nothing here knows kinds; client.py does.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import quote, urlencode
from urllib.request import getproxies_environment

import aiohttp
from yarl import URL

from gangline.client.wire import Request, Response
from gangline.errors import Unavailable

Token = Callable[[], Awaitable[str]]
_PLAIN = "/%:@!$&'()*+,;=~"
"""What may stand in a path as it is; a path that is already quoted stays as it is."""


_READING = aiohttp.ClientTimeout(total=None, connect=10, sock_read=60)
_WATCHING = aiohttp.ClientTimeout(total=None, connect=10, sock_read=None)


class Http:
    """A Transport to one server."""

    def __init__(self, server: str, tls: ssl.SSLContext | None = None, token: Token | None = None,
                 agent: str = "gangline", proxy: str | None = None) -> None:
        self.server = server.rstrip("/")
        self._tls = tls
        self._token = token
        self._agent = agent
        self._proxy = proxy
        self._session: aiohttp.ClientSession | None = None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(ssl=self._tls if self._tls is not None else True, limit=0)
            asks_environment = self._proxy is None and bool(getproxies_environment())
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=True, trust_env=asks_environment,
                                                  cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _url(self, request: Request) -> URL:
        query = f"?{urlencode(request.query)}" if request.query else ""
        return URL(f"{self.server}{quote(request.path, safe=_PLAIN)}{query}", encoded=True)

    async def send(self, request: Request) -> Response:
        headers = {"Accept": request.accept, "User-Agent": self._agent, **request.headers}
        if request.body:
            headers["Content-Type"] = request.content_type
        if self._token is not None:
            headers["Authorization"] = f"Bearer {await self._token()}"
        watching = bool(request.query) and request.argument("watch") in ("true", "1")
        try:
            answer = await self._connected().request(request.method, self._url(request), data=request.body or None, headers=headers,
                                                     timeout=_WATCHING if watching else _READING, proxy=self._proxy)
            return await _response(answer, watching)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable({"message": f"no answer from {self.server}: {error or type(error).__name__}",
                               "reason": "ServiceUnavailable", "code": 503}) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _response(answer: aiohttp.ClientResponse, watching: bool) -> Response:
    headers = {key.lower(): value for key, value in answer.headers.items()}
    warnings = tuple(answer.headers.getall("Warning", []))
    if watching and answer.status == 200:
        return Response(200, content_type=answer.content_type, headers=headers, warnings=warnings, stream=_chunks(answer))
    body = await answer.read()
    return Response(answer.status, body, answer.content_type, headers, warnings)


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.content.iter_any():
            yield chunk
    except aiohttp.ClientError as error:
        raise Unavailable({"message": f"the watch was cut off: {error}", "code": 503}) from error
    finally:
        answer.close()
