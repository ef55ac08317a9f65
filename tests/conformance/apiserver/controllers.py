"""A server with the controllers of cluster/world/ as its clients, for the cases that were recorded beside
kube-controller-manager."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gangline.client import Client, User
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.world.component import control_plane
from gangline.runtime import Manager

ACCOUNT = User("system:kube-controller-manager", ("system:masters", "system:authenticated"))


@asynccontextmanager
async def controlled_server(settings: ServerSettings) -> AsyncIterator[Server]:
    server = Server(settings)
    await server.open()
    manager = Manager(control_plane(), Client(server.transport(ACCOUNT), manager="kube-controller-manager"))
    await manager.start()
    try:
        yield server
    finally:
        await manager.stop()
        await server.close()
