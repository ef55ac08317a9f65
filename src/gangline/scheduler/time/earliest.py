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
    domains: dict[str, list[NodeSlots]] = {}
    for node in nodes:
        domains.setdefault(node.domain, []).append(node)
    starts = [soonest_start(slots_of(domains[domain], pods), pods) for domain in sorted(domains)]
    return min([start for start in starts if start is not None], key=_moment, default=None)


def _moment(start: EarliestStart) -> float:
    return start.moment


def slots_of(nodes: Iterable[NodeSlots], pods: int) -> list[tuple[float, float, str]]:
    """One by one, no more of a node than there are pods."""
    return [(moment, node.held, node.name) for node in nodes for moment in node.times[:pods]]


def soonest_start(slots: list[tuple[float, float, str]], pods: int) -> EarliestStart | None:
    """In the slots that are free soonest, wherever they are."""
    if len(slots) < pods:
        return None
    chosen = heapq.nsmallest(pods, slots)
    nodes: dict[str, int] = {}
    for _, _, name in chosen:
        nodes[name] = nodes.get(name, 0) + 1
    return EarliestStart(chosen[-1][0], nodes)
