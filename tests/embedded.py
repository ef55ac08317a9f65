"""An embedded server for tests, in memory and in process, with our CRDs where they are wanted; the `world` on it, whose
components are started and killed one by one; and the one way in which tests wait: `until` something is true, or until
everything `settles`.

Worlds of tests, by what they hold; all are a `TestedWorld`:

    scheduler_world.py                  components of the scheduler half, chosen by the test
    operator_world.py                   the operator alone; scheduler and kubelet are played by the test
    journeys/story.py                   the whole platform, embedded or on a real control plane
    cluster/world/simulated_world.py    the controllers, scheduler and kubelets of the simulated world, in time that the
                                        test moves"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from gangline.api.crds import crds
from gangline.api.kinds import CRD, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client, Transport, User
from gangline.cluster.administrator import ADMIN as ADMIN
from gangline.cluster.server.server import Server, ServerSettings
from gangline.errors import NotFound
from gangline.runtime import Clock, Component, Manager, SystemClock

PATIENCE = float(os.environ.get("GANGLINE_PATIENCE", "120"))
"""Seconds for what must come true, in every test: far more than it takes, on a busy machine too. Only a broken test
waits so long."""


@asynccontextmanager
async def embedded(*, kinds: bool = False, settings: ServerSettings | None = None) -> AsyncIterator[Server]:
    """A server; with `kinds` it serves gangline's own kinds too."""
    server = Server(settings or ServerSettings())
    await server.open()
    try:
        if kinds:
            await define_ours(server)
        yield server
    finally:
        await server.close()


_established: list[Raw] = []
"""Our CRDs as a server keeps them: judged once in a run, which takes longer than most tests."""


async def define_ours(server: Server) -> None:
    """Our kinds, on a server that has none of them."""
    if not _established:
        client = admin(server)
        for crd in crds():
            await client.create(CRD, crd)
        _established.extend(await client.list_raw(CRD))
        return
    for crd in _established:
        server.plant(CRD.group, CRD.plural, crd)


def admin(server: Server) -> Client:
    return Client(server.transport(ADMIN), manager="test")


Condition = Callable[[], Awaitable[bool] | bool]


async def holds(condition: Condition) -> bool:
    answer = condition()
    return (await answer) if isinstance(answer, Awaitable) else answer


class TestedWorld:
    """What every test world has and can do: a client, and waiting. A room of tests adds its own words, and says how its
    world `settles`."""

    client: Client

    async def settles(self) -> None:
        """Returns when nobody has work left."""
        raise NotImplementedError

    async def picture(self) -> str:
        """What one wants to see of it when a wait was in vain."""
        return ""

    async def until(self, condition: Condition, what: str = "the condition", seconds: float = PATIENCE) -> None:
        await until(condition, what, seconds, picture=self.picture)

    async def at_rest(self, condition: Condition, what: str = "the condition") -> None:
        """What must hold when nothing moves any more; a real control plane may settle without our seeing it."""
        await self.settles()
        await self.until(condition, what)

    async def make(
        self, kind: Kind[Any], name: str, body: Raw | None = None, namespace: str = "default", **meta: Any
    ) -> Object:
        where = {"namespace": namespace} if kind.namespaced else {}
        made: Object = await self.client.create(kind, {"metadata": {"name": name, **where, **meta}, **(body or {})})
        return made

    async def is_gone(self, kind: Kind[Any], name: str, namespace: str = "default") -> bool:
        try:
            await self.client.get(kind, name, namespace if kind.namespaced else "")
        except NotFound:
            return True
        return False


W = TypeVar("W", bound="EmbeddedWorld")


class EmbeddedWorld(TestedWorld):
    """A server, its time, and the components at work on it."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self.server, self.clock = server, clock
        self.client = admin(server)
        self.managers: dict[str, Manager] = {}

    def connect(self, name: str, line: Transport | None = None) -> Client:
        """As whom a component of this name asks, and through which line."""
        user = User(f"system:serviceaccount:gangline-system:{name}", ("system:masters",))
        return Client(line or self.server.transport(user), manager=f"gangline-{name}")

    async def start(self, component: Component, line: Transport | None = None) -> Manager:
        """In place of the one of its name."""
        await self.kill(component.name)
        manager = Manager(component, self.connect(component.name, line), self.clock)
        self.managers[component.name] = manager
        await manager.start()
        return manager

    async def kill(self, name: str) -> None:
        """Stop the component of this name, if it is at work."""
        if name in self.managers:
            await self.managers.pop(name).stop()

    async def settles(self, seconds: float = PATIENCE) -> None:
        await settles(self.server, self.managers.values(), "rest of all components", seconds)


@asynccontextmanager
async def world(
    form: Callable[[Server, Clock], W],
    *components: Component,
    clock: Clock | None = None,
    settings: ServerSettings | None = None,
) -> AsyncIterator[W]:
    """A world with these components, which serves gangline's own kinds; whoever works in the end is stopped."""
    time_source = clock or SystemClock()
    async with embedded(kinds=True, settings=settings or ServerSettings(clock=time_source.now)) as server:
        here = form(server, time_source)
        try:
            for component in components:
                await here.start(component)
            yield here
        finally:
            for name in reversed([*here.managers]):
                await here.kill(name)


async def until(
    condition: Condition,
    what: str = "the condition",
    seconds: float = PATIENCE,
    *,
    picture: Callable[[], Awaitable[str]] | None = None,
    pause: float = 0.005,
) -> None:
    """Wait for a condition; the deadline is only there so that a broken test ends. `picture`: what one wants to see
    then."""
    deadline = time.monotonic() + seconds
    while True:
        if await holds(condition):
            return
        if time.monotonic() > deadline:
            seen = f"\n{await picture()}" if picture else ""
            raise AssertionError(f"{what} did not come true in {seconds} s{seen}")
        await asyncio.sleep(pause)


def is_quiet(server: Server, managers: Iterable[Manager]) -> bool:
    """Nobody has work left, and nobody has yet to see the last change of a kind."""
    if any(shelf.ringing for shelf in server.store.shelves()):
        return False
    latest = server.latest()
    return all(manager.idle and not manager.behind(latest) for manager in managers)


async def settles(
    server: Server,
    managers: Iterable[Manager],
    what: str = "rest",
    seconds: float = PATIENCE,
    *,
    rounds: int = 3,
    pause: float = 0.005,
) -> None:
    """Until it is quiet several times in a row: longer than a write that met another one waits for its next try."""
    watched, quiet = [*managers], 0

    def still() -> bool:
        nonlocal quiet
        quiet = quiet + 1 if is_quiet(server, watched) else 0
        return quiet >= rounds

    async def busy() -> str:
        return f"still at work: {[manager.component.name for manager in watched if not manager.idle]}"

    await until(still, what, seconds, picture=busy, pause=pause)
