"""gangline on a real control plane: the same components over HTTP, simulated nodes by our kubelet, everything else by
Kubernetes.

The plane is started once in a process, with our kinds in it before its controllers start. A platform borrows it for a
while, brings its own components, and leaves it as clean as it found it."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from gangline.api.kinds import CONFIG_MAP, NAMESPACE, POD_CLIQUE_SET, QUEUE, SERVICE_ACCOUNT
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.client.kubeconfig import load, transport
from gangline.components import COMPONENTS
from gangline.components.options import ComponentOptions
from gangline.errors import ApiError
from gangline.local import NAMESPACES, Team
from gangline.runtime import Clock, SystemClock
from real.broom import Broom
from real.plane import DEVICES, Plane, free_port
from real.releases import USUAL, Release

NOT_HERE = ("controller-manager", "default-scheduler", "autoscaler", "resource-reservation", "installer")
OURS = tuple(name for name in COMPONENTS if name not in NOT_HERE)
"""What Kubernetes does not bring: its own controllers and scheduler do the rest. The installer starts where it is told
to."""
QUIET = 0.3
"""So many seconds without a write by anybody, and with idle components, are rest."""


class Home:
    """The one plane of this process, and the broom that keeps it clean."""

    _made: Home | None = None

    def __init__(self, release: Release = USUAL) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gangline-real-")
        self.plane = Plane(Path(self._folder.name), gates=(DEVICES, *release.more), release=release)
        self.broom = Broom()
        self.webhook = f"https://127.0.0.1:{free_port()}"

    @classmethod
    async def ready(cls) -> Home:
        if cls._made is None:
            home = cls()
            await home._start()
            cls._made = home
        return cls._made

    async def _start(self) -> None:
        await self.plane.start_server()
        team = Team(self.connect, ComponentOptions(), SystemClock())
        await team.install()
        self.plane.start_rest()
        await self._populated(team.admin)
        await self.broom.learn(team.admin)
        await team.admin.close()

    async def _populated(self, client: Client, seconds: float = 60.0) -> None:
        """Until kube-controller-manager has given every namespace what each has."""
        deadline = time.monotonic() + seconds
        while True:
            spaces = {item.name for item in (await client.list(NAMESPACE)).items}
            accounts = {item.namespace for item in (await client.list(SERVICE_ACCOUNT)).items if item.name == "default"}
            maps = {item.namespace for item in (await client.list(CONFIG_MAP)).items if item.name == "kube-root-ca.crt"}
            if spaces == accounts == maps and {"default", *NAMESPACES} <= spaces:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"no work by kube-controller-manager; its log ends "
                    f"with:\n{self.plane.log('kube-controller-manager')}"
                )
            await asyncio.sleep(0.1)

    def connect(self, name: str) -> Client:
        return Client(transport(load(self.plane.kubeconfig), f"gangline-{name}"), manager=f"gangline-{name}")


class RealPlatform(Team):
    """Speaks to a plane as `Platform` does to the embedded server."""

    def __init__(
        self,
        home: Home,
        components: Sequence[str] = OURS,
        options: ComponentOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.home = home
        self._components = components
        self._clients: list[Client] = []
        super().__init__(
            self._client,
            options or ComponentOptions(period=0.1, nodes="nodes: []", webhook=home.webhook),
            clock or SystemClock(),
        )

    def _client(self, name: str) -> Client:
        client = self.home.connect(name)
        self._clients.append(client)
        return client

    async def start(self) -> None:
        await self.install()
        for name in self._components:
            await self.start_component(name)
        if "admission" in self._components:
            await self._admitting()

    async def stop(self) -> None:
        await self.stop_components()
        await self.home.broom.sweep(self.admin)
        for client in self._clients:
            await client.close()

    async def settles(self, seconds: float = 30.0) -> None:
        """Idle, and nobody wrote anything for a moment: Kubernetes' own controllers and scheduler rest too."""
        deadline = time.monotonic() + seconds
        while True:
            before = await self._revision()
            if await self._idle_for(QUIET) and await self._revision() == before:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"not settled after {seconds} s: {', '.join(self._busy()) or 'somebody keeps writing'}"
                )

    async def _idle_for(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(0.005)
            if not self.is_idle():
                return False
        return True

    async def _revision(self) -> str:
        """The store's, whatever was written last."""
        return (await self.admin.list(NAMESPACE)).revision

    async def _admitting(self, seconds: float = 30.0) -> None:
        """Until the server asks our webhooks: it learns of them a moment after they are registered."""
        deadline = time.monotonic() + seconds
        while not (await self._refuses() and await self._defaults()):
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"the API server does not ask our webhooks; its log ends "
                    f"with:\n{self.home.plane.log('kube-apiserver')}"
                )
            await asyncio.sleep(0.02)

    async def _refuses(self) -> bool:
        try:
            await self.admin.create(QUEUE, {"metadata": {"name": "probe"}, "spec": {}}, dry_run=True)
        except ApiError as error:
            return "resources must be specified" in str(error)
        return False

    async def _defaults(self) -> bool:
        try:
            made = await self.admin.create(POD_CLIQUE_SET, PROBE, dry_run=True)
        except ApiError:
            return False
        return bool(made.spec.template.termination_delay)


PROBE: Raw = {
    "metadata": {"name": "probe", "namespace": "default"},
    "spec": {
        "replicas": 1,
        "template": {
            "cliques": [
                {
                    "name": "a",
                    "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "c", "image": "i"}]}},
                }
            ]
        },
    },
}
