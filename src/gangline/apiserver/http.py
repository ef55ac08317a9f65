"""The server over HTTP: aiohttp carries requests to `Server.handle` and its responses back.

TLS, client certificates and limits live here; nothing here knows what a request means.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from gangline.apiserver.identity import certificate_user, server_context
from gangline.apiserver.server import Server
from gangline.apiserver.status import answer, too_large_body
from gangline.client.wire import JSON, Request, Response

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(slots=True)
class Listener:
    url: str
    port: int
    _runner: web.ServerRunner

    async def close(self) -> None:
        await self._runner.cleanup()


async def serve(server: Server, host: str = "127.0.0.1", port: int = 0, tls: bool = True) -> Listener:
    """Listen, and answer with `server`. Port 0 takes a free one; without `tls`, plain HTTP."""
    context: ssl.SSLContext | None = None
    if tls:
        names = ("localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
        context = server_context(server.secrets.authority, tuple(dict.fromkeys((*names, host))))

    async def respond(request: web.BaseRequest) -> web.StreamResponse:
        return await _respond(server, request)

    runner = web.ServerRunner(web.Server(respond, request_factory=_request_factory(server.settings.body_limit), access_log=None),
                              shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, host, port, ssl_context=context, backlog=512)
    await site.start()
    bound = runner.addresses[0][1]
    shown = f"[{host}]" if ":" in host else host
    return Listener(f"{'https' if tls else 'http'}://{shown}:{bound}", bound, runner)


def _request_factory(limit: int) -> Any:
    """aiohttp's own requests, with our limit for bodies."""
    def make(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(message, payload, protocol, writer, task, asyncio.get_running_loop(), client_max_size=limit)

    return make


async def _respond(server: Server, request: web.BaseRequest) -> web.StreamResponse:
    limit = server.settings.body_limit
    if (request.content_length or 0) > limit:
        return _plain(answer(too_large_body(limit)))
    try:
        body = await request.read() if request.can_read_body else b""
    except web.HTTPRequestEntityTooLarge:
        return _plain(answer(too_large_body(limit)))
    response = await server.handle(_translate(request, body))
    if response.stream is None:
        return _plain(response)
    return await _stream(request, response)


def _translate(request: web.BaseRequest, body: bytes) -> Request:
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        name = name.lower()
        headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    certificate = request.transport.get_extra_info("peercert") if request.transport else None
    asked = request.rel_url.raw_query_string
    query = tuple(parse_qsl(asked, keep_blank_values=True)) if asked else ()
    return Request(request.method, request.rel_url.raw_path, query, body, headers.get("content-type", JSON),
                   headers.get("accept", "*/*"), headers, certificate_user(certificate))


def _headers(response: Response) -> dict[str, str]:
    return {**response.headers, "Content-Type": response.content_type} if response.content_type else dict(response.headers)


def _plain(response: Response) -> web.Response:
    found = web.Response(status=response.status, body=response.body, headers=_headers(response))
    _add_warnings(found, response)
    return found


def _add_warnings(target: web.StreamResponse, response: Response) -> None:
    for warning in response.warnings:
        told = warning.replace("\\", "\\\\").replace('"', '\\"')
        target.headers.add("Warning", f'299 - "{told}"')


async def _stream(request: web.BaseRequest, response: Response) -> web.StreamResponse:
    stream = response.stream
    assert stream is not None
    target = web.StreamResponse(status=response.status, headers=_headers(response))
    _add_warnings(target, response)
    target.enable_chunked_encoding()
    await target.prepare(request)
    try:
        async for chunk in stream:
            await target.write(chunk)
        await target.write_eof()
    except (ConnectionError, asyncio.CancelledError):
        pass
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    return target
