"""A component alive: its client, its cache, its controllers and background tasks, started and stopped together.

`Component` is the word for anything `gangline run` can start. A component talks to others only through the API server.
Nothing here knows which components exist; components/ does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from gangline.api.core import Pod
from gangline.api.kinds import POD, POD_GROUP
from gangline.client import Client, Lanes
from gangline.runtime import background
from gangline.runtime.cache import Cache
from gangline.runtime.clock import Clock, SystemClock
from gangline.runtime.controller import Context, Controller
from gangline.runtime.events import Recorder
from gangline.runtime.running_controller import RunningController
from gangline.runtime.writer import Writer


@dataclass(frozen=True, slots=True)
class BackgroundService:
    """Background work that is not a controller: runs until it is cancelled; `idle` says whether it has nothing to
    do."""

    name: str
    run: Callable[[Context, Cache], Awaitable[None]]
    idle: Callable[[], bool] = lambda: True
    prepare: Callable[[Cache], None] = lambda cache: None
    """Asks the cache for the informers the service reads, before the cache starts."""


@dataclass(frozen=True, slots=True)
class Component:
    """What `gangline run NAME` starts."""

    name: str
    controllers: Sequence[Controller] = ()
    services: Sequence[BackgroundService] = ()


class Manager:
    """One component, running. `lanes` are those of its process. `may_write` raises while it must not write."""

    def __init__(
        self, component: Component, client: Client, clock: Clock | None = None, lanes: Lanes | None = None
    ) -> None:
        self.component = component
        self.may_write: Callable[[], None] = lambda: None
        client = client.fenced(lambda: self.may_write())
        self.clock = clock or SystemClock()
        self.cache = Cache(client, self.clock)
        lanes = lanes or Lanes()
        self.events = Recorder(client, self.clock, component.name, lanes)
        urgent = client.urgent(lanes)
        self.writer = Writer(urgent, self.clock, lanes, reports=client)
        self.context = Context(urgent, self.cache, self.clock, self.events, self.writer)
        self.running = [RunningController(controller, self.context, self.cache) for controller in component.controllers]
        self._tasks: list[asyncio.Task[None]] = []
        for service in component.services:
            service.prepare(self.cache)

    async def start(self) -> None:
        await self.cache.start()
        self.events.start()
        self._look_for_crowds()
        for running in self.running:
            running.start()
        self._tasks = [
            background.start(service.name, partial(service.run, self.context, self.cache), self.clock)
            for service in self.component.services
        ]

    def _look_for_crowds(self) -> None:
        """Where components run apart, pods that come or are bound are the traces of what others write; PodGroups, where
        no pods are followed."""
        lanes = self.writer.lanes

        def pod_changed(before: Pod | None, after: Pod | None) -> None:
            if after is not None and (before is None or (after.spec.node_name and not before.spec.node_name)):
                lanes.seen()

        if lanes.apart and self.cache.follows(POD):
            self.cache.informer(POD).on_change(pod_changed)
        elif lanes.apart and self.cache.follows(POD_GROUP):
            self.cache.informer(POD_GROUP).on_change(lambda before, after: lanes.seen())

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*(running.stop() for running in self.running), *self._tasks, return_exceptions=True)
        await self.writer.stop()
        await self.events.stop()
        await self.cache.stop()

    @property
    def idle(self) -> bool:
        """No controller has work, nothing waits to be written."""
        return (
            all(running.idle for running in self.running)
            and self.writer.idle
            and self.events.idle
            and all(service.idle() for service in self.component.services)
        )

    def behind(self, revisions: dict[str, int]) -> bool:
        """Whether some informer has not yet seen the last change of its kind (by resource name). One that selects
        cannot tell."""
        served = {informer.kind.resource for informer in self.cache.informers if informer.revision}
        return any(
            informer.revision < revisions.get(informer.kind.resource, 0)
            for informer in self.cache.informers
            if informer.synced.is_set()
            and not informer.selects
            and (informer.revision or informer.kind.resource not in served)
        )


async def stop_all(managers: Iterable[Manager]) -> None:
    """Components of one process stop together: while one says its last words, no other makes work for them all."""
    await asyncio.gather(*(manager.stop() for manager in managers))
