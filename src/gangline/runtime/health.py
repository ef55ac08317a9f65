"""A component's small HTTP server: alive, ready, metrics, and whatever pages the component adds.

`/healthz` answers as soon as the process lives, `/readyz` once it is ready, `/metrics` in Prometheus' text form. Where
it is served on this machine only, a request that was meant for another name is refused, whatever it asks for. Nothing
here changes anything."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import PayloadAccessError, RequestPayloadError
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest

from gangline.rules.values.hosts import is_loopback, names_this_machine
from gangline.runtime import background
from gangline.runtime.clock import SystemClock
from gangline.runtime.listening.idle_connections import IdleConnections, ListenerBounds

TEXT = "text/plain; version=0.0.4; charset=utf-8"
ELSEWHERE = "This page is served on this machine only; ask for it as http://127.0.0.1 or http://localhost.\n"
UPSTREAMS = re.compile(rb"^((?:# (?:HELP|TYPE) )?)kai_", re.MULTILINE)


class HttpPage:
    """What a page answers: a body, its type and headers."""

    def __init__(
        self,
        body: bytes,
        content_type: str = "application/json",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.body, self.content_type, self.status, self.headers = body, content_type, status, dict(headers or {})


Pages = Mapping[str, Callable[[], Awaitable[HttpPage]]]
"""Path → who answers a GET of it."""
Rest = Callable[[web.Request], Awaitable[HttpPage]]
"""Answers whatever no other page does, with any verb."""
Streams = Mapping[str, Callable[[web.Request], Awaitable[web.StreamResponse]]]
"""Path → who answers a GET of it for as long as it likes."""
FAREWELL_SECONDS = 1.0
"""How long a listener that closes waits for requests that are not answered yet."""
BOUNDS = ListenerBounds()
UNREADABLE = (HttpProcessingError, PayloadAccessError, RequestPayloadError)
"""What aiohttp raises about a request that is none, or whose body is not what its head says."""


def _is_fault_of_ours(record: logging.LogRecord) -> bool:
    """Who sends what cannot be read is told so; were it logged, anybody could fill a disk with it."""
    return not (record.exc_info and isinstance(record.exc_info[1], UNREADABLE))


log = logging.getLogger(__name__)
log.addFilter(_is_fault_of_ours)


class BoundedRunner(web.AppRunner):
    """Serves an application within bounds: who asks nothing, or never ends asking, is not waited for."""

    def __init__(self, app: web.Application, bounds: ListenerBounds = BOUNDS) -> None:
        self._bounds, self._idle = bounds, IdleConnections[web.RequestHandler](bounds)
        self._looking: asyncio.Task[None] | None = None
        app.middlewares.append(self._within_bounds)
        super().__init__(app, access_log=None, logger=log, shutdown_timeout=FAREWELL_SECONDS)

    async def setup(self) -> None:
        await super().setup()
        self._looking = background.start("listener bounds", self._look, SystemClock())

    async def cleanup(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await super().cleanup()

    async def _look(self) -> None:
        while self.server is not None:
            for late in self._idle.late(self.server.connections, time.monotonic()):
                late.force_close()
            await asyncio.sleep(self._bounds.look)

    @web.middleware
    async def _within_bounds(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self._idle.asks(request.protocol)
        try:
            refused = await self._refusal(request)
            return await handler(request) if refused is None else refused
        finally:
            self._idle.answered(request.protocol)

    async def _refusal(self, request: web.Request) -> web.Response | None:
        """What is answered to a body that does not come in time, or cannot be read."""
        if not request.can_read_body:
            return None
        try:
            async with asyncio.timeout(self._bounds.body):
                await request.read()
        except TimeoutError:
            refusal = web.Response(status=408, text="the body did not come in time\n")
        except UNREADABLE:
            refusal = web.Response(status=400, text="the body cannot be read\n")
        else:
            return None
        request.protocol.close()
        return refusal


def runner(app: web.Application, host: str, bounds: ListenerBounds = BOUNDS) -> web.AppRunner:
    """Serves an application on `host`; every listener but the API server's is made here. When it stops, who has not
    asked to the end does not keep it from stopping."""
    if is_loopback(host):
        app.middlewares.append(_check_host)
    return BoundedRunner(app, bounds)


class Endpoint:
    """Serves until it is closed. `port` 0 chooses a free one."""

    def __init__(
        self,
        ready: Callable[[], bool] = lambda: True,
        pages: Pages | None = None,
        registries: tuple[CollectorRegistry, ...] = (REGISTRY,),
        namespace: str = "",
        rest: Rest | None = None,
        streams: Streams | None = None,
    ) -> None:
        """`namespace`: what upstream's metrics begin with instead of `kai`."""
        self._ready, self._registries, self._namespace = ready, registries, namespace
        self._pages, self._rest, self._streams = dict(pages or {}), rest, dict(streams or {})
        self._runner: web.AppRunner | None = None

    async def open(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Starts serving; gives the port. Where the port is taken, it may be opened again at another one."""
        self._runner = runner(self._application(), host)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError:
            await self.close()
            raise
        return int(self._runner.addresses[0][1])

    def _application(self) -> web.Application:
        app = web.Application()
        app.add_routes(
            [web.get("/healthz", self._alive), web.get("/readyz", self._readyz), web.get("/metrics", self._metrics)]
        )
        for path, answer in self._pages.items():
            app.router.add_get(path, _handler(_always(answer)))
        app.add_routes([web.get(path, answer, allow_head=False) for path, answer in self._streams.items()])
        if self._rest is not None:
            app.router.add_route("*", "/{rest:.*}", _handler(self._rest))
        return app

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _alive(self, request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _readyz(self, request: web.Request) -> web.Response:
        ready = self._ready()
        return web.Response(text="ok" if ready else "not ready yet", status=200 if ready else 503)

    async def _metrics(self, request: web.Request) -> web.Response:
        body = b"".join(generate_latest(registry) for registry in self._registries)
        if self._namespace:
            body = UPSTREAMS.sub(rf"\g<1>{self._namespace}_".encode(), body)
        return web.Response(body=body, headers={"Content-Type": TEXT})


@web.middleware
async def _check_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    if not names_this_machine(request.headers.get("Host", "")):
        return web.Response(
            status=403, text=ELSEWHERE, headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
        )
    return await handler(request)


def _always(answer: Callable[[], Awaitable[HttpPage]]) -> Rest:
    return lambda request: answer()


def _handler(answer: Rest) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        page = await answer(request)
        return web.Response(
            body=page.body, status=page.status, headers={"Content-Type": page.content_type, **page.headers}
        )

    return handle
