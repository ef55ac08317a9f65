"""Who goes next: which tasks of a gang to place or to evict, and in which order gangs are taken from the queue tree.

The queue tree is a heap of queues per level with a heap of gangs in each leaf. The comparison of queues is not a strict
order and changes as gangs are placed, so the heap of queues is the classical sift-up/sift-down one, re-ordered only at
its top: the exact order of sifts is part of the decision. Nothing here places or evicts.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .hooks import QueueSide
from .model.gang import Gang, Group, PodSet
from .model.queue import NOTHING, Amount, Queue, amount_of, moved
from .model.resources import summed
from .model.status import ACTIVE_ALLOCATED, ALLOCATED
from .model.task import Task

if TYPE_CHECKING:
    from .session import Session

Member = Group | PodSet
MemberKey = Callable[[Member], Any]
TaskKey = Callable[[Task], Any]


# ── inside a gang ──


def tasks_to_allocate(gang: Gang, simulation: bool, member_key: MemberKey, task_key: TaskKey) -> list[Task]:
    """The tasks to place next: what the gang minimum lacks, or one elastic unit when the minimum is there."""
    return _from_member(gang.root, simulation, member_key, task_key)


def _from_member(member: Member, simulation: bool, member_key: MemberKey, task_key: TaskKey) -> list[Task]:
    if isinstance(member, PodSet):
        ready = [task for task in member.tasks.values() if task.allocatable(simulation)]
        number = 1 if member.satisfied else member.min_available - member.active_allocated
        return sorted(ready, key=task_key)[:number]
    ordered = sorted(member.members, key=member_key)
    if member.satisfied:
        for each in ordered:
            found = _from_member(each, simulation, member_key, task_key)
            if found:
                return found
        return []
    return [task for each in ordered[:member.minimum] if not each.satisfied
            for task in _from_member(each, simulation, member_key, task_key)]


def tasks_to_evict(gang: Gang, member_key: MemberKey, task_key: TaskKey) -> tuple[list[Task], bool]:
    """One step of victimisation, least wanted first, and whether allocated tasks remain after it.

    One surplus task of a pod set; else one surplus member of a group; else everything."""
    tasks = _surplus(gang.root, member_key, task_key)
    if not tasks:
        tasks = _everything(gang.root, task_key)
    return tasks, len(tasks) < gang.active_allocated


def _surplus(group: Group, member_key: MemberKey, task_key: TaskKey) -> list[Task]:
    satisfied = group.active_allocated
    if not satisfied:
        return []
    backwards = sorted(group.members, key=member_key, reverse=True)
    for member in backwards:
        if isinstance(member, Group):
            found = _surplus(member, member_key, task_key)
        elif member.active_allocated > member.min_available:
            found = [max((task for task in member.tasks.values() if task.status & ACTIVE_ALLOCATED), key=task_key)]
        else:
            found = []
        if found:
            return found
    if satisfied <= group.minimum:
        return []
    for member in backwards:
        found = _everything(member, task_key)
        if found:
            return found
    return []


def _everything(member: Member, task_key: TaskKey) -> list[Task]:
    """All that is allocated below, pod set after pod set, the last of each first."""
    leaves = sorted(member.pod_sets(), key=lambda leaf: leaf.name)
    held = ([task for task in leaf.tasks.values() if task.status & ACTIVE_ALLOCATED] for leaf in leaves)
    return [task for tasks in held for task in sorted(tasks, key=task_key, reverse=True)]


# ── the queue tree ──

Item = TypeVar("Item")


class Heap(Generic[Item]):
    """The classical binary heap with the sift order of Go's container/heap; `limit` cuts the last slot after a push that exceeds it."""

    __slots__ = ("items", "less", "limit")

    def __init__(self, less: Callable[[Item, Item], bool], limit: int | None = None) -> None:
        self.items: list[Item] = []
        self.less = less
        self.limit = limit

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: Item) -> None:
        self.items.append(item)
        self._up(len(self.items) - 1)
        if self.limit is not None and len(self.items) > self.limit:
            self.items.pop()

    def pop(self) -> Item:
        last = len(self.items) - 1
        self._swap(0, last)
        self._down(0, last)
        return self.items.pop()

    def fix_top(self) -> None:
        self._down(0, len(self.items))

    def _swap(self, left: int, right: int) -> None:
        self.items[left], self.items[right] = self.items[right], self.items[left]

    def _up(self, place: int) -> None:
        while True:
            parent = (place - 1) // 2
            if parent == place or place <= 0 or not self.less(self.items[place], self.items[parent]):
                return
            self._swap(parent, place)
            place = parent

    def _down(self, place: int, size: int) -> None:
        while (child := 2 * place + 1) < size:
            if child + 1 < size and self.less(self.items[child + 1], self.items[child]):
                child += 1
            if not self.less(self.items[child], self.items[place]):
                return
            self._swap(place, child)
            place = child


