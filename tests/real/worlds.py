"""A real API server that has no controllers of its own, for tests of the world's: started once in a process for each
release of Kubernetes that they ask for, swept after each test."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

from gangline.api.crds import crds
from gangline.api.kinds import CRD, NAMESPACE
from gangline.api.meta import Raw
from gangline.client import Client, Request, Transport
from gangline.client.kubeconfig import load, transport
from gangline.cluster.world.component import PARTS, control_plane
from gangline.cluster.world.settings import WorldSettings
from gangline.runtime import Manager, SystemClock
from real.broom import Broom
from real.plane import Plane
from real.releases import USUAL, Release

QUIET = 0.3
PATIENCE = 20.0
ONLY_NAMESPACES = WorldSettings(off=frozenset(PARTS) - {"namespaces"})


class Bare:
    """Also tells when its world is at rest: its components are idle, and nobody wrote anything for a moment."""

    step = 5.0
    _made: ClassVar[dict[str, Bare]] = {}

    def __init__(self, release: Release) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gangline-real-")
        self._plane = Plane(
            Path(self._folder.name), controllers="", scheduler=False, gates=release.more, release=release
        )
        self._broom = Broom()
        self._transports: list[Transport] = []
        self.client: Client

    @classmethod
    @asynccontextmanager
    async def used(cls, release: Release = USUAL) -> AsyncIterator[Bare]:
        """The server of this process, clean, and cleaned after use."""
        if release.name not in cls._made:
            cls._made[release.name] = cls(release)
            await cls._made[release.name]._start()
        bare = cls._made[release.name]
        bare.client = Client(bare.transport("test"), manager="test")
        try:
            yield bare
        finally:
            await bare._sweep()
            for item in bare._transports:
                await item.close()
            bare._transports.clear()

    async def _start(self) -> None:
        await self._plane.start()
        client = Client(transport(load(self._plane.kubeconfig), "test"), manager="test")
        for definition in crds():
            await client.create(CRD, definition)
        for definition in crds():
            await _served(client, definition)
        await self._broom.learn(client)
        await client.close()

    def transport(self, name: str) -> Transport:
        made = transport(load(self._plane.kubeconfig), name)
        self._transports.append(made)
        return made

    async def reached(self, managers: Sequence[Manager]) -> bool:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            before = await self._revision()
            if await self._idle(managers) and await self._revision() == before:
                return True
        return False

    @staticmethod
    async def _idle(managers: Sequence[Manager]) -> bool:
        end = time.monotonic() + QUIET
        while time.monotonic() < end:
            await asyncio.sleep(0.005)
            if not all(manager.idle for manager in managers):
                return False
        return True

    async def _revision(self) -> str:
        """The store's, whatever was written last."""
        return (await self.client.list(NAMESPACE)).revision

    async def _sweep(self) -> None:
        """Namespaces only go when somebody empties and finalizes them."""
        emptier = Manager(control_plane(ONLY_NAMESPACES), Client(self.transport("broom"), "broom"), SystemClock())
        await emptier.start()
        try:
            await self._broom.sweep(self.client)
        finally:
            await emptier.stop()


async def _served(client: Client, definition: Raw) -> None:
    spec = definition["spec"]
    path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
    while True:
        if (await client.transport.send(Request("GET", path))).status == 200:
            return
        await asyncio.sleep(0.05)
