"""Cheap necessary conditions on a growing list of victims: without them holding, simulating would be in vain.

Each screen keeps running sums, so that one more victim costs next to nothing. They may say yes wrongly, never no
wrongly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gangline.scheduler.matching import node_matches
from gangline.scheduler.model.gang import GangInfo, Group
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import mig_portion
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.victims.free import DUST, slots

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


def screens_for(
    session: Session, preemptor: GangInfo, pending: Sequence[TaskInfo], nodes: Sequence[NodeInfo]
) -> list[Any]:
    """The screens that apply to this preemptor."""
    screens: list[Any] = []
    picky = [task for task in pending if task.record.node_selector or task.record.node_affinity is not None]
    if picky:
        screens.append(Affinities(session, picky, nodes))
    bound = bound_groups(preemptor)
    if bound:
        screens.append(DomainScreen(session, bound))
    screens.append(Gpus(session, [task.quota_gpus for task in pending]))
    return screens


def bound_groups(gang: GangInfo) -> list[Group]:
    """The groups that must stand within one domain."""
    return [group for group in _groups(gang.root) if group.topology is not None and group.topology.required]


def _groups(group: Group) -> Iterable[Group]:
    yield group
    for child in group.groups:
        yield from _groups(child)


def freed_gpus(task: TaskInfo) -> float:
    """GPUs that come free when the task leaves."""
    gpus = task.accepted_gpus + task.gpu.dra_gpus
    if task.gpu.mig:
        gpus += sum(mig_portion(name) * amount for name, amount in task.gpu.mig.items())
    return gpus


class Affinities:
    """Every pending task with a node selector or affinity matches some node that is feasible or holds a victim."""

    def __init__(self, session: Session, tasks: Sequence[TaskInfo], nodes: Sequence[NodeInfo]) -> None:
        self._nodes = session.cluster.nodes
        self._seen = {node.name for node in nodes}
        self._lonely = [task for task in tasks if not any(wants(task, node) for node in nodes)]

    def add(self, node: str, gpus: float) -> None:
        if node in self._seen or not self._lonely:
            return
        self._seen.add(node)
        self._lonely = [item for item in self._lonely if not wants(item, self._nodes[node])]

    def holds(self) -> bool:
        return not self._lonely


def wants(task: TaskInfo, node: NodeInfo) -> bool:
    record = task.record
    return all(node.labels.get(key) == value for key, value in record.node_selector.items()) and (
        record.node_affinity is None or node_matches(record.node_affinity, node)
    )


class Gpus:
    """The GPUs that the pending tasks ask for can be handed out node by node, largest first."""

    def __init__(self, session: Session, wanted: Sequence[float]) -> None:
        session.free.refresh()
        self._wanted = sorted(wanted, reverse=True)
        self._base = session.free.by_node
        self._freed: dict[str, float] = {}
        self._equal = bool(wanted) and self._wanted[0] == self._wanted[-1] and self._wanted[0] > 0
        self._slots = session.free.slots(self._wanted[0]) if self._equal else 0

    def add(self, node: str, gpus: float) -> None:
        if not gpus:
            return
        before = self._freed.get(node, 0)
        self._freed[node] = before + gpus
        if self._equal:
            free, size = self._base.get(node, 0) + before, self._wanted[0]
            self._slots += slots(free + gpus, size) - slots(free, size)

    def holds(self) -> bool:
        if self._equal:
            return self._slots >= len(self._wanted)
        if not self._wanted or self._wanted[0] == 0:
            return True
        free = [amount + self._freed.get(name, 0) for name, amount in self._base.items()]
        if max(free, default=0) < self._wanted[0] - DUST:
            return False
        return greedy_match(self._wanted, sorted(free, reverse=True)[: len(self._wanted)])


def greedy_match(wanted: Sequence[float], holders: Sequence[float]) -> bool:
    """Both from large to small: each want goes to the first holder that has enough left; a want of 0 ends it well."""
    used = [0.0] * len(holders)
    for want in wanted:
        if want == 0:
            return True
        for place, free in enumerate(holders):
            if free < want - DUST:
                return False
            if free - used[place] >= want - DUST:
                used[place] += want
                break
        else:
            return False
    return True


class DomainScreen:
    """For each required topology level, the groups bound to it can be handed out to domains, by GPUs, largest first."""

    def __init__(self, session: Session, groups: Sequence[Group]) -> None:
        session.free.refresh()
        self._nodes = session.cluster.nodes
        self._wanted: dict[tuple[str, str], list[float]] = {}
        for group in groups:
            assert group.topology is not None
            asked = sum(task.gpus + task.gpu.dra_gpus for leaf in group.pod_sets() for task in leaf.tasks.values())
            self._wanted.setdefault((group.topology.topology, group.topology.required), []).append(asked)
        for wanted in self._wanted.values():
            wanted.sort(reverse=True)
        self._free: dict[tuple[str, str], dict[str, float]] = {key: {} for key in self._wanted}
        for name, gpus in session.free.by_node.items():
            self._count(self._nodes[name], gpus)

    def _count(self, node: NodeInfo, gpus: float) -> None:
        for (_, level), domains in self._free.items():
            value = node.labels.get(level)
            if value:
                domains[value] = domains.get(value, 0) + gpus

    def add(self, node: str, gpus: float) -> None:
        self._count(self._nodes[node], gpus)

    def holds(self) -> bool:
        return all(
            greedy_match(wanted, sorted(self._free[key].values(), reverse=True)) for key, wanted in self._wanted.items()
        )


class FreedGpuBound:
    """Whether a choice of victims can free enough GPUs at all. The pending tasks all ask for the same number of whole
    GPUs. They must find them in the cluster or, if the whole gang is bound to a topology level, in one domain of it."""

    def __init__(
        self, session: Session, preemptor: GangInfo, pending: Sequence[TaskInfo], recorded: Iterable[TaskInfo]
    ) -> None:
        session.free.refresh()
        sizes = {task.quota_gpus for task in pending}
        self._size = sizes.pop() if len(sizes) == 1 and not any(task.shared for task in pending) else 0.0
        self._number = len(pending)
        self._free = session.free.by_node
        self._nodes = session.cluster.nodes
        rule = preemptor.root.topology
        self._level = rule.required if rule is not None else ""
        self._recorded: dict[str, float] = {}
        self._slots: dict[str, int] = {}
        if self._size > 0:
            self._slots = self._by_domain(session)
            known = _sums(recorded)
            for domain, gained in self._gained(known).items():
                self._slots[domain] = self._slots.get(domain, 0) + gained
            self._recorded = known

    def _by_domain(self, session: Session) -> dict[str, int]:
        if not self._level:
            return {"": session.free.slots(self._size)}
        slots_of: dict[str, int] = {}
        for name, free in self._free.items():
            domain = self._domain(name)
            slots_of[domain] = slots_of.get(domain, 0) + slots(free, self._size)
        return slots_of

    def _domain(self, node: str) -> str:
        return self._nodes[node].labels.get(self._level, "") if self._level else ""

    def _gained(self, freed: dict[str, float]) -> dict[str, int]:
        gained: dict[str, int] = {}
        for name, gpus in freed.items():
            free = self._free.get(name, 0) + self._recorded.get(name, 0)
            more = slots(free + gpus, self._size) - slots(free, self._size)
            if more:
                domain = self._domain(name)
                gained[domain] = gained.get(domain, 0) + more
        return gained

    def allows(self, potential: Iterable[TaskInfo]) -> bool:
        if self._size <= 0:
            return True
        gained = self._gained(_sums(potential))
        domains = {**self._slots, **gained} if gained else self._slots
        return any(self._slots.get(domain, 0) + gained.get(domain, 0) >= self._number for domain in domains)


def _sums(tasks: Iterable[TaskInfo]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for task in tasks:
        if task.node:
            sums[task.node] = sums.get(task.node, 0) + freed_gpus(task)
    return sums
