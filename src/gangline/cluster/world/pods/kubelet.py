"""The kubelet of simulated nodes: bound pods start, become ready, end, restart and stop.

pod_life.py thinks, this shell looks and writes: at most one status patch per change of a pod, and none that says
nothing new. It also plays the device plugin for reservation pods, telling each which GPU it holds. Pods on other nodes
are never touched."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.core import Node, PersistentVolumeClaim, Pod
from gangline.api.kinds import NODE, POD, PVC
from gangline.api.meta import Raw
from gangline.cluster.world.nodes.hardware import gpu_uuid
from gangline.cluster.world.nodes.nodes import LOST, address, health, simulated
from gangline.cluster.world.pods import pod_life
from gangline.cluster.world.pods.pod_status import patch_status
from gangline.cluster.world.scheduling.place import Board, Spot, selects
from gangline.cluster.world.settings import WorldSettings
from gangline.rules.requests import BYTES, PODS, is_gpu, is_mig, pod_amounts
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of
from gangline.runtime.clock import seconds_of

log = logging.getLogger(__name__)
BY_NODE, READY_CLIQUE, AWAITS, CLAIMS = "node", "ready clique", "awaits", "volume claims"
WORKERS = 32
UNITS = (*BYTES, PODS)
UNSELECTED = pod_life.Rejection(
    "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
)


def by_node(pod: Pod) -> Iterable[str]:
    return [pod.spec.node_name] if pod.spec.node_name else []


def clique_key(pod: Pod, clique: str) -> str:
    return f"{pod.namespace}/{pod.labels.get(names.POD_GANG, '')}/{clique}"


def by_ready_clique(pod: Pod) -> Iterable[str]:
    clique = pod.labels.get(names.POD_CLIQUE)
    return [clique_key(pod, clique)] if clique and pod_life.ready(pod) else []


def by_awaited(pod: Pod) -> Iterable[str]:
    if not pod.spec.node_name or pod_life.through(pod):
        return []
    return [clique_key(pod, clique) for clique in pod_life.awaited(pod)]


def volume_claims(pod: Pod) -> list[str]:
    """Names of the PersistentVolumeClaims a pod mounts."""
    mounts = [volume["persistentVolumeClaim"] for volume in pod.spec.volumes if "persistentVolumeClaim" in volume]
    made = [f"{pod.name}-{volume['name']}" for volume in pod.spec.volumes if "ephemeral" in volume]
    return [str(mount["claimName"]) for mount in mounts] + made


def by_claim(pod: Pod) -> Iterable[str]:
    return [f"{pod.namespace}/{name}" for name in volume_claims(pod)]


@dataclass(slots=True)
class PodAddresses:
    """Pod addresses, each given once; those already in use are known from the pods."""

    last: int = 0
    seen: bool = False
    given: dict[str, str] = field(default_factory=dict)
    """By the pod's uid, until the pod is seen to have it."""

    def take(self, uid: str, pods: Iterable[Pod]) -> str:
        if not self.seen:
            self.last = max((_number(pod.status.pod_ip) for pod in pods), default=0)
            self.seen = True
        if uid not in self.given:
            self.last += 1
            self.given[uid] = f"10.{self.last >> 16 & 255}.{self.last >> 8 & 255}.{self.last & 255}"
        return self.given[uid]


def _number(address: str) -> int:
    parts = address.split(".")
    return int(parts[1]) << 16 | int(parts[2]) << 8 | int(parts[3]) if len(parts) == 4 and parts[0] == "10" else 0


def must_wait(pod: Pod, read: Reader) -> bool:
    """Some clique it starts after does not have enough ready pods yet."""
    return any(
        len(read.by(POD, READY_CLIQUE, clique_key(pod, clique))) < count
        for clique, count in pod_life.awaited(pod).items()
    )


def holds(pod: Pod, read: Reader) -> str:
    """Why a bound pod cannot start yet."""
    for name in volume_claims(pod):
        claim = read.get(PVC, name, pod.namespace)
        if claim is None or claim.status.phase != "Bound":
            return "ContainerCreating"
    return ""


def free_device(pod: Pod, neighbours: Iterable[Pod]) -> str:
    """The first GPU of the node that no other reservation pod holds."""
    taken = {neighbour.annotations.get(names.RESERVED_GPU) for neighbour in neighbours if neighbour.uid != pod.uid}
    index = 0
    while gpu_uuid(pod.spec.node_name, index) in taken:
        index += 1
    return gpu_uuid(pod.spec.node_name, index)


def from_devices(pod: Pod) -> set[str]:
    """Extended resources that a claim made for the pod brings, whatever the node itself has of them."""
    made = pod.status.extended_resource_claim_status or {}
    return {str(request_mapping.get("resourceName")) for request_mapping in made.get("requestMappings") or ()}


def out_of(resource: str, pod: Pod, spot: Spot) -> pod_life.Rejection:
    """What a kubelet says when a node lacks something."""
    asked, used, capacity = (
        _whole(resource, amounts.get(resource, 0.0)) for amounts in (pod_amounts(pod), spot.used, spot.offers)
    )
    return pod_life.Rejection(
        f"OutOf{resource}",
        f"Node didn't have enough resource: {resource}, requested: {asked}, used: {used}, capacity: {capacity}",
    )


