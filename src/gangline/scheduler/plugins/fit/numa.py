"""NUMA alignment: predict whether the kubelet's topology manager would admit a pod on a node, and in which zones.

Filters for the policies single-numa-node and restricted, scores for best-effort too. It concerns Guaranteed pods (all
aligned resources), and other pods only for the per-zone devices they ask for. What is free in a zone is what it has
less what tasks that hold resources were given there, and follows every allocation through the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from gangline.errors import Refusal
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import at, plain_name
from gangline.scheduler.model.status import ACTIVE_ALLOCATED
from gangline.scheduler.model.task import TaskInfo, ZoneShare
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.records import ContainerRecord, NumaRecord
from gangline.scheduler.scores import NUMA

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

Amounts = dict[str, float]
Free = tuple[Mapping[str, float], ...]

REFUSAL = "node cannot NUMA-align the pod's resources under its Topology Manager policy"
_COMPUTE = ("cpu", "memory")
_FILTERING = ("single-numa-node", "restricted")
_ALIGNING = (*_FILTERING, "best-effort")


class NumaPlugin(Plugin):
    name = "numa"
    beyond_shape = True

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._ignored = {
            plain_name(name.strip()) for name in arguments.get("ignoreList", "").split(",") if name.strip()
        }
        rebuild = arguments.get("reconstructAvailable", "true").lower() != "false"
        self._free: dict[str, Free] = {}
        for node in session.cluster.nodes.values():
            if node.numa is not None:
                self._free[node.name] = (
                    self._rebuilt(node, node.numa) if rebuild else tuple(zone.available for zone in node.numa.zones)
                )
        self._widest = max((len(zones) for zones in self._free.values()), default=1)
        aligning = [
            node.numa
            for node in session.cluster.nodes.values()
            if node.numa is not None and node.numa.policy in _ALIGNING
        ]
        self._known_devices = sorted({name for numa in aligning for name in self._devices(numa)})

    def _rebuilt(self, node: NodeInfo, numa: NumaRecord) -> Free:
        free: Free = tuple(named(zone.allocatable) for zone in numa.zones)
        for placed in node.placed.values():
            if placed.task.status & ACTIVE_ALLOCATED:
                free = shifted(free, placed.task.numa or (), -1)
        return free

    def scores(self, task: TaskInfo) -> bool:
        return bool(self._free)

    # ── may it, and where ──

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        if node.numa is None or node.numa.policy not in _FILTERING:
            return None
        return Refusal(self.name, REFUSAL) if self._place(task, node, node.numa) is None else None

    def numa_placement(self, task: TaskInfo, node: NodeInfo) -> tuple[ZoneShare, ...] | None:
        """The zones the task would get on this node with what it gets there; empty when it is not aligned."""
        if node.numa is None:
            return None
        return self._place(task, node, node.numa) or ()

    def _place(self, task: TaskInfo, node: NodeInfo, numa: NumaRecord) -> tuple[ZoneShare, ...] | None:
        """None: cannot be aligned."""
        demands = self._demands(task, numa)
        if not any(demands) or numa.policy == "none":
            return ()
        free = self._free[node.name]
        if numa.scope == "pod":
            return align(numa, free, demands[0])
        return self._place_containers(task, numa, free)

    def _place_containers(self, task: TaskInfo, numa: NumaRecord, free: Free) -> tuple[ZoneShare, ...] | None:
        """Containers that keep running take their zones one after the other; each other init container is tried
        alone."""
        total: tuple[ZoneShare, ...] = ()
        left = free
        for container in task.record.containers:
            demand = self._demand(task, numa, container)
            if not demand:
                continue
            passing = container.init and not container.sidecar
            shares = align(numa, free if passing else left, demand)
            if shares is None:
                return None
            if not passing:
                left = shifted(left, shares, -1)
                total = merged(total, shares)
        return total

    def _demands(self, task: TaskInfo, numa: NumaRecord) -> list[Amounts]:
        """What must be aligned: one demand for the pod, or one per container."""
        demands = [(container, self._demand(task, numa, container)) for container in task.record.containers]
        if numa.scope != "pod":
            return [demand for _, demand in demands]
        lasting: Amounts = {}
        peak: Amounts = {}
        for container, demand in demands:
            if container.init and not container.sidecar:
                peak = largest(peak, added(lasting, demand))
            else:
                lasting = added(lasting, demand)
        return [largest(peak, lasting)]

    def _demand(self, task: TaskInfo, numa: NumaRecord, container: ContainerRecord) -> Amounts:
        """The part of a container's request that is aligned: everything for Guaranteed pods (CPU only in whole cores),
        else devices."""
        aligned = {plain_name(name) for name in numa.resources} - self._ignored
        guaranteed = task.record.qos == "Guaranteed"
        amounts: Amounts = {}
        for name, amount in named(container.requests).items():
            if name not in aligned or not amount:
                continue
            if not _of_compute(name) or (guaranteed and not (name == "cpu" and amount % 1000)):
                amounts[name] = amount
        return amounts

    # ── how good ──

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        """The fewer zones, the better; nothing for a task that no node would align."""
        if task.record.qos != "Guaranteed" and not self._asks(task, self._known_devices):
            return 0.0
        if node.numa is None:
            return NUMA / self._widest
        if not self._concerns(task, node.numa):
            return NUMA / len(node.numa.zones)
        zones = self._place(task, node, node.numa)
        return 0.0 if zones is None else NUMA / (len(zones) or 1)

    def _concerns(self, task: TaskInfo, numa: NumaRecord) -> bool:
        """Whether the node would align something of the task: any Guaranteed one, else one that asks for a device
        counted by zone."""
        return numa.policy in _ALIGNING and (task.record.qos == "Guaranteed" or self._asks(task, self._devices(numa)))

    def _devices(self, numa: NumaRecord) -> set[str]:
        known = {plain_name(name) for name in numa.resources} - self._ignored
        return {name for name in known if not _of_compute(name)}

    def _asks(self, task: TaskInfo, devices: Iterable[str]) -> bool:
        index = self._session.cluster.names.index
        return any(at(task.request, index(name)) > 0 for name in devices)

    # ── following allocations ──

    def allocated(self, task: TaskInfo) -> None:
        self._shift(task, -1)

    def deallocated(self, task: TaskInfo) -> None:
        self._shift(task, +1)

    def _shift(self, task: TaskInfo, sign: int) -> None:
        if task.numa and task.node in self._free:
            self._session.journal.set_item(self._free, task.node, shifted(self._free[task.node], task.numa, sign))

    def numa_available(self, node: NodeInfo) -> Free:
        """What is free in each zone of the node."""
        return self._free[node.name]


def _of_compute(name: str) -> bool:
    """Aligned for Guaranteed pods only."""
    return name in _COMPUTE or name.startswith("hugepages-")


def named(amounts: Mapping[str, float]) -> Amounts:
    return {plain_name(name): amount for name, amount in amounts.items()}


def shifted(free: Free, shares: Iterable[ZoneShare], sign: int) -> Free:
    zones = [dict(zone) for zone in free]
    for place, amounts in shares:
        for name, amount in amounts:
            key = plain_name(name)
            zones[place][key] = zones[place].get(key, 0) + sign * amount
    return tuple(zones)


def added(left: Mapping[str, float], right: Mapping[str, float]) -> Amounts:
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


def largest(left: Mapping[str, float], right: Mapping[str, float]) -> Amounts:
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in {**left, **right}}


def merged(left: Iterable[ZoneShare], right: Iterable[ZoneShare]) -> tuple[ZoneShare, ...]:
    zones: dict[int, Amounts] = {}
    for place, amounts in (*left, *right):
        zones[place] = added(zones.get(place, {}), dict(amounts))
    return tuple((place, tuple(sorted(zones[place].items()))) for place in sorted(zones))


# ── the policies ──


def align(numa: NumaRecord, free: Free, demand: Mapping[str, float]) -> tuple[ZoneShare, ...] | None:
    """The zones for one demand and what it takes of each; None when the policy would refuse it."""
    if numa.policy == "single-numa-node":
        zones = next(([place] for place in range(len(free)) if covers(free, [place], demand)), None)
    elif numa.policy == "restricted":
        zones = _restricted(numa, free, demand)
    else:
        zones = _best_effort(free, demand)
    return None if zones is None else spread(free, zones, demand)


def covers(free: Free, zones: Iterable[int], demand: Mapping[str, float]) -> bool:
    chosen = list(zones)
    return all(sum(free[place].get(name, 0) for place in chosen) >= amount for name, amount in demand.items())


def _restricted(numa: NumaRecord, free: Free, demand: Mapping[str, float]) -> list[int] | None:
    """Every resource must prefer the same number of zones, and some set of so many zones must have enough free."""
    widths = {_width(numa, name, amount) for name, amount in demand.items()}
    if len(widths) != 1 or None in widths:
        return None
    width = next(iter(widths))
    assert width is not None
    return next((list(zones) for zones in combinations(range(len(free)), width) if covers(free, zones, demand)), None)


def _width(numa: NumaRecord, name: str, amount: float) -> int | None:
    """The fewest zones that could ever cover the amount."""
    total = 0.0
    for number, has in enumerate(
        sorted((named(zone.allocatable).get(name, 0) for zone in numa.zones), reverse=True), 1
    ):
        total += has
        if total >= amount:
            return number
    return None


def _best_effort(free: Free, demand: Mapping[str, float]) -> list[int] | None:
    """Zone after zone, each time the one that covers most of what is missing; None when all together do not cover
    it."""
    missing, zones = dict(demand), list[int]()
    while any(amount > 0 for amount in missing.values()):
        left = [place for place in range(len(free)) if place not in zones]
        best = max(left, key=lambda place: (_covered(free[place], missing), -place), default=None)
        if best is None or _covered(free[best], missing) <= 0:
            return None
        zones.append(best)
        missing = {name: amount - free[best].get(name, 0) for name, amount in missing.items()}
    return zones


def _covered(zone: Mapping[str, float], missing: Mapping[str, float]) -> float:
    """Amounts of different resources are simply added up: whichever comes in larger numbers decides."""
    return sum(min(zone.get(name, 0), amount) for name, amount in missing.items() if amount > 0)


def spread(free: Free, zones: Iterable[int], demand: Mapping[str, float]) -> tuple[ZoneShare, ...]:
    """Fill the zones in order."""
    missing = dict(demand)
    zone_shares: list[ZoneShare] = []
    for place in zones:
        share = {name: min(amount, max(0, free[place].get(name, 0))) for name, amount in missing.items()}
        missing = {name: amount - share[name] for name, amount in missing.items()}
        if any(share.values()):
            zone_shares.append((place, tuple(sorted((name, amount) for name, amount in share.items() if amount))))
    return tuple(sorted(zone_shares))
