"""The whole platform on one machine: the embedded API server, a simulated world, and every component, in one process.

The other composition root. Each component gets a client of its own under its own account; they share nothing but the
server. Used by `gangline up`, `gangline demo` and, in memory, by the journeys of the test suite."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gangline.api import names
from gangline.api.crds import crds
from gangline.api.kinds import CLUSTER_ROLE_BINDING, CRD, KINDS, NAMESPACE, NODE, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client, Lanes, User
from gangline.cluster.administrator import ADMIN
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.custom import SHELF as DEFINITIONS
from gangline.cluster.server.features import EXTENDED_RESOURCES, WORKLOAD_GENERATIONS
from gangline.cluster.server.server import ServerSettings
from gangline.cluster.server.store.live_reader import LiveReader
from gangline.cluster.server.store.shelf import ADDED, ShelfKey, StoreChange
from gangline.cluster.server.wire.http import PER_ADDRESS, ListenerSettings
from gangline.cluster.server_host import ServerHost
from gangline.components import COMPONENTS, build
from gangline.components.admission_hooks import hooks
from gangline.components.options import ComponentOptions
from gangline.controllers.defaults import default_objects
from gangline.errors import AlreadyExists, NotFound
from gangline.local_shards import Shards
from gangline.operator.memory.probes import Probes, ask_for_all
from gangline.role_objects import any_owner, objects
from gangline.runtime import Clock, Component, Manager, SystemClock, background, stop_all

ELSEWHERE = ("admission", "resource-reservation", "installer")
"""Components that one machine does without: the hooks of the webhook server run inside the embedded server, the
simulated kubelet plays what runs inside reservation pods, and local_shards.py starts schedulers where the installer
would deploy them."""
NAMESPACES = (names.SYSTEM_NAMESPACE, names.KAI_NAMESPACE, names.RESERVATION_NAMESPACE, names.SCALE_NAMESPACE)


def account(component: str) -> User:
    """The account a component runs under."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{names.SYSTEM_NAMESPACE}", "system:authenticated")
    return User(f"system:serviceaccount:{names.SYSTEM_NAMESPACE}:{component}", groups)


@dataclass(frozen=True, slots=True)
class PlatformSettings:
    folder: Path | None = None
    """Where objects are kept; None: in memory, gone when the platform stops."""
    components: Sequence[str] = tuple(name for name in COMPONENTS if name not in ELSEWHERE)
    options: ComponentOptions = field(default_factory=lambda: ComponentOptions(period=0.05))
    clock: Clock = field(default_factory=SystemClock)
    workload_api: str = "1.35"
    """The Kubernetes release whose Workload API is served, or `none` (apiserver.features.WORKLOAD_GENERATIONS)."""
    shards: bool = False
    """Every SchedulingShard gets a scheduler, in this process."""
    feature_gates: Sequence[str] = (EXTENDED_RESOURCES,)
    """Feature gates of Kubernetes that are on beyond its defaults."""
    connections_per_address: int = PER_ADDRESS
    """Connections to the API server that one address may have."""
    admission: bool = True
    """The hooks of both halves run inside the server; else the components in their place bring webhooks."""
    audit_log: Path | None = None
    """Where the server writes down every request."""


