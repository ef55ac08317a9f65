"""Trying a gang that waits, without deciding anything: which part of it finds no room, and how far it gets in each
area.

The measuring half of explain.py: works in a statement that its caller undoes, and counts its steps (one task tried on
nodes). remedies.py uses the same statement to try changes. Nothing here finds words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gangline.scheduler.fairness import QueueAccount
from gangline.scheduler.model import gpu_pools
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.node import NodeInfo, NodeList
from gangline.scheduler.model.resources import CPU, GPU, PODS, at
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing import domain_room, domains
from gangline.scheduler.placing.place import GangPlacement
from gangline.scheduler.plugins.capacity.proportion import ProportionPlugin
from gangline.scheduler.plugins.fit.topologyspread import SKEWED
from gangline.scheduler.records import TopologyRule
from gangline.scheduler.session import Session
from gangline.scheduler.statement import Statement
from gangline.scheduler.why.verdict import Area

TRIED_DOMAINS = 8
OPENED_DOMAINS = 2
PLAIN_REASONS = {"node is unschedulable": "cordoned", "node has NotReady condition": "not ready"}
PASSING = ("node(s) pod number exceeded", "enough capacity", SKEWED)
"""Refusals that depend on what stands where at the moment."""

Member = Group | PodSet


@dataclass(slots=True)
class Trial:
    """The part of a gang that found no room, and how far it got in each area, best first. The statement still holds its
    siblings."""

    gang: GangInfo
    member: Member
    tasks: list[TaskInfo]
    statement: Statement
    placement: GangPlacement
    rule: TopologyRule | None
    level: str
    areas: list[tuple[Area, NodeList]]
    resource: int
    more: int = 0
    """How many other areas were not tried, …"""
    most: float = 0
    """… and what is free in the best of them."""

    @property
    def best(self) -> tuple[Area, NodeList]:
        return self.areas[0]

    @property
    def missing(self) -> int:
        return len(self.tasks) - self.best[0].fits


class Trials:
    """One session for many trials; `steps` is the budget they share."""

    def __init__(self, session: Session, steps: int) -> None:
        self.session = session
        self.cluster = session.cluster
        self.steps = steps
        self._closed: dict[int, dict[str, str]] = {}
        self._held: dict[int, list[tuple[float, str]]] = {}

    def books(self) -> ProportionPlugin | None:
        return next((plugin for plugin in self.session.hooks.plugins if isinstance(plugin, ProportionPlugin)), None)

    @property
    def accounts(self) -> Mapping[str, QueueAccount]:
        """The books of the queues; none when the cluster is not shared by quota."""
        books = self.books()
        return books.accounts if books is not None else {}

    def culprit(
        self, placement: GangPlacement, statement: Statement, member: Member, tasks: list[TaskInfo], nodes: NodeList
    ) -> tuple[Member | None, list[TaskInfo], NodeList]:
        """The first member, in the order of placing, that finds no room; its siblings before it stay placed."""
        mark = statement.checkpoint()
        self.steps -= len(tasks)
        if placement.place_member(member, tasks, nodes):
            return None, tasks, nodes
        statement.rollback(mark)
        rule = member.topology
        if (rule is not None and rule.required) or not any(
            item.topology and item.topology.required for item in subtree(member)
        ):
            return member, tasks, nodes
        assert isinstance(member, Group)
        for item in sorted(member.members, key=self.session.member_key):
            mine = tasks_of(item, tasks)
            culprit = self.culprit(placement, statement, item, mine, nodes)
            if culprit[0] is not None:
                return culprit
        return member, tasks, nodes

    def inner_culprit(self, trial: Trial) -> Trial | None:
        """Its pods fit together in the best area, its sub-groups do not: look at them, inside that area."""
        nodes = trial.best[1]
        for item in (
            sorted(trial.member.members, key=self.session.member_key) if isinstance(trial.member, Group) else ()
        ):
            mine = tasks_of(item, trial.tasks)
            member, tasks, inside = self.culprit(trial.placement, trial.statement, item, mine, nodes)
            if member is not None:
                return self.attempt(trial.gang, member, tasks, trial.statement, trial.placement, inside)
        return None

    def attempt(
        self,
        gang: GangInfo,
        member: Member,
        tasks: list[TaskInfo],
        statement: Statement,
        placement: GangPlacement,
        nodes: NodeList,
    ) -> Trial:
        """The areas the member could stand in, best first."""
        rule = member.topology if member.topology is not None and member.topology.required else None
        scarce = self._scarce(tasks, nodes)
        groups, more = (
            ([("all nodes", nodes)], ()) if rule is None else self._domains(rule, member, nodes, tasks[0], scarce)
        )
        areas = []
        for name, inside in groups:
            fits = self._fitting(statement, placement, tasks, inside) if self.steps > 0 else 0
            areas.append((self._area(name, inside, tasks[0], scarce, fits), inside))
        areas.sort(key=lambda area: (-area[0].fits, -area[0].free, area[0].name))
        label = rule.required.rpartition("/")[2] if rule is not None else ""
        nowhere = [(Area("no node", 0, 0), NodeList(()))]
        return Trial(
            gang,
            member,
            tasks,
            statement,
            placement,
            rule,
            label,
            areas or nowhere,
            scarce,
            len(more),
            max(more, default=0),
        )

    def _domains(
        self, rule: TopologyRule, member: Member, nodes: NodeList, task: TaskInfo, scarce: int
    ) -> tuple[list[tuple[str, NodeList]], Sequence[float]]:
        """The domains of the required level with most room, and with most once closed nodes were open; how much is free
        in the others."""
        tree = self.cluster.topology(rule.topology)
        level = tree.level(rule.required) if tree is not None else None
        if tree is None or level is None:
            return [], ()
        room = {node.name: max(at(node.later, scarce), 0) for node in nodes}
        closed = self.closed_to(task)
        allowed = domains.allowed(tree, level, level, domains.occupied(member.pod_sets()))
        usable = {item: sum([room.get(name, 0) for name in item.nodes if name not in closed]) for item in allowed}
        ordered = sorted(allowed, key=lambda item: (-usable[item], item.id))
        chosen = dict.fromkeys(ordered[:TRIED_DOMAINS])
        if closed:
            opened = sorted(ordered, key=lambda item: (-sum([room.get(name, 0) for name in item.nodes]), item.id))
            chosen.update(dict.fromkeys(opened[:OPENED_DOMAINS]))
        named = [
            (item.value, NodeList(self.cluster.nodes[name] for name in item.nodes if name in room)) for item in chosen
        ]
        return named, [usable[item] for item in allowed if item not in chosen]

    def _fitting(
        self, statement: Statement, placement: GangPlacement, tasks: Sequence[TaskInfo], nodes: NodeList
    ) -> int:
        """How many of the tasks find room on these nodes, one after the other."""
        mark = statement.checkpoint()
        number = 0
        for task in tasks:
            self.steps -= 1
            if not placement.place_task(task, nodes):
                break
            number += 1
        statement.rollback(mark)
        return number

    def objections(self, trial: Trial) -> list[tuple[str, int]]:
        """Why nodes that have room refuse the first pod that is left over, beside those that found a place: the most
        frequent first."""
        mark, nodes = trial.statement.checkpoint(), trial.best[1]
        left = next((task for task in trial.tasks if not trial.placement.place_task(task, nodes)), None)
        self.steps -= len(trial.tasks)
        texts = [self.session.hooks.refused_on(left, node) for node in nodes if node.fits_later(left)] if left else []
        trial.statement.rollback(mark)
        return sorted(Counter(why for why in texts if why).items(), key=lambda item: (-item[1], item[0]))

    def fitting(self, trial: Trial, tasks: Sequence[TaskInfo], nodes: NodeList) -> int:
        """How many of these tasks would fit on these nodes."""
        return self._fitting(trial.statement, trial.placement, tasks, nodes)

    def _scarce(self, tasks: Sequence[TaskInfo], nodes: Iterable[NodeInfo]) -> int:
        """The resource that the fewest nodes have enough of for one task, then the one with least free for all; GPUs
        when in doubt."""
        demand = domain_room.demand_of(tasks)
        asked = [place for place, need in enumerate(demand.largest) if need > 0 and place != PODS]
        if not asked:
            return PODS
        rooms = [node.later for node in nodes]

        def scarcity(place: int) -> tuple[int, float, bool, bool, int]:
            need, total = demand.largest[place], at(demand.total, place)
            free = [room[place] for room in rooms if place < len(room)]
            return sum([item >= need for item in free]), min(sum(free) / total, 1.0), place != GPU, place != CPU, place

        return min(asked, key=scarcity)

    def held(self, resource: int) -> list[tuple[float, str]]:
        """How much of a resource each gang holds, the least first."""
        amounts = self._held.get(resource)
        if amounts is None:
            sums = (
                (sum(at(task.given, resource) for task in gang.allocated_tasks), gang.uid)
                for gang in self.session.active_gangs()
            )
            amounts = self._held[resource] = sorted(item for item in sums if item[0] > 0)
        return amounts

    def _area(self, name: str, nodes: NodeList, task: TaskInfo, scarce: int, fits: int) -> Area:
        closed = self.closed_to(task)
        reasons = Counter(
            PLAIN_REASONS.get(closed[node.name], closed[node.name]) for node in nodes if node.name in closed
        )
        free = sum(max(at(node.later, scarce), 0) for node in nodes if node.name not in closed)
        closed_by = tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))
        return Area(name, free, fits, closed_by, self.cluster.names.names[scarce])

    def closed_to(self, task: TaskInfo) -> dict[str, str]:
        """Nodes the task may not use whatever room they have, and why. Tasks of one shape share the answer."""
        refusals = self._closed.get(task.shape.number) if task.shape.plain else None
        if refusals is None:
            refusals = {}
            for node in self.session.all_nodes:
                why = self.session.hooks.refused_on(task, node) or (
                    gpu_pools.absent(node, task) if node.other_gpus(task) else None
                )
                if why is not None and not any(passing in why for passing in PASSING):
                    refusals[node.name] = why
            if task.shape.plain:
                self._closed[task.shape.number] = refusals
        return refusals


def subtree(member: Member) -> Iterable[Member]:
    yield member
    for item in member.members if isinstance(member, Group) else ():
        yield from subtree(item)


def tasks_of(member: Member, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
    names = {leaf.name for leaf in member.pod_sets()}
    return [task for task in tasks if task.pod_set is not None and task.pod_set.name in names]
