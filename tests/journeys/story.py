"""The words a journey is told in: nodes, apply, settles, until, explain.

A story runs on the embedded platform; nothing in a test knows that, so the same tests can be told on another control plane.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import NODE, POD, Kind
from gangline.api.meta import Object, Raw
from gangline.cli import manifests
from gangline.cli.apply import apply_one, kind_of
from gangline.cli.connection import Connection
from gangline.cli.explain import explain
from gangline.components import COMPONENTS, Options
from gangline.local import Platform, PlatformSettings, Team
from gangline.runtime import Clock, ManualClock, SystemClock

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 90.0 if os.environ.get("GANGLINE_SERVER") == "real" else 30.0
"""A deadline for broken tests; a real garbage collector learns of new kinds only every 30 seconds."""
NOT_OURS = ("kubernetes", "kube-root-ca.crt")


def embedded_platform(*, clock: Clock | None = None, without: tuple[str, ...] = (), options: Options | None = None) -> Platform:
    """The platform a story is told on by default: in memory, without nodes, deciding as soon as something changes."""
    chosen = [name for name in COMPONENTS if name not in ("admission", *without)]
    return Platform(PlatformSettings(
        components=chosen, clock=clock or SystemClock(), options=options or Options(period=0.0, nodes="nodes: []")))


class Story:
    """One platform and what a person can do with it."""

    def __init__(self, platform: Team) -> None:
        self.platform = platform
        self.clock = platform.clock
        self.client = platform.admin
        self._connection = Connection(self.client, "default", "the story's server")
        self._nodes = 0

    async def nodes(self, count: int, *, gpus: int = 8, labels: dict[str, str] | None = None, cpu: int = 64) -> list[str]:
        """Add simulated nodes; gives their names."""
        from gangline.runtime.clock import timestamp
        from gangline.world.nodes import NodePool, node_objects

        made = []
        for _ in range(count):
            name = f"node-{self._nodes}"
            self._nodes += 1
            pool = NodePool(name=name, gpus=gpus, labels=labels or {}, cpu=cpu)
            for obj in node_objects([pool], timestamp(self.clock.now())):
                await self.client.create(NODE, obj)
                made.append(name)
        return made

    async def apply(self, source: str | Raw) -> None:
        """Apply a file of the repository, a YAML text, or an object."""
        for obj in _objects(source):
            await apply_one(self._connection, await kind_of(self._connection, obj), obj)

    async def settles(self) -> None:
        await self.platform.settles(PATIENCE)

    async def until(self, condition: Callable[[], Awaitable[bool]], what: str = "") -> None:
        deadline = time.monotonic() + PATIENCE
        while not await condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what or 'the condition'} did not come true in {PATIENCE} s\n{await self.picture()}")
            await asyncio.sleep(0.01)

    async def pods(self, of: str = "", phase: str = "") -> list[Pod]:
        """Pods of a set (or all), in a phase (or any)."""
        labels = {names.PART_OF: of} if of else None
        return [pod for pod in (await self.client.list(POD, "default", labels)).items if not phase or pod.status.phase == phase]

    async def running(self, count: int, of: str = "") -> None:
        """Wait until exactly so many pods run."""

        async def enough() -> bool:
            return len(await self.pods(of, "Running")) == count

        await self.until(enough, f"{count} running pods of {of or 'all'}")

    async def explain(self, name: str) -> str:
        return "\n".join(each.text for each in await explain(self.client, name, "default"))

    async def all(self, kind: Kind[Any]) -> list[Any]:
        found = (await self.client.list(kind, "default" if kind.namespaced else "")).items
        return [each for each in found if each.name not in NOT_OURS]

    async def gone(self, *kinds: Kind[Object]) -> None:
        async def none_left() -> bool:
            return not any([await self.all(kind) for kind in kinds])

        await self.until(none_left, f"no {', '.join(kind.plural for kind in kinds)}")

    def advance(self, seconds: float) -> None:
        assert isinstance(self.clock, ManualClock)
        self.clock.advance(seconds)

    async def picture(self) -> str:
        pods = await self.pods()
        return "\n".join(f"  {pod.name} {pod.status.phase} {pod.spec.node_name} "
                         f"{[gate.name for gate in pod.spec.scheduling_gates]}" for pod in pods) or "  no pods"


def _objects(source: str | Raw) -> list[Raw]:
    if isinstance(source, dict):
        return [source]
    if "\n" in source:
        return manifests.parse(source, "the test")
    return manifests.read([str(REPOSITORY / source)])
