"""Put GPU pods where they spoil least: each node is worth what the cluster's usual pods could still use of its GPUs,
and the node that loses least by taking the pod comes first.

The usual pods are the shapes that were seen, weighted by how often. A shape can use of a node as many GPUs as its pods
that would fit there ask for (by GPUs, shares of them, CPU, memory, kind of node). So three things are worth little: a
GPU without the CPU to use it, a small rest of a shared GPU, and an odd number of GPUs where pods ask for two. Above all
it counts what random sequences of usual pods could use of a node: no more than its devices hold, nor than its CPU and
memory are enough for at what these pods ask for on average. The idea is the expected fragmentation of Weng et al. (ATC
2023); see docs/guide/fragmentation.md. Pods without GPUs take CPU and memory where GPUs miss them least. Never refuses
a node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gangline.scheduler.model.gpu import WHOLE_GPU, device_memory
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY
from gangline.scheduler.model.task import TaskInfo, TaskShape
from gangline.scheduler.placing.place import MOST_WHOLE_GPUS
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.plugins.score.nodeplacement import NodePlacementPlugin
from gangline.scheduler.scores import DENSITY

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

STRATEGY = "fewest-fragments"
MOST_SHAPES = 30
"""The most frequent shapes stand for all."""
CRUMBS = 10.0
"""How much it counts what a random sequence of usual pods would make of a node, beside what each shape alone would."""
PATIENCE = 0.9
"""How likely a device is to wait for a smaller pod after one that did not fit."""
DRIFT = 0.05
"""So much of the distribution must have moved before nodes are valued anew."""
THOUSANDTHS = 1000
MOST_KEPT = 100_000

NodeRoom = tuple[int, tuple[int, ...], float, float, int]
"""Whole GPUs, free thousandths of shared ones (ascending), CPU, memory, and which usual shapes the node takes at
all."""


@dataclass(slots=True, eq=False)
class UsualShape:
    """A shape of pod that the cluster often runs. `count` whole GPUs, or a `share` of one in thousandths (0: whole)."""

    shape: TaskShape
    weight: float
    count: int
    share: int
    cpu: float
    memory: float


@dataclass(slots=True, eq=False)
class UsualPods:
    """The usual shapes and what was computed with them; kept on the cluster until the distribution moves."""

    shapes: list[UsualShape] = field(default_factory=list)
    seen: int = 0
    weights: dict[int, float] = field(default_factory=dict)
    worth: dict[NodeRoom, float] = field(default_factory=dict)
    fills: list[float] | None = None
    """By free thousandths of one device: what a random sequence of usual pods would use of it; None where nobody
    shares."""
    per_cpu: float = math.inf
    """Thousandths of GPUs that usual pods use per CPU that they ask for: a node's CPU is enough for no more."""
    per_memory: float = math.inf
    takers: dict[int, int] = field(default_factory=dict)
    """Node number → bits of the shapes that the node takes at all."""
    rooms: dict[int, tuple[object, float, NodeRoom]] = field(default_factory=dict)
    """Node number → what was used when its room and worth were worked out."""
    generation: int = -1


