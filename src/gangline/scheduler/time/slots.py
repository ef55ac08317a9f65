"""All moments at which some node has room for one more pod of a size, soonest first, kept from cycle to cycle.

Follows the cluster's log of touched nodes, so that asking again costs only what changed: of ten thousand nodes a gang
looks at the few that are free soonest. What a node holds until when is `profile.py`'s to say; whether nodes take a pod
at all, and what is reserved on them, the caller's. Pure but for what it keeps."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from typing import Any

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.time.profile import NodeFuture

Slot = tuple[float, float, str]
"""When, GPUs in use on the node (of nodes that are free at the same time the one where less must go comes first), and
which node."""


class SlotIndex:
    """The slots of pods with so many GPUs on every node."""

    def __init__(self, gpus: float) -> None:
        self._gpus = gpus
        self._slots: list[Slot] = []
        self._of_node: dict[str, tuple[NodeFuture, list[Slot]]] = {}
        self._expires: list[tuple[float, str]] = []
        self._state: object = None
        self._seen = 0

    def refresh(self, cluster: ClusterModel, now: float, future: Callable[[NodeInfo], NodeFuture]) -> None:
        state = (cluster.epoch, cluster.generation)
        if state != self._state:
            self._begin(cluster, future)
        else:
            for number in dict.fromkeys(cluster.touched[self._seen :]):
                node = cluster.by_number[number]
                if node is not None:
                    self._look(node, future(node))
        while self._expires and self._expires[0][0] <= now:
            _, name = heapq.heappop(self._expires)
            self._look(cluster.nodes[name], future(cluster.nodes[name]))
        self._state, self._seen = state, len(cluster.touched)

    def _begin(self, cluster: ClusterModel, future: Callable[[NodeInfo], NodeFuture]) -> None:
        self._of_node, self._expires = {}, []
        for node in cluster.nodes.values():
            kept = future(node)
            self._of_node[node.name] = (kept, self._slots_of(node, kept))
            self._expires.append((kept.valid_until, node.name))
        heapq.heapify(self._expires)
        self._slots = sorted(slot for _, slots in self._of_node.values() for slot in slots)

    def _look(self, node: NodeInfo, kept: NodeFuture) -> None:
        old = self._of_node.get(node.name)
        if old is not None and old[0] is kept:
            return
        for slot in old[1] if old is not None else ():
            del self._slots[bisect_left(self._slots, slot)]
        slots = self._slots_of(node, kept)
        for slot in slots:
            insort(self._slots, slot)
        self._of_node[node.name] = (kept, slots)
        heapq.heappush(self._expires, (kept.valid_until, node.name))

    def _slots_of(self, node: NodeInfo, kept: NodeFuture) -> list[Slot]:
        held = node.used[GPU]
        return [(moment, held, node.name) for moment in kept.slot_times(node, self._gpus)]

    def soonest(self) -> Iterator[Slot]:
        return iter(self._slots)


def slot_index(cluster: ClusterModel, gpus: float, now: float, future: Callable[[NodeInfo], NodeFuture]) -> SlotIndex:
    """The one of this size, up to date."""
    kept: dict[Any, SlotIndex] = cluster.memo.setdefault("slots", {})
    index = kept.get(gpus)
    if index is None:
        index = kept[gpus] = SlotIndex(gpus)
    index.refresh(cluster, now, future)
    return index
