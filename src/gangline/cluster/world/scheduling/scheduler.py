"""The minimal default scheduler, so that bystanders run: pods that name no scheduler, or `default-scheduler`.

Watches pods and nodes, keeps the state of scheduling_state.py, and after each change tries what waits: a bind, or a
condition PodScheduled that says why not. Gangs of the Workload API (gangs.py) start as a whole; of its kinds only those
are watched that the server has, and PodGroups get a condition with the result. No preemption; other schedulers' pods
only take room."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gangline.api.builtin import Untyped
from gangline.api.core import Pod
from gangline.api.kinds import COMPOSITE_POD_GROUP, KUBE_POD_GROUP, NODE, POD, PVC, Kind
from gangline.client.wire import STRATEGIC_PATCH
from gangline.cluster.world.discovery import served
from gangline.cluster.world.pods.pod_indexes import volume_claims
from gangline.cluster.world.scheduling.gangs import BY_PARENT, KINDS, WorkloadGangs, by_parent, needs
from gangline.cluster.world.scheduling.place import Answer, PlacingRefused, PodBinding
from gangline.cluster.world.scheduling.scheduling_state import SchedulingState, pod_condition
from gangline.cluster.world.upkeep.volume_choice import SELECTED_NODE
from gangline.errors import ApiError, Conflict, NotFound
from gangline.runtime import BackgroundService, Cache, Context, Key
from gangline.runtime.clock import timestamp

log = logging.getLogger(__name__)
CONCURRENT = 32


@dataclass(slots=True)
class DefaultScheduler:
    state: SchedulingState = field(default_factory=SchedulingState)
    followed: frozenset[Kind[Any]] = frozenset()
    """Which kinds of the Workload API the server has."""
    busy: bool = True

    @property
    def idle(self) -> bool:
        return not self.busy and not self.state.dirty.is_set()

    async def run(self, ctx: Context, cache: Cache) -> None:
        await self._follow(ctx, cache)
        cache.informer(NODE).on_change(self.state.node_moved)
        cache.informer(POD).on_change(self.state.pod_moved)
        while True:
            self.busy = False
            await self.state.dirty.wait()
            self.busy = True
            self.state.dirty.clear()
            try:
                await self._round(ctx)
            except ApiError as error:
                log.warning("the default scheduler could not write: %s", error)
                await ctx.clock.sleep(0.5)
                self.state.try_all_again()

    async def _follow(self, ctx: Context, cache: Cache) -> None:
        """Watch what says which pods are a gang, as far as the server has it."""
        self.followed = frozenset(await served(ctx.client, *KINDS))
        for kind in sorted(self.followed, key=lambda kind: kind.api_version):
            cache.informer(kind).on_change(self.state.gang_moved)
        for kind in self.followed & {KUBE_POD_GROUP, COMPOSITE_POD_GROUP}:
            cache.informer(kind).add_index(BY_PARENT, by_parent)
        if self.followed:
            await cache.start()

    async def _round(self, ctx: Context) -> None:
        gangs = WorkloadGangs(ctx.read, self.followed, self.state.nodes_of)
        for units in self.state.units(gangs):
            answers = self.state.decide(units)
            await _together(partial(self._write, ctx, answer) for answer in answers)
            news = self.state.news(answers)
            await _together(partial(self._tell_group, ctx, gangs, key, reason) for key, reason in news.items())

    async def _write(self, ctx: Context, answer: Answer) -> None:
        if isinstance(answer, PodBinding):
            await self._bind(ctx, answer)
        else:
            await _refuse(ctx, answer)

    async def _bind(self, ctx: Context, bind: PodBinding) -> None:
        pod = bind.pod
        try:
            await _choose_volumes(ctx, pod, bind.node)
            await ctx.client.bind(pod.name, pod.namespace, bind.node, uid=pod.uid)
        except (NotFound, Conflict):
            self.state.forget(pod)
            return
        except ApiError:
            self.state.forget(pod)
            raise
        ctx.events.tell(POD, pod, "Scheduled", f"Successfully assigned {pod.namespace}/{pod.name} to {bind.node}")

    async def _tell_group(self, ctx: Context, gangs: WorkloadGangs, key: Key, reason: str) -> None:
        """A PodGroup that could start gets a condition that says so, one whose pods found no room why not."""
        self.state.untold.pop(key, None)
        group = gangs.group(key.namespace, key.name)
        if gangs.kind is None or group is None:
            return
        started = len(self.state.placed.get(str(key), ())) >= needs(group)
        if not started and not reason:
            return
        try:
            await self._write_condition(ctx, gangs.kind, group, "" if started else reason)
        except ApiError:
            self.state.untold[key] = None
            raise

    async def _write_condition(self, ctx: Context, kind: Kind[Untyped], group: Untyped, reason: str) -> None:
        condition = self.state.group_condition(kind, group, reason, timestamp(ctx.clock.now()))
        if condition is None:
            return
        patch = {"metadata": {"uid": group.uid}, "status": {"conditions": [condition]}}
        try:
            await ctx.client.patch(
                kind, group.name, group.namespace, patch, subresource="status", content_type=STRATEGIC_PATCH
            )
        except (NotFound, Conflict):
            return
        self.state.group_reasons[group.uid] = reason


async def _together(writes: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """All of them, some at a time; the first that failed is raised once all are done. Each begins when its turn comes:
    whoever is stopped before leaves nothing behind that was begun and never awaited."""
    gate = asyncio.Semaphore(CONCURRENT)

    async def write_in_turn(write: Callable[[], Awaitable[None]]) -> None:
        async with gate:
            await write()

    for outcome in await asyncio.gather(*(write_in_turn(write) for write in writes), return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def _choose_volumes(ctx: Context, pod: Pod, node: str) -> None:
    """Claims that wait for their first consumer learn where it is."""
    for name in volume_claims(pod):
        claim = ctx.read.get(PVC, name, pod.namespace)
        if claim is not None and not claim.spec.volume_name and SELECTED_NODE not in claim.annotations:
            await ctx.client.patch(PVC, name, pod.namespace, {"metadata": {"annotations": {SELECTED_NODE: node}}})


async def _refuse(ctx: Context, refused: PlacingRefused) -> None:
    pod, condition = refused.pod, pod_condition(refused, timestamp(ctx.clock.now()))
    if condition is not None and await ctx.writer.patch_unless_gone(
        POD,
        pod.name,
        pod.namespace,
        {"status": {"conditions": [condition]}},
        subresource="status",
        content_type=STRATEGIC_PATCH,
    ):
        ctx.events.tell(POD, pod, "FailedScheduling", refused.reason, warning=True)


def scheduler() -> BackgroundService:
    work = DefaultScheduler()
    return BackgroundService("scheduler", work.run, idle=lambda: work.idle, prepare=_prepare)


def _prepare(cache: Cache) -> None:
    for kind in (POD, NODE, PVC):
        cache.informer(kind)
