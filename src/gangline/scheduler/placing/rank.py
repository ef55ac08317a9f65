"""Which node comes first for a task: filter and score answers kept per task shape, looked at again only for nodes that
were touched.

A Ranking belongs to one shape and one plugin configuration and outlives the cycle. It holds a heap of the nodes on
which the shape's resources fit (idle or leaving), best first, and why the others do not. Tasks whose scores depend on
more than their shape and the node are scored one by one (`scored`). Predicates that depend on the moment are asked by
`place.py`, in this order.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gangline.scheduler.model import gpu_pools
from gangline.scheduler.model.node import NodeInfo, NodeList
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, PODS, at, fits
from gangline.scheduler.model.task import TaskInfo, TaskShape, share_of

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

Key = tuple[float, float, str]


class Ranking:
    """`keys[number]` is a node's present key, None when the shape does not fit there."""

    __slots__ = (
        "_epoch",
        "_fitting",
        "_generation",
        "_heap",
        "_never",
        "_ranks",
        "_reasons",
        "_seen",
        "_tally",
        "_unexplained",
        "keys",
        "shape",
    )

    def __init__(self, shape: TaskShape) -> None:
        self.shape = shape
        self._epoch = -1
        self._generation = -1
        self._ranks = -1
        self._seen = 0
        self._heap: list[tuple[Key, int]] = []
        self.keys: list[Key | None] = []
        self._reasons: dict[int, tuple[str, ...]] = {}
        self._tally: Counter[str] = Counter()
        self._unexplained: set[int] = set()
        self._never: set[int] = set()
        self._fitting: set[int] = set()
        """Numbers of the nodes that have a key."""

    def refresh(self, session: Session) -> None:
        """Look again at the nodes that were touched since the last time."""
        cluster = session.cluster
        touched = cluster.touched
        fresh = len(touched) - self._seen
        stale = self._epoch != cluster.epoch or self._generation != cluster.generation or self._ranks != cluster.ranks
        if stale or fresh > len(cluster.by_number):
            self._rebuild(session)
        elif fresh:
            for number in set(touched[self._seen :]):
                self._look(session, number)
            if len(self._heap) > 4 * len(self.keys) + 64:
                self._heap = [(key, number) for number, key in enumerate(self.keys) if key is not None]
                heapq.heapify(self._heap)
        self._seen = len(touched)

    def _rebuild(self, session: Session) -> None:
        cluster = session.cluster
        self._epoch, self._generation, self._ranks = cluster.epoch, cluster.generation, cluster.ranks
        self._never.clear()
        self.keys = [None if node is None else self._key(session, node) for node in cluster.by_number]
        self._heap = [(key, number) for number, key in enumerate(self.keys) if key is not None]
        self._fitting = {number for _, number in self._heap}
        heapq.heapify(self._heap)
        self._reasons.clear()
        self._tally.clear()
        self._unexplained = {number for number, key in enumerate(self.keys) if key is None}

    def _look(self, session: Session, number: int) -> None:
        node = session.cluster.by_number[number]
        self._never.discard(number)
        key = None if node is None else self._key(session, node)
        if key != self.keys[number]:
            self.keys[number] = key
            if key is None:
                self._fitting.discard(number)
            else:
                self._fitting.add(number)
                heapq.heappush(self._heap, (key, number))
        for reason in self._reasons.pop(number, ()):
            self._tally[reason] -= 1
        if key is None:
            self._unexplained.add(number)

    def _key(self, session: Session, node: NodeInfo) -> Key | None:
        task = self.shape.sample
        if not node.fits_later(task):
            return None
        hooks = session.hooks
        if hooks.never(task, node):
            self._never.add(node.number)
            return None
        return -hooks.shape_score(task, node), hooks.node_rank(task, node), node.name

    def best_first(self, session: Session) -> Iterator[NodeInfo]:
        """Fitting nodes, best first. The model may change while the caller holds a node, but then it must stop
        asking."""
        heap, keys, by_number = self._heap, self.keys, session.cluster.by_number
        aside: list[tuple[Key, int]] = []
        try:
            while heap:
                key, number = heap[0]
                if keys[number] != key or (aside and aside[-1] == heap[0]):
                    heapq.heappop(heap)
                    continue
                node = by_number[number]
                assert node is not None
                yield node
                aside.append(heapq.heappop(heap))
        finally:
            for entry in aside:
                heapq.heappush(heap, entry)

    def shortages(self, session: Session) -> Counter[str]:
        """How many nodes of the cluster lack what, among those on which the shape does not fit."""
        for number in self._unexplained:
            node = session.cluster.by_number[number]
            if node is not None and number not in self._never and self.keys[number] is None:
                known = self._reasons[number] = tuple(shortage(self.shape.sample, node, session.cluster.names.names))
                self._tally.update(known)
        self._unexplained.clear()
        return Counter({reason: number for reason, number in self._tally.items() if number > 0})

    def with_room(self, session: Session) -> list[NodeInfo]:
        """Nodes on which the shape's resources fit."""
        by_number = session.cluster.by_number
        numbers = [*self._never, *sorted(self._fitting)]
        return [node for number in numbers if (node := by_number[number]) is not None]


