"""A simulated cluster autoscaler: pods that fit nowhere call for nodes, which come after a while; nodes left empty go again.

`wishes` is pure: it puts the waiting pods on the nodes that are there and on their way, and asks for the smallest node of the pools
in which each of the rest fits. The shell waits as long as a machine takes, registers it like any simulated node, and removes nodes
of its pools that have been idle.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.kinds import NODE, POD
from gangline.api.meta import condition
from gangline.errors import ApiError, NotFound
from gangline.runtime import Cache, Context, Service
from gangline.runtime.clock import timestamp
from gangline.world.heart import register
from gangline.world.kubelet import BY_NODE, by_node
from gangline.world.nodes import node_object
from gangline.world.place import Bind, Board, Round, Unit, by_turn
from gangline.world.scheduler import occupies
from gangline.world.settings import Growth, WorldSettings

log = logging.getLogger(__name__)
DISRUPTION = "karpenter.sh/do-not-disrupt"
LOOK = 5.0


# --- thinking ----------------------------------------------------------------------------------------------------------


def helpless(pod: Pod) -> bool:
    """A scheduler tried it and found no node."""
    said = condition(pod.status.conditions, "PodScheduled")
    return (not pod.spec.node_name and not pod.metadata.deleting and pod.status.phase in ("", "Pending")
            and said is not None and said.status == "False" and said.reason == "Unschedulable")


def template(growth: Growth, number: int, now: str = "") -> Node:
    """The node that a pool would add as its next."""
    return msgspec.convert(node_object(growth.pool, number, f"{growth.pool.name}-{number}", now), Node)


def smallest_first(pools: Iterable[Growth]) -> list[Growth]:
    return sorted(pools, key=lambda each: (each.pool.gpus, pod_size(template(each, 0)), each.pool.name))


def pod_size(node: Node) -> tuple[float, float]:
    board = Board()
    board.put_node(node)
    offers = board.spots[node.name].offers
    return offers.get("cpu", 0.0), offers.get("memory", 0.0)


def free_numbers(growth: Growth, taken: Iterable[str]) -> Iterable[int]:
    used = set(taken)
    return (number for number in range(growth.most) if f"{growth.pool.name}-{number}" not in used)


def wishes(nodes: Sequence[Node], coming: Sequence[Node], bound: Iterable[Pod], waiting: Iterable[Pod],
           pools: Sequence[Growth]) -> list[tuple[Growth, int]]:
    """Which nodes to add (pool and number) so that every waiting pod that could fit one day does."""
    board = Board()
    for node in (*nodes, *coming):
        board.put_node(node)
    for pod in bound:
        board.hold(pod, pod.spec.node_name)
    added: list[tuple[Growth, int]] = []
    for pod in by_turn(waiting):
        if _fits(board, pod):
            continue
        for growth in smallest_first(pools):
            number = next(iter(free_numbers(growth, board.spots)), None)
            if number is None or not _fits(_alone(template(growth, number)), pod):
                continue
            board.put_node(template(growth, number))
            added.append((growth, number))
            _fits(board, pod)
            break
    return added


def _alone(node: Node) -> Board:
    board = Board()
    board.put_node(node)
    return board


def _fits(board: Board, pod: Pod) -> bool:
    """Puts the pod on the board if it fits."""
    return any(isinstance(each, Bind) for each in Round(board).place(Unit(pod.uid, (pod,))))


def removable(node: Node, pods: Iterable[Pod]) -> bool:
    return not any(occupies(pod) for pod in pods) and node.annotations.get(DISRUPTION) != "true"


# --- doing -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Autoscaler:
    pools: tuple[Growth, ...]
    coming: dict[str, tuple[float, Growth, int]] = field(default_factory=dict)
    """Nodes on their way: name → when it comes, from which pool, with which number."""
    idle_since: dict[str, float] = field(default_factory=dict)
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    busy: bool = False

    @property
    def idle(self) -> bool:
        return not self.busy and not self.dirty.is_set()

    async def run(self, ctx: Context, cache: Cache) -> None:
        for growth in self.pools:
            self.coming |= {f"{growth.pool.name}-{number}": (0.0, growth, number) for number in range(growth.least)}
        self.dirty.set()
        cache.informer(POD).on_change(self._pod_moved)
        ticking = asyncio.create_task(self._tick(ctx))
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
            await ctx.clock.sleep(min(LOOK, *(growth.delay or LOOK for growth in self.pools)))
            self.dirty.set()

    async def _look(self, ctx: Context) -> None:
        now = ctx.clock.now()
        try:
            for name, (when, growth, number) in sorted(self.coming.items()):
                if when <= now:
                    await self._arrive(ctx, growth, number)
                    del self.coming[name]
            self._order(ctx, now)
            await self._remove_idle(ctx, now)
        except ApiError as error:
            log.warning("the autoscaler could not write: %s; again in %.0f s", error, LOOK)

    def _order(self, ctx: Context, now: float) -> None:
        nodes, pods = ctx.read.list(NODE), ctx.read.list(POD)
        waiting = [pod for pod in pods if helpless(pod)]
        if not waiting:
            return
        coming = [template(growth, number) for _, growth, number in self.coming.values()]
        for growth, number in wishes(nodes, coming, (pod for pod in pods if occupies(pod)), waiting, self.pools):
            self.coming[f"{growth.pool.name}-{number}"] = (now + growth.delay, growth, number)
            for pod in waiting[:1]:
                ctx.events.tell(POD, pod, "TriggeredScaleUp", f"pod triggered scale-up: a node of pool {growth.pool.name} comes")

    async def _arrive(self, ctx: Context, growth: Growth, number: int) -> None:
        await register(ctx.client, growth.pool, number, f"{growth.pool.name}-{number}", timestamp(ctx.clock.now()))

    async def _remove_idle(self, ctx: Context, now: float) -> None:
        for growth in self.pools:
            mine = sorted((node for node in ctx.read.list(NODE, labels={names.POOL: growth.pool.name})), key=lambda node: node.name)
            for node in mine:
                if not removable(node, ctx.read.by(POD, BY_NODE, node.name)):
                    self.idle_since.pop(node.name, None)
                elif now - self.idle_since.setdefault(node.name, now) >= growth.idle and len(mine) > growth.least:
                    mine = [each for each in mine if each is not node]
                    await self._take_away(ctx, node)

    async def _take_away(self, ctx: Context, node: Node) -> None:
        self.idle_since.pop(node.name, None)
        ctx.events.tell(NODE, node, "ScaleDown", "node removed: it has been idle")
        try:
            await ctx.client.delete(NODE, node.name)
        except NotFound:
            return


def autoscaler(settings: WorldSettings) -> list[Service]:
    if not settings.growth:
        return []
    work = Autoscaler(settings.growth)
    return [Service("autoscaler", work.run, idle=lambda: work.idle, prepare=_prepare)]


def _prepare(cache: Cache) -> None:
    cache.informer(NODE)
    cache.informer(POD).add_index(BY_NODE, by_node)
