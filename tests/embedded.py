"""An embedded server for tests: in memory, in process, with our CRDs where they are wanted. And the one way in which
tests wait: `until` something is true, or until everything `settles`."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from gangline.api.crds import crds
from gangline.api.kinds import CRD
from gangline.client import Client, User
from gangline.cluster.server.server import Server, ServerSettings
from gangline.runtime import Manager

PATIENCE = float(os.environ.get("GANGLINE_PATIENCE", "120"))
"""Seconds for what must come true, in every test: far more than it takes, on a busy machine too. Only a broken test
waits so long."""
ADMIN = User("admin", ("system:masters", "system:authenticated"))


@asynccontextmanager
async def embedded(*, kinds: bool = False, settings: ServerSettings | None = None) -> AsyncIterator[Server]:
    """A server; with `kinds` it serves gangline's own kinds too."""
    server = Server(settings or ServerSettings())
    await server.open()
    try:
        if kinds:
            client = admin(server)
            for crd in crds():
                await client.create(CRD, crd)
        yield server
    finally:
        await server.close()


def admin(server: Server) -> Client:
    return Client(server.transport(ADMIN), manager="test")


async def until(
    condition: Callable[[], Awaitable[bool] | bool],
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
        answer = condition()
        if (await answer) if isinstance(answer, Awaitable) else answer:
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
    pause: float = 0.002,
) -> None:
    """Until it is quiet several times in a row."""
    watched, quiet = [*managers], 0

    def still() -> bool:
        nonlocal quiet
        quiet = quiet + 1 if is_quiet(server, watched) else 0
        return quiet >= rounds

    async def busy() -> str:
        return f"still at work: {[manager.component.name for manager in watched if not manager.idle]}"

    await until(still, what, seconds, picture=busy, pause=pause)
