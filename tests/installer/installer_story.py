"""A cluster to install into: the embedded server, simulated nodes, Kubernetes' controllers, and the installer under its
own account."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gangline.api.builtin import Replicated
from gangline.api.kinds import CONFIG, DEPLOYMENT, SCHEDULING_SHARD, Kind
from gangline.api.meta import Object, Raw
from gangline.components.options import ComponentOptions
from gangline.installer.contract import OURS
from gangline.installer.plan import ALWAYS
from gangline.local import Platform, PlatformSettings
from journeys.story import DefinedPlatform, Story

SPACE = "kai-scheduler"
NODES = "nodes: [{name: cpu, count: 2, gpus: 0, cpu: 64, memory: 256Gi}]"
WORLD = ("kubelet", "controller-manager", "default-scheduler")


class InstallerStory(Story):
    """A story in which somebody installs gangline; with words for what the installer makes and says."""

    platform: Platform

    async def config(self, name: str = "kai-config", **spec: Any) -> None:
        await self.client.apply(CONFIG, {"metadata": {"name": name}, "spec": spec}, manager="test")

    async def shard(self, name: str, **spec: Any) -> None:
        await self.client.apply(SCHEDULING_SHARD, {"metadata": {"name": name}, "spec": spec}, manager="test")

    async def deployment(self, name: str) -> Replicated:
        return await self.client.get(DEPLOYMENT, name, SPACE)

    async def deployments(self) -> list[str]:
        return sorted(item.name for item in (await self.client.list(DEPLOYMENT)).items)

    async def said(self, kind: Kind[Any], name: str, type: str) -> tuple[str, str]:
        """Status and message of a condition of the present generation; empty: not said yet."""
        obj: Any = await self.client.get(kind, name)
        found: Raw = next(
            (condition for condition in obj.status.get("conditions", ()) if condition["type"] == type), {}
        )
        return (
            (found["status"], found["message"])
            if found.get("observedGeneration") == obj.metadata.generation
            else ("", "")
        )

    async def ready(self, kind: Kind[Any], name: str) -> None:
        async def now() -> bool:
            return (await self.said(kind, name, "Ready"))[0] == "True"

        await self.until(now, f"{kind.kind} {name} ready")

    async def tells(self, kind: Kind[Any], name: str, type: str, text: str) -> None:
        async def now() -> bool:
            return text in (await self.said(kind, name, type))[1]

        await self.until(now, f"{type} of {kind.kind} {name} saying {text!r}")

    async def disappears(self, kind: Kind[Any], name: str, namespace: str = SPACE) -> None:
        async def now() -> bool:
            return name not in {
                item.name for item in (await self.client.list(kind, namespace if kind.namespaced else "")).items
            }

        await self.until(now, f"{kind.kind} {name} gone")

    async def ours(self) -> list[str]:
        """Everything the installer made."""
        found: list[tuple[str, Object]] = []
        for kind in ALWAYS:
            found += [(kind.kind, item) for item in (await self.client.list(kind, labels=OURS)).items]
        return sorted(f"{kind} {item.name}" for kind, item in found)

    async def picture(self) -> str:
        lines = [
            f"{kind.kind} {item.name}: {condition['type']}={condition['status']} {condition['message']}"
            for kind in (CONFIG, SCHEDULING_SHARD)
            for item in (await self.client.list(kind)).items
            for condition in _conditions(item)
        ]
        return "\n".join(lines)


def _conditions(obj: Any) -> list[Raw]:
    return list(obj.status.get("conditions", ()))


@asynccontextmanager
async def installer_story(*, installer: bool = True) -> AsyncIterator[InstallerStory]:
    platform = DefinedPlatform(PlatformSettings(components=WORLD, options=ComponentOptions(period=0.0, nodes=NODES)))
    await platform.start()
    try:
        if installer:
            await platform.start_component("installer")
        yield InstallerStory(platform)
    finally:
        await platform.stop()
