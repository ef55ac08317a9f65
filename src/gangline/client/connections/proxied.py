"""Requests through a proxy, which the kubeconfig or the environment names: aiohttp carries them.

http.py chooses between this and connections of our own, and imports it only where there is a proxy. What aiohttp raises
leaves here as a `ConnectionError`."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator

import aiohttp
from yarl import URL

from gangline.client.connections.response_reader import LONGEST_BODY
from gangline.client.http import CONNECTING, PATIENCE, target_of
from gangline.client.wire import Request, Response

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
        try:
            return await self._send(request, headers, watching)
        except aiohttp.ClientError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error

    async def _send(self, request: Request, headers: dict[str, str], watching: bool) -> Response:
        url = URL(f"{self._server}{target_of(request)}", encoded=True)
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
    except aiohttp.ClientError as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
    finally:
        answer.close()
