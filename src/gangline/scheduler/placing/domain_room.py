"""What is free in the domains of a topology, for tasks that ask for a place together.

`Demand` is what they ask for, `DomainTally` a running sum per domain that follows the nodes, so that asking again costs
only what changed; `DomainRoom` joins the two. `domains.py` chooses the domain. Nothing here places
anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, PODS, Vector, at, fits, minus, plus, summed
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.model.topology import TopologyDomain

ABSENT = 1000.0
"""The ratio of something asked for to nothing free."""


class DomainTally:
    """A figure per node, summed over every domain around the node, and kept in step with the nodes that were
    touched."""

    def __init__(
        self,
        leaf_of: Mapping[str, TopologyDomain],
        nodes: Mapping[str, NodeInfo],
        measure: Callable[[NodeInfo], Vector],
    ) -> None:
        self.sums: dict[TopologyDomain, Vector] = {}
        self._leaf_of = leaf_of
        self._measure = measure
        self._counted: dict[str, Vector] = {}
        self._seen = 0
        self._epoch = 0
        for name in leaf_of:
            self._count(nodes[name])

    def _count(self, node: NodeInfo) -> None:
        value = self._measure(node)
        old = self._counted.get(node.name)
        if value == old:
            return
        self._counted[node.name] = value
        change = value if old is None else minus(value, old)
        domain: TopologyDomain | None = self._leaf_of[node.name]
        while domain is not None:
            self.sums[domain] = plus(self.sums.get(domain, (0,)), change)
            domain = domain.parent

    def catch_up(self, cluster: ClusterModel) -> None:
        """Count anew the nodes that were touched since the last time."""
        touched = cluster.touched[self._seen :] if self._epoch == cluster.epoch else range(len(cluster.by_number))
        for number in set(touched):
            node = cluster.by_number[number]
            if node is not None and node.name in self._leaf_of:
                self._count(node)
        self._seen, self._epoch = len(cluster.touched), cluster.epoch

    def of(self, domain: TopologyDomain) -> Vector:
        return self.sums.get(domain, (0,))


@dataclass(frozen=True, slots=True)
class Demand:
    """What tasks ask for together (`total`), at most each (`largest`), and whether one of them can stand for all
    (`uniform`)."""

    count: int
    total: Vector
    largest: Vector
    uniform: bool


def demand_of(tasks: Sequence[TaskInfo]) -> Demand:
    largest: Vector = ()
    for task in tasks:
        size = max(len(largest), len(task.request))
        largest = tuple([max(at(largest, i), at(task.request, i)) for i in range(size)])
    return Demand(len(tasks), summed(task.request for task in tasks), largest, uniform(tasks))


def uniform(tasks: Sequence[TaskInfo]) -> bool:
    """All or none use GPUs, and every resource beyond CPU and memory is used by all or none."""
    if len({task.gpus > 0 for task in tasks}) > 1:
        return False
    places = range(max((len(task.request) for task in tasks), default=0))
    return all(len({at(task.request, i) > 0 for task in tasks}) <= 1 for i in places if i not in (CPU, MEMORY, GPU))


def slots(node: NodeInfo, demand: Demand, elsewhere: frozenset[int]) -> int:
    """How many tasks of the largest size the node could take, what is leaving included. `elsewhere`: what claims
    serve."""
    largest = demand.largest
    if all(need <= (place == PODS) for place, need in enumerate(largest)):
        return demand.count
    free = node.later
    if 0 < largest[GPU] < 1:
        free = (*free[:GPU], free[GPU] + shared_room(node), *free[GPU + 1 :])
    if elsewhere:
        largest = tuple([0 if place in elsewhere else need for place, need in enumerate(largest)])
    if not fits(
        largest, tuple([0 if place in elsewhere else room for place, room in enumerate(free)]) if elsewhere else free
    ):
        return 0
    return min((int(at(free, place) / need) for place, need in enumerate(largest) if need > 0), default=demand.count)


def shared_room(node: NodeInfo) -> float:
    """What is free, or will be, on devices that are shared already."""
    shared, memory = node.shared, node.gpu_memory
    if memory <= 0:
        return 0.0
    live = [group for group, used in shared.used.items() if used > 0]
    rooms = (memory - shared.allocated.get(group, 0) + shared.releasing.get(group, 0) for group in live)
    return sum(room / memory for room in rooms if room > 0)


def fill_ratio(needs: Sequence[tuple[int, float]], free: Vector) -> float:
    """The largest part of a free resource that the tasks would take; above 1 they do not fit."""
    worst, size = 0.0, len(free)
    for place, need in needs:
        room = free[place] if place < size else 0
        part = need / room if room > 0 else ABSENT
        if part > worst:
            worst = part
    return worst


class DomainRoom:
    """What is free in the domains of one tree for one demand. Domains outside `within` count as having nothing."""

    def __init__(
        self,
        demand: Demand,
        free: Callable[[TopologyDomain], Vector],
        pods: Callable[[TopologyDomain], int | None],
        within: TopologyDomain | None,
        elsewhere: frozenset[int] = frozenset(),
    ) -> None:
        self.demand = demand
        self._free = free
        self._pods = pods
        self._within = within if within is not None and within.level >= 0 else None
        self._needs = [
            (place, need)
            for place, need in enumerate(demand.total)
            if need > 0 and place != PODS and place not in elsewhere
        ]

    def _inside(self, domain: TopologyDomain) -> bool:
        if self._within is None:
            return True
        above: TopologyDomain | None = domain
        while above is not None and above is not self._within:
            above = above.parent
        return above is not None

    def free(self, domain: TopologyDomain) -> Vector:
        return self._free(domain) if self._inside(domain) else ()

    def pods(self, domain: TopologyDomain) -> int | None:
        """How many of the tasks fit; None when one task cannot stand for all."""
        return self._pods(domain) if self._inside(domain) else None

    def ratio(self, domain: TopologyDomain) -> float:
        return fill_ratio(self._needs, self.free(domain))

    def holds(self, domain: TopologyDomain) -> bool:
        pods = self.pods(domain)
        return self.ratio(domain) <= 1 if pods is None else pods >= self.demand.count
