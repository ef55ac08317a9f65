"""Nodes that live: they register themselves, renew their leases, and say how they are.

nodes.py says what a node is and when it fails; here it is written: a Node once, then a Lease every few seconds, and the
Ready condition when it changes. A lost node writes nothing at all: what others make of that is node_lifecycle.py's
matter."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from gangline.api import resources
from gangline.api.core import Node
from gangline.api.kinds import DEVICE_CLASS, LEASE, NODE, NODE_RESOURCE_TOPOLOGY, RESOURCE_SLICE, Kind, reference
from gangline.api.meta import Object, Raw, condition
from gangline.client import Client
from gangline.client.wire import STRATEGIC_PATCH
from gangline.cluster.world.nodes.hardware import DEVICE_CLASS_OBJECT, device_slice, numa_zones
from gangline.cluster.world.nodes.nodes import (
    LOST,
    MOST_DEVICES,
    NodePool,
    claims_too_much,
    health,
    healthy_conditions,
    node_names,
    node_object,
    ready_condition,
    simulated,
)
from gangline.cluster.world.settings import WorldSettings
from gangline.errors import AlreadyExists, ApiError, NotFound
from gangline.runtime import Again, BackgroundService, Cache, Context, Controller, Key, Watch, itself
from gangline.runtime.clock import micro_timestamp, seconds_of, timestamp

log = logging.getLogger(__name__)
LEASES = "kube-node-lease"
RETRY = 1.0
MANY = 250
"""Simulated nodes that may beat as often as real ones."""


@dataclass(slots=True)
class Registrar:
    """Registers the nodes of the settings, once."""

    settings: WorldSettings
    done: bool = False
    """False also means busy: until then the world is not at rest."""

    async def run(self, ctx: Context, cache: Cache) -> None:
        while not self.done:
            try:
                await self._register_all(ctx)
                self.done = True
            except ApiError as error:
                log.warning("not every node could register: %s; again in %.0f s", error, RETRY)
                await ctx.clock.sleep(RETRY)

    async def _register_all(self, ctx: Context) -> None:
        now = timestamp(ctx.clock.now())
        for pool in self.settings.nodes:
            for number, name in enumerate(node_names(pool)):
                await register(ctx.client, pool, number, name, now)


async def register(client: Client, pool: NodePool, number: int, name: str, now: str) -> None:
    """A node, with what is inside it; what is already there is left as it is."""
    try:
        node = await client.create(NODE, node_object(pool, number, name, now))
    except AlreadyExists:
        if not (pool.dra or pool.numa):
            return
        node = await client.get(NODE, name)
    if pool.dra:
        await _add(client, DEVICE_CLASS, DEVICE_CLASS_OBJECT)
        await _add(client, RESOURCE_SLICE, device_slice(pool, node))
    if pool.numa:
        await _add(client, NODE_RESOURCE_TOPOLOGY, numa_zones(pool, node))


async def _add(client: Client, kind: Kind[Object], obj: Raw) -> None:
    """Where the server does not know the kind, nobody reads it."""
    try:
        await client.create(kind, obj)
    except (AlreadyExists, NotFound) as error:
        log.debug("%s %s is not made: %s", kind, obj["metadata"]["name"], error)


@dataclass(slots=True)
class NodeHeartbeats:
    """Beats for every simulated node."""

    settings: WorldSettings
    renewed: dict[str, float] = field(default_factory=dict)

    @property
    def pause(self) -> float:
        """Seconds between two beats of a node; many nodes beat more seldom, twice per lease at least."""
        longest = max(self.settings.heartbeat, self.settings.lease / 2)
        return min(self.settings.heartbeat * max(len(self.renewed) / MANY, 1.0), longest)

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        node = ctx.read.get(NODE, key.name)
        if node is None or not simulated(node):
            self.renewed.pop(key.name, None)
            return None
        now = ctx.clock.now()
        age = now - seconds_of(node.metadata.creation_timestamp or "")
        state, changes = health(node, age)
        if state != LOST:
            await self._write_readiness(ctx, node, state, now)
            await self._renew(ctx, node, now)
        waits = [self.pause] if self.settings.heartbeat and state != LOST else []
        waits += [] if changes is None else [changes - age]
        return Again(max(min(waits), 0.001)) if waits else None

    async def _write_readiness(self, ctx: Context, node: Node, state: str, now: float) -> None:
        stored = condition(node.status.conditions, "Ready")
        wanted = ready_condition(state, timestamp(now))
        status: Raw = {}
        if stored is None or stored.status != wanted["status"]:
            status["conditions"] = [*healthy_conditions(timestamp(now)), wanted]
        if claims_too_much(node):
            played = {"pods": resources.canonical(MOST_DEVICES)}
            status |= {"capacity": played, "allocatable": played}
        if status:
            await ctx.client.patch_only(
                NODE, node.name, "", {"status": status}, subresource="status", content_type=STRATEGIC_PATCH
            )

    async def _renew(self, ctx: Context, node: Node, now: float) -> None:
        """Events of the node come in between: the lease is renewed when it is due, not for each of them."""
        last = self.renewed.get(node.name)
        if not self.settings.heartbeat or (last is not None and now - last < self.pause * 0.9):
            return
        try:
            if last is None:
                raise NotFound({})
            await ctx.client.patch_only(LEASE, node.name, LEASES, {"spec": {"renewTime": micro_timestamp(now)}})
        except NotFound:
            await self._make_lease(ctx, node, now)
        self.renewed[node.name] = now

    async def _make_lease(self, ctx: Context, node: Node, now: float) -> None:
        spec = {
            "holderIdentity": node.name,
            "leaseDurationSeconds": self.settings.lease,
            "renewTime": micro_timestamp(now),
        }
        owner = reference(NODE, node, controller=False)
        try:
            await ctx.client.create_only(
                LEASE, {"metadata": {"name": node.name, "namespace": LEASES, "ownerReferences": [owner]}, "spec": spec}
            )
        except AlreadyExists:
            await ctx.client.patch_only(
                LEASE, node.name, LEASES, {"metadata": {"ownerReferences": [owner]}, "spec": spec}
            )


def registrar(settings: WorldSettings) -> BackgroundService:
    work = Registrar(settings)
    return BackgroundService("nodes", work.run, idle=lambda: work.done)


def heart(settings: WorldSettings) -> Controller:
    return Controller("heart", NodeHeartbeats(settings).reconcile, watches=(Watch(NODE, itself),), workers=8)
