"""Which machines a growing pool orders for pods that found no room, and which nodes can go. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from gangline.api.core import Node, Pod
from gangline.api.meta import condition
from gangline.cluster.world.nodes.nodes import NodePool, node_object
from gangline.cluster.world.scheduling.place import NodeBoard, PlacingRound, PodBinding, PodUnit, Shape, shape_of
from gangline.cluster.world.scheduling.pod_affinity import cares
from gangline.cluster.world.scheduling.scheduling_state import occupies

DISRUPTION = "karpenter.sh/do-not-disrupt"
STARTING = 900.0
"""Seconds a machine may need from its registration until it is ready; so long pods are expected to fit on it."""
NOT_READY = "node.kubernetes.io/not-ready"


@dataclass(frozen=True, slots=True)
class MachineOrder:
    pool: NodePool
    number: int
    name: str
    delay: float

    def node(self, now: str = "") -> Node:
        return msgspec.convert(node_object(self.pool, self.number, self.name, now), Node)


@dataclass(frozen=True, slots=True)
class PoolPicture:
    now: float
    nodes: Sequence[Node]
    coming: Sequence[Node]
    bound: Sequence[Pod]
    waiting: Sequence[Pod]


class PoolPlanner(Protocol):
    def at_start(self) -> Iterable[MachineOrder]: ...
    def orders(self, scene: PoolPicture) -> Iterable[MachineOrder]: ...
    def spare(self, nodes: Sequence[Node]) -> Iterable[tuple[Sequence[Node], int, float]]:
        """Its own nodes, in groups: how many of a group stay, and how long one of them may stand empty."""
        ...

    def event_of(self, order: MachineOrder) -> tuple[str, str]:
        """Reason and message of the event that a waiting pod gets."""
        ...


def helpless(pod: Pod) -> bool:
    """A scheduler tried it and found no node."""
    scheduled = condition(pod.status.conditions, "PodScheduled")
    return (
        not pod.spec.node_name
        and not pod.metadata.deleting
        and pod.status.phase in ("", "Pending")
        and scheduled is not None
        and scheduled.status == "False"
        and scheduled.reason == "Unschedulable"
    )


def put(board: NodeBoard, pod: Pod) -> bool:
    """Puts the pod on the board if it fits."""
    return any(isinstance(item, PodBinding) for item in PlacingRound(board).place(PodUnit(pod.uid, (pod,))))


@dataclass(slots=True)
class HopelessShapes:
    """Shapes of pods for which nothing was found: of thousands of equal pods that wait only one is tried. A pod that
    minds its neighbours is always tried by itself."""

    shapes: set[Shape] = field(default_factory=set)

    def knows(self, pod: Pod) -> bool:
        return bool(self.shapes) and not cares(pod) and shape_of(pod) in self.shapes

    def learn(self, pod: Pod) -> None:
        if not cares(pod):
            self.shapes.add(shape_of(pod))


def once_ready(node: Node) -> Node:
    """A node as it will be when it has started: what keeps pods away until then is gone."""
    taints = tuple(taint for taint in node.spec.taints if taint.key != NOT_READY)
    return (
        node
        if len(taints) == len(node.spec.taints)
        else msgspec.structs.replace(node, spec=msgspec.structs.replace(node.spec, taints=taints))
    )


def removable(node: Node, pods: Iterable[Pod]) -> bool:
    return not any(occupies(pod) for pod in pods) and node.annotations.get(DISRUPTION) != "true"
