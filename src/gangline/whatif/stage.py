"""A small stage for the objects of files alone: an embedded server on which the controllers of workloads turn them into
pods and PodGroups, as they would in the cluster.

The cluster's own pods and nodes are not here, so the size of the cluster costs nothing. The core says who gets which
node (model.py); a pod that gets one is played as running, so that what waits for it goes on. Of the cluster, only those
objects are here that say how workloads are made (namespaces, queues, classes, quotas), and what the objects own that
the files change. Acts on its own server only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.cluster.world.component import PARTS, components
from gangline.cluster.world.settings import WorldSettings
from gangline.components import ComponentOptions
from gangline.errors import ApiError
from gangline.local import PlatformSettings
from gangline.whatif.prepared import PreparedPlatform
from gangline.whatif.staged import running

TEAM = ("operator", "grouper")
WORLD_PARTS = frozenset(
    {"garbage", "accounts", "jobs", "replicasets", "deployments", "statefulsets", "quotas", "claims"}
)
SEEN: tuple[Kind[Any], ...] = (kinds.POD, kinds.POD_GROUP, kinds.RESOURCE_CLAIM, kinds.PVC)
"""What controllers make that a cycle is decided from."""
SETTLES = 20.0


class WorkloadStage:
    """`async with WorkloadStage(...) as stage`: open, with nothing on it. `set_up` puts the ground there and lets
    controllers begin."""

    def __init__(self, compat: tuple[str, ...] = ()) -> None:
        self.platform = PreparedPlatform(PlatformSettings(components=TEAM, options=ComponentOptions(compat=compat)))

    @property
    def client(self) -> Client:
        return self.platform.admin

    async def __aenter__(self) -> WorkloadStage:
        try:
            await self.platform.open()
        except BaseException:
            await self.platform.stop()
            raise
        return self

    async def set_up(self, ground: Sequence[Raw]) -> None:
        for obj in sorted(ground, key=lambda obj: obj["kind"] != kinds.CRD.kind):
            self._plant(obj)
        await self.platform.start_components()
        for component in components(WorldSettings(nodes=(), off=frozenset(PARTS) - WORLD_PARTS)):
            await self.platform.hire(component)

    async def __aexit__(self, *failure: object) -> None:
        await self.platform.stop()

    async def settles(self) -> None:
        """Nothing moves any more; pods on their way out are gone."""
        with contextlib.suppress(TimeoutError):
            await self.platform.settles(SETTLES)
            while await self._let_go():
                await self.platform.settles(SETTLES)

    async def _let_go(self) -> bool:
        leaving = [pod for pod in await self.client.list_raw(kinds.POD) if pod["metadata"].get("deletionTimestamp")]
        for pod in leaving:
            with contextlib.suppress(ApiError):
                await self.client.delete(kinds.POD, pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)
        return bool(leaving)

    async def look(self, given: Iterable[Kind[Any]] = ()) -> list[Raw]:
        """All that controllers made, and the objects of the kinds that were given."""
        wanted = dict.fromkeys((*SEEN, *given))
        return [obj for kind in wanted for obj in await self.client.list_raw(kind)]

    def play(self, pods: Iterable[Raw], nodes: Mapping[str, str]) -> None:
        """These pods run on the nodes that they were given (`nodes`: by uid)."""
        for pod in pods:
            self._plant(running(pod, nodes[str(pod["metadata"]["uid"])]))

    def _plant(self, obj: Raw) -> None:
        group = str(obj["apiVersion"]).rpartition("/")[0]
        known = kinds.known(str(obj["apiVersion"]), str(obj["kind"]))
        if known is not None:
            self.platform.server.plant(group, known.plural, obj)