def _whole(resource: str, amount: float) -> int:
    """As a kubelet counts: thousandths of processors, and of everything else whole units."""
    return (
        int(amount)
        if resource == "cpu" or resource in UNITS or is_gpu(resource) or is_mig(resource)
        else int(amount // 1000)
    )


@dataclass(slots=True)
class NodeRoom:
    """What the pods that were let in take of each node; a pod for which there is not enough is turned away."""

    board: Board = field(default_factory=Board)
    uids: dict[Key, str] = field(default_factory=dict)
    seen: bool = False

    def prepare(self, read: Reader) -> None:
        """After a start: who runs already has its room."""
        if not self.seen:
            self.seen = True
            for pod in read.list(POD):
                if pod.status.start_time and pod.spec.node_name and pod.status.phase not in pod_life.FINAL:
                    self._hold(pod)

    def enter(self, pod: Pod, node: Node, read: Reader) -> pod_life.Rejection | None:
        """Why the pod is turned away; None: it is in."""
        spot = self.board.spots.get(node.name)
        if spot is None or spot.node.status.allocatable != node.status.allocatable:
            self.board.put_node(node)
        if self.uids.get(key_of(pod)) == pod.uid:
            return None
        self.leave(key_of(pod))
        if self._lacks(pod, node):
            self._forget_gone(read)
        if missing := self._lacks(pod, node):
            return out_of(missing[0], pod, self.board.spots[node.name])
        if not selects(pod, node):
            return UNSELECTED
        self._hold(pod)
        return None

    def _lacks(self, pod: Pod, node: Node) -> list[str]:
        return [name for name in self.board.spots[node.name].lacks(pod_amounts(pod)) if name not in from_devices(pod)]

    def _forget_gone(self, read: Reader) -> None:
        """Pods are looked at in any order: one that has just gone may not have been looked at yet."""
        for key, uid in list(self.uids.items()):
            pod = read.get(POD, key.name, key.namespace)
            if pod is None or pod.uid != uid or pod.status.phase in pod_life.FINAL:
                self.leave(key)

    def _hold(self, pod: Pod) -> None:
        self.uids[key_of(pod)] = pod.uid
        self.board.hold(pod, pod.spec.node_name)

    def leave(self, key: Key) -> None:
        uid = self.uids.pop(key, None)
        if uid is not None:
            self.board.free(uid)


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
        if pod.status.phase in pod_life.FINAL:
            self.room.leave(key)
        now = ctx.clock.now()
        state, changes = health(node, age := now - seconds_of(node.metadata.creation_timestamp or ""))
        if state == LOST:
            return None if changes is None else Again(changes - age)
        place = self._place(ctx, pod, node, now)
        step = pod_life.step(pod, place, self.settings.pace)
        if step.status is not None and self._can_wait(pod):
            ctx.writer.take_turn()
        await self._act(ctx, pod, place, step)
        return None if step.again is None else Again(max(step.again - now, 0.001))

    def _can_wait(self, pod: Pod) -> bool:
        """Nobody's bind or end waits for this pod's status."""
        return pod.namespace != self.settings.reservation_namespace and not pod.metadata.deleting

    def _place(self, ctx: Context, pod: Pod, node: Node, now: float) -> pod_life.NodeFacts:
        host = address(node.name)
        ip = pod.status.pod_ip or (host if pod.spec.host_network else "")
        if ip:
            self.addresses.given.pop(pod.uid, None)
        elif not pod.metadata.deleting and pod.status.phase not in pod_life.FINAL:
            ip = self.addresses.take(pod.uid, ctx.read.list(POD) if not self.addresses.seen else ())
        known = pod.status.start_time or pod.metadata.deleting or pod.status.phase in pod_life.FINAL
        rejection = None if known else self.room.enter(pod, node, ctx.read)
        return pod_life.NodeFacts(now, host, ip, holds(pod, ctx.read), rejection, must_wait(pod, ctx.read))

    async def _act(self, ctx: Context, pod: Pod, place: pod_life.NodeFacts, step: pod_life.Step) -> None:
        if step.remove:
            self.room.leave(key_of(pod))
            await ctx.writer.delete_unless_gone(POD, pod, grace=0)
        elif step.status is not None:
            if self._learns_device(pod, step.status) and not await self._tell_device(ctx, pod):
                return
            if place.rejection is not None:
                ctx.events.tell(POD, pod, place.rejection.reason, place.rejection.message, warning=True)
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


def pods_on(node: Node, read: Reader) -> list[Key]:
    return [key_of(pod) for pod in read.by(POD, BY_NODE, node.name)]


def pods_awaiting(pod: Pod, read: Reader) -> list[Key]:
    return [key_of(item) for value in by_ready_clique(pod) for item in read.by(POD, AWAITS, value)]


def pods_mounting(claim: PersistentVolumeClaim, read: Reader) -> list[Key]:
    return [key_of(pod) for pod in read.by(POD, CLAIMS, f"{claim.namespace}/{claim.name}")]


def concerns_kubelet(before: Pod | None, after: Pod | None) -> bool:
    """A bound pod's status is written by the kubelet itself: that it came back changes nothing, unless the pod's end
    did."""
    if before is None or after is None:
        return bool((after or before).spec.node_name)  # type: ignore[union-attr]
    if not after.spec.node_name:
        return False
    mine = (
        before.status.phase == after.status.phase or after.status.phase not in pod_life.FINAL
    ) and not after.spec.readiness_gates
    return not mine or before.spec != after.spec or _asked(before) != _asked(after)


def _asked(pod: Pod) -> tuple[object, ...]:
    meta = pod.metadata
    return meta.uid, meta.deletion_timestamp, meta.deletion_grace_period_seconds, meta.finalizers, meta.annotations


def health_changed(before: Node | None, after: Node | None) -> bool:
    if before is None or after is None:
        return True
    return any(before.annotations.get(name) != after.annotations.get(name) for name in (names.HEALTH, names.FAILURES))


def readiness_changed(before: Pod | None, after: Pod | None) -> bool:
    return (before is not None and pod_life.ready(before)) != (after is not None and pod_life.ready(after))


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
