"""An embedded server for tests: in memory, in process, with our CRDs where they are wanted."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from gangline.api.crds import crds
from gangline.api.kinds import CRD
from gangline.client import Client
from gangline.cluster.administrator import ADMIN as ADMIN
from gangline.cluster.server.server import Server, ServerSettings

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
            client = admin(server)
            for crd in crds():
                await client.create(CRD, crd)
        yield server
    finally:
        await server.close()


def admin(server: Server) -> Client:
    return Client(server.transport(ADMIN), manager="test")


async def until(
    condition: Callable[[], Awaitable[bool] | bool], what: str = "the condition", seconds: float = PATIENCE
) -> None:
    """Wait for a condition; the deadline is only there so that a broken test ends."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if (await answer) if isinstance(answer, Awaitable) else answer:
            return
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true in {seconds} s")
        await asyncio.sleep(0.005)
