"""The earliest moment at which a gang could start, and where: from the moments at which nodes have room for one of its
pods.

Pods go to the nodes that have room soonest, inside one domain where a topology level is required. Pure: who may
reserve, and what a reservation forbids, is `plugins/capacity/reservations.py`'s to say."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeSlots:
    """When a node has room for a first pod, for a second, …, ascending. `domain`: of the required level. `held`: GPUs
    in use there; of nodes that are free at the same time, the one where less must go comes first."""

    name: str
    times: Sequence[float]
    domain: str = ""
    held: float = 0


@dataclass(frozen=True, slots=True)
class EarliestStart:
    moment: float
    nodes: Mapping[str, int]
    """Pods per node."""


def earliest_start(nodes: Iterable[NodeSlots], pods: int) -> EarliestStart | None:
    """The soonest start of so many pods, over all domains; None when there is none, ever."""
    slots: dict[str, list[tuple[float, float, str]]] = {}
    for node in nodes:
        if node.times:
            slots.setdefault(node.domain, []).extend([(moment, node.held, node.name) for moment in node.times[:pods]])
    starts = [start for domain in sorted(slots) if (start := _soonest(slots[domain], pods)) is not None]
    return min(starts, key=_moment, default=None)


def _moment(start: EarliestStart) -> float:
    return start.moment


def _soonest(slots: list[tuple[float, float, str]], pods: int) -> EarliestStart | None:
    if len(slots) < pods:
        return None
    chosen = heapq.nsmallest(pods, slots)
    nodes: dict[str, int] = {}
    for _, _, name in chosen:
        nodes[name] = nodes.get(name, 0) + 1
    return EarliestStart(chosen[-1][0], nodes)
