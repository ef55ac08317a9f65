"""The kubelet of simulated nodes: bound pods start, become ready, end, restart and stop.

pod_life.py thinks, this controller looks and writes: at most one status patch per change of a pod, and none that says
nothing new. It also plays the device plugin for reservation pods, telling each which GPU it holds. Pods on other nodes
are never touched."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.kinds import NODE, POD, PVC
from gangline.api.meta import Raw
from gangline.cluster.world.nodes.nodes import LOST, address, health, simulated
from gangline.cluster.world.pods import pod_life
from gangline.cluster.world.pods.lacking import has_begun, has_key, not_found, without_key
from gangline.cluster.world.pods.node_room import NodeRoom, PodAddresses, free_device, holds, must_wait
from gangline.cluster.world.pods.pod_indexes import (
    AWAITS,
    BY_NODE,
    CLAIMS,
    READY_CLIQUE,
    by_awaited,
    by_claim,
    by_node,
    by_ready_clique,
    concerns_kubelet,
    health_changed,
    pods_awaiting,
    pods_mounting,
    pods_on,
    readiness_changed,
)
from gangline.cluster.world.pods.pod_status import patch_status
from gangline.cluster.world.pods.pod_step import FINAL, LackedObject, NodeFacts, Step
from gangline.cluster.world.settings import WorldSettings
from gangline.errors import NotFound
from gangline.rules.pods.needs import needed_objects
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, key_of
from gangline.runtime.clock import seconds_of

log = logging.getLogger(__name__)
WORKERS = 32


@dataclass(slots=True)
class Kubelet:
    settings: WorldSettings
    addresses: PodAddresses = field(default_factory=PodAddresses)
    room: NodeRoom = field(default_factory=NodeRoom)

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        pod = ctx.read.get(POD, key.name, key.namespace)
        if pod is None or not pod.spec.node_name:
            self.room.leave(key)
            return None
        node = ctx.read.get(NODE, pod.spec.node_name)
        if node is None or not simulated(node):
            return None
        self.room.prepare(ctx.read)
        if pod.status.phase in FINAL:
            self.room.leave(key)
        now = ctx.clock.now()
        state, changes = health(node, age := now - seconds_of(node.metadata.creation_timestamp or ""))
        if state == LOST:
            return None if changes is None else Again(changes - age)
        place = replace(self._place(ctx, pod, node, now), lacks=await self._lacks(ctx, pod))
        step = pod_life.step(pod, place, self.settings.pace)
        if step.status is not None and self._can_wait(pod):
            ctx.writer.take_turn()
        await self._act(ctx, pod, place, step)
        return None if step.again is None else Again(max(step.again - now, 0.001))

    def _can_wait(self, pod: Pod) -> bool:
        """Nobody's bind or end waits for this pod's status."""
        return pod.namespace != self.settings.reservation_namespace and not pod.metadata.deleting

    def _place(self, ctx: Context, pod: Pod, node: Node, now: float) -> NodeFacts:
        host = address(node.name)
        ip = pod.status.pod_ip or (host if pod.spec.host_network else "")
        if ip:
            self.addresses.given.pop(pod.uid, None)
        elif not pod.metadata.deleting and pod.status.phase not in FINAL:
            ip = self.addresses.take(pod.uid, ctx.read.list(POD) if not self.addresses.seen else ())
        known = pod.status.start_time or pod.metadata.deleting or pod.status.phase in FINAL
        rejection = None if known else self.room.enter(pod, node, ctx.read)
        return NodeFacts(now, host, ip, holds(pod, ctx.read), rejection, must_wait(pod, ctx.read))

    async def _lacks(self, ctx: Context, pod: Pod) -> LackedObject | None:
        """The first object that the pod names and that is not there, looked for until its containers have begun."""
        if not self.settings.needs or has_begun(pod) or pod.metadata.deleting or pod.status.phase in FINAL:
            return None
        for need in needed_objects(pod):
            try:
                live = await ctx.client.get_raw(need.kind, need.name, pod.namespace)
            except NotFound:
                return not_found(need)
            if not has_key(live, need):
                return without_key(need, pod.namespace)
        return None

    async def _act(self, ctx: Context, pod: Pod, place: NodeFacts, step: Step) -> None:
        if step.remove:
            self.room.leave(key_of(pod))
            await ctx.writer.delete_unless_gone(POD, pod, grace=0)
        elif step.status is not None:
            if self._learns_device(pod, step.status) and not await self._tell_device(ctx, pod):
                return
            if place.rejection is not None:
                ctx.events.tell(POD, pod, place.rejection.reason, place.rejection.message, warning=True)
            if place.lacks is not None and not place.lacks.container:
                ctx.events.tell(POD, pod, "FailedMount", place.lacks.message, warning=True)
            await patch_status(ctx, pod, step.status, in_turn=self._can_wait(pod))

    def _learns_device(self, pod: Pod, status: Raw) -> bool:
        """A reservation pod that starts learns which GPU its node gave it."""
        return (
            pod.namespace == self.settings.reservation_namespace
            and status.get("phase") == "Running"
            and names.RESERVED_GPU not in pod.annotations
        )

    async def _tell_device(self, ctx: Context, pod: Pod) -> bool:
        """Says whether the pod is still there."""
        neighbours = [item for item in ctx.read.by(POD, BY_NODE, pod.spec.node_name) if item.namespace == pod.namespace]
        annotations = {names.RESERVED_GPU: free_device(pod, neighbours)}
        return await ctx.writer.patch_unless_gone(
            POD, pod.name, pod.namespace, {"metadata": {"annotations": annotations}}
        )


def kubelet(settings: WorldSettings) -> Controller:
    return Controller(
        "kubelet",
        Kubelet(settings).reconcile,
        watches=(
            Watch(POD, itself, when=concerns_kubelet),
            Watch(POD, pods_awaiting, when=readiness_changed),
            Watch(PVC, pods_mounting),
            Watch(NODE, pods_on, when=health_changed),
        ),
        indexes=(
            (POD, BY_NODE, by_node),
            (POD, READY_CLIQUE, by_ready_clique),
            (POD, AWAITS, by_awaited),
            (POD, CLAIMS, by_claim),
        ),
        workers=WORKERS,
    )
