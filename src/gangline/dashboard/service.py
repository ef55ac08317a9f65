"""The dashboard alive: answers GET and HEAD with pages made from what is seen of a cluster.

The shell of this folder; following/ reads the cluster for it. It serves at once, even while nothing can be read yet. It
never writes to a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec
from aiohttp import web

from gangline.client import Client
from gangline.dashboard.following.follower import ClusterSight, Follower
from gangline.dashboard.following.reckoner import ClusterReckoner
from gangline.dashboard.gangs import GangTable
from gangline.dashboard.login.gates import Gate, OpenGate
from gangline.dashboard.login.scope import ViewScope, namespaces_of, narrowed
from gangline.dashboard.look import ClusterView
from gangline.dashboard.pages import KnownPast
from gangline.dashboard.past.data import GangMoment
from gangline.dashboard.past.keeper import PastKeeper
from gangline.dashboard.replies import asset_reply, parts_of, plain_reply, reply
from gangline.dashboard.serving.kept_pages import KeptPages
from gangline.dashboard.serving.live import LiveStream
from gangline.runtime import Clock, SystemClock, background
from gangline.runtime.health import Endpoint, HttpPage

RECKONED = (["map"], ["queues"], ["queue"])
"""How the addresses of pages begin that show what the reckoner works out."""


class Dashboard:
    """Serves until it is stopped."""

    def __init__(
        self,
        sight: ClusterSight,
        clock: Clock | None = None,
        recording: Path | None = None,
        gate: Gate | None = None,
        reckoner: ClusterReckoner | None = None,
        kept: Path | None = None,
    ) -> None:
        self._sight, self._clock, self._reckoner = sight, clock or SystemClock(), reckoner
        self._past = PastKeeper(sight.look, self._clock, recording, kept)
        self._gate = gate or OpenGate()
        self._tasks: list[asyncio.Task[None]] = []
        self._kept = KeptPages()
        self._live = LiveStream(self._clock, lambda: self._version, lambda: self._kept.pace)
        self._endpoint = Endpoint(lambda: self.complete, rest=self._answer, streams={"/live": self._follow})

    @classmethod
    def of(
        cls,
        client: Client,
        server: str,
        clock: Clock | None = None,
        recording: Path | None = None,
        gate: Gate | None = None,
        kept: Path | None = None,
    ) -> Dashboard:
        """Of the cluster that this client speaks to; `server` is how it is called on the pages, `recording` the folder
        of what its scheduler recorded, if that can be read here, `kept` a folder for what the page remembers."""
        clock = clock or SystemClock()
        sight = Follower(client, server, clock)
        reckoner = ClusterReckoner(client, clock, sight.look, lambda: sight.version)
        return cls(sight, clock, recording, gate, reckoner, kept)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serve at once; gives the address. Raises OSError where the port is taken."""
        bound = await self._endpoint.open(host, port)
        await self._sight.start()
        self._tasks = [background.start("dashboard past", self._past.run, self._clock)]
        if self._reckoner is not None:
            self._tasks.append(background.start("dashboard reckoner", self._reckoner.run, self._clock))
        return f"http://{_shown(host)}:{bound}"

    async def stop(self) -> None:
        self._live.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._past.keep()
        await self._sight.stop()
        await self._endpoint.close()

    @property
    def complete(self) -> bool:
        """Everything has been read once, as far as it can be."""
        return self._sight.complete

    @property
    def _version(self) -> int:
        return self._sight.version + (self._reckoner.version if self._reckoner is not None else 0)

    def _look(self, path: str) -> ClusterView:
        """What is known now; where a page shows it, also why GPUs are idle and what share each queue has."""
        view = self._sight.look()
        view = msgspec.structs.replace(view, source=msgspec.structs.replace(view.source, version=self._version))
        if self._reckoner is None or parts_of(path)[:1] not in RECKONED:
            return view
        self._reckoner.ask()
        known = self._reckoner.known
        return msgspec.structs.replace(view, idle=known.idle, shares=known.shares)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        refused = await self._gate.refusal(request)
        if refused is not None:
            return web.Response(body=refused.body, status=refused.status, headers=refused.headers)
        return await self._live.serve(request)

    async def _answer(self, request: web.Request) -> HttpPage:
        path = request.raw_path.partition("?")[0]
        if (at_desk := await self._gate.desk(request)) is not None:
            return at_desk
        if request.method not in ("GET", "HEAD"):
            return plain_reply(
                405,
                f"{request.method} is not answered here: this page only shows, with GET and HEAD.",
                {"Allow": "GET, HEAD"},
            )
        if path.startswith("/assets/"):
            return asset_reply(parts_of(path)[1:])
        if (refused := await self._gate.refusal(request)) is not None:
            return refused
        scope = await self._gate.scope(request, lambda: namespaces_of(self._sight.look()))
        return await self._page(path, request.query, scope)

    async def _page(self, path: str, query: Mapping[str, str], scope: ViewScope) -> HttpPage:
        """The page at an address, as HTML or as data, with what this user may see."""
        past = KnownPast(self._past.memory, await self._story(path, scope), scope.namespaces)
        return self._kept.get(
            (self._version, scope, path, *sorted(query.items())),
            self._clock.monotonic(),
            lambda: reply(narrowed(self._look(path), scope), path, query, past),
        )

    async def _story(self, path: str, scope: ViewScope) -> tuple[GangMoment, ...]:
        """What was recorded of the gang whose timeline is asked for."""
        match parts_of(path):
            case ["gang", namespace, name, "timeline"] if scope.shows(namespace):
                gang = GangTable(self._sight.look()).called(namespace, name)
                titles = {gang.name, gang.title} if gang is not None else {name}
                return await self._past.story(namespace, name, frozenset(titles))
        return ()


def _shown(host: str) -> str:
    """How a browser on this machine names the host."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