class FewestFragmentsPlugin(NodePlacementPlugin):
    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        super().__init__(session, arguments)
        self._session = session
        self._usual = usual_pods(session)
        self._losses: dict[int, float] = {}
        self._between: tuple[float, float] = (0.0, 0.0)

    def before_scoring(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> None:
        self._losses = {node.number: self._loss(task, node) for node in nodes if node.fits_later(task)}
        finite = [loss for loss in self._losses.values() if math.isfinite(loss)]
        self._between = (min(finite), max(finite)) if finite else (0.0, 0.0)

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        loss = self._losses.get(node.number, math.inf)
        low, high = self._between
        if not math.isfinite(loss):
            return 0.0
        return DENSITY if low == high else DENSITY * (1 - (loss - low) / (high - low))

    def node_rank(self, task: TaskInfo, node: NodeInfo) -> float:
        return self._loss(task, node)

    def gpu_score(self, task: TaskInfo, node: NodeInfo, group: str) -> float:
        """The device whose use loses least; between equals the fullest."""
        free = THOUSANDTHS if group == WHOLE_GPU else free_part(node, group)
        whole, parts, cpu, memory, takers = self._room_and_worth(node)[1]
        after = _with_share(whole, parts, free, share_on(task, node))
        if after is None:
            return -math.inf
        left = (*after, cpu - task.request[CPU], memory - task.request[MEMORY], takers)
        return self._worth(left) - free / 1e6

    # ── what a node is worth ──

    def _loss(self, task: TaskInfo, node: NodeInfo) -> float:
        """What the usual pods could use less of the node's GPUs after it took the task; between equals, the fuller
        node."""
        worth_now, room = self._room_and_worth(node)
        whole, parts, cpu, memory, takers = room
        cpu, memory = cpu - task.request[CPU], memory - task.request[MEMORY]
        if task.shared:
            options = self._shared_options(task, node, whole, parts)
        else:
            options = [(whole - math.ceil(task.request[GPU]), parts)]
        left = max((self._worth((*option, cpu, memory, takers)) for option in options), default=0.0)
        fullest = whole * THOUSANDTHS + sum(parts) if task.needs_gpu else room[2] / THOUSANDTHS
        return round(worth_now - left, 3) + fullest / 1e9

    def _shared_options(
        self, task: TaskInfo, node: NodeInfo, whole: int, parts: tuple[int, ...]
    ) -> list[tuple[int, tuple[int, ...]]]:
        """What could be left of the GPUs; a task on several devices takes the fullest that will do."""
        share = share_on(task, node)
        if task.gpu.count > 1:
            return [_with_shares(whole, parts, share, task.gpu.count)]
        choices = {free for free in parts if free >= share} | ({THOUSANDTHS} if whole else set())
        options = [_with_share(whole, parts, free, share) for free in sorted(choices)]
        return [option for option in options if option is not None]

    def _room_and_worth(self, node: NodeInfo) -> tuple[float, NodeRoom]:
        """Kept until the node counts other pods."""
        kept = self._usual.rooms.get(node.number)
        if kept is None or kept[0] is not node.used:
            room = self._room(node)
            kept = self._usual.rooms[node.number] = (node.used, self._worth(room), room)
        return kept[1], kept[2]

    def _room(self, node: NodeInfo) -> NodeRoom:
        shared = node.shared
        parts = (
            tuple(sorted([free for group in shared.used if (free := free_part(node, group))])) if shared.used else ()
        )
        return int(node.later[GPU]), parts, node.later[CPU], node.later[MEMORY], self._takers(node)

    def _takers(self, node: NodeInfo) -> int:
        usual = self._usual
        if usual.generation != self._session.cluster.generation:
            usual.takers.clear()
            usual.rooms.clear()
            usual.generation = self._session.cluster.generation
        taker = usual.takers.get(node.number)
        if taker is None:
            never = self._session.hooks.never
            taker = usual.takers[node.number] = sum(
                1 << place for place, shape in enumerate(usual.shapes) if not never(shape.shape.sample, node)
            )
        return taker

    def _worth(self, room: NodeRoom) -> float:
        known = self._usual.worth.get(room)
        if known is None:
            if len(self._usual.worth) > MOST_KEPT:
                self._usual.worth.clear()
            known = self._usual.worth[room] = worth(self._usual, room)
        return known


def worth(pods_seen: UsualPods, room: NodeRoom) -> float:
    """Thousandths of GPUs that a usual pod could use, on average, and what sequences of pods would make of shared
    devices."""
    whole, parts, cpu, memory, takers = room
    if not whole and not parts:
        return 0.0
    fills, used = pods_seen.fills, float(whole * THOUSANDTHS)
    if fills is not None:
        used = whole * fills[THOUSANDTHS] + sum([fills[part] for part in parts])
    total = CRUMBS * min(used, _reach(cpu, pods_seen.per_cpu), _reach(memory, pods_seen.per_memory))
    places: dict[tuple[int, int], int] = {}
    for place, usual in enumerate(pods_seen.shapes):
        if not takers >> place & 1:
            continue
        key = (usual.count, usual.share)
        pods = places.get(key)
        if pods is None:
            pods = places[key] = _pods(usual, whole, parts)
        if pods and usual.cpu:
            pods = min(pods, int(cpu // usual.cpu))
        if pods and usual.memory:
            pods = min(pods, int(memory // usual.memory))
        if pods > 0:
            total += usual.weight * pods * (usual.share or usual.count * THOUSANDTHS)
    return total


def _reach(free: float, per: float) -> float:
    """Thousandths of GPUs for whose pods so much CPU or memory is enough."""
    return max(free, 0.0) * per if per < math.inf else math.inf


def _pods(usual: UsualShape, whole: int, parts: tuple[int, ...]) -> int:
    """How many pods of this shape the GPUs would hold."""
    if not usual.share:
        return whole // usual.count
    return whole * (THOUSANDTHS // usual.share) + sum([part // usual.share for part in parts])


def _with_share(whole: int, parts: tuple[int, ...], free: int, share: int) -> tuple[int, tuple[int, ...]] | None:
    """After a share was taken of a device with so much free; None where there is no such device."""
    if free == THOUSANDTHS and whole:
        whole, rest = whole - 1, list(parts)
    elif free in parts:
        rest = list(parts)
        rest.remove(free)
    else:
        return None
    if free > share:
        rest.append(free - share)
        rest.sort()
    return whole, tuple(rest)


def _with_shares(whole: int, parts: tuple[int, ...], share: int, count: int) -> tuple[int, tuple[int, ...]]:
    """After each of so many devices gave a share; no more are opened than the placement opens."""
    for _ in range(min(count, whole + len(parts), MOST_WHOLE_GPUS)):
        free = next((part for part in parts if part >= share), THOUSANDTHS)
        whole, parts = _with_share(whole, parts, free, share) or (whole, parts)
    return whole, parts


def share_on(task: TaskInfo, node: NodeInfo) -> int:
    """Thousandths of a device that the task takes on this node."""
    return math.ceil(device_memory(task, node.gpu_memory) * THOUSANDTHS / node.gpu_memory)


def free_part(node: NodeInfo, group: str) -> int:
    """Free thousandths of a device in use by sharing, once those who leave are gone; 0 for one that is not in use, or
    leaves as a whole."""
    shared = node.shared
    if not shared.used.get(group) or group in shared.marked:
        return 0
    free = (
        node.gpu_memory
        - shared.allocated.get(group, 0)
        + min(shared.releasing.get(group, 0), shared.allocated.get(group, 0))
    )
    return max(free, 0) * THOUSANDTHS // node.gpu_memory


# ── what is usual ──


def usual_pods(session: Session) -> UsualPods:
    """The usual pods as last worked out, or anew when many more were seen and the distribution moved."""
    cluster = session.cluster
    known: UsualPods | None = cluster.memo.get("usual pods")
    seen = cluster.pods_seen
    if known is not None and seen * 10 < known.seen * 11 + 100:
        return known
    counts = {shape.number: shape.seen for shape in cluster.shapes.values() if shape.sample.needs_gpu and shape.seen}
    weights = _most(counts)
    if known is not None and _moved(known.weights, weights) < DRIFT:
        known.seen = seen
        return known
    usual = cluster.memo["usual pods"] = UsualPods([], seen, weights)
    by_number = {shape.number: shape for shape in cluster.shapes.values()}
    usual.shapes = [usual_shape(by_number[number], weight) for number, weight in weights.items()]
    all_seen = [(usual_shape(by_number[number], 0.0), count) for number, count in counts.items()]
    usual.fills = device_fills(all_seen)
    usual.per_cpu = _gpus_per([(shape, shape.cpu, count) for shape, count in all_seen])
    usual.per_memory = _gpus_per([(shape, shape.memory, count) for shape, count in all_seen])
    cluster.ranks += 1
    return usual


def device_fills(seen: Sequence[tuple[UsualShape, int]]) -> list[float] | None:
    """What usual pods would use of a device, by its free thousandths, if they came in random order. A pod that fits
    takes its share; one that does not is passed over. Each time the device may also stay as it is."""
    sizes: dict[int, int] = {}
    for usual, count in seen:
        size, devices = usual.share or THOUSANDTHS, 1 if usual.share else usual.count
        sizes[size] = sizes.get(size, 0) + count * devices
    if not sizes or set(sizes) == {THOUSANDTHS}:
        return None
    total = sum(sizes.values())
    parts = sorted((size, count / total) for size, count in sizes.items())
    fills = [0.0] * (THOUSANDTHS + 1)
    for free in range(1, THOUSANDTHS + 1):
        fitting = [(size, part) for size, part in parts if size <= free]
        if fitting:
            used = sum([part * (size + fills[free - size]) for size, part in fitting])
            fills[free] = used / (1 - PATIENCE * (1 - sum([part for _, part in fitting])))
    return fills


def _gpus_per(asked: Sequence[tuple[UsualShape, float, int]]) -> float:
    """Thousandths of GPUs for each unit of what these shapes ask for, all pods together."""
    total = sum([amount * count for _, amount, count in asked])
    gpus = sum([(shape.share or shape.count * THOUSANDTHS) * count for shape, _, count in asked])
    return gpus / total if total else math.inf


def _most(counts: Mapping[int, int]) -> dict[int, float]:
    """The most frequent shapes with their part of all."""
    chosen = sorted(counts, key=lambda number: (-counts[number], number))[:MOST_SHAPES]
    total = sum(counts[number] for number in chosen) or 1
    return {number: counts[number] / total for number in chosen}


def _moved(old: Mapping[int, float], new: Mapping[int, float]) -> float:
    return sum(abs(old.get(number, 0.0) - new.get(number, 0.0)) for number in {*old, *new}) / 2


def usual_shape(shape: TaskShape, weight: float) -> UsualShape:
    gpu = shape.gpu
    portion = gpu.portion if gpu.kind == "Fraction" else 1.0
    share = math.ceil(round(portion * THOUSANDTHS, 6)) if 0 < portion < 1 else 0
    return UsualShape(
        shape, weight, max(math.ceil(shape.request[GPU]), 1), share, shape.request[CPU], shape.request[MEMORY]
    )


def placement(session: Session, arguments: Mapping[str, str]) -> Plugin:
    """The placement that the configuration asks for: binpack, spread, or fewest-fragments for GPUs."""
    return (FewestFragmentsPlugin if arguments.get("gpu") == STRATEGY else NodePlacementPlugin)(session, arguments)