def ranking(session: Session, task: TaskInfo) -> Ranking:
    """The ranking of the task's shape, up to date."""
    answers = task.shape.answers
    ranked: Ranking | None = answers.get(session.token)
    if ranked is None:
        ranked = answers[session.token] = Ranking(task.shape)
    ranked.refresh(session)
    return ranked


def ordered_nodes(session: Session, task: TaskInfo, nodes: Sequence[NodeInfo]) -> Iterator[NodeInfo]:
    """Nodes of the set on which the task's resources fit, best first."""
    if not _by_shape(session, task):
        return iter(scored(session, task, nodes))
    ranked = ranking(session, task)
    if isinstance(nodes, NodeList) and (nodes.whole or (nodes.whole_for_gpus and task.needs_gpu and not task.shared)):
        return ranked.best_first(session)
    heap = [(key, node.number) for node in nodes if (key := ranked.keys[node.number]) is not None]
    return _from_heap(session, heap)


def _from_heap(session: Session, heap: list[tuple[Key, int]]) -> Iterator[NodeInfo]:
    heapq.heapify(heap)
    while heap:
        node = session.cluster.by_number[heapq.heappop(heap)[1]]
        assert node is not None
        yield node


def _by_shape(session: Session, task: TaskInfo) -> bool:
    return task.shape.plain and not session.hooks.scored_alone(task)


def scored(session: Session, task: TaskInfo, nodes: Sequence[NodeInfo]) -> list[NodeInfo]:
    """Every node scored by every plugin, best first; nodes without room are left out at the end, they do count in
    relative scores."""
    session.hooks.before_scoring(task, nodes)
    scores: list[tuple[float, str, NodeInfo]] = []
    for node in nodes:
        score = session.hooks.node_score(task, node)
        if score is not None and node.fits_later(task):
            scores.append((-score, node.name, node))
    return [node for _, _, node in sorted(scores, key=_score_and_name)]


def _score_and_name(entry: tuple[float, str, Any]) -> tuple[float, str]:
    return entry[:2]


def shortage(task: TaskInfo, node: NodeInfo, names: Sequence[str]) -> list[str]:
    """What the node lacks for this task, in words; nothing when the task would fit on what is idle."""
    if node.fits_now(task):
        return []
    if fits(task.request, node.idle):
        why = gpu_pools.lacking(node, task)
        return [] if why is None else [why]
    have = [at(node.allocatable, place) - at(node.used, place) for place in range(len(task.request))]
    lacking = _gpu_shortage(task, node, have[GPU] - node.shared.live(), names, have)
    for place, word in ((CPU, "CPU cores"), (MEMORY, "memory")):
        if task.request[place] > have[place]:
            lacking.append(f"node(s) didn't have enough resources: {word}")
    for place in range(PODS + 1, len(task.request)):
        if task.request[place] > have[place] and names[place] not in task.gpu.mig:
            lacking.append(f"node(s) didn't have enough resources: {names[place]}")
    return lacking


def _gpu_shortage(
    task: TaskInfo, node: NodeInfo, gpus: float, names: Sequence[str], have: Sequence[float]
) -> list[str]:
    if task.gpu.mig:
        return [
            f"node(s) didn't have enough of mig profile: {name}"
            for name in task.gpu.mig
            if have[names.index(name)] < task.gpu.mig[name]
        ]
    asked = task.gpus
    if task.gpu.memory:
        asked = share_of(task.gpu.memory, node.gpu_memory) * task.gpu.count
    lacking = ["node(s) didn't have enough resources: GPUs"] if asked > gpus else []
    if task.gpu.memory > node.gpu_memory:
        lacking.append("node(s) didn't have enough resources: GPU memory")
    return lacking
