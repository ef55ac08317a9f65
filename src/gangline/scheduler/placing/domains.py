"""Which topology domains could hold the tasks of a group, and in which order to try them.

The pure rule behind plugins/fit/topology.py: a tree of domains (model/topology.py), a demand, and free room per domain
go in; candidate domains come out, finest level first and fullest first, with scores for a preferred level and the words
to say when there is none. Free room is kept as running sums (`DomainTally`) that follow the nodes, so asking again
costs only what changed. Nothing here places anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo, PodSet
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import (
    CPU,
    GPU,
    MEMORY,
    PODS,
    ResourceNames,
    Vector,
    at,
    fits,
    is_mig,
    minus,
    plus,
    summed,
)
from gangline.scheduler.model.status import ACTIVE_ALLOCATED
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.model.topology import TopologyDomain, TopologyTree
from gangline.scheduler.records import DEFAULT_POD_SET, TopologyRule
from gangline.scheduler.refusals import NO_ROOM, GangRefusals
from gangline.scheduler.refusals import PODS as POD_ERRORS
from gangline.scheduler.scores import TOPOLOGY

ABSENT = 1000.0
"""The ratio of something asked for to nothing free."""


class DomainTally:
    """A figure per node, summed over every domain around the node, and kept in step with the nodes that were
    touched."""

    def __init__(
        self,
        leaf_of: Mapping[str, TopologyDomain],
        nodes: Mapping[str, NodeInfo],
        measure: Callable[[NodeInfo], Vector],
    ) -> None:
        self.sums: dict[TopologyDomain, Vector] = {}
        self._leaf_of = leaf_of
        self._measure = measure
        self._counted: dict[str, Vector] = {}
        self._seen = 0
        self._epoch = 0
        for name in leaf_of:
            self._count(nodes[name])

    def _count(self, node: NodeInfo) -> None:
        value = self._measure(node)
        old = self._counted.get(node.name)
        if value == old:
            return
        self._counted[node.name] = value
        change = value if old is None else minus(value, old)
        domain: TopologyDomain | None = self._leaf_of[node.name]
        while domain is not None:
            self.sums[domain] = plus(self.sums.get(domain, (0,)), change)
            domain = domain.parent

    def catch_up(self, cluster: ClusterModel) -> None:
        """Count anew the nodes that were touched since the last time."""
        touched = cluster.touched[self._seen :] if self._epoch == cluster.epoch else range(len(cluster.by_number))
        for number in set(touched):
            node = cluster.by_number[number]
            if node is not None and node.name in self._leaf_of:
                self._count(node)
        self._seen, self._epoch = len(cluster.touched), cluster.epoch

    def of(self, domain: TopologyDomain) -> Vector:
        return self.sums.get(domain, (0,))


def common_domain(tree: TopologyTree, nodes: Iterable[str], preferred: str) -> TopologyDomain:
    """The deepest domain that holds all these nodes, not deeper than the preferred level."""
    leaves = dict.fromkeys(tree.leaf_of[name] for name in nodes if name in tree.leaf_of)
    common: TopologyDomain | None = None
    for leaf in leaves:
        common = leaf if common is None else _meet(common, leaf)
    deepest = tree.level(preferred) if preferred else None
    while common is not None and common.level >= 0 and (deepest is not None and common.level > deepest):
        common = common.parent
    return common or tree.root


def _meet(left: TopologyDomain, right: TopologyDomain) -> TopologyDomain:
    while left is not right:
        if left.level >= right.level:
            assert left.parent is not None
            left = left.parent
        else:
            assert right.parent is not None
            right = right.parent
    return left


@dataclass(frozen=True, slots=True)
class Demand:
    """What tasks ask for together (`total`), at most each (`largest`), and whether one of them can stand for all
    (`uniform`)."""

    count: int
    total: Vector
    largest: Vector
    uniform: bool


def demand_of(tasks: Sequence[TaskInfo]) -> Demand:
    largest: Vector = ()
    for task in tasks:
        size = max(len(largest), len(task.request))
        largest = tuple([max(at(largest, i), at(task.request, i)) for i in range(size)])
    return Demand(len(tasks), summed(task.request for task in tasks), largest, uniform(tasks))


def uniform(tasks: Sequence[TaskInfo]) -> bool:
    """All or none use GPUs, and every resource beyond CPU and memory is used by all or none."""
    if len({task.gpus > 0 for task in tasks}) > 1:
        return False
    places = range(max((len(task.request) for task in tasks), default=0))
    return all(len({at(task.request, i) > 0 for task in tasks}) <= 1 for i in places if i not in (CPU, MEMORY, GPU))


def slots(node: NodeInfo, demand: Demand, elsewhere: frozenset[int]) -> int:
    """How many tasks of the largest size the node could take, what is leaving included. `elsewhere`: what claims
    serve."""
    largest = demand.largest
    if all(need <= (place == PODS) for place, need in enumerate(largest)):
        return demand.count
    free = node.later
    if 0 < largest[GPU] < 1:
        free = (*free[:GPU], free[GPU] + shared_room(node), *free[GPU + 1 :])
    if elsewhere:
        largest = tuple([0 if place in elsewhere else need for place, need in enumerate(largest)])
    if not fits(
        largest, tuple([0 if place in elsewhere else room for place, room in enumerate(free)]) if elsewhere else free
    ):
        return 0
    return min((int(at(free, place) / need) for place, need in enumerate(largest) if need > 0), default=demand.count)


def shared_room(node: NodeInfo) -> float:
    """What is free, or will be, on devices that are shared already."""
    shared, memory = node.shared, node.gpu_memory
    if memory <= 0:
        return 0.0
    live = [group for group, used in shared.used.items() if used > 0]
    rooms = (memory - shared.allocated.get(group, 0) + shared.releasing.get(group, 0) for group in live)
    return sum(room / memory for room in rooms if room > 0)


def fill_ratio(needs: Sequence[tuple[int, float]], free: Vector) -> float:
    """The largest part of a free resource that the tasks would take; above 1 they do not fit."""
    worst, size = 0.0, len(free)
    for place, need in needs:
        room = free[place] if place < size else 0
        part = need / room if room > 0 else ABSENT
        if part > worst:
            worst = part
    return worst


class DomainRoom:
    """What is free in the domains of one tree for one demand. Domains outside `within` count as having nothing."""

    def __init__(
        self,
        demand: Demand,
        free: Callable[[TopologyDomain], Vector],
        pods: Callable[[TopologyDomain], int | None],
        within: TopologyDomain | None,
        elsewhere: frozenset[int] = frozenset(),
    ) -> None:
        self.demand = demand
        self._free = free
        self._pods = pods
        self._within = within if within is not None and within.level >= 0 else None
        self._needs = [
            (place, need)
            for place, need in enumerate(demand.total)
            if need > 0 and place != PODS and place not in elsewhere
        ]

    def _inside(self, domain: TopologyDomain) -> bool:
        if self._within is None:
            return True
        above: TopologyDomain | None = domain
        while above is not None and above is not self._within:
            above = above.parent
        return above is not None

    def free(self, domain: TopologyDomain) -> Vector:
        return self._free(domain) if self._inside(domain) else ()

    def pods(self, domain: TopologyDomain) -> int | None:
        """How many of the tasks fit; None when one task cannot stand for all."""
        return self._pods(domain) if self._inside(domain) else None

    def ratio(self, domain: TopologyDomain) -> float:
        return fill_ratio(self._needs, self.free(domain))

    def holds(self, domain: TopologyDomain) -> bool:
        pods = self.pods(domain)
        return self.ratio(domain) <= 1 if pods is None else pods >= self.demand.count


def sorted_children(
    domain: TopologyDomain, room: DomainRoom, deepest: int, order: dict[TopologyDomain, list[TopologyDomain]]
) -> None:
    """Children from the fullest to the emptiest, down to the deepest level that matters."""
    if domain.level >= deepest:
        return
    ratios = {child: room.ratio(child) for child in domain.children.values()}
    order[domain] = sorted(ratios, key=lambda child: (-ratios[child], child.id))
    for child in order[domain]:
        sorted_children(child, room, deepest, order)


Order = Mapping[TopologyDomain, list[TopologyDomain]]


def children(domain: TopologyDomain, order: Order) -> list[TopologyDomain]:
    return order[domain] if domain in order else [domain.children[id] for id in sorted(domain.children)]


def at_level(domain: TopologyDomain, level: int, order: Order) -> Iterator[TopologyDomain]:
    if domain.level == level:
        yield domain
    else:
        for child in children(domain, order):
            yield from at_level(child, level, order)


def preferred_scores(domain: TopologyDomain, level: int, order: Order) -> dict[str, float]:
    """Sub-domains of the preferred level score by their place in the order: the last, emptiest one the most."""
    preferred = list(at_level(domain, level, order))
    scores: dict[str, float] = {}
    for place, item in enumerate(preferred):
        score = math.floor((place + 1) / len(preferred) * 10) * TOPOLOGY
        scores.update(dict.fromkeys(item.nodes, score))
    return scores


class BadRule(Exception):
    """The topology rule names a level that the topology does not have, or none at all."""


def candidate_levels(rule: TopologyRule, tree: TopologyTree, group: str) -> list[int]:
    """From the preferred (else the required) level up to the required one, else up to the root (-1)."""
    if not rule.required and not rule.preferred:
        raise BadRule(f"no topology constraints were found for subgroup {group}, with topology name {tree.name}")
    required = tree.level(rule.required) if rule.required else -1
    preferred = tree.level(rule.preferred) if rule.preferred else None
    if required is None:
        raise BadRule(_unknown_level(group, rule.required, "required", tree.name))
    if rule.preferred and (preferred is None or preferred < required):
        raise BadRule(_unknown_level(group, rule.preferred, "preferred", tree.name))
    return list(range(required if preferred is None else preferred, required - 1, -1))


def _unknown_level(group: str, level: str, what: str, topology: str) -> str:
    who = "workload" if group == DEFAULT_POD_SET else f"sub-group {group}"
    return (
        f"topology constraint error: {who} specified '{level}' as the {what} topology constraint level, "
        f"but the topology tree '{topology}' does not contain a level with this name"
    )


def occupied(pod_sets: Iterable[PodSet]) -> set[str]:
    """The nodes on which tasks of these pod sets already stand."""
    return {task.node for leaf in pod_sets for task in leaf.tasks.values() if task.status & ACTIVE_ALLOCATED}


def allowed(tree: TopologyTree, level: int, required: int | None, taken: set[str]) -> list[TopologyDomain]:
    """Domains of a level; once tasks stand somewhere, only those inside the required domains that already hold one."""
    domains = [tree.root] if level < 0 else [tree.domains[level][id] for id in sorted(tree.domains[level])]
    if required is None or not taken:
        return domains
    return [domain for domain in domains if not taken.isdisjoint(_ancestor(domain, required).nodes)]


def _ancestor(domain: TopologyDomain, level: int) -> TopologyDomain:
    while domain.level > level and domain.parent is not None:
        domain = domain.parent
    return domain


def domains_that_hold(
    tree: TopologyTree, levels: Sequence[int], rule: TopologyRule, pod_sets: Iterable[PodSet], room: DomainRoom
) -> tuple[list[TopologyDomain], list[TopologyDomain]]:
    """Domains of the candidate levels that could take all tasks, and those of the coarsest level that could not."""
    taken = occupied(pod_sets)
    required = tree.level(rule.required) if rule.required else None
    good: list[TopologyDomain] = []
    bad: list[TopologyDomain] = []
    for level in levels:
        for domain in allowed(tree, level, required, taken):
            if room.holds(domain):
                good.append(domain)
            elif level == levels[-1]:
                bad.append(domain)
    return good, bad


def in_tree_order(root: TopologyDomain, domains: Iterable[TopologyDomain], order: Order) -> list[TopologyDomain]:
    """Finest level first, and within a level from left to right of the sorted tree."""
    wanted = set(domains)
    deepest = max((domain.level for domain in wanted), default=-1)
    levels: list[list[TopologyDomain]] = []
    row = [root]
    while row and row[0].level <= deepest:
        levels.append([domain for domain in row if domain in wanted])
        row = [child for domain in row for child in children(domain, order)]
    return [domain for level in reversed(levels) for domain in level]


def why_not(domain: TopologyDomain, room: DomainRoom, group: str, names: ResourceNames) -> GangRefusals:
    """What keeps a domain from holding the tasks."""
    prefix = f"<{domain.id}>: " + (f"subgroup {group}: " if group and group != DEFAULT_POD_SET else "")
    pods = room.pods(domain)
    if pods is not None:
        text = f"node-group {domain.id} can allocate only {pods} of {room.demand.count} required pods"
        return GangRefusals(NO_ROOM, (text,), "topology", details=(prefix + text,))
    short = list(_shortages(domain.id, room.demand.total, room.free(domain), names))
    return GangRefusals(
        NO_ROOM, tuple(text for text, _ in short), "topology", details=(prefix + ", ".join(d for _, d in short),)
    )


def _shortages(domain: str, total: Vector, free: Vector, names: ResourceNames) -> Iterator[tuple[str, str]]:
    for place, need in enumerate(total):
        room, name = at(free, place), names.names[place]
        if need <= room:
            continue
        if is_mig(name):
            yield (
                f"node-group(s) didn't have enough of mig profile: {name}",
                _lacks(domain, name, str(int(need)), str(int(room))),
            )
        elif place == GPU:
            yield (
                "node-group(s) didn't have enough resources: GPUs",
                _lacks(domain, "GPUs", f"{need:.3g}", f"{room:.3g}"),
            )
        elif place in (CPU, MEMORY):
            unit, shown = (1000, "CPU cores") if place == CPU else (1e9, "memory")
            text = _lacks(domain, shown, _decimals(need / unit), _decimals(room / unit), "resources")
            yield f"node-group(s) didn't have enough resources: {shown}", text
        else:
            yield (
                f"node-group(s) didn't have enough resources: {name}",
                _lacks(domain, name, str(int(need)), str(int(room))),
            )


def _lacks(domain: str, what: str, need: str, room: str, word: str = "resource") -> str:
    return f"{domain} didn't have enough {word}: {what}, requested: {need}, available: {room}"


def _decimals(value: float) -> str:
    return f"{value:.6f}"[:-3].rstrip("0").rstrip(".")


def no_topology(name: str) -> GangRefusals:
    return GangRefusals(POD_ERRORS, (f"Requested topology {name} does not exist",), "topology", resolvable=False)


def unsatisfied(gang: GangInfo, group: str, rule: TopologyRule, suffix: str = "") -> GangRefusals:
    who = f"job <{gang.namespace}/{gang.name}>" + (f", subgroup {group}" if group and group != DEFAULT_POD_SET else "")
    text = f"topology {rule.topology}, requirement {rule.required} couldn't be satisfied for {who}"
    text += f": {suffix}" if suffix else ""
    return GangRefusals(POD_ERRORS, (text,), "topology")


@dataclass(slots=True)
class DomainAnswer:
    """Candidate domains in the order to try, node scores when a level is preferred, and what to tell when there is
    none."""

    domains: list[TopologyDomain] = field(default_factory=list)
    scores: dict[str, float] | None = None
    refusals: list[GangRefusals] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True, slots=True)
class DomainQuestion:
    """One group of a gang that wants nodes of its own: its rule, and the pod sets whose tasks are to be placed."""

    gang: GangInfo
    group: str
    rule: TopologyRule
    pod_sets: Sequence[PodSet]


def choose(
    asked: DomainQuestion, tree: TopologyTree, top: TopologyDomain, room: DomainRoom, names: ResourceNames
) -> DomainAnswer:
    """The whole rule: which domains below `top` to try."""
    gang, group, rule = asked.gang, asked.group, asked.rule
    if not room.holds(top):
        where = "the cluster" if top.level < 0 else top.id
        return DomainAnswer(
            refusals=[unsatisfied(gang, group, rule, f"not enough resources in {where} to allocate the job")]
        )
    order: dict[TopologyDomain, list[TopologyDomain]] = {}
    deepest = tree.level(rule.preferred or rule.required)
    if rule.preferred or rule.required:
        sorted_children(top, room, len(tree.levels) if deepest is None else deepest, order)
    preferred = tree.level(rule.preferred) if rule.preferred else None
    scores = None
    if rule.preferred:
        scores = {} if preferred is None else preferred_scores(top, preferred, order)
    try:
        levels = candidate_levels(rule, tree, group)
    except BadRule as problem:
        return DomainAnswer(scores=scores, error=str(problem))
    good, bad = domains_that_hold(tree, levels, rule, asked.pod_sets, room)
    if not good:
        reasons = [why_not(item, room, group, names) for item in bad]
        return DomainAnswer(scores=scores, refusals=[*reasons, unsatisfied(gang, group, rule)])
    return DomainAnswer(in_tree_order(tree.root, good, order), scores)
