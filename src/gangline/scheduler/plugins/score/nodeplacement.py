"""Pack tasks onto the fullest nodes (binpack) or spread them over the emptiest, by GPUs or, for tasks without GPUs, by
CPU.

Packing is relative: the fullest node of the set gets the whole score, the emptiest none. Its order is simply the free
amount, and that is what `node_rank` gives. Free parts of shared GPUs are not counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import CPU, GPU
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.scores import DENSITY

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

SPREAD = "spread"


class NodePlacementPlugin(Plugin):
    name = "nodeplacement"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._spread = {GPU: arguments.get("gpu") == SPREAD, CPU: arguments.get("cpu") == SPREAD}
        self._range: tuple[float, float] = (0, 0)

    def before_scoring(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> None:
        self._range = free_range(place_of(task), nodes)

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        place = place_of(task)
        if self._spread[place]:
            return spread_score(node.later[place], _whole(node, place))
        return pack_score(self._range, node.later[place], node.allocatable[place])

    def node_rank(self, task: TaskInfo, node: NodeInfo) -> float:
        place = place_of(task)
        if self._spread[place]:
            return -spread_score(node.later[place], _whole(node, place))
        return node.later[place] if node.allocatable[place] else math.inf


def place_of(task: TaskInfo) -> int:
    return GPU if task.needs_gpu else CPU


def _whole(node: NodeInfo, place: int) -> float:
    return node.gpu_count if place == GPU else node.allocatable[place]


def free_range(place: int, nodes: Sequence[NodeInfo]) -> tuple[float, float]:
    """The smallest and largest free amount over the nodes that have the resource at all."""
    free = [node.later[place] for node in nodes if node.allocatable[place]]
    return (min(free), max(0, *free)) if free else (math.inf, 0)


def pack_score(between: tuple[float, float], free: float, whole: float) -> float:
    smallest, largest = between
    if whole == 0 or largest == 0:
        return 0.0
    if smallest == largest:
        return DENSITY
    return DENSITY * (1 - (free - smallest) / (largest - smallest))


def spread_score(free: float, whole: float) -> float:
    return free / whole if whole else 0.0