class Team:
    """Components at work on one API server, whichever it is."""

    def __init__(self, connect: Callable[[str], Client], options: ComponentOptions, clock: Clock) -> None:
        self.options = options
        self.clock = clock
        self.managers: list[Manager] = []
        self.lanes = Lanes()
        self._connect = connect

    @cached_property
    def admin(self) -> Client:
        return self._connect("admin")

    def connect(self, name: str) -> Client:
        """A client under the account of a component."""
        return self._connect(name)

    async def install(self) -> None:
        """What a fresh cluster needs before the first component starts."""
        definitions = crds()
        known = {definition.name for definition in (await self.admin.list(CRD)).items}
        await self._ensure(CRD, (item for item in definitions if item["metadata"]["name"] not in known))
        ours = {definition["metadata"]["name"] for definition in definitions}
        await asyncio.gather(*(self._served(kind) for kind in KINDS if kind.resource in ours))
        await self._ensure(NAMESPACE, ({"metadata": {"name": name}} for name in NAMESPACES))
        await self._give_rights()
        for kind, obj in default_objects():
            await self._ensure(kind, [obj])

    async def _give_rights(self) -> None:
        """To each component its own, as this version needs them; what an earlier version gave to all together goes."""
        await asyncio.gather(*(self._right(kind, obj) for kind, obj in objects()))
        await self._let_grouper_look()
        with contextlib.suppress(NotFound):
            await self.admin.delete(CLUSTER_ROLE_BINDING, "gangline-components")

    async def _let_grouper_look(self) -> None:
        """At owners of every kind that is defined now."""
        groups = {item["spec"]["group"] for item in await self.admin.list_raw(CRD)}
        for kind, obj in any_owner(groups):
            await self._right(kind, obj)

    async def _right(self, kind: Kind[Object], obj: Raw) -> None:
        try:
            await self.admin.create(kind, obj)
        except AlreadyExists:
            await self.admin.apply(kind, obj, manager="gangline", force=True)

    async def _ensure(self, kind: Kind[Object], objects: Iterable[Raw]) -> None:
        for obj in objects:
            with contextlib.suppress(AlreadyExists):
                await self.admin.create(kind, obj)

    async def _served(self, kind: Kind[Object], seconds: float = 30.0) -> None:
        """A real server needs a moment before it serves a new kind."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                await self.admin.list(kind)
                return
            except NotFound:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)

    async def start_component(self, name: str) -> Manager:
        return await self.hire(build(name, self.options))

    async def hire(self, component: Component, client: Client | None = None) -> Manager:
        """Start a component built elsewhere, for settings of its own."""
        manager = Manager(component, client or self._connect(component.name), self.clock, self.lanes)
        await manager.start()
        self.managers.append(manager)
        return manager

    async def dismiss(self, manager: Manager) -> None:
        self.managers.remove(manager)
        await manager.stop()

    async def stop_components(self) -> None:
        await stop_all(self.managers)
        self.managers.clear()

    async def settles(self, seconds: float = 30.0) -> None:
        """Wait until no component has work left, a few times in a row."""
        quiet, deadline = 0, time.monotonic() + seconds
        while quiet < self.quiet_rounds:
            quiet = quiet + 1 if self.is_idle() else 0
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"not settled after {seconds} s: {', '.join(self._busy()) or 'informers are behind'}"
                )
            await asyncio.sleep(0.002)

    quiet_rounds = 3

    def is_idle(self) -> bool:
        return all(manager.idle for manager in self.managers)

    def _busy(self) -> list[str]:
        return [manager.component.name for manager in self.managers if not manager.idle]


class Platform(Team):
    """Everything together on the embedded server. `start` returns when all of it is ready."""

    def __init__(self, settings: PlatformSettings) -> None:
        self.settings = settings
        self.host = ServerHost(
            ServerSettings(
                folder=settings.folder,
                clock=settings.clock.now,
                workload_versions=WORKLOAD_GENERATIONS[settings.workload_api],
                features=frozenset(settings.feature_gates),
                audit_log=settings.audit_log,
                resource_metrics=True,
            ),
            ListenerSettings(settings.connections_per_address),
        )
        self.token, self.server = self.host.token, self.host.server
        self._tasks: set[asyncio.Task[None]] = set()
        ours = settings.options.singles and "grouper" in settings.components
        super().__init__(self._client, replace(settings.options, singles=ours), settings.clock)

    def _client(self, name: str) -> Client:
        return self.host.client(ADMIN if name == "admin" else account(name), f"gangline-{name}")

    async def start(self) -> None:
        await self.open()
        await self.start_components()

    async def open(self) -> None:
        """The server with all that a cluster needs before the first component starts."""
        await self.host.open()
        probes, fresh = Probes(), LiveReader(self.server.store, self.server.catalogue)
        for hook in hooks(self.options, fresh, probes) if self.settings.admission else ():
            admit_with(self.server.admission, hook)
        await self.install()
        self.server.store.listeners.append(self._note_definition)
        await ask_for_all(probes, self.admin, self.clock, self.options.operator, fresh.serves)

    def _note_definition(self, key: ShelfKey, change: StoreChange) -> None:
        """Owners of a kind that is defined later may be looked at too."""
        if key == DEFINITIONS and change.type == ADDED:
            task = background.start("rights of the grouper", self._let_grouper_look, self.clock)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def start_components(self) -> None:
        started = {name: await self.start_component(name) for name in self.settings.components}
        if self.settings.shards:
            await self.hire(Shards(self.options, self.hire, self.dismiss, started.get("scheduler")).component())

    async def stop(self) -> None:
        """Whoever asks from outside is hung up on first: he must not keep the components from stopping."""
        for task in self._tasks:
            task.cancel()
        try:
            await self.host.hang_up()
            await self.stop_components()
        finally:
            await self.host.close()

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serve over TLS; gives the address."""
        return await self.host.listen(host, port)

    async def while_it_can(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something, but not beyond the moment from which nothing can be kept any more: that is raised."""
        task, failed = asyncio.create_task(work), asyncio.create_task(self.server.failed.wait())
        try:
            await asyncio.wait({task, failed}, return_when=asyncio.FIRST_COMPLETED)
            if self.server.store.broken is not None:
                raise self.server.store.broken
            task.result()
        finally:
            for item in (task, failed):
                item.cancel()
            await asyncio.gather(task, failed, return_exceptions=True)

    async def count_nodes(self) -> int:
        return len((await self.admin.list(NODE)).items)

    def is_idle(self) -> bool:
        """Idle, and every informer has seen the last change of its kind."""
        if any(shelf.ringing for shelf in self.server.store.shelves()):
            return False
        latest = self.server.latest()
        return super().is_idle() and not any(manager.behind(latest) for manager in self.managers)


def write_kubeconfig(platform: Platform, url: str, path: Path) -> Path:
    """A kubeconfig of the administrator, readable by its owner only."""
    return platform.host.write_kubeconfig(url, path)
