"""The map: every GPU as a cell, on its node, in its rack, in its block, with who holds it or why it is idle.

Beside the other pages that think; nodes.py counts what is taken of a node. Nodes are grouped by the levels of a
Topology, outermost first; without one, by zone where nodes say theirs. A device that pods of whole GPUs hold has no
number that Kubernetes knows, so cells are in an order of our own: used, shared, free. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gangline.dashboard.gangs import CountedGang, GangTable, Place
from gangline.dashboard.look import MOST, ClusterView, IdleGpus, NodeFact, PodFact, portion
from gangline.dashboard.map.data import (
    MapCounts,
    MapDomain,
    MapGang,
    MapHolding,
    MapIdle,
    MapNode,
    MapPage,
    MapRow,
    MapShare,
)
from gangline.dashboard.nodes import HOST, Holders, NodeUse, natural
from gangline.dashboard.page_data import Table
from gangline.rules.capacity.idle_causes import CLOSED, NO_DEMAND, STARTING

COLOURS = ("queue", "gang", "state", "idle")
"""What the colour of a cell may tell; the first is the usual one."""
ZONE = "topology.kubernetes.io/zone"
OUTSIDE = -1
"""Instead of a gang: the pod belongs to none."""


class GangList:
    """The gangs on the map, each with its place in the list."""

    def __init__(self, known: GangTable) -> None:
        self._known = known
        self._places: dict[Place, int] = {}
        self.gangs: list[MapGang] = []

    def place(self, pod: PodFact) -> int:
        gang = self._known.of(pod)
        if gang is None:
            return OUTSIDE
        key = gang.namespace, gang.name
        if key not in self._places:
            self._places[key] = len(self.gangs)
            self.gangs.append(_map_gang(gang))
        return self._places[key]


def _map_gang(gang: CountedGang) -> MapGang:
    return MapGang(
        namespace=gang.namespace,
        name=gang.name,
        title=gang.title,
        queue=gang.queue,
        state=gang.state,
        priority=gang.priority,
        user=gang.user,
    )


def cells(look: ClusterView, known: GangTable, held: Holders, asked: Mapping[str, str]) -> MapPage:
    """The whole map, without its table."""
    levels, chosen = _levels(look, asked.get("topology", ""))
    listed, idle = GangList(known), _idle(look.idle.parts)
    demand = any(gang.pending and gang.asked > gang.held for gang in known.values())
    domains: dict[tuple[str, ...], list[MapNode]] = defaultdict(list)
    for fact in look.nodes:
        if fact.gpus:
            path = tuple(fact.node.labels.get(label, "") for label, _ in levels)
            node = map_node(fact, held.get(fact.node.name, ()), listed, idle.get(fact.node.name, ()))
            domains[path].append(node if look.idle.at is not None else _with_cause(node, demand))
    placed = tuple(
        MapDomain(path=path, nodes=tuple(sorted(domains[path], key=lambda node: natural(node.name))))
        for path in sorted(domains, key=lambda path: [natural(part) for part in path])
    )
    colour = asked.get("colour", "")
    return MapPage(
        source=look.source,
        levels=tuple(word for _, word in levels),
        topology=chosen,
        topologies=tuple(topology.name for topology in look.topologies),
        colour=colour if colour in COLOURS else COLOURS[0],
        gangs=tuple(listed.gangs),
        domains=placed,
        rows=Table(),
        idle_at=look.idle.at,
        idle_problem=look.idle.problem,
        counts=_counts([node for domain in placed for node in domain.nodes]),
    )


def _levels(look: ClusterView, wanted: str) -> tuple[list[tuple[str, str]], str]:
    """Label and word of each level above the node, and whose they are."""
    chosen = next((topology for topology in look.topologies if topology.name == wanted), None)
    chosen = chosen or (look.topologies[0] if look.topologies else None)
    if chosen is None:
        zoned = any(ZONE in fact.node.labels for fact in look.nodes)
        return ([(ZONE, "zone")] if zoned else []), ""
    levels = [level for level in chosen.spec.levels if level.node_label != HOST]
    return [(level.node_label, level.alias or level.node_label.rpartition("/")[2]) for level in levels], chosen.name


def _idle(parts: Sequence[IdleGpus]) -> dict[str, list[MapIdle]]:
    by_node: dict[str, list[MapIdle]] = defaultdict(list)
    for part in parts:
        by_node[part.node].append(MapIdle(cause=part.cause, gpus=part.gpus, gang=part.gang, until=part.until))
    return by_node


def _with_cause(node: MapNode, demand: bool) -> MapNode:
    """As much as is known without the scheduler's own figures."""
    if not node.free or (demand and not node.closed):
        return node
    cause = CLOSED if node.closed else NO_DEMAND
    return msgspec.structs.replace(node, idle=(MapIdle(cause=cause, gpus=node.free),))


