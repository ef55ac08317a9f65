"""The dashboard alive: follows a cluster, and answers GET and HEAD with pages made from what it has heard.

The only shell of this folder. It lists and watches through the runtime's cache, asks every few seconds whether the
cluster still answers, and serves at once, even while nothing can be read yet. It never writes to a cluster, and needs
no more than get, list and watch (rights.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from gangline.api.kinds import (
    EVENT,
    JOB,
    NODE,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    QUEUE,
    SCALING_GROUP,
    TOPOLOGY,
    Kind,
)
from gangline.client import Client
from gangline.dashboard.look import ClusterView, NodeFact, PodFact, node_fact, pod_fact
from gangline.dashboard.model import Source
from gangline.dashboard.object_facts import ObjectFacts
from gangline.dashboard.replies import plain_reply, reply, source_of
from gangline.errors import ApiError, Unavailable
from gangline.runtime import Cache, Clock, SystemClock, background
from gangline.runtime.health import Endpoint, HttpPage

KINDS: tuple[Kind[Any], ...] = (
    NODE,
    POD,
    POD_GANG,
    POD_GROUP,
    QUEUE,
    POD_CLIQUE_SET,
    POD_CLIQUE,
    SCALING_GROUP,
    TOPOLOGY,
    EVENT,
    JOB,
)
"""All that it reads."""
PULSE = 3.0
"""Seconds between two questions whether the cluster still answers."""


class Dashboard:
    """Serves until it is stopped. `server` is how the cluster is called on the pages."""

    def __init__(self, client: Client, server: str, clock: Clock | None = None) -> None:
        self._client, self._server, self._clock = client, server, clock or SystemClock()
        self._cache = Cache(client, self._clock)
        self._informers = [self._cache.informer(kind) for kind in KINDS]
        self._pods: ObjectFacts[Any, PodFact] = ObjectFacts(self._cache.informer(POD), pod_fact)
        self._nodes: ObjectFacts[Any, NodeFact] = ObjectFacts(self._cache.informer(NODE), node_fact)
        self._endpoint = Endpoint(lambda: self.complete, rest=self._answer)
        self._heard: float | None = None
        self._problem = ""
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serve at once; gives the address. Raises OSError where the port is taken."""
        bound = await self._endpoint.open(host, port)
        self._tasks = [
            background.start("dashboard cache", self._cache.start, self._clock),
            background.start("dashboard pulse", self._listen, self._clock),
        ]
        return f"http://{_shown(host)}:{bound}"

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._cache.stop()
        await self._endpoint.close()

    @property
    def complete(self) -> bool:
        """Everything has been read once, as far as it can be."""
        return all(informer.synced.is_set() or informer.trouble is not None for informer in self._informers)

    # --- the cluster --------------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Any answer is a sign of life, a refusal too."""
        while True:
            try:
                await self._client.send("GET", "/version")
                self._sign("")
            except Unavailable as error:
                self._problem = str(error)
            except ApiError:
                self._sign("")
            await self._clock.sleep(PULSE)

    def _sign(self, problem: str) -> None:
        self._heard, self._problem = self._clock.now(), problem

    def look(self) -> ClusterView:
        """What is known now."""
        read = self._cache.list
        return ClusterView(
            source=self._source(),
            pods=self._pods.all(),
            nodes=self._nodes.all(),
            gangs=read(POD_GANG),
            groups=read(POD_GROUP),
            queues=read(QUEUE),
            sets=read(POD_CLIQUE_SET),
            cliques=read(POD_CLIQUE),
            scaling_groups=read(SCALING_GROUP),
            topologies=read(TOPOLOGY),
            events=read(EVENT),
            jobs=read(JOB),
        )

    def _source(self) -> Source:
        return source_of(self._server, self._clock.now(), self._heard, self._problem, self._informers)

    # --- requests -----------------------------------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> HttpPage:
        if request.method not in ("GET", "HEAD"):
            return plain_reply(
                405,
                f"{request.method} is not answered here: this page only shows, with GET and HEAD.",
                {"Allow": "GET, HEAD"},
            )
        return self.answer(request.raw_path.partition("?")[0], request.query)

    def answer(self, path: str, query: Mapping[str, str]) -> HttpPage:
        """The page at an address, as HTML or as data."""
        return reply(self.look(), path, query)


def _shown(host: str) -> str:
    """How a browser on this machine is told of the host."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
