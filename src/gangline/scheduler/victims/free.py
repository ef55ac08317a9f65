"""Free and leaving GPUs of every node, as running figures: which nodes have any, and how many tasks of a size they
could take.

Follows the cluster's log of touched nodes, from cycle to cycle, so that asking again costs only what changed. Upper
bounds for the victim search; placing looks at the nodes themselves."""

from __future__ import annotations

import math
from functools import lru_cache

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import half_up


class FreeGpus:
    """`by_node`: free GPUs, parts of shared ones included. `feasible`: nodes that have some free or leaving."""

    def __init__(self, cluster: ClusterModel) -> None:
        self._cluster = cluster
        self._begin()

    def _begin(self) -> None:
        self._state: object = None
        self._in_order = False
        self._seen = 0
        self.by_node: dict[str, float] = {}
        self.feasible: dict[str, NodeInfo] = {}
        self._slots: dict[float, int] = {}
        self._ready: dict[str, tuple[int, int]] = {}
        self._gpus = 0
        self._memory = 0
        self._free = 0

    def new_cycle(self) -> None:
        """Nodes are listed in their order again when somebody asks."""
        self._in_order = False

    def refresh(self) -> None:
        touched, state = self._cluster.touched, (self._cluster.epoch, self._cluster.generation)
        if state != self._state:
            self._begin()
            self._state = state
            for node in self._cluster.nodes.values():
                self._look(node)
        elif self._seen < len(touched):
            for number in set(touched[self._seen :]):
                touched_node = self._cluster.by_number[number]
                if touched_node is not None:
                    self._look(touched_node)
        self._seen = len(touched)
        if not self._in_order:
            self.feasible = dict(sorted(self.feasible.items(), key=lambda item: item[1].number))
            self._in_order = True

    def _look(self, node: NodeInfo) -> None:
        idle, leaving = node.idle_gpus(), node.releasing_gpus()
        old, new = self.by_node.get(node.name, 0.0), idle + leaving
        if idle > 0 or leaving > 0:
            self.feasible[node.name] = node
        else:
            self.feasible.pop(node.name, None)
        if new != old:
            self._free += math.ceil(max(new, 0) * 100) - math.ceil(max(old, 0) * 100)
            for size in self._slots:
                self._slots[size] += slots(new, size) - slots(old, size)
        self.by_node[node.name] = new
        self._sum(node, half_up(new * 100) if new > 0 else -half_up(-new * 100))

    def _sum(self, node: NodeInfo, gpus: int) -> None:
        old = self._ready.get(node.name, (0, 0))
        memory = int(node.idle_gpu_memory() + node.releasing_gpu_memory())
        now = self._ready[node.name] = (gpus, memory) if node.ready else (0, 0)
        self._gpus += now[0] - old[0]
        self._memory += now[1] - old[1]

    def total(self) -> tuple[float, int]:
        """Free GPUs and MiB of GPU memory over all ready nodes."""
        return self._gpus / 100, self._memory

    def sum_free(self) -> float:
        """At least as many GPUs as are free or leaving anywhere."""
        return self._free / 100

    def slots(self, size: float) -> int:
        """How many tasks that ask for so many GPUs the nodes could take together."""
        slot = self._slots.get(size)
        if slot is None:
            slot = self._slots[size] = sum(slots(free, size) for free in self.by_node.values())
        return slot


def free_gpus(cluster: ClusterModel) -> FreeGpus:
    """The one account of a cluster, for a new cycle."""
    free: FreeGpus | None = cluster.memo.get("free GPUs")
    if free is None:
        free = cluster.memo["free GPUs"] = FreeGpus(cluster)
    free.new_cycle()
    return free


DUST = 1e-6
"""Sums of tenths and hundredths of a GPU come out this close to right at worst."""


@lru_cache(maxsize=4096)
def slots(free: float, size: float) -> int:
    """How many tasks of a size so many GPUs hold; it costs the same however many that are."""
    return int((free + DUST) / size) if free > 0 else 0
