"""A stream that tells a browser when the pages have changed, as server-sent events.

Beside service.py. Nothing of the cluster goes through it: an event is a number, and the browser then asks for the page
it shows. It says of which version its page is, so no change between the page and the stream is missed. A reader costs
one number however much changes, events come no more often than pages can be made, and who does not read in time is let
go. It never keeps anything for a reader who is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

from gangline.runtime import Clock

READERS = 200
"""At a time; others ask for the page every few seconds instead."""
PACE = 1.0
"""Seconds between two events, at least."""
SLOWEST = 15.0
"""Seconds between two signs of life, whatever happens."""
PATIENCE = 10.0
"""Seconds for a reader to take one event."""
HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Accel-Buffering": "no",
}


class LiveStream:
    """`version` grows with each change; `pace` says how many seconds pages need between two events."""

    def __init__(self, clock: Clock, version: Callable[[], int], pace: Callable[[], float]) -> None:
        self._clock, self._version, self._pace = clock, version, pace
        self._readers: set[asyncio.Task[object]] = set()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        task = asyncio.current_task()
        if task is None or len(self._readers) >= READERS:
            return web.Response(status=503, text="Too many follow this page live; it renews itself all the same.\n")
        self._readers.add(task)
        try:
            return await self._tell(request)
        finally:
            self._readers.discard(task)

    async def _tell(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers=HEADERS)
        await response.prepare(request)
        before = request.headers.get("Last-Event-ID", request.query.get("since", ""))
        sent, silent = int(before) if before.isdecimal() and len(before) < 18 else self._version(), SLOWEST
        while True:
            version = self._version()
            if version != sent or silent >= SLOWEST:
                event = f"event: changed\ndata: {version}\n" if version != sent else ": still here\n"
                try:
                    async with asyncio.timeout(PATIENCE):
                        await response.write(f"{event}id: {version}\n\n".encode())
                except (TimeoutError, ConnectionError):
                    return response
                sent, silent = version, 0.0
            pause = min(max(PACE, self._pace()), SLOWEST)
            await self._clock.sleep(pause)
            if request.transport is None:
                return response
            silent += pause

    def close(self) -> None:
        """Lets every reader go."""
        for task in self._readers:
            task.cancel()
