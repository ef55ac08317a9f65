"""A simulated cluster autoscaler: pods that fit nowhere call for nodes of fixed pools, the smallest that helps.

`wishes` is pure: it puts the waiting pods on the nodes that are there and on their way, and asks for the smallest node
of the pools in which each of the rest fits. How machines come and go is in `growing_pools.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.cluster.world.nodes.growing_pools import machines
from gangline.cluster.world.nodes.nodes import node_object
from gangline.cluster.world.nodes.pool_orders import HopelessShapes, MachineOrder, PoolPicture, put
from gangline.cluster.world.scheduling.place import NodeBoard, by_turn
from gangline.cluster.world.settings import PoolGrowth, WorldSettings
from gangline.runtime import BackgroundService


def template(growth: PoolGrowth, number: int, now: str = "") -> Node:
    """The node that a pool would add as its next."""
    return msgspec.convert(node_object(growth.pool, number, f"{growth.pool.name}-{number}", now), Node)


def smallest_first(pools: Iterable[PoolGrowth]) -> list[PoolGrowth]:
    return sorted(pools, key=lambda pool: (pool.pool.gpus, pod_size(template(pool, 0)), pool.pool.name))


def pod_size(node: Node) -> tuple[float, float]:
    board = NodeBoard()
    board.put_node(node)
    offers = board.spots[node.name].offers
    return offers.get("cpu", 0.0), offers.get("memory", 0.0)


def free_numbers(growth: PoolGrowth, taken: Iterable[str]) -> Iterable[int]:
    used = set(taken)
    return (number for number in range(growth.most) if f"{growth.pool.name}-{number}" not in used)


def wishes(
    nodes: Sequence[Node],
    coming: Sequence[Node],
    bound: Iterable[Pod],
    waiting: Iterable[Pod],
    pools: Sequence[PoolGrowth],
) -> list[tuple[PoolGrowth, int]]:
    """Which nodes to add (pool and number) so that every waiting pod that could fit one day does."""
    board = NodeBoard()
    for node in (*nodes, *coming):
        board.put_node(node)
    for pod in bound:
        board.hold(pod, pod.spec.node_name)
    added: list[tuple[PoolGrowth, int]] = []
    ordered, hopeless = smallest_first(pools), HopelessShapes()
    for pod in by_turn(waiting):
        if hopeless.knows(pod) or put(board, pod):
            continue
        growth = _smallest_for(pod, ordered, board)
        if growth is None:
            hopeless.learn(pod)
            continue
        board.put_node(template(*growth))
        added.append(growth)
        put(board, pod)
    return added


def _smallest_for(pod: Pod, pools: Sequence[PoolGrowth], board: NodeBoard) -> tuple[PoolGrowth, int] | None:
    """The first pool that can still grow, and whose node would hold the pod."""
    for growth in pools:
        number = next(iter(free_numbers(growth, board.spots)), None)
        if number is not None and put(_alone(template(growth, number)), pod):
            return growth, number
    return None


def _alone(node: Node) -> NodeBoard:
    board = NodeBoard()
    board.put_node(node)
    return board


@dataclass(slots=True)
class PoolAutoscaler:
    """How a cluster autoscaler orders machines."""

    pools: tuple[PoolGrowth, ...]

    def at_start(self) -> Iterator[MachineOrder]:
        for growth in self.pools:
            yield from (_order(growth, number) for number in range(growth.least))

    def orders(self, scene: PoolPicture) -> Iterator[MachineOrder]:
        for growth, number in wishes(scene.nodes, scene.coming, scene.bound, scene.waiting, self.pools):
            yield _order(growth, number)

    def spare(self, nodes: Sequence[Node]) -> Iterator[tuple[Sequence[Node], int, float]]:
        for growth in self.pools:
            yield [node for node in nodes if node.labels.get(names.POOL) == growth.pool.name], growth.least, growth.idle

    def event_of(self, order: MachineOrder) -> tuple[str, str]:
        return "TriggeredScaleUp", f"pod triggered scale-up: a node of pool {order.pool.name} comes"


def _order(growth: PoolGrowth, number: int) -> MachineOrder:
    return MachineOrder(growth.pool, number, f"{growth.pool.name}-{number}", growth.delay)


def autoscaler(settings: WorldSettings) -> list[BackgroundService]:
    return [machines("autoscaler", PoolAutoscaler(settings.growth))] if settings.growth else []
