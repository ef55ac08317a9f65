"""The words a journey is told in: nodes, apply, settles, until, explain.

A story runs on the embedded platform; nothing in a test knows that, so the same tests are told on a real control plane
too (`GANGLINE_SERVER=real`)."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from embedded import PATIENCE, define_ours
from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import EVENT, NODE, POD, Kind
from gangline.api.meta import Object, Raw
from gangline.cli import manifests
from gangline.cli.connection import ClusterConnection
from gangline.cli.explain import explain
from gangline.cli.objects.apply import apply_one, kind_of
from gangline.cluster.world.nodes.heartbeats import register
from gangline.cluster.world.nodes.nodes import NodePool
from gangline.components import COMPONENTS
from gangline.components.options import ComponentOptions
from gangline.errors import NotFound
from gangline.local import ELSEWHERE, Platform, PlatformSettings, Team
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Clock, Component, ManualClock, SystemClock
from gangline.runtime.clock import timestamp
from gangline.whatif.prepared import PreparedPlatform
from journeys.clock import MovedClock
from journeys.words import Words

if TYPE_CHECKING:
    from real.platform import RealPlatform

REPOSITORY = Path(__file__).parents[2]
REAL = os.environ.get("GANGLINE_SERVER") == "real"
NOT_READY = "node.kubernetes.io/not-ready"
NOT_OURS = ("kubernetes", "kube-root-ca.crt")


class DefinedPlatform(PreparedPlatform):
    """Its definitions are those that the tests' servers have, which the server's rules have judged."""

    async def define(self) -> None:
        await define_ours(self.server)


def embedded_platform(
    *, clock: Clock | None = None, without: tuple[str, ...] = (), options: ComponentOptions | None = None
) -> Platform:
    """The platform a story is told on by default: in memory, without nodes, deciding as soon as something changes. The
    explainer, which rests in real time, is hired by the stories that are about it."""
    chosen = [name for name in COMPONENTS if name not in (*ELSEWHERE, "explainer", *without)]
    return DefinedPlatform(
        PlatformSettings(
            components=chosen,
            clock=clock or SystemClock(),
            options=options or ComponentOptions(period=0.0, nodes="nodes: []"),
        )
    )


async def real_platform(without: tuple[str, ...], options: ComponentOptions, clock: Clock) -> RealPlatform:
    from real.plane import missing
    from real.platform import OURS, Home, RealPlatform

    if missing():
        pytest.skip(missing())
    home = await Home.ready()
    return RealPlatform(
        home, [name for name in OURS if name not in without], replace(options, period=0.1, webhook=home.webhook), clock
    )


@asynccontextmanager
async def told(
    *hired: Component,
    moved: bool = False,
    admission: AdmissionSettings | None = None,
    operator: OperatorSettings | None = None,
    without: tuple[str, ...] = (),
    nodes: str = "nodes: []",
    recording: str = "",
) -> AsyncIterator[Story]:
    """A story; with components of its own settings in place of the usual ones, in time that the test moves
    (`Story.advance`), with the nodes of a nodes file (empty: those that `gangline up` has by itself), or with a
    folder for the scheduler's recording."""
    clock: Clock = SystemClock() if not moved else MovedClock() if REAL else ManualClock()
    absent = (*without, *(item.name for item in hired))
    options = ComponentOptions(
        period=0.0,
        singles="grouper" not in absent,
        nodes=nodes,
        admission=admission or AdmissionSettings(),
        operator=operator or OperatorSettings(),
        recording=recording,
    )
    platform = (
        await real_platform(absent, options, clock)
        if REAL
        else embedded_platform(clock=clock, without=absent, options=options)
    )
    try:
        await platform.start()
        for component in hired:
            await platform.hire(component)
        yield Story(platform)
    finally:
        await platform.stop()


