"""Connections to webhooks, carried by aiohttp: webhook_calls.py opens them when the first webhook is called.

A webhook that answers too late, with more than a request may have, or with a redirect has not answered: what it says is
never followed elsewhere, nor read without end. What is asked, and what an answer means, is not known here."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp

from gangline.cluster.server.admit.webhook_protocol import NoAnswer, address, rejection, server_name, tls_of, url_of
from gangline.cluster.server.core import Core

Obj = dict[str, Any]
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}


class WebhookSession:
    """The connections of one server to its webhooks."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._http = aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())

    async def close(self) -> None:
        await self._http.close()

    async def post(self, client: Obj, body: bytes, seconds: int) -> bytes:
        query = f"?timeout={seconds}s"
        try:
            async with self._http.post(
                url_of(self._core, client) + query,
                data=body,
                ssl=tls_of(client),
                timeout=aiohttp.ClientTimeout(seconds),
                headers=_HEADERS,
                server_hostname=server_name(client),
                allow_redirects=False,
            ) as answer:
                content = await _read(answer, self._core.settings.body_limit)
                if answer.status != 200:
                    raise NoAnswer(rejection(answer.status, content))
                return content
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(f'Post "{address(client)}{query}": {connection_problem(error)}') from None


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    """What was answered, as long as it is no longer than a request may be."""
    content = bytearray()
    async for chunk in answer.content.iter_any():
        content += chunk
        if len(content) > limit:
            raise NoAnswer(f"its answer is longer than {limit} bytes")
    return bytes(content)


def connection_problem(error: BaseException) -> str:
    if isinstance(error, asyncio.TimeoutError):
        return "context deadline exceeded"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ConnectionRefusedError):
        return f"dial tcp {error.host}:{error.port}: connect: connection refused"
    return str(error) or type(error).__name__
