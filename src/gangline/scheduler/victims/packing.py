"""Making room by arithmetic: which few victims should go so that a gang of whole GPUs finds its nodes.

Tried before the search of `search.py` walks victims in their order: for each pending task the node on which making way
costs least, counted on running sums. What a victim costs is what plugins say, or else its GPUs. It proposes; simulating
shows whether everybody finds a place again, and if not the search goes on as ever. Gangs that share GPUs, use devices
or must stay in one topology domain are left to the search."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo, Group
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.victims.accumulate import VictimBatch
from gangline.scheduler.victims.screens import wants

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

REGULAR = "Regular"


@dataclass(slots=True)
class _Spot:
    """A node: what is free on it, and who could make way, cheapest first (what that costs in all, GPUs that come free
    here)."""

    node: NodeInfo
    free: float
    batches: list[tuple[float, float, VictimBatch]] = field(default_factory=list)

    def way(self, gpus: float) -> tuple[float, list[tuple[float, float, VictimBatch]]] | None:
        """The least that it costs to have so many GPUs free here, and whose; None when even all are not enough."""
        missing, cost, chosen = gpus - self.free, 0.0, []
        for entry in self.batches:
            if missing <= 0:
                break
            chosen.append(entry)
            cost, missing = cost + entry[0], missing - entry[1]
        if missing > 0:
            return None
        for entry in list(chosen):
            if entry[1] <= -missing:
                chosen.remove(entry)
                cost, missing = cost - entry[0], missing + entry[1]
        return cost, chosen


def fewest_moves(
    session: Session,
    gang: GangInfo,
    tasks: Sequence[TaskInfo],
    victims: Iterable[GangInfo],
    most: int,
    nodes: Iterable[str] | None = None,
) -> list[VictimBatch] | None:
    """Victims whose leaving would give every task a node; `most`: of how many gangs they may be, -1: of any number.
    `nodes`: only on these, if they are given."""
    if not tasks or any(not _plain(task) for task in tasks) or _bound_to_domain(gang.root):
        return None
    spots = _spots(session, victims, session.cluster.nodes if nodes is None else nodes)
    chosen: dict[int, VictimBatch] = {}
    for gpus, alike in _by_size(tasks):
        if not _serve(spots, gpus, alike, chosen):
            return None
    batches = list(chosen.values())
    return batches if batches and (most < 0 or len({batch.gang.uid for batch in batches}) <= most) else None


def _plain(task: TaskInfo) -> bool:
    return task.gpu.kind == REGULAR and not task.shared and not task.gpu.dra and task.quota_gpus > 0


def _bound_to_domain(group: Group) -> bool:
    return (group.topology is not None and bool(group.topology.required)) or any(
        _bound_to_domain(child) for child in group.groups
    )


def _by_size(tasks: Sequence[TaskInfo]) -> Iterator[tuple[float, list[TaskInfo]]]:
    """Tasks of one size together, the largest first."""
    sizes: dict[float, list[TaskInfo]] = {}
    for task in tasks:
        sizes.setdefault(task.quota_gpus, []).append(task)
    yield from sorted(sizes.items(), reverse=True)


def _spots(session: Session, victims: Iterable[GangInfo], names: Iterable[str]) -> dict[str, _Spot]:
    session.free.refresh()
    free, nodes = session.free.by_node, session.cluster.nodes
    spots = {name: _Spot(nodes[name], free.get(name, 0.0)) for name in names if nodes[name].ready}
    for gang in victims:
        cost, batch, here = _leaving(session, gang)
        for node, gpus in here.items():
            if node in spots and gpus > 0:
                spots[node].batches.append((cost, gpus, batch))
    for spot in spots.values():
        spot.batches.sort(key=lambda entry: (entry[0], -entry[1], entry[2].gang.uid))
    return spots


def _leaving(session: Session, gang: GangInfo) -> tuple[float, VictimBatch, dict[str, float]]:
    """What it costs that this victim makes way, and which GPUs come free where; kept until a status changes."""
    kept: dict[str, tuple[int, tuple[float, VictimBatch, dict[str, float]]]] = session.memo.setdefault("leaving", {})
    known = kept.get(gang.uid)
    if known is None or known[0] != gang.version:
        taken, _ = session.steps_of(gang)
        batch, here = VictimBatch.of(gang, taken), dict[str, float]()
        for node, gpus in batch.freed:
            here[node] = here.get(node, 0.0) + gpus
        cost = session.hooks.victim_price(gang, taken) if session.hooks.somebody_prices else sum(here.values())
        known = kept[gang.uid] = (gang.version, (cost, batch, here))
    return known[1]


def _serve(spots: dict[str, _Spot], gpus: float, tasks: Sequence[TaskInfo], chosen: dict[int, VictimBatch]) -> bool:
    """Give each task the node where the least must move, then the one that it fills best."""
    heap = [ranked for name in sorted(spots) if (ranked := _ranked(spots[name], gpus)) is not None]
    heapq.heapify(heap)
    for task in tasks:
        refused = []
        while heap:
            cost, left, name = heapq.heappop(heap)
            now = _ranked(spots[name], gpus)
            if now is not None and now != (cost, left, name):
                heapq.heappush(heap, now)
            elif now is not None and not wants(task, spots[name].node):
                refused.append(now)
            elif now is not None:
                break
        else:
            return False
        _take(spots, name, gpus, chosen)
        for entry in (*refused, _ranked(spots[name], gpus)):
            if entry is not None:
                heapq.heappush(heap, entry)
    return True


def _ranked(spot: _Spot, gpus: float) -> tuple[float, float, str] | None:
    way = spot.way(gpus)
    return None if way is None else (way[0], spot.free + sum(entry[1] for entry in way[1]) - gpus, spot.node.name)


def _take(spots: dict[str, _Spot], name: str, gpus: float, chosen: dict[int, VictimBatch]) -> None:
    """The task goes there and its victims leave, from wherever else they are too."""
    way = spots[name].way(gpus)
    assert way is not None
    for _, _, batch in way[1]:
        chosen[id(batch)] = batch
        for node in {node for node, _ in batch.freed if node in spots}:
            spot = spots[node]
            spot.free += sum(entry[1] for entry in spot.batches if entry[2] is batch)
            spot.batches = [entry for entry in spot.batches if entry[2] is not batch]
    spots[name].free -= gpus
