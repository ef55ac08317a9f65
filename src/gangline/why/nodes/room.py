"""Why a gang finds no nodes: its pods are placed one after the other until one finds none, and every node says why
not that one.

Works in a statement that is undone. `scheduler/why/trial.py` finds the part of the gang and the domain that got
furthest; facts.py says what stands against the first pod that is left over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gangline.api.meta import Raw
from gangline.scheduler.model.gang import GangInfo, Group
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import GPU, PODS, at
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.place import GangPlacement
from gangline.scheduler.records import TopologyRule
from gangline.scheduler.session import Session
from gangline.scheduler.why.explain import STEPS
from gangline.scheduler.why.trial import Trial, Trials
from gangline.scheduler.why.verdict import amount
from gangline.why.nodes.facts import node_facts
from gangline.why.nodes.neighbours import emptiest_domains
from gangline.why.nodes.obstacles import OPENABLE, NodeObstacle
from gangline.why.objects import ClusterObjects
from gangline.why.words.amounts import together

MOST_CLOSED = 16
"""Closed nodes of a domain that are looked at."""


@dataclass(slots=True)
class NoRoom:
    """Why each node refused a gang that found no nodes.

    `pods` of its part that found no room are `asked`, `placed` of them got a node; `stuck` is the first that did
    not."""

    gang: GangInfo
    stuck: TaskInfo
    asked: int
    placed: int
    facts: dict[str, list[NodeObstacle]]
    rule: TopologyRule | None = None
    level: str = ""
    domain: str = ""
    domains: tuple[tuple[str, int], ...] = ()
    """Domains that were tried, and how many of the pods each holds."""
    short: str = ""
    nodes: tuple[str, ...] = ()
    """Of the best domain; of the cluster where there is no topology."""
    part: str = ""
    beside: tuple[tuple[str, str], ...] = ()
    """Pods of the gang that did find a node, and which."""
    elsewhere: Mapping[str, Mapping[str, list[NodeObstacle]]] = field(default_factory=dict)
    """Of the other domains that were tried: nodes that only their own state keeps from it."""
    openable: Mapping[str, list[NodeObstacle]] = field(default_factory=dict)
    """Where there is too little room altogether: nodes that only their own state keeps from it, if they have enough."""
    emptiest: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the key of a topologySpreadConstraint: its domains, the emptiest first."""

    def proof(self) -> Raw:
        """What was counted: who is left over, beside whom, and what each node says."""
        nodes = {
            node: [{"code": fact.code, **({"resource": fact.resource} if fact.resource else {})} for fact in facts]
            for node, facts in self.facts.items()
        }
        level = self.rule.required if self.rule is not None and self.domain else ""
        return {
            "pod": self.stuck.name,
            "beside": dict(self.beside),
            "among": list(self.nodes),
            "level": level,
            "nodes": nodes,
        }

    def reasons(self) -> list[tuple[str, list[str]]]:
        return by_reason(self.facts)

    def codes(self) -> Counter[str]:
        return Counter(code for facts in self.facts.values() for code in {fact.code for fact in facts})


def by_reason(facts: Mapping[str, Sequence[NodeObstacle]]) -> list[tuple[str, list[str]]]:
    """What nodes say, the most frequent first, each with the nodes that say it."""
    nodes_by_text: dict[str, list[str]] = {}
    for node, of_node in facts.items():
        nodes_by_text.setdefault("; ".join(fact.text for fact in of_node), []).append(node)
    return sorted(nodes_by_text.items(), key=lambda item: (-len(item[1]), item[0]))


def find_room(session: Session, objects: ClusterObjects, gang: GangInfo, tasks: list[TaskInfo]) -> NoRoom | None:
    """None: there is room for all of them."""
    trials = Trials(session, STEPS)
    statement = session.statement()
    try:
        placement = GangPlacement(session, statement, gang, simulation=True)
        session.hooks.before_gang(gang)
        member, mine, nodes = trials.culprit(placement, statement, gang.root, tasks, session.all_nodes)
        if member is None:
            return None
        trial = trials.attempt(gang, member, mine, statement, placement, nodes)
        while trial.missing == 0 and isinstance(trial.member, Group):
            inner = trials.inner_culprit(trial)
            if inner is None:
                break
            trial = inner
        return _no_room(session, objects, trial)
    finally:
        statement.discard()


