"""Nodes: which GPU is free, used or shared, and where free room is and in which pieces.

Pods of whole GPUs do not say which device they have, so devices are shown in an order of our own: used, shared, free.
Taints do not close a node: GPU pods usually tolerate those of GPU nodes. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gangline.api.kai import Topology
from gangline.dashboard.look import MOST, ClusterView, NodeFact, PodFact, portion
from gangline.dashboard.model import FreeDomain, FreePiece, FreeRoom, GpuCell, NodeLine

HOST = "kubernetes.io/hostname"
FREE = GpuCell(state="free")
_DIGITS = re.compile(r"(\d+)")
Holders = Mapping[str, Sequence[PodFact]]


def holders(pods: Iterable[PodFact]) -> dict[str, list[PodFact]]:
    """Node → the pods that hold something of it."""
    by_node: dict[str, list[PodFact]] = defaultdict(list)
    for fact in pods:
        if fact.node and not fact.ended:
            by_node[fact.node].append(fact)
    return by_node


def in_order(nodes: Iterable[NodeFact]) -> list[NodeFact]:
    """node-2 before node-10."""
    return sorted(nodes, key=lambda fact: natural(fact.node.name))


def natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in _DIGITS.split(name)
        if part
    ]


class NodeUse:
    """What is taken of one node's GPUs."""

    __slots__ = ("groups", "whole")

    def __init__(self, fact: NodeFact, pods: Sequence[PodFact]) -> None:
        self.whole = 0
        self.groups: dict[str, float] = {}
        for pod in pods:
            self.whole += pod.whole
            part = 0.0 if pod.reserves or not pod.shared else portion(pod, fact)
            for group in pod.shared:
                self.groups[group] = self.groups.get(group, 0.0) + part

    def free(self, fact: NodeFact) -> int:
        return max(fact.gpus - self.whole - len(self.groups), 0)

    @property
    def spare(self) -> float:
        return sum(max(1.0 - used, 0.0) for used in self.groups.values())


def node_line(fact: NodeFact, pods: Sequence[PodFact]) -> NodeLine:
    use = NodeUse(fact, pods)
    return NodeLine(
        name=fact.node.name,
        devices=devices(fact, pods, use),
        total=fact.gpus,
        free=use.free(fact),
        spare=round(use.spare, 2),
        closed=fact.closed,
        pods=len(pods),
        cpu=fact.cpu,
        cpu_free=fact.cpu - sum(pod.cpu for pod in pods),
        memory=fact.bytes,
        memory_free=fact.bytes - sum(pod.bytes for pod in pods),
        slices=tuple(
            (name, total - sum(pod.slices.get(name, 0) for pod in pods), total)
            for name, total in sorted(fact.slices.items())
        ),
    )


def devices(fact: NodeFact, pods: Sequence[PodFact], use: NodeUse) -> tuple[GpuCell, ...]:
    """Used ones first, then shared, then free."""
    gpu_cells = [
        GpuCell(state="used", used=1.0, pods=(_called(pod),))
        for pod in sorted(pods, key=lambda pod: pod.pod.name)
        for _ in range(min(pod.whole, MOST))
    ]
    for group, used in sorted(use.groups.items()):
        names = tuple(sorted(_called(pod) for pod in pods if group in pod.shared and not pod.reserves))
        gpu_cells.append(GpuCell(state="shared", used=round(min(used, 1.0), 2), pods=names))
    return (*gpu_cells, *[FREE] * min(use.free(fact), MOST))[:MOST]


def _called(pod: PodFact) -> str:
    return "/".join(part for part in (pod.pod.namespace, pod.pod.name) if part)


def room(look: ClusterView, held: Holders) -> FreeRoom:
    """Where another pod could start now, counting GPUs only."""
    free: dict[str, int] = {}
    spare, whole_nodes, gpu_nodes, closed = 0.0, 0, 0, 0
    for fact in look.nodes:
        if not fact.gpus:
            continue
        use = NodeUse(fact, held.get(fact.node.name, ()))
        left = use.free(fact)
        if fact.closed:
            closed += left
            continue
        gpu_nodes += 1
        whole_nodes += left == fact.gpus
        spare += use.spare
        free[fact.node.name] = left
    largest = max(free, key=lambda name: free[name], default="")
    return FreeRoom(
        free=sum(free.values()),
        spare=round(spare, 2),
        whole_nodes=whole_nodes,
        gpu_nodes=gpu_nodes,
        closed=closed,
        pieces=tuple(
            FreePiece(gpus=gpus, nodes=nodes)
            for gpus, nodes in sorted(Counter(free.values()).items(), reverse=True)
            if gpus
        ),
        largest=free.get(largest, 0),
        largest_node=largest if free.get(largest) else "",
        domains=tuple(domain for topology in look.topologies for domain in best_domains(topology, look.nodes, free)),
    )


def best_domains(topology: Topology, nodes: Sequence[NodeFact], free: Mapping[str, int]) -> Iterable[FreeDomain]:
    """Of each level above the node, the domain with most free GPUs: what a gang that must stay inside one can have."""
    for level in topology.spec.levels:
        if level.node_label == HOST:
            continue
        sums: Counter[str] = Counter()
        for fact in nodes:
            name = fact.node.labels.get(level.node_label)
            if name is not None and fact.gpus:
                sums[name] += free.get(fact.node.name, 0)
        if sums:
            best = max(sorted(sums), key=lambda name: sums[name])
            yield FreeDomain(level=level.alias or level.node_label, name=best, free=sums[best], domains=len(sums))
