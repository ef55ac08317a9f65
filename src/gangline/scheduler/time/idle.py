"""Where the idle GPUs go: every GPU of a cluster is in use, or idle for exactly one cause.

Asked after a cycle, of the model with what was decided. Causes are tried in a fixed order. First come pods on their way
to a node, then the state of the node (cordoned, failed), then what is reserved for a gang. After that, each waiting
gang, in order, explains as many free GPUs as it asks for. Nobody asks for the rest. Pure; metrics, `gangline idle`, the
page and the lab show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from gangline.rules.capacity.idle_causes import (
    CLOSED,
    FAILED,
    FRAGMENTS,
    IDLE_CAUSES,
    MISSING,
    NO_DEMAND,
    QUOTA,
    RESERVED,
    SHORTAGE,
    STARTING,
    TOPOLOGY,
)
from gangline.scheduler.decisions import Decisions, Refuse
from gangline.scheduler.matching import untolerated
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import TolerationRecord
from gangline.scheduler.refusals import NO_QUEUE, OVER_LIMIT, OVER_QUOTA

CORDONED = "node is unschedulable"
"""The only reason of a node that is closed and not broken."""
ON_THE_WAY = Status.ALLOCATED | Status.BINDING | Status.BOUND
WANTING = Status.PENDING | Status.GATED
MOST_WISHES = 64
"""Different requests that are counted apart; those after them count as the last one."""
DUST = 1e-6


@dataclass(frozen=True, slots=True)
class IdlePart:
    """GPUs of one node that are idle for one cause. `gang`: for whom they are kept, or who waits for this reason;
    `until`: when that gang can start."""

    node: str
    cause: str
    gpus: float
    gang: str = ""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class IdleReport:
    """What is in use and all parts together are the capacity."""

    capacity: float = 0.0
    in_use: float = 0.0
    parts: tuple[IdlePart, ...] = ()

    @property
    def idle(self) -> float:
        return self.capacity - self.in_use

    @property
    def by_cause(self) -> dict[str, float]:
        gpus = dict.fromkeys(IDLE_CAUSES, 0.0)
        for part in self.parts:
            gpus[part.cause] += part.gpus
        return gpus

    def of_node(self, name: str) -> tuple[IdlePart, ...]:
        return tuple(part for part in self.parts if part.node == name)


@dataclass(slots=True)
class _Wish:
    """GPUs that gangs wait for, all for the same cause."""

    cause: str
    gang: str
    tolerations: tuple[TolerationRecord, ...]
    gpus: float = 0.0


@dataclass(slots=True)
class _Pieces:
    """What is free, node by node, and what is known of it so far."""

    free: dict[str, float] = field(default_factory=dict)
    parts: list[IdlePart] = field(default_factory=list)

    def take(self, node: str, gpus: float, cause: str, gang: str = "", until: float | None = None) -> float:
        """Say why so many of the node's free GPUs are idle; gives how many there were."""
        there = self.free.get(node, 0.0)
        taken = min(there, gpus)
        if taken <= DUST:
            return 0.0
        self.parts.append(IdlePart(node, cause, taken, gang, until))
        if there - taken > DUST:
            self.free[node] = there - taken
        else:
            del self.free[node]
        return taken


def idle_gpus(cluster: ClusterModel, decisions: Decisions) -> IdleReport:
    """`decisions`: of the cycle just run, booked on the cluster."""
    pieces, capacity, in_use = _Pieces(), 0.0, 0.0
    for node in cluster.nodes.values():
        gpus = node.allocatable[GPU]
        if gpus <= 0:
            continue
        running, starting = _held(cluster, node)
        capacity += gpus
        in_use += min(running, gpus)
        if running >= gpus:
            continue
        pieces.free[node.name] = gpus - running
        if starting:
            pieces.take(node.name, starting, STARTING)
        if not node.ready:
            pieces.take(node.name, gpus, CLOSED if node.record.ready_reason == CORDONED else FAILED)
    _keep(cluster, decisions, pieces)
    served = {made.gang for made in decisions.reservations}
    for wish in _wishes(cluster, decisions, pieces, served):
        _explain(cluster, wish, pieces)
    for name in list(pieces.free):
        pieces.take(name, pieces.free[name], NO_DEMAND)
    return IdleReport(capacity, in_use, tuple(sorted(pieces.parts, key=lambda part: (part.node, part.cause))))


