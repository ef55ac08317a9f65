"""gangline on a real control plane: the same components over HTTP, simulated nodes by our kubelet, everything else by Kubernetes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from gangline.client import Client
from gangline.client.kubeconfig import load, transport
from gangline.components import COMPONENTS, Options
from gangline.local import Team
from gangline.runtime import SystemClock
from real.plane import Plane, free_port

OURS = tuple(name for name in COMPONENTS if name not in ("controller-manager", "default-scheduler", "autoscaler"))
"""What Kubernetes does not bring: its own controllers and scheduler stay in charge of the rest."""


class RealPlatform(Team):
    """Speaks to a Plane as `Platform` does to the embedded server."""

    quiet_rounds = 200

    def __init__(self, components: tuple[str, ...] = OURS, options: Options | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gangline-real-")
        self.plane = Plane(Path(self._folder.name))
        self._components = components
        self._clients: list[Client] = []
        told = options or Options(period=0.1, nodes="nodes: []", webhook=f"https://127.0.0.1:{free_port()}")
        super().__init__(self._client, told, SystemClock())

    def _client(self, name: str) -> Client:
        client = Client(transport(load(self.plane.kubeconfig), f"gangline-{name}"), manager=f"gangline-{name}")
        self._clients.append(client)
        return client

    async def start(self) -> None:
        await self.plane.start()
        await self.install()
        for name in self._components:
            await self.start_component(name)

    async def stop(self) -> None:
        await self.stop_components()
        for client in self._clients:
            await client.close()
        await self.plane.stop()
        self._folder.cleanup()
