"""A server with the simulated world beside it: opened and closed together.

library.py gives it to others as `Cluster`. Each component of the world is a client with an account of its own.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from gangline.bounded_input import read_text
from gangline.client import User
from gangline.cluster.administrator import ADMIN
from gangline.cluster.server.server import ServerSettings
from gangline.cluster.server.wire.http import ListenerSettings
from gangline.cluster.server_host import ServerHost
from gangline.cluster.world.component import components
from gangline.cluster.world.settings import WorldSettings, read_settings
from gangline.errors import ConfigError
from gangline.runtime import Manager, stop_all

LOOK_AGAIN = 0.01
"""Seconds between two looks whether the nodes have registered."""


@dataclass(slots=True)
class RunningCluster:
    """What exists while a cluster runs."""

    host: ServerHost
    folder: Path
    """A folder of this run alone, which goes with it; the kubeconfig is there."""
    url: str = ""
    managers: list[Manager] = field(default_factory=list)

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    async def start_world(self, settings: WorldSettings) -> None:
        for component in components(replace(settings, root_ca=self.host.authority().decode())):
            user = User(f"system:{component.name}", ADMIN.groups)
            manager = Manager(component, self.host.client(user, component.name))
            self.managers.append(manager)
            await manager.start()
        await self._until_registered()

    async def _until_registered(self) -> None:
        """Until every simulated node is there."""
        services = [service for manager in self.managers for service in manager.component.services]
        while True:
            if all(service.idle() for service in services):
                return
            await asyncio.sleep(LOOK_AGAIN)

    async def close(self) -> None:
        await self.host.hang_up()
        await stop_all(self.managers)
        await self.host.close()
        shutil.rmtree(self.folder, ignore_errors=True)


async def open_cluster(
    server: ServerSettings, world: WorldSettings | None, address: str = "127.0.0.1", port: int = 0
) -> RunningCluster:
    """Start everything; what cannot start leaves nothing behind."""
    host = ServerHost(server, ListenerSettings(farewell=0))
    await host.open()
    running = RunningCluster(host, Path(tempfile.mkdtemp(prefix="gangline-cluster-")))
    try:
        running.url = await host.listen(address, port)
        host.write_kubeconfig(running.url, running.kubeconfig)
        if world is not None:
            await running.start_world(world)
    except BaseException:
        await running.close()
        raise
    return running


def chosen_world(nodes: Path | str | None, world: bool | WorldSettings) -> WorldSettings | None:
    """The world of a nodes file, of settings, the usual one, or none."""
    if nodes is not None:
        if world is not True:
            raise ConfigError("give `nodes` or `world`, not both")
        return read_settings(read_text(Path(nodes)), str(nodes))
    if isinstance(world, WorldSettings):
        return world
    return WorldSettings() if world else None