def _held(cluster: ClusterModel, node: NodeInfo) -> tuple[float, float]:
    """GPUs held by pods that run or leave, and by pods on their way; kept until the node counts other pods."""
    kept = cluster.memo.setdefault("GPUs held", {})
    known = kept.get(node.name)
    if known is None or known[0] is not node.used:
        running, starting = 0.0, 0.0
        for placed in node.placed.values():
            shares = len(placed.groups) * placed.memory / node.gpu_memory if placed.groups else 0.0
            if placed.status & ON_THE_WAY:
                starting += placed.charge[GPU] + shares
            else:
                running += placed.charge[GPU] + shares
        if len(kept) > 2 * len(cluster.nodes) + 16:
            kept.clear()
        known = kept[node.name] = (node.used, running, starting)
    return known[1], known[2]


def _keep(cluster: ClusterModel, decisions: Decisions, pieces: _Pieces) -> None:
    """What is kept for gangs: reserved starts, and places that were promised while others leave."""
    for made in decisions.reservations:
        for node, gpus in made.nodes:
            pieces.take(node, gpus, RESERVED, made.name, made.start)
    for nominate in decisions.nominations:
        task = cluster.tasks.get(nominate.task)
        if task is not None and task.gang is not None:
            pieces.take(nominate.node, task.request[GPU], RESERVED, task.gang.full_name)


def _wishes(cluster: ClusterModel, decisions: Decisions, pieces: _Pieces, served: set[str]) -> Iterable[_Wish]:
    """Those who wait for GPUs, the most urgent first; gangs with the same cause and tolerations are one."""
    refused = {refuse.gang: refuse for refuse in decisions.refusals}
    uids = [uid for uid in {**cluster.waiting, **cluster.gated} if uid not in served]
    gangs = sorted((cluster.gangs[uid] for uid in uids), key=lambda gang: (-gang.priority, gang.created, gang.uid))
    wishes: dict[object, _Wish] = {}
    for gang in gangs:
        asked = [task for task in gang.tasks.values() if task.status & WANTING and task.needs_gpu]
        if not asked:
            continue
        gpus = sum(task.request[GPU] or 1.0 for task in asked)
        cause, tolerations = _cause(gang, gpus, refused.get(gang.uid), pieces.free), asked[0].record.tolerations
        wish = wishes.get((cause, tolerations))
        if wish is None:
            if len(wishes) < MOST_WISHES:
                wish = wishes[cause, tolerations] = _Wish(cause, gang.full_name, tolerations)
            else:
                wish = next(reversed(wishes.values()))
        wish.gpus += gpus
    return wishes.values()


def _cause(gang: GangInfo, asked: float, refuse: Refuse | None, free: Mapping[str, float]) -> str:
    """Why this gang, which asks for so many GPUs, does not use what is free."""
    reasons = refuse.reasons if refuse is not None else ()
    if not gang.ready or not gang.pending or NO_QUEUE in reasons:
        return MISSING
    if OVER_LIMIT in reasons or OVER_QUOTA in reasons:
        return QUOTA
    rules = [gang.root.topology, *(leaf.topology for leaf in gang.pod_sets.values())]
    if any(rule is not None and rule.required for rule in rules) and _fits_anywhere(gang, free):
        return TOPOLOGY
    return SHORTAGE if asked > sum(free.values()) + DUST else FRAGMENTS


def _fits_anywhere(gang: GangInfo, free: Mapping[str, float]) -> bool:
    """Whether there were room for its pods if they might be anywhere."""
    asked = sorted((task.request[GPU] for task in gang.tasks.values() if task.status == Status.PENDING), reverse=True)
    room = sorted(free.values(), reverse=True)
    slots = 0.0
    for gpus, same in groupby(asked):
        slots += len(list(same))
        if gpus and sum(int((piece + DUST) // gpus) for piece in room) < slots:
            return False
    return True


def _explain(cluster: ClusterModel, wish: _Wish, pieces: _Pieces) -> None:
    """A free GPU on a node whose taint keeps the gang away is idle because of the taint."""
    for name in list(pieces.free):
        if wish.gpus <= DUST:
            return
        taint = untolerated(cluster.nodes[name].record.taints, wish.tolerations)
        wish.gpus -= pieces.take(name, wish.gpus, wish.cause if taint is None else CLOSED, wish.gang)
