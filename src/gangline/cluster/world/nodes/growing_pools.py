"""Simulated machines that come when pods wait for them and go when they stand empty; who decides which is a
`PoolPlanner`.

A plan is pure (pool_orders.py): it is shown the nodes, those on their way, and the pods that wait, and orders machines.
`SimulatedMachines` waits as long as a machine takes, registers it like any simulated node, and removes machines
of the plan that have been idle."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from functools import partial

from gangline.api.core import Node, Pod
from gangline.api.kinds import NODE, POD
from gangline.cluster.world.nodes.heartbeats import register
from gangline.cluster.world.nodes.pool_orders import (
    STARTING,
    MachineOrder,
    PoolPicture,
    PoolPlanner,
    helpless,
    once_ready,
    removable,
)
from gangline.cluster.world.pods.pod_indexes import BY_NODE, by_node
from gangline.cluster.world.scheduling.scheduling_state import occupies
from gangline.errors import ApiError, NotFound
from gangline.runtime import BackgroundService, Cache, Context, background
from gangline.runtime.clock import timestamp

log = logging.getLogger(__name__)
LOOK = 5.0


# --- thinking ---------------------------------------------------------------------------------------------------------


# --- doing ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class SimulatedMachines:
    plan: PoolPlanner
    coming: dict[str, tuple[float, MachineOrder]] = field(default_factory=dict)
    """Nodes on their way: name → when it comes, and what was ordered."""
    came: dict[str, float] = field(default_factory=dict)
    """Nodes that were registered here → when."""
    idle_since: dict[str, float] = field(default_factory=dict)
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    busy: bool = False

    @property
    def idle(self) -> bool:
        return not self.busy and not self.dirty.is_set()

    async def run(self, ctx: Context, cache: Cache) -> None:
        self.coming |= {order.name: (0.0, order) for order in self.plan.at_start()}
        self.dirty.set()
        cache.informer(POD).on_change(self._pod_moved)
        ticking = background.start("machines", partial(self._tick, ctx), ctx.clock)
        try:
            while True:
                await self.dirty.wait()
                self.busy = True
                self.dirty.clear()
                await self._look(ctx)
                self.busy = False
        finally:
            ticking.cancel()

    def _pod_moved(self, before: Pod | None, after: Pod | None) -> None:
        if after is None or helpless(after) or (before is not None and occupies(before) != occupies(after)):
            self.dirty.set()

    async def _tick(self, ctx: Context) -> None:
        while True:
            due = [when - ctx.clock.now() for when, _ in self.coming.values()]
            await ctx.clock.sleep(min([LOOK, *(max(item, 0.1) for item in due)]))
            self.dirty.set()

    async def _look(self, ctx: Context) -> None:
        now = ctx.clock.now()
        try:
            for name, (when, order) in sorted(self.coming.items()):
                if when <= now:
                    await register(ctx.client, order.pool, order.number, name, timestamp(now))
                    self.came[name] = now
                    del self.coming[name]
            self._order(ctx, now)
            await self._remove_idle(ctx, now)
        except ApiError as error:
            log.warning("machines could not be written: %s; again in %.0f s", error, LOOK)

    def _order(self, ctx: Context, now: float) -> None:
        pods = ctx.read.list(POD)
        self.came = {name: when for name, when in self.came.items() if now - when < STARTING}
        nodes = [once_ready(node) if node.name in self.came else node for node in ctx.read.list(NODE)]
        scene = PoolPicture(
            now,
            nodes,
            [order.node() for _, order in self.coming.values()],
            [pod for pod in pods if occupies(pod)],
            [pod for pod in pods if helpless(pod)],
        )
        for order in self.plan.orders(scene):
            self.coming[order.name] = (now + order.delay, order)
            for pod in scene.waiting[:1]:
                ctx.events.tell(POD, pod, *self.plan.event_of(order))

    async def _remove_idle(self, ctx: Context, now: float) -> None:
        for group, least, patience in self.plan.spare(ctx.read.list(NODE)):
            left = len(group)
            for node in sorted(group, key=lambda item: item.name):
                if not removable(node, ctx.read.by(POD, BY_NODE, node.name)):
                    self.idle_since.pop(node.name, None)
                elif now - self.idle_since.setdefault(node.name, now) >= patience and left > least:
                    left -= 1
                    await self._take_away(ctx, node)

    async def _take_away(self, ctx: Context, node: Node) -> None:
        self.idle_since.pop(node.name, None)
        ctx.events.tell(NODE, node, "ScaleDown", "node removed: it has been idle")
        try:
            await ctx.client.delete(NODE, node.name)
        except NotFound:
            return


def machines(name: str, plan: PoolPlanner) -> BackgroundService:
    work = SimulatedMachines(plan)
    return BackgroundService(name, work.run, idle=lambda: work.idle, prepare=_prepare)


def _prepare(cache: Cache) -> None:
    cache.informer(NODE)
    cache.informer(POD).add_index(BY_NODE, by_node)