class Story(Words):
    """One platform and what a person can do with it."""

    def __init__(self, platform: Team) -> None:
        self.platform = platform
        self.clock = platform.clock
        self.client = platform.admin
        self._connection = ClusterConnection(self.client, "default", "the story's server")
        self._nodes = 0

    async def nodes(self, count: int = 1, *, gpus: int = 8, name: str = "node", **pool: Any) -> list[str]:
        """Add simulated nodes, with any field of a nodes file; gives their names."""
        made = [f"{name}-{self._nodes + number}" for number in range(count)]
        self._nodes += count
        for node in made:
            await register(self.client, NodePool(name=node, gpus=gpus, **pool), 0, node, timestamp(self.clock.now()))
        if not isinstance(self.platform, Platform) or self._has_node_controller():
            await self.until(lambda: self.welcomed(made), f"{', '.join(made)} without the taint of new nodes")
        return made

    def _has_node_controller(self) -> bool:
        return any(manager.component.name == "controller-manager" for manager in self.platform.managers)

    async def welcomed(self, nodes: list[str]) -> bool:
        """A new node may be used once its controller knows that it is ready."""
        found = {node.name: node for node in (await self.client.list(NODE)).items}
        return all(
            node in found and not any(taint.key == NOT_READY for taint in found[node].spec.taints) for node in nodes
        )

    @asynccontextmanager
    async def at_once(self) -> AsyncIterator[None]:
        """What is done inside is one change to the scheduler: on a real control plane, where requests take long, it is
        away meanwhile."""
        working = [item for item in self.platform.managers if item.component.name == "scheduler"]
        absent = working if not isinstance(self.platform, Platform) else []
        for manager in absent:
            self.platform.managers.remove(manager)
            await manager.stop()
        yield
        if absent:
            await self.platform.start_component("scheduler")

    async def apply(self, source: str | Raw) -> None:
        """Apply a file of the repository, a YAML text, or an object."""
        for obj in _objects(source):
            await apply_one(self._connection, await kind_of(self._connection, obj), obj)

    async def remove(self, obj: Raw) -> None:
        """Delete what was applied."""
        kind, meta = await kind_of(self._connection, obj), obj["metadata"]
        with contextlib.suppress(NotFound):
            await self.client.delete(
                kind,
                meta["name"],
                meta.get("namespace") or ("default" if kind.namespaced else ""),
                propagation="Background",
            )

    async def settles(self) -> None:
        await self.platform.settles(PATIENCE)

    async def pods(self, of: str = "", phase: str = "") -> list[Pod]:
        """Pods of a set (or all), in a phase (or any)."""
        labels = {names.PART_OF: of} if of else None
        return [
            pod
            for pod in (await self.client.list(POD, "default", labels)).items
            if not phase or pod.status.phase == phase
        ]

    async def running(self, count: int, of: str = "") -> None:
        """Wait until exactly so many pods run."""

        async def enough() -> bool:
            return len(await self.pods(of, "Running")) == count

        await self.until(enough, f"{count} running pods of {of or 'all'}")

    async def explain(self, name: str) -> str:
        return "\n".join(item.text for item in await explain(self.client, name, "default"))

    async def all(self, kind: Kind[Any]) -> list[Any]:
        found = (await self.client.list(kind, "default" if kind.namespaced else "")).items
        return [item for item in found if item.name not in NOT_OURS]

    async def gone(self, *kinds: Kind[Object]) -> None:
        async def none_left() -> bool:
            return not any([await self.all(kind) for kind in kinds])

        await self.until(none_left, f"no {', '.join(kind.plural for kind in kinds)}")

    def advance(self, seconds: float) -> None:
        """Time passes for every component of ours."""
        assert isinstance(self.clock, ManualClock | MovedClock)
        self.clock.advance(seconds)

    async def passes(self, seconds: float) -> None:
        """Time passes for the server too: a real one lets us wait."""
        if isinstance(self.clock, ManualClock):
            self.clock.advance(seconds)
        else:
            await asyncio.sleep(seconds)

    async def picture(self) -> str:
        pods = [
            f"  {pod.name} {pod.status.phase} {pod.spec.node_name} {[gate.name for gate in pod.spec.scheduling_gates]} "
            f"{pod.status.reason or ''} {pod.status.message or ''}"
            for pod in await self.pods()
        ]
        told = [
            f"  {item.involved_object.get('name')}: {item.reason}: {item.message}"
            for item in (await self.client.list(EVENT)).items
            if item.type == "Warning"
        ]
        return "\n".join([*(pods or ["  no pods"]), *told[-20:]])


def _objects(source: str | Raw) -> list[Raw]:
    if isinstance(source, dict):
        return [source]
    if "\n" in source:
        return manifests.parse(source, "the test")
    return manifests.read([str(REPOSITORY / source)])