def _no_room(session: Session, objects: ClusterObjects, trial: Trial) -> NoRoom:
    area, nodes = trial.best
    inside = list(nodes) or list(session.all_nodes)
    lack = _lack(session, trial, inside)
    free = {node.name: node.later for node in inside}
    stuck, placed = trial.tasks[-1], 0
    beside: list[tuple[str, str]] = []
    for task in trial.tasks:
        if not trial.placement.place_task(task, nodes):
            stuck = task
            break
        placed += 1
        beside.append((task.name, task.node))
    facts = {node.name: node_facts(session, objects, stuck, node) for node in inside}
    return NoRoom(
        trial.gang,
        stuck,
        len(trial.tasks),
        placed,
        {name: of_node for name, of_node in facts.items() if of_node},
        trial.rule,
        trial.level,
        area.name if trial.rule is not None else "",
        tuple((item.name, item.fits) for item, _ in trial.areas),
        together([amount(more, session.cluster.names.names[place]) for place, more in lack.items()]),
        tuple(node.name for node in inside),
        trial.member.name,
        tuple(beside),
        _closed_elsewhere(session, objects, stuck, trial),
        _openable(facts, lack, free),
        emptiest_domains(session, stuck, inside[0]) if inside else {},
    )


def _closed_elsewhere(
    session: Session, objects: ClusterObjects, stuck: TaskInfo, trial: Trial
) -> dict[str, dict[str, list[NodeObstacle]]]:
    """By domain beside the best one: nodes that are closed and could be opened, with what closes them."""
    closed = Trials(session, 0).closed_to(stuck)
    by_domain: dict[str, dict[str, list[NodeObstacle]]] = {}
    for area, nodes in trial.areas[1:] if trial.rule is not None else ():
        for node in [node for node in nodes if node.name in closed][:MOST_CLOSED]:
            facts = node_facts(session, objects, stuck, node)
            if facts and all(fact.code in OPENABLE and fact.patch is not None for fact in facts):
                by_domain.setdefault(area.name, {})[node.name] = facts
    return by_domain


def _openable(
    facts: Mapping[str, list[NodeObstacle]], lack: Mapping[int, float], free: Mapping[str, tuple[float, ...]]
) -> dict[str, list[NodeObstacle]]:
    """Nodes that a change of themselves opens, where these have what is missing altogether."""
    closed = {node: of_node for node, of_node in facts.items() if of_node and all(map(_opens, of_node))}
    enough = all(sum(at(free[node], place) for node in closed) >= more for place, more in lack.items())
    return closed if enough else {}


def _opens(fact: NodeObstacle) -> bool:
    return fact.code in OPENABLE and fact.patch is not None


def _lack(session: Session, trial: Trial, nodes: Sequence[NodeInfo]) -> dict[int, float]:
    """What is missing altogether on nodes that are open, before any pod stands there, by resource."""
    closed = Trials(session, 0).closed_to(trial.tasks[0])
    rooms = [node.later for node in nodes if node.name not in closed]
    if trial.resource == PODS or not rooms:
        return {}
    needed: Counter[int] = Counter()
    for task in trial.tasks:
        for place, need in enumerate(task.request):
            needed[place] += need  # type: ignore[assignment]
    if any(task.shared for task in trial.tasks):
        del needed[GPU]
    more = {
        place: need - sum(max(at(room, place), 0) for room in rooms)
        for place, need in sorted(needed.items(), key=lambda item: (item[0] != GPU, item[0]))
        if need and place != PODS
    }
    return {place: amount_more for place, amount_more in more.items() if amount_more > 0}
