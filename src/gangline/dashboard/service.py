"""The dashboard alive: answers GET and HEAD with pages made from what is seen of a cluster.

The shell of this folder; following/ reads the cluster for it. It serves at once, even while nothing can be read yet. It
never writes to a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from gangline.client import Client
from gangline.dashboard.following.follower import Follower, Sight
from gangline.dashboard.gangs import GangTable
from gangline.dashboard.pages import KnownPast
from gangline.dashboard.past.data import GangMoment
from gangline.dashboard.past.keeper import PastKeeper
from gangline.dashboard.replies import parts_of, plain_reply, reply
from gangline.dashboard.serving.kept_pages import KeptPages
from gangline.dashboard.serving.live import LiveStream
from gangline.runtime import Clock, SystemClock, background
from gangline.runtime.health import Endpoint, HttpPage


class Dashboard:
    """Serves until it is stopped."""

    def __init__(self, sight: Sight, clock: Clock | None = None, recording: Path | None = None) -> None:
        self._sight, self._clock = sight, clock or SystemClock()
        self._past = PastKeeper(sight.look, self._clock, recording)
        self._tasks: list[asyncio.Task[None]] = []
        self._kept = KeptPages()
        self._live = LiveStream(self._clock, lambda: sight.version, lambda: self._kept.pace)
        self._endpoint = Endpoint(lambda: self.complete, rest=self._answer, streams={"/live": self._live.serve})

    @classmethod
    def of(cls, client: Client, server: str, clock: Clock | None = None, recording: Path | None = None) -> Dashboard:
        """Of the cluster that this client speaks to; `server` is how it is called on the pages, `recording` the folder
        of what its scheduler recorded, if that can be read here."""
        clock = clock or SystemClock()
        return cls(Follower(client, server, clock), clock, recording)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serve at once; gives the address. Raises OSError where the port is taken."""
        bound = await self._endpoint.open(host, port)
        await self._sight.start()
        self._tasks = [background.start("dashboard past", self._past.run, self._clock)]
        return f"http://{_shown(host)}:{bound}"

    async def stop(self) -> None:
        self._live.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._sight.stop()
        await self._endpoint.close()

    @property
    def complete(self) -> bool:
        """Everything has been read once, as far as it can be."""
        return self._sight.complete

    async def _answer(self, request: web.Request) -> HttpPage:
        if request.method not in ("GET", "HEAD"):
            return plain_reply(
                405,
                f"{request.method} is not answered here: this page only shows, with GET and HEAD.",
                {"Allow": "GET, HEAD"},
            )
        return await self._page(request.raw_path.partition("?")[0], request.query)

    async def _page(self, path: str, query: Mapping[str, str]) -> HttpPage:
        """The page at an address, as HTML or as data."""
        past = KnownPast(self._past.memory, await self._story(path))
        return self._kept.get(
            (self._sight.version, path, *sorted(query.items())),
            self._clock.monotonic(),
            lambda: reply(self._sight.look(), path, query, past),
        )

    async def _story(self, path: str) -> tuple[GangMoment, ...]:
        """What was recorded of the gang whose timeline is asked for."""
        match parts_of(path):
            case ["gang", namespace, name, "timeline"]:
                gang = GangTable(self._sight.look()).called(namespace, name)
                titles = {gang.name, gang.title} if gang is not None else {name}
                return await self._past.story(namespace, name, frozenset(titles))
        return ()


def _shown(host: str) -> str:
    """How a browser on this machine is told of the host."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
