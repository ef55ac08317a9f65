"""Which topology domains could hold the tasks of a group, and in which order to try them.

The pure rule behind plugins/fit/topology.py: a tree of domains (model/topology.py), a demand, and free room per domain
(`domain_room.py`) go in; candidate domains come out, finest level first and fullest first, with scores for a preferred
level and the words to say when there is none (`domain_refusals.py`). Nothing here places anything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gangline.scheduler.model.gang import GangInfo, PodSet
from gangline.scheduler.model.resources import ResourceNames
from gangline.scheduler.model.status import ACTIVE_ALLOCATED
from gangline.scheduler.model.topology import TopologyDomain, TopologyTree
from gangline.scheduler.placing.domain_refusals import unsatisfied, why_not
from gangline.scheduler.placing.domain_room import DomainRoom
from gangline.scheduler.records import DEFAULT_POD_SET, TopologyRule
from gangline.scheduler.refusals import GangRefusals
from gangline.scheduler.scores import TOPOLOGY


def common_domain(tree: TopologyTree, nodes: Iterable[str], levels: Iterable[str]) -> TopologyDomain:
    """The deepest domain that holds all these nodes, not deeper than any of the levels."""
    leaves = dict.fromkeys(tree.leaf_of[name] for name in nodes if name in tree.leaf_of)
    common: TopologyDomain | None = None
    for leaf in leaves:
        common = leaf if common is None else _meet(common, leaf)
    deepest = min((level for name in levels if name and (level := tree.level(name)) is not None), default=None)
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
