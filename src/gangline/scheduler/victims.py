"""Making room by evicting: search for the victims that let a waiting gang run, by growing the victim list and simulating.

    solve(session, gang, plan)      for each generator: how many tasks of the gang can be served (1, 2, 4, … then halving), with the victims
                                    of smaller solutions as a start for larger ones; at last all tasks once more
    Accumulation                    victims taken one gang at a time in victim order (`accumulate.py`), screened by cheap necessary conditions
    generators                      which of the accumulated victims to try together (`plugins/generators.py`)
    simulate                        evict them virtually, place everybody again in fair order, ask the validator

Returns a live statement to commit, or None. Only the actions commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .accumulate import Accumulation, Batch, Scenario
from .model.gang import Gang, Group
from .model.node import Node, NodeList
from .model.status import ACTIVE_ALLOCATED, Status
from .model.task import Task
from .order import GangQueue
from .place import allocate_gang
from .statement import Statement

if TYPE_CHECKING:
    from .session import Session


@dataclass(slots=True)
class Plan:
    """What an action wants: who may be a victim (a fresh queue each time), when a scenario is acceptable, and what to tell a victim."""

    victims: Callable[[], GangQueue]
    valid: Callable[[Scenario], bool]
    message: Callable[[Task], str]
    nodes: NodeList = field(default_factory=lambda: NodeList(()))


def feasible_nodes(session: Session, gang: Gang) -> NodeList:
    """Nodes with free or leaving GPUs; all nodes when a task of the gang needs none."""
    if not all(task.needs_gpu for task in gang.tasks.values()):
        return session.all_nodes
    return NodeList((node for node in session.all_nodes if node.idle_gpus() > 0 or node.releasing_gpus() > 0), whole=True)


def solve(session: Session, gang: Gang, plan: Plan) -> Statement | None:
    """A statement with the evictions and waiting places that let the gang run; None when there is none."""
    plan.nodes = feasible_nodes(session, gang)
    active = gang.active_used
    search = Search(session, gang, plan)
    for generate in session.hooks.methods("scenario_generator"):
        statement = search.run(generate)
        if statement is None:
            continue
        if gang.gang_satisfied and gang.active_used > active:
            return statement
        if not session.settings.leaves_unsolved:
            statement.discard()
        return None
    return None


Generator = Callable[[Accumulation], Iterable[Scenario]]


class Search:
    """The search for one gang; `tried` remembers scenarios that failed, for all probes and generators."""

    def __init__(self, session: Session, gang: Gang, plan: Plan) -> None:
        self._session = session
        self._gang = gang
        self._plan = plan
        self._tasks = list(session.wanted(gang, simulation=True))
        self._recorded: list[Batch] = []
        self._tried: set[tuple[frozenset[str], frozenset[str], frozenset[str]]] = set()

    def run(self, generate: Generator) -> Statement | None:
        self._recorded = []
        number = len(self._tasks)
        if not number or not self._largest(generate, number):
            return None
        return self._probe(generate, number)

    def _largest(self, generate: Generator, number: int) -> int:
        """The largest number of tasks found to be servable: doubling, then halving the gap."""
        solved, size = 0, 1
        while self._solves(generate, size):
            solved = size
            if size == number:
                return solved
            size = min(size * 2, number)
        failed = size
        while failed - solved > 1:
            middle = (solved + failed) // 2
            if self._solves(generate, middle):
                solved = middle
            else:
                failed = middle
        return solved

    def _solves(self, generate: Generator, size: int) -> bool:
        statement = self._probe(generate, size)
        if statement is None:
            return False
        statement.discard()
        return True

    def _probe(self, generate: Generator, size: int) -> Statement | None:
        """Try to serve the first `size` tasks, starting from the victims recorded so far."""
        view = partial(self._gang, self._tasks[:size])
        nodes = with_nodes_of(self._session, self._plan.nodes, (task for batch in self._recorded for task in batch.tasks))
        state = Accumulation(self._session, view, self._recorded, self._plan.victims(), nodes)
        for scenario in generate(state):
            mark = scenario.fingerprint()
            if mark in self._tried:
                continue
            statement = self._simulate(scenario)
            if statement is not None:
                self._recorded = [batch for batch in scenario.batches if batch.was_touched()]
                return statement
            self._tried.add(mark)
        return None

    def _simulate(self, scenario: Scenario) -> Statement | None:
        victims = scenario.tasks()
        if not victims:
            return None
        session = self._session
        session.steps[session.action] = session.steps.get(session.action, 0) + 1
        statement = session.statement()
        messages = [self._plan.message(task) for task in victims]
        for task, message in zip(victims, messages, strict=True):
            statement.evict(task, message, self._gang.uid)
        if self._place_all(statement, scenario, victims) and self._plan.valid(scenario):
            return statement
        statement.discard()
        return None

    def _place_all(self, statement: Statement, scenario: Scenario, victims: Sequence[Task]) -> bool:
        """Everybody again in fair order: victims if they can, the preemptor in any case."""
        session, view = self._session, scenario.preemptor
        nodes = with_nodes_of(session, self._plan.nodes, victims)
        hit = {task.gang.uid: task.gang for task in victims if task.gang is not None}
        gangs = {gang.uid: gang for gang in session.pending_gangs()} | hit
        gangs[view.uid] = view
        queue = GangQueue(session)
        queue.fill(gangs[uid] for uid in sorted(gangs))
        left = {*hit, view.uid}
        placed = False
        while queue and left:
            gang = queue.pop()
            if gang.uid not in left:
                continue
            left.remove(gang.uid)
            done = allocate_gang(session, statement, nodes, gang, simulation=True)
            if gang.uid == view.uid:
                if not done:
                    return False
                placed = True
        return placed


def partial(gang: Gang, tasks: Sequence[Task]) -> Gang:
    """The gang as if it had only these tasks to place, with minima that they can reach."""
    running = [task for task in gang.tasks.values() if task.status & ACTIVE_ALLOCATED]
    view = gang.with_tasks([*running, *tasks])
    for leaf in view.pod_sets.values():
        leaf.min_available = min(leaf.min_available, len(leaf.tasks))
    _lower_minima(view.root)
    return view


def _lower_minima(group: Group) -> None:
    if group.min_groups is not None:
        filled = sum(any(leaf.tasks for leaf in member.pod_sets()) for member in group.members)
        group.min_groups = min(group.min_groups, filled)
    for child in group.groups:
        _lower_minima(child)


def with_nodes_of(session: Session, nodes: NodeList, tasks: Iterable[Task]) -> NodeList:
    """The list with the nodes of these tasks added."""
    if len(nodes) == len(session.cluster.nodes):
        return nodes
    known = {node.name for node in nodes}
    added: list[Node] = [session.cluster.nodes[name] for name in sorted({task.node for task in tasks} - known)]
    return NodeList([*nodes, *added], whole=nodes.whole)


def still_leaving(scenario: Scenario) -> bool:
    """Whether some victim of the scenario ended without a place."""
    return any(task.status == Status.RELEASING for _, tasks in scenario.victims for task in tasks)
