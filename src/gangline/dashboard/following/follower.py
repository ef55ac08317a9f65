"""What the pages are made from, kept in step with a cluster: lists and watches, and asks every few seconds whether the
cluster still answers.

Below service.py, which serves pages. It counts what changes, so that a page is made anew only when something did. It
never writes to a cluster, and needs no more than get, list and watch (rights.py)."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

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
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    SCALING_GROUP,
    TOPOLOGY,
    Kind,
)
from gangline.client import Client
from gangline.dashboard.claimed import with_devices
from gangline.dashboard.following.object_facts import ObjectFacts
from gangline.dashboard.look import ClusterView, NodeFact, PodFact, node_fact, pod_fact
from gangline.dashboard.page_data import PageSource
from gangline.dashboard.replies import source_of
from gangline.errors import ApiError, Unavailable
from gangline.runtime import Cache, Clock, background

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
    RESOURCE_SLICE,
    RESOURCE_CLAIM,
)
"""All that is read."""
PULSE = 3.0
"""Seconds between two questions whether the cluster still answers."""


class ClusterSight(Protocol):
    """Where pages get what they show."""

    @property
    def complete(self) -> bool:
        """Everything has been read once, as far as it can be."""

    @property
    def version(self) -> int:
        """Grows whenever something that pages show has changed."""

    def look(self) -> ClusterView:
        """What is known now."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class Follower:
    """Follows a cluster from `start` to `stop`. `server` is how the cluster is called on the pages."""

    def __init__(self, client: Client, server: str, clock: Clock) -> None:
        self._client, self._server, self._clock = client, server, clock
        self._cache = Cache(client, clock)
        self._informers = [self._cache.informer(kind) for kind in KINDS]
        self._pods: ObjectFacts[Any, PodFact] = ObjectFacts(self._cache.informer(POD), pod_fact)
        self._nodes: ObjectFacts[Any, NodeFact] = ObjectFacts(self._cache.informer(NODE), node_fact)
        for informer in self._informers:
            informer.on_change(self._changed)
        self._heard: float | None = None
        self._problem = ""
        self._version = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [
            background.start("dashboard cache", self._cache.start, self._clock),
            background.start("dashboard pulse", self._listen, self._clock),
        ]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._cache.stop()

    @property
    def complete(self) -> bool:
        return all(informer.synced.is_set() or informer.trouble is not None for informer in self._informers)

    @property
    def version(self) -> int:
        return self._version

    def _changed(self, before: object, after: object) -> None:
        self._version += 1

    async def _listen(self) -> None:
        """Any answer is a sign of life, a refusal too."""
        while True:
            try:
                await self._client.send("GET", "/version")
                self._sign("")
            except Unavailable as error:
                self._version += str(error) != self._problem
                self._problem = str(error)
            except ApiError:
                self._sign("")
            await self._clock.sleep(PULSE)

    def _sign(self, problem: str) -> None:
        self._version += problem != self._problem
        self._heard, self._problem = self._clock.now(), problem

    def look(self) -> ClusterView:
        read = self._cache.list
        pods, nodes = with_devices(self._pods.all(), self._nodes.all(), read(RESOURCE_SLICE), read(RESOURCE_CLAIM))
        return ClusterView(
            source=self._source(),
            pods=pods,
            nodes=nodes,
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

    def _source(self) -> PageSource:
        return source_of(self._server, self._clock.now(), self._heard, self._problem, self._informers)