@dataclass(slots=True, eq=False)
class _Leaf:
    """Gangs of one queue, best first (victims: worst first)."""

    queue: Queue
    parent: _Inner | None
    backwards: bool
    limit: int | None = None
    entries: list[Any] = field(default_factory=list)
    stale: bool = False
    pushes: int = 0

    def push(self, key: tuple[Any, ...], gang: Gang) -> None:
        if self.backwards:
            insort(self.entries, (key, gang), key=_first)
        else:
            self.pushes += 1
            heapq.heappush(self.entries, (key, self.pushes, gang))
            if self.limit is not None and len(self.entries) > self.limit:
                self.entries.pop()

    def top(self) -> Gang:
        gang: Gang = self.entries[-1][1] if self.backwards else self.entries[0][2]
        return gang

    def pop(self) -> Gang:
        gang: Gang = self.entries.pop()[1] if self.backwards else heapq.heappop(self.entries)[2]
        return gang

    def __len__(self) -> int:
        return len(self.entries)


def _first(entry: tuple[Any, Gang]) -> Any:
    return entry[0]


@dataclass(slots=True, eq=False)
class _Inner:
    queue: Queue
    parent: _Inner | None
    children: Heap[Any]
    stale: bool = False

    def __len__(self) -> int:
        return len(self.children)


class GangQueue:
    """All gangs of some choice, taken out one by one: `pop()` gives the next one, `push()` puts one back.

    With `victims` everything runs backwards: the gang that should suffer first comes first."""

    def __init__(self, session: Session, victims: bool = False, depth: int | None = None) -> None:
        self._session = session
        self._victims = victims
        self._depth = depth
        self._top: Heap[Any] = Heap(self._less)
        self._nodes: dict[str, Any] = {}
        self._taken: dict[str, Amount] = {}

    def fill(self, gangs: Iterable[Gang]) -> None:
        """Push many; queues that do not exist, have a broken line of ancestors or are not leaves are passed over."""
        for gang in gangs:
            queue = self._session.queues.get(gang.queue)
            if queue is not None and queue.is_leaf:
                self.push(gang)

    def __bool__(self) -> bool:
        return bool(self._top.items)

    def push(self, gang: Gang) -> None:
        leaf = self._nodes.get(gang.queue)
        new = leaf is None
        if leaf is None:
            leaf = self._nodes[gang.queue] = _Leaf(self._session.queues[gang.queue], None, self._victims, self._depth)
        leaf.push(self._session.gang_key(gang), gang)
        if new:
            self._link(leaf)
        self._mark(leaf)

    def _link(self, node: Any) -> None:
        """Hang a new node below its parent, making parents as needed."""
        name = node.queue.parent
        if not name:
            self._top.push(node)
            return
        parent = self._nodes.get(name)
        new = parent is None
        if parent is None:
            parent = self._nodes[name] = _Inner(self._session.queues[name], None, Heap(self._less))
        node.parent = parent
        parent.children.push(node)
        if new:
            self._link(parent)

    def _mark(self, node: Any) -> None:
        while node is not None:
            node.stale = True
            node = node.parent

    def pop(self) -> Gang:
        leaf = self._best_leaf()
        gang: Gang = leaf.pop()
        if self._victims:
            self._taken[leaf.queue.name] = _plus(self._taken.get(leaf.queue.name, NOTHING), self._held(gang))
        self._after_pop(leaf)
        return gang

    def _best_leaf(self) -> _Leaf:
        heap = self._top
        while True:
            node = heap.items[0]
            while node.stale:
                heap.fix_top()
                node.stale = False
                node = heap.items[0]
            if isinstance(node, _Leaf):
                return node
            heap = node.children

    def _after_pop(self, node: Any) -> None:
        while node is not None and not len(node):
            (node.parent.children if node.parent is not None else self._top).pop()
            del self._nodes[node.queue.name]
            node = node.parent
        self._mark(node)

    def _less(self, left: Any, right: Any) -> bool:
        if not len(left):
            return not self._victims
        if not len(right):
            return self._victims
        first = self._goes_first(self._side(left), self._side(right))
        return not first if self._victims else first

    def _goes_first(self, left: QueueSide, right: QueueSide) -> bool:
        order = self._session.hooks.compare_queues(left, right)
        if order:
            return order < 0
        return (left.queue.created, left.queue.name) < (right.queue.created, right.queue.name)

    def _side(self, node: Any) -> QueueSide:
        leaf = node
        while isinstance(leaf, _Inner):
            leaf = leaf.children.items[0]
        if not self._victims:
            return QueueSide(node.queue, leaf.top())
        return QueueSide(node.queue, None, _plus(self._taken.get(leaf.queue.name, NOTHING), self._held(leaf.top())))

    def _held(self, gang: Gang) -> Amount:
        tasks = [task.request for task in gang.tasks.values() if task.status & ALLOCATED]
        return amount_of(summed(tasks), self._session.cluster.names)


def _plus(left: Amount, right: Amount) -> Amount:
    return moved(left, right, +1)
