"""What a simulated node has to give: addresses, GPUs, and room. A pod for which there is not enough is turned away.

Pure but for what it keeps in mind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.kinds import POD, PVC
from gangline.cluster.world.nodes.hardware import gpu_uuid
from gangline.cluster.world.pods import pod_life
from gangline.cluster.world.pods.pod_indexes import READY_CLIQUE, clique_key, volume_claims
from gangline.cluster.world.pods.pod_step import FINAL, PodRejection
from gangline.cluster.world.scheduling.node_fit import selects
from gangline.cluster.world.scheduling.place import NodeBoard, NodeSpot
from gangline.rules.requests import BYTES, PODS, is_gpu, is_mig, pod_amounts
from gangline.runtime import Key, Reader, key_of

UNITS = (*BYTES, PODS)
UNSELECTED = PodRejection(
    "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
)


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


def out_of(resource: str, pod: Pod, spot: NodeSpot) -> PodRejection:
    """What a kubelet says when a node lacks something."""
    asked, used, capacity = (
        _as_kubelet_counts(resource, amounts.get(resource, 0.0))
        for amounts in (pod_amounts(pod), spot.used, spot.offers)
    )
    return PodRejection(
        f"OutOf{resource}",
        f"Node didn't have enough resource: {resource}, requested: {asked}, used: {used}, capacity: {capacity}",
    )


def _as_kubelet_counts(resource: str, amount: float) -> int:
    """As a kubelet counts: thousandths of processors, and of everything else whole units."""
    return (
        int(amount)
        if resource == "cpu" or resource in UNITS or is_gpu(resource) or is_mig(resource)
        else int(amount // 1000)
    )


@dataclass(slots=True)
class NodeRoom:
    """What the pods that were let in take of each node; a pod for which there is not enough is turned away."""

    board: NodeBoard = field(default_factory=NodeBoard)
    uids: dict[Key, str] = field(default_factory=dict)
    seen: bool = False

    def prepare(self, read: Reader) -> None:
        """After a start: who runs already has its room."""
        if not self.seen:
            self.seen = True
            for pod in read.list(POD):
                if pod.status.start_time and pod.spec.node_name and pod.status.phase not in FINAL:
                    self._hold(pod)

    def enter(self, pod: Pod, node: Node, read: Reader) -> PodRejection | None:
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
            if pod is None or pod.uid != uid or pod.status.phase in FINAL:
                self.leave(key)

    def _hold(self, pod: Pod) -> None:
        self.uids[key_of(pod)] = pod.uid
        self.board.hold(pod, pod.spec.node_name)

    def leave(self, key: Key) -> None:
        uid = self.uids.pop(key, None)
        if uid is not None:
            self.board.free(uid)
