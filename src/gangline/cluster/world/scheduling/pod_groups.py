"""PodGroups of kube-scheduler stay as long as pods need them: a deleted one loses its protection with the last pod that
names it.

The server puts a finalizer on every PodGroup (cluster/server/admit/pod_groups.py); here it is lifted once no pod that
may still run names the group. A namespace is looked at as a whole, so that many groups that go together cost one
question. Where the server has no PodGroups, nothing is followed; pods and groups are never deleted here."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2, POD, Kind
from gangline.api.meta import Object
from gangline.cluster.world.discovery import only_metadata, served
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.cluster.world.scheduling.gangs import group_name
from gangline.errors import NotFound
from gangline.runtime import Again, BackgroundService, Cache, Context, Controller, Key, Reader, Watch
from gangline.runtime.running_controller import RunningController

USERS, LEAVING = "pod group", "leaving"
LATER = 5.0
"""Seconds until we look again at a group that only pods keep that we have not seen."""
ACTIVE = ",".join(f"status.phase!={phase}" for phase in FINAL)


def by_group(pod: Pod) -> list[str]:
    """The group that the pod keeps; a pod that is done keeps none."""
    name = group_name(pod)
    return [f"{pod.namespace}/{name}"] if name and pod.status.phase not in FINAL else []


def leaving(group: Object) -> list[str]:
    """Its namespace, if the group is deleted and still protected."""
    return (
        [group.namespace] if group.metadata.deleting and names.POD_GROUP_PROTECTION in group.metadata.finalizers else []
    )


def lets_go(before: Pod | None, after: Pod | None) -> bool:
    """The change of a pod may have freed a group."""
    return (
        before is not None
        and bool(by_group(before))
        and (after is None or after.uid != before.uid or not by_group(after))
    )


@dataclass(slots=True)
class Protection:
    """Follows the PodGroups of the server, if it has them."""

    looked: bool = False
    running: RunningController | None = None

    @property
    def idle(self) -> bool:
        return self.looked and (self.running is None or self.running.idle)

    async def run(self, ctx: Context, cache: Cache) -> None:
        kinds = await served(ctx.client, KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2)
        if kinds:
            await self._follow(ctx, cache, only_metadata(kinds[0]))
        self.looked = True
        if self.running is not None:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                await self.running.stop()

    async def _follow(self, ctx: Context, cache: Cache, kind: Kind[Object]) -> None:
        self.running = RunningController(_controller(kind), ctx, cache)
        await cache.start()
        self.running.start()


def _controller(kind: Kind[Object]) -> Controller:
    async def reconcile(ctx: Context, namespace: Key) -> Again | None:
        unused = [
            group
            for group in ctx.read.by(kind, LEAVING, namespace.name)
            if not ctx.read.by(POD, USERS, f"{group.namespace}/{group.name}")
        ]
        kept = await _named(ctx, namespace.name) if unused else set()
        for group in unused:
            if group.name not in kept:
                with suppress(NotFound):
                    await ctx.writer.remove_finalizer(kind, group, names.POD_GROUP_PROTECTION)
        return Again(LATER) if any(group.name in kept for group in unused) else None

    return Controller(
        "pod-groups",
        reconcile,
        workers=2,
        watches=(
            Watch(kind, _namespace, when=lambda before, after: after is not None and bool(leaving(after))),
            Watch(POD, _namespace, when=lets_go),
        ),
        indexes=((POD, USERS, by_group), (kind, LEAVING, leaving)),
    )


async def _named(ctx: Context, namespace: str) -> set[str]:
    """The groups that pods need, in the server's own words: a pod that we have not seen may be new."""
    return {group_name(pod) for pod in (await ctx.client.list(POD, namespace, fields=ACTIVE)).items}


def _namespace(obj: Any, read: Reader) -> list[Key]:
    return [Key("", obj.namespace)]


def groups() -> BackgroundService:
    work = Protection()
    return BackgroundService("groups", work.run, idle=lambda: work.idle)
