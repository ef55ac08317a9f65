"""A world for tests: a server with the components of the world, on a clock that the test moves.

The server is the embedded one; `GANGLINE_SERVER=real` makes it a real kube-apiserver without controllers of its own
(real/worlds.py)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pytest

from embedded import Condition, TestedWorld, admin, embedded, holds, is_quiet
from gangline.api.core import Pod
from gangline.api.kinds import NAMESPACE, POD
from gangline.api.meta import Raw
from gangline.client import Client, Transport, User
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.world.component import components
from gangline.cluster.world.nodes.nodes import NodePool
from gangline.cluster.world.settings import NodePace, WorldSettings
from gangline.runtime import Component, Manager, ManualClock
from real.releases import USUAL, Release

ROUNDS = 4000
REAL = os.environ.get("GANGLINE_SERVER") == "real"
AHEAD = 60.0
"""Seconds by which our time is ahead of a real server's when a test begins: what the server stamps while the test runs
is past."""


class Rest(Protocol):
    """How one sees that nobody has work left that does not wait for a time."""

    step: float
    """Time may pass in steps of so many seconds without anything being missed that tests look for."""

    async def reached(self, managers: Sequence[Manager]) -> bool: ...


@dataclass(slots=True)
class InProcess:
    """Of an embedded server everything can be seen."""

    server: Server
    step = 0.0

    async def reached(self, managers: Sequence[Manager]) -> bool:
        quiet = 0
        for _ in range(ROUNDS):
            latest = self.server.latest()
            behind = any(manager.behind(latest) for manager in managers)
            await asyncio.sleep(0.001 if behind else 0)
            quiet = quiet + 1 if not behind and is_quiet(self.server, managers) else 0
            if quiet > 60:
                return True
        return False


@dataclass(slots=True)
class SimulatedWorld(TestedWorld):
    client: Client
    clock: ManualClock
    managers: list[Manager]
    rest: Rest

    async def settles(self) -> None:
        """Returns when nobody has work left that does not wait for a time."""
        if not await self.rest.reached(self.managers):
            raise AssertionError("the world does not come to rest")

    async def rests(self) -> None:
        """Like settles, but lets time pass for those who try again."""
        for _ in range(100):
            try:
                return await self.settles()
            except AssertionError:
                self.clock.advance(1)
        await self.settles()

    async def after(self, seconds: float, steps: float = 1.0) -> None:
        """Let time pass, a step at a time, and everything that then happens."""
        steps = max(steps, self.rest.step)
        while seconds > 0:
            self.clock.advance(min(steps, seconds))
            seconds -= steps
            await self.settles()

    async def until(self, condition: Condition, what: str = "the condition", seconds: float = 120) -> None:
        """Let time pass until the condition holds."""
        for _ in range(int(seconds)):
            await self.rests()
            if await holds(condition):
                return
            self.clock.advance(1)
        raise AssertionError(f"{what} did not come true in {seconds} simulated seconds")

    async def phases(self, namespace: str = "default") -> dict[str, str]:
        return {pod.name: pod.status.phase for pod in await self.pods(namespace)}

    async def pods(self, namespace: str = "default") -> list[Pod]:
        return sorted((await self.client.list(POD, namespace)).items, key=lambda pod: pod.name)


@asynccontextmanager
async def world(
    *pools: NodePool,
    kinds: bool = False,
    off: tuple[str, ...] = (),
    pace: NodePace | None = None,
    through: Callable[[Transport], Transport] = lambda transport: transport,
    release: Release = USUAL,
    **settings: Any,
) -> AsyncIterator[SimulatedWorld]:
    """The whole world, without the parts named in `off`; its requests go through what `through` makes of a transport.
    The server has the Workload API of `release`, with all its gates on."""
    chosen = components(WorldSettings(nodes=pools, off=frozenset(off), pace=pace or NodePace(), **settings))
    async with _real(chosen, through, release) if REAL else _embedded(chosen, through, kinds, release) as lived:
        try:
            for manager in lived.managers:
                await manager.start()
            await lived.rests()
            yield lived
        finally:
            for manager in lived.managers:
                await manager.stop()


@asynccontextmanager
async def _embedded(
    chosen: Sequence[Component], through: Callable[[Transport], Transport], kinds: bool, release: Release
) -> AsyncIterator[SimulatedWorld]:
    clock = ManualClock()
    plain = ServerSettings(clock=clock.now, workload_versions=release.serves)
    async with embedded(kinds=kinds, settings=replace(plain, features=plain.features | set(release.more))) as server:
        managers = [
            Manager(
                item,
                Client(through(server.transport(User(f"system:{item.name}", ("system:masters",)))), item.name),
                clock,
            )
            for item in chosen
        ]
        yield SimulatedWorld(admin(server), clock, managers, InProcess(server))


@asynccontextmanager
async def _real(
    chosen: Sequence[Component], through: Callable[[Transport], Transport], release: Release
) -> AsyncIterator[SimulatedWorld]:
    from real.plane import missing
    from real.worlds import Bare

    if missing(release):
        pytest.skip(missing(release))
    clock = ManualClock(time.time() + AHEAD)
    async with Bare.used(release) as bare:
        managers = [Manager(item, Client(through(bare.transport(item.name)), item.name), clock) for item in chosen]
        yield SimulatedWorld(bare.client, clock, managers, bare)


def pod_spec(**spec: Any) -> Raw:
    """A pod with one container; GPUs and the rest where the test says so."""
    gpus = spec.pop("gpus", 0)
    amounts = {"requests": {"nvidia.com/gpu": str(gpus)}, "limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    return {"spec": {"containers": [{"name": "main", "image": "app", "resources": amounts}], **spec}}


async def namespace(world: SimulatedWorld, name: str) -> None:
    await world.client.create(NAMESPACE, {"metadata": {"name": name}})
