"""Cheap necessary conditions on a growing list of victims: without them holding, simulating would be in vain.

Each screen keeps running sums, so that one more victim costs next to nothing. They may say yes wrongly, never no wrongly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .matching import node_matches
from .model.gang import Gang, Group
from .model.node import Node
from .model.resources import mig_portion
from .model.task import Task, dra_gpus

if TYPE_CHECKING:
    from .session import Session


def screens_for(session: Session, preemptor: Gang, pending: Sequence[Task], nodes: Sequence[Node]) -> list[Any]:
    """The screens that apply to this preemptor."""
    found: list[Any] = []
    picky = [task for task in pending if task.record.node_selector or task.record.node_affinity is not None]
    if picky:
        found.append(Affinities(session, picky, nodes))
    bound = [group for group in _groups(preemptor.root) if group.topology is not None and group.topology.required]
    if bound:
        found.append(Domains(session, bound))
    found.append(Gpus(session, [task.quota_gpus for task in pending]))
    return found


def _groups(group: Group) -> Iterable[Group]:
    yield group
    for child in group.groups:
        yield from _groups(child)


def freed_gpus(task: Task) -> float:
    """GPUs that come free when the task leaves."""
    mig = sum(mig_portion(name) * amount for name, amount in task.gpu.mig.items())
    return task.accepted_gpus + dra_gpus(task.gpu) + mig


def free_gpus(node: Node) -> float:
    return node.idle_gpus() + node.releasing_gpus()


class Affinities:
    """Every pending task with a node selector or affinity matches some node that is feasible or holds a victim."""

    def __init__(self, session: Session, tasks: Sequence[Task], nodes: Sequence[Node]) -> None:
        self._nodes = session.cluster.nodes
        self._seen = {node.name for node in nodes}
        self._lonely = [task for task in tasks if not any(_wants(task, node) for node in nodes)]

    def add(self, task: Task) -> None:
        if task.node in self._seen or not self._lonely:
            return
        self._seen.add(task.node)
        node = self._nodes[task.node]
        self._lonely = [each for each in self._lonely if not _wants(each, node)]

    def holds(self) -> bool:
        return not self._lonely


def _wants(task: Task, node: Node) -> bool:
    record = task.record
    return (all(node.labels.get(key) == value for key, value in record.node_selector.items())
            and (record.node_affinity is None or node_matches(record.node_affinity, node)))


class Gpus:
    """The GPUs that the pending tasks ask for can be handed out node by node, largest first."""

    def __init__(self, session: Session, wanted: Sequence[float]) -> None:
        self._wanted = sorted(wanted, reverse=True)
        self._free = base_free(session).copy()
        self._match = _matcher(self._wanted, self._free.values())

    def add(self, task: Task) -> None:
        old = self._free.get(task.node, 0)
        new = self._free[task.node] = old + freed_gpus(task)
        self._match.change(old, new)

    def holds(self) -> bool:
        return self._match.holds(self._free, len(self._wanted))


def base_free(session: Session) -> dict[str, float]:
    """Free and leaving GPUs by node, as long as nothing changes."""
    key = ("free", len(session.cluster.touched))
    found: dict[str, float] | None = session.memo.get("free gpus") if session.memo.get("free gpus at") == key else None
    if found is None:
        found = {node.name: free_gpus(node) for node in session.all_nodes}
        session.memo["free gpus"], session.memo["free gpus at"] = found, key
    return found


class _Equal:
    """All tasks ask for the same: count how many of them the holders could take."""

    def __init__(self, wanted: float, number: int, holders: Iterable[float]) -> None:
        self._wanted = wanted
        self._number = number
        self._slots = sum(_slots(free, wanted) for free in holders)

    def change(self, old: float, new: float) -> None:
        self._slots += _slots(new, self._wanted) - _slots(old, self._wanted)

    def holds(self, holders: dict[Any, float], top: int) -> bool:
        return self._slots >= self._number


class _Mixed:
    """Tasks ask for different amounts: hand them out greedily, largest first."""

    def __init__(self, wanted: Sequence[float]) -> None:
        self._wanted = wanted

    def change(self, old: float, new: float) -> None:
        pass

    def holds(self, holders: dict[Any, float], top: int) -> bool:
        return greedy_match(self._wanted, sorted(holders.values(), reverse=True)[:top])


def _matcher(wanted: Sequence[float], holders: Iterable[float]) -> _Equal | _Mixed:
    if wanted and wanted[0] == wanted[-1] and wanted[0] > 0:
        return _Equal(wanted[0], len(wanted), holders)
    return _Mixed(wanted)


@cache
def _slots(free: float, wanted: float) -> int:
    number, used = 0, 0.0
    while free - used >= wanted:
        used += wanted
        number += 1
    return number


def greedy_match(wanted: Sequence[float], holders: Sequence[float]) -> bool:
    """Both from large to small: each want goes to the first holder that has enough left; a want of 0 ends it well."""
    used = [0.0] * len(holders)
    for want in wanted:
        if want == 0:
            return True
        for place, free in enumerate(holders):
            if free < want:
                return False
            if free - used[place] >= want:
                used[place] += want
                break
        else:
            return False
    return True


class Domains:
    """For each required topology level, the groups bound to it can be handed out to domains, by GPUs, largest first."""

    def __init__(self, session: Session, groups: Sequence[Group]) -> None:
        self._nodes = session.cluster.nodes
        self._wanted: dict[tuple[str, str], list[float]] = {}
        for group in groups:
            assert group.topology is not None
            asked = sum(task.gpus + dra_gpus(task.gpu) for leaf in group.pod_sets() for task in leaf.tasks.values())
            self._wanted.setdefault((group.topology.topology, group.topology.required), []).append(asked)
        self._free: dict[tuple[str, str], dict[str, float]] = {key: {} for key in self._wanted}
        for node in session.all_nodes:
            self._count(node, base_free(session)[node.name])

    def _count(self, node: Node, gpus: float) -> None:
        for (_, level), domains in self._free.items():
            value = node.labels.get(level)
            if value:
                domains[value] = domains.get(value, 0) + gpus

    def add(self, task: Task) -> None:
        self._count(self._nodes[task.node], freed_gpus(task))

    def holds(self) -> bool:
        return all(greedy_match(sorted(wanted, reverse=True), sorted(self._free[key].values(), reverse=True))
                   for key, wanted in self._wanted.items())