def map_node(fact: NodeFact, pods: Sequence[PodFact], listed: GangList, idle: Sequence[MapIdle]) -> MapNode:
    whole: dict[int, int] = defaultdict(int)
    sharing: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for pod in pods:
        for device in () if pod.reserves else pod.shared:
            sharing[device][listed.place(pod)] += portion(pod, fact)
        if pod.whole:
            whole[listed.place(pod)] += min(pod.whole, MOST)
    use = NodeUse(fact, pods)
    shares = (_share(used, sharing[device]) for device, used in sorted(use.groups.items()))
    node = MapNode(
        name=fact.node.name,
        gpus=min(fact.gpus, MOST),
        held=tuple(MapHolding(gang=gang, gpus=gpus) for gang, gpus in sorted(whole.items())),
        shared=tuple(shares),
        closed=fact.closed,
    )
    return msgspec.structs.replace(node, idle=tuple(still_idle(idle, node.free))) if idle else node


def _share(used: float, by_gang: Mapping[int, float]) -> MapShare:
    gangs = sorted(by_gang)
    return MapShare(round(min(used, 1.0), 2), tuple(gangs), tuple(round(by_gang[gang], 2) for gang in gangs))


def still_idle(parts: Sequence[MapIdle], free: int) -> Iterator[MapIdle]:
    """What was worked out a moment ago, of so many GPUs that are free now; those on their way to a pod come last, as
    they are used by now. Shared GPUs show their parts."""
    left = float(free)
    for part in sorted(parts, key=lambda part: part.cause == STARTING):
        if whole := min(int(part.gpus), int(left)):
            yield msgspec.structs.replace(part, gpus=whole)
            left -= whole


def _counts(nodes: Sequence[MapNode]) -> MapCounts:
    return MapCounts(
        nodes=len(nodes),
        gpus=sum(node.gpus for node in nodes),
        used=sum(holding.gpus for node in nodes for holding in node.held),
        shared=sum(len(node.shared) for node in nodes),
        free=sum(node.free for node in nodes if not node.closed),
        closed=sum(node.free for node in nodes if node.closed),
    )


def map_row(node: MapNode, path: tuple[str, ...], gangs: Sequence[MapGang]) -> MapRow:
    """A node in words."""
    on_it: dict[int, float] = defaultdict(float)
    for holding in node.held:
        on_it[holding.gang] += holding.gpus
    for share in node.shared:
        for place, part in zip(share.gangs, share.parts, strict=True):
            on_it[place] += part
    named = ((gangs[place], gpus) for place, gpus in sorted(on_it.items()) if place != OUTSIDE)
    return MapRow(
        node=node.name,
        path=path,
        gpus=node.gpus,
        used=sum(holding.gpus for holding in node.held),
        shared=len(node.shared),
        free=node.free,
        closed=node.closed,
        gangs=tuple((gang.namespace, gang.name, gang.title, round(gpus, 2)) for gang, gpus in named),
        idle=node.idle,
    )
