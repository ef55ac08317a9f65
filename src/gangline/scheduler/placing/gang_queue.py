"""In which order gangs are taken from the queue tree.

The queue tree is a heap of queues per level with a heap of gangs in each leaf. The comparison of queues is not a strict
order, and it changes as gangs are placed. So the exact order of sifts is part of the decision: the heap of queues is
the classical sift-up/sift-down one and is re-ordered only at its top. `order.py` orders the tasks of a gang. Nothing
here places or evicts."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.queue import NOTHING, QueueAmount, QueueInfo, moved
from gangline.scheduler.plugin import QueueSide

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

Item = TypeVar("Item")


class Heap(Generic[Item]):
    """The classical binary heap with the sift order of Go's container/heap; `limit` cuts the last slot after a push
    that exceeds it."""

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

    def fix(self, item: Item) -> None:
        """Move an item up that has become better."""
        self._up(self.items.index(item))

    def _down(self, place: int, size: int) -> None:
        while (child := 2 * place + 1) < size:
            if child + 1 < size and self.less(self.items[child + 1], self.items[child]):
                child += 1
            if not self.less(self.items[child], self.items[place]):
                return
            self._swap(place, child)
            place = child


class SortedGangs:
    """Gangs in key order, ascending. `changes` counts how often the list was changed."""

    __slots__ = ("changes", "gangs", "keys")

    def __init__(self, entries: Iterable[tuple[Any, GangInfo]] = ()) -> None:
        ordered = sorted(entries, key=_first)
        self.changes = 0
        self.keys = [key for key, _ in ordered]
        self.gangs = [gang for _, gang in ordered]

    def add(self, key: Any, gang: GangInfo) -> None:
        self.changes += 1
        place = bisect_left(self.keys, key)
        self.keys.insert(place, key)
        self.gangs.insert(place, gang)

    def remove(self, key: Any) -> None:
        self.changes += 1
        place = bisect_left(self.keys, key)
        del self.keys[place], self.gangs[place]

    def __len__(self) -> int:
        return len(self.keys)

    def backwards(self) -> Iterator[tuple[Any, GangInfo]]:
        """Keys and gangs, descending."""
        return zip(reversed(self.keys), reversed(self.gangs), strict=True)


def _first(entry: tuple[Any, GangInfo]) -> Any:
    return entry[0]


NOBODY = SortedGangs()
Accept = Callable[[GangInfo], bool]


def _everybody(gang: GangInfo) -> bool:
    return True


class _Leaf:
    """Gangs of one queue: a sorted list that others share (walked, never changed) and those pushed here; best first,
    victims worst first."""

    __slots__ = (
        "_accept",
        "_listed",
        "_place",
        "_pushed",
        "_pushes",
        "_step",
        "_top",
        "limit",
        "parent",
        "popped",
        "queue",
        "stale",
    )

    def __init__(
        self,
        queue: QueueInfo,
        backwards: bool,
        limit: int | None,
        listed: SortedGangs = NOBODY,
        accept: Accept = _everybody,
    ) -> None:
        self.queue = queue
        self.parent: _Inner | None = None
        self.limit = limit
        self.stale = False
        self.popped: list[GangInfo] = []
        self._listed = listed
        self._accept = accept
        self._step = -1 if backwards else 1
        self._place = len(listed) - 1 if backwards else 0
        self._pushed: list[Any] = []
        self._pushes = 0
        self._top: GangInfo | None = None

    def push(self, key: tuple[Any, ...], gang: GangInfo) -> None:
        self._top = None
        if self._step < 0:
            insort(self._pushed, (key, gang), key=_first)
            return
        self._pushes += 1
        heapq.heappush(self._pushed, (key, self._pushes, gang))
        if self.limit is not None and len(self._pushed) > self.limit:
            self._pushed.pop()

    def _next_listed(self) -> GangInfo | None:
        gangs = self._listed.gangs
        while 0 <= self._place < len(gangs):
            if self._accept(gangs[self._place]):
                return gangs[self._place]
            self._place += self._step
        return None

    def top(self) -> GangInfo | None:
        """The next gang; None when there is none."""
        if self._top is None:
            self._top = self._next_listed()
            if self._pushed and (self._top is None or self._pushed_first()):
                self._top = self._pushed[-1][1] if self._step < 0 else self._pushed[0][2]
        return self._top

    def _pushed_first(self) -> bool:
        listed = self._listed.keys[self._place]
        return bool(self._pushed[-1][0] > listed if self._step < 0 else self._pushed[0][0] < listed)

    def pop(self) -> GangInfo:
        gang = self.top()
        assert gang is not None
        self._top = None
        if self._pushed and gang is (self._pushed[-1][1] if self._step < 0 else self._pushed[0][2]):
            if self._step < 0:
                self._pushed.pop()
            else:
                heapq.heappop(self._pushed)
        else:
            self._place += self._step
        return gang

    def __bool__(self) -> bool:
        return self.top() is not None


class _Inner:
    __slots__ = ("children", "parent", "queue", "stale")

    def __init__(self, queue: QueueInfo, less: Callable[[Any, Any], bool]) -> None:
        self.queue = queue
        self.parent: _Inner | None = None
        self.children: Heap[Any] = Heap(less)
        self.stale = False

    def __bool__(self) -> bool:
        return bool(self.children.items)


class GangQueue:
    """All gangs of some choice, taken out one by one: `pop()` gives the next one, `push()` puts one back.

    With `victims` everything runs backwards: the gang that should suffer first comes first."""

    def __init__(self, session: Session, victims: bool = False, depth: int | None = None) -> None:
        self._session = session
        self._victims = victims
        self._depth = depth
        self._strict = session.settings.strict_turns
        self._top: Heap[Any] = Heap(self._less)
        self._nodes: dict[str, Any] = {}
        self._taken: dict[str, tuple[int, QueueAmount]] = {}
        self._popped: dict[str, list[GangInfo]] = {}

    def fill(self, gangs: Iterable[GangInfo]) -> None:
        """Push many; queues that do not exist, have a broken line of ancestors or are not leaves are passed over."""
        for gang in gangs:
            queue = self._session.queues.get(gang.queue)
            if queue is not None and queue.is_leaf:
                self.push(gang)

    def attach(self, name: str, listed: SortedGangs, accept: Accept = _everybody) -> None:
        """Walk a shared list of a leaf queue, passing over gangs that are not accepted."""
        queue = self._session.queues.get(name)
        if queue is None or not queue.is_leaf:
            return
        leaf = _Leaf(queue, self._victims, self._depth, listed, accept)
        if leaf:
            self._nodes[name] = leaf
            self._link(leaf)
            self._mark(leaf)

    def __bool__(self) -> bool:
        return bool(self._top.items)

    @property
    def unlimited(self) -> bool:
        """Whether every gang of a queue is looked at."""
        return self._depth is None

    def push(self, gang: GangInfo) -> None:
        leaf = self._nodes.get(gang.queue)
        new = leaf is None
        if leaf is None:
            leaf = self._nodes[gang.queue] = _Leaf(self._session.queues[gang.queue], self._victims, self._depth)
            leaf.popped = self._popped.get(gang.queue, [])
        leaf.push(self._session.gang_key(gang), gang)
        if new:
            self._link(leaf)
        elif self._strict and leaf.top() is gang:
            self._move_up(leaf)
        self._mark(leaf)

    def _move_up(self, node: Any) -> None:
        """The gang at its head is a better one than before: it goes before others, and so may those above it."""
        while node is not None:
            (node.parent.children if node.parent is not None else self._top).fix(node)
            node = node.parent

    def _link(self, node: Any) -> None:
        """Hang a new node below its parent, making parents as needed."""
        name = node.queue.parent
        if not name:
            self._top.push(node)
            return
        parent = self._nodes.get(name)
        new = parent is None
        if parent is None:
            parent = self._nodes[name] = _Inner(self._session.queues[name], self._less)
        node.parent = parent
        parent.children.push(node)
        if new:
            self._link(parent)

    def _mark(self, node: Any) -> None:
        while node is not None:
            node.stale = True
            node = node.parent

    def pop(self) -> GangInfo:
        leaf = self._best_leaf()
        gang: GangInfo = leaf.pop()
        if self._victims:
            leaf.popped.append(gang)
        self._after_pop(leaf)
        return gang

    def pop_one_of(self, wanted: Container[str]) -> GangInfo | None:
        """The next gang that is wanted; those before it are dropped and change nothing but the order. None when none is
        left.

        As long as the next gang of a leaf asks for the same as the dropped one, every comparison would end as before
        and is left out."""
        while self._top.items:
            leaf = self._best_leaf()
            gang = leaf.pop()
            following = leaf.top()
            if gang.uid in wanted:
                self._after_pop(leaf)
                return gang
            if following is None or self._session.asked(following) != self._session.asked(gang):
                self._after_pop(leaf)
        return None

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
        while node is not None and not node:
            (node.parent.children if node.parent is not None else self._top).pop()
            del self._nodes[node.queue.name]
            if isinstance(node, _Leaf):
                self._popped[node.queue.name] = node.popped
            node = node.parent
        self._mark(node)

    def _less(self, left: Any, right: Any) -> bool:
        if not left:
            return not self._victims
        if not right:
            return self._victims
        first = self._goes_first(self._side(left), self._side(right))
        return not first if self._victims else first

    def _goes_first(self, left: QueueSide, right: QueueSide) -> bool:
        order = self._session.hooks.queue_order(left, right)
        if order:
            return order < 0
        return (left.queue.created, left.queue.name) < (right.queue.created, right.queue.name)

    def _side(self, node: Any) -> QueueSide:
        leaf = node
        while isinstance(leaf, _Inner):
            leaf = leaf.children.items[0]
        top = leaf.top()
        if not self._victims:
            return QueueSide(node.queue, top)
        return QueueSide(node.queue, None, moved(self._popped_from(leaf), self._session.held(top), +1))

    def _popped_from(self, leaf: _Leaf) -> QueueAmount:
        """What the gangs popped from this leaf hold together, as a running sum."""
        counted, total = self._taken.get(leaf.queue.name, (0, NOTHING))
        for gang in leaf.popped[counted:]:
            total = moved(total, self._session.held(gang), +1)
        self._taken[leaf.queue.name] = (len(leaf.popped), total)
        return total
