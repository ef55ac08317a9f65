"""A simulated provisioner like Karpenter: all pods that wait are packed together, and each node is the smallest shape
that holds its share.

`packed` is pure. Where a cluster autoscaler grows pools of one shape, this one chooses among shapes; it waits a moment
for further pods before it orders, and takes a node away soon after its last pod is gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from gangline.api.core import Node, Pod
from gangline.cluster.world.nodes.growing_pools import machines
from gangline.cluster.world.nodes.nodes import NodePool, ProvisionerPart
from gangline.cluster.world.nodes.pool_orders import HopelessShapes, MachineOrder, PoolPicture, put
from gangline.cluster.world.scheduling.place import NodeBoard, by_turn
from gangline.cluster.world.settings import WorldSettings
from gangline.runtime import BackgroundService

POOL_LABEL, TYPE_LABEL = "karpenter.sh/nodepool", "node.kubernetes.io/instance-type"


@dataclass(slots=True)
class _Share:
    """Pods that will share a node, and the shapes that can still hold them all, each as a board of one node."""

    boards: list[tuple[NodePool, NodeBoard]]
    hopeless: HopelessShapes = field(default_factory=HopelessShapes)

    def takes(self, pod: Pod) -> bool:
        """Puts the pod into this share if some shape can still hold everything; a share only gets fuller."""
        if self.hopeless.knows(pod):
            return False
        fitting = [(shape, board) for shape, board in self.boards if put(board, pod)]
        if fitting:
            self.boards = fitting
        else:
            self.hopeless.learn(pod)
        return bool(fitting)


def packed(scene: PoolPicture, provision: ProvisionerPart) -> list[NodePool]:
    """The shapes of the nodes to order, in the order in which the pods called for them."""
    board = NodeBoard()
    for node in (*scene.nodes, *scene.coming):
        board.put_node(node)
    for pod in scene.bound:
        board.hold(pod, pod.spec.node_name)
    shares: list[_Share] = []
    shapes, elsewhere, hopeless = sorted(provision.shapes, key=_price), HopelessShapes(), HopelessShapes()
    for pod in by_turn(scene.waiting):
        if hopeless.knows(pod):
            continue
        if not elsewhere.knows(pod):
            if put(board, pod):
                continue
            elsewhere.learn(pod)
        if any(share.takes(pod) for share in shares):
            continue
        fresh = _Share([(shape, _empty(provision, shape)) for shape in shapes])
        if len(shares) < provision.most and fresh.takes(pod):
            shares.append(fresh)
        else:
            hopeless.learn(pod)
    return [share.boards[0][0] for share in shares]


def _price(shape: NodePool) -> tuple[float, str]:
    """Smaller is cheaper: GPUs weigh most."""
    node = MachineOrder(shape, 0, shape.name, 0).node()
    board = NodeBoard()
    board.put_node(node)
    return shape.gpus * 1000 + board.spots[node.name].offers.get("cpu", 0.0), shape.name


def _empty(provision: ProvisionerPart, shape: NodePool) -> NodeBoard:
    board = NodeBoard()
    board.put_node(MachineOrder(_labelled(provision, shape), 0, shape.name, 0).node())
    return board


def _labelled(provision: ProvisionerPart, shape: NodePool) -> NodePool:
    own = {POOL_LABEL: provision.name, TYPE_LABEL: shape.name, "karpenter.sh/capacity-type": "on-demand"}
    return msgspec.structs.replace(shape, labels={**shape.labels, **own})


@dataclass(slots=True)
class MachineProvisioner:
    """How a provisioner orders machines."""

    provisions: tuple[ProvisionerPart, ...]
    waiting_since: dict[str, float] = field(default_factory=dict)
    """Provision → when the first pod of the present batch was seen."""

    def at_start(self) -> Iterable[MachineOrder]:
        return ()

    def orders(self, scene: PoolPicture) -> Iterator[MachineOrder]:
        taken = {node.name for node in (*scene.nodes, *scene.coming)}
        for provision in self.provisions:
            shapes = packed(scene, provision)
            if not shapes:
                self.waiting_since.pop(provision.name, None)
            elif scene.now - self.waiting_since.setdefault(provision.name, scene.now) >= provision.batch:
                self.waiting_since.pop(provision.name)
                free = (number for number in range(provision.most) if f"{provision.name}-{number}" not in taken)
                for shape, number in zip(shapes, free, strict=False):
                    yield MachineOrder(
                        _labelled(provision, shape), number, f"{provision.name}-{number}", provision.delay
                    )

    def spare(self, nodes: Sequence[Node]) -> Iterator[tuple[Sequence[Node], int, float]]:
        for provision in self.provisions:
            yield [node for node in nodes if node.labels.get(POOL_LABEL) == provision.name], 0, provision.empty

    def event_of(self, order: MachineOrder) -> tuple[str, str]:
        return "Nominated", f"Pod should schedule on: nodeclaim/{order.name}"


def karpenter(settings: WorldSettings) -> list[BackgroundService]:
    return [machines("karpenter", MachineProvisioner(settings.provisions))] if settings.provisions else []
