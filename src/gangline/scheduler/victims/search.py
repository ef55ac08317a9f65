"""Making room by evicting: search for the victims that let a waiting gang run, by growing the victim list and
simulating.

    solve           for each generator, within a budget of steps: how many tasks of the gang can be served (1, 2, 4, …
    then halving),
                    with the victims of smaller solutions as a start for larger ones; at last all tasks once more
    Accumulation    victims taken one gang at a time in victim order (`accumulate.py`), screened by cheap necessary
    conditions
    generators      which of the accumulated victims to try together (`plugins/evict/generators.py`)
    simulate        evict them virtually, place everybody again in fair order, ask the validator

The solution is a live statement; only the actions commit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangline.scheduler import tally as tallied
from gangline.scheduler.model.gang import GangInfo, Group
from gangline.scheduler.model.node import NodeInfo, NodeList
from gangline.scheduler.model.status import ACTIVE_ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.placing.place import allocate_gang
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.statement import Statement
from gangline.scheduler.victims.accumulate import Accumulation, Scenario, VictimBatch, VictimStream
from gangline.scheduler.victims.screens import FreedGpuBound, bound_groups

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


@dataclass(slots=True)
class VictimPlan:
    """What an action asks of a search. `victims`: who may be a victim; each call gives a fresh queue. `valid`: whether
    a scenario is acceptable. `message`: what a victim is told. `most`: the most GPUs that an acceptable scenario can
    take from these victims (by queue, the GPUs of the largest one), or from any. `first`: sets of victims to try before
    any search; None: there are no such sets."""

    victims: Callable[[], GangQueue]
    valid: Callable[[Scenario], bool]
    message: Callable[[TaskInfo], str]
    most: Callable[[GangInfo, Mapping[str, float] | None], float] = lambda gang, largest: math.inf
    first: Callable[[Sequence[TaskInfo]], Iterable[Sequence[VictimBatch]]] | None = None


@dataclass(slots=True)
class Solution:
    """`statement` to commit, if there is one. `stop`: the search ran out of steps, and the whole action should end."""

    statement: Statement | None = None
    stop: bool = False


class OutOfSteps(Exception):
    """The search for this gang used up its steps."""


class SearchMeter:
    """Counts simulations against the budgets of the action, of this gang, and of the generator at work."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._budgets = session.settings.budgets
        self._gang = self._allowed()
        self._generator = math.inf

    @property
    def reduced(self) -> bool:
        """Whether the action has less left than a gang may use."""
        action, gang = self._budgets.for_action(self._session.action), self._budgets.gang
        return bool(action) and (not gang or action - self._used() < gang)

    @property
    def spent(self) -> bool:
        """Whether there is nothing left for this gang."""
        return self._used() >= self._gang

    def action_spent(self) -> bool:
        action = self._budgets.for_action(self._session.action)
        return bool(action) and self._used() >= action

    def _used(self) -> int:
        return self._session.steps.get(self._session.action, 0)

    def _allowed(self) -> float:
        """Up to which count of the action's steps this gang may go."""
        action = self._budgets.for_action(self._session.action) or math.inf
        left = min(action - self._used(), self._budgets.gang or math.inf)
        return self._used() + max(left, self._budgets.least_per_gang)

    def begin(self, generator: str) -> None:
        self._generator = self._used() + (self._budgets.for_generator(generator) or math.inf)

    def generator_done(self) -> bool:
        return self._used() >= self._generator

    def count(self) -> None:
        if self._used() >= self._gang:
            raise OutOfSteps
        self._session.steps[self._session.action] = self._used() + 1


def solve(session: Session, gang: GangInfo, plan: VictimPlan) -> Solution:
    """Evictions and waiting places that let the gang run, if there are any."""
    active = gang.active_used
    search = VictimSearch(session, gang, plan)
    try:
        statement = search.run_first()
        if statement is not None and (whole := _whole(session, gang, active, statement)) is not None:
            search.ended("solved")
            return Solution(whole)
        for plugin in session.hooks.generators:
            statement = search.run(plugin)
            if statement is not None:
                whole = _whole(session, gang, active, statement)
                search.ended("solved" if whole is not None else "generators_exhausted")
                return Solution(whole)
    except OutOfSteps:
        search.ended("deadline_exhausted")
        return Solution(stop=True)
    search.ended("generators_exhausted")
    session.hooks.not_solved(gang)
    return Solution()


def _whole(session: Session, gang: GangInfo, active: int, statement: Statement) -> Statement | None:
    """The statement, if the gang as a whole has its minima with it."""
    if gang.gang_satisfied and gang.active_used > active:
        return statement
    if session.settings.leaves_unsolved:
        statement.keep()
    else:
        statement.discard()
    return None


Generator = Callable[[Accumulation], Iterable[Scenario]]


class VictimSearch:
    """The search for one gang; `tried` remembers scenarios that failed, for all probes and generators."""

    def __init__(self, session: Session, gang: GangInfo, plan: VictimPlan) -> None:
        self._session = session
        self._gang = gang
        self._plan = plan
        self._tasks = list(session.wanted(gang, simulation=True))
        self._meter = SearchMeter(session)
        self._feasible = self._feasible_nodes()
        self._stream = VictimStream(session, plan.victims)
        self._recorded: list[VictimBatch] = []
        self._reduced = self._meter.reduced
        self._attempted = bool(self._tasks) and not self._meter.spent
        self._generator = ""
        self._tried: set[tuple[frozenset[str], frozenset[str], frozenset[str]]] = set()

    def _feasible_nodes(self) -> dict[str, NodeInfo]:
        """Nodes with free or leaving GPUs; all nodes when a task of the gang needs none."""
        if not all(task.needs_gpu for task in self._gang.tasks.values()):
            return self._session.cluster.nodes
        self._session.free.refresh()
        return dict(self._session.free.feasible)

    def ended(self, result: str) -> None:
        """Count how the search for the gang ended."""
        tally, action = self._session.tally, self._session.action
        tally.searches[
            tallied.SearchOutcome(action, result if self._attempted else "not_attempted", self._reduced)
        ] += 1
        tally.solved[action] += result == "solved"
        tally.exhausted[action] += result == "deadline_exhausted" and self._meter.action_spent()

    def _note(self, state: str) -> None:
        self._session.tally.scenarios[tallied.ScenarioCount(self._session.action, self._generator, state)] += 1

    def run_first(self) -> Statement | None:
        """Try the sets of victims that the plan proposes, if it does, until one will do."""
        propose = self._plan.first
        if propose is None or not self._tasks or self._takes_too_much(partial(self._gang, self._tasks)):
            return None
        self._generator = "FewestMoves"
        for batches in propose(self._tasks):
            view = partial(self._gang, self._tasks)
            scenario = Scenario(view, list(self._session.wanted(view, simulation=True)), (), batches)
            statement = self._simulate(scenario)
            if statement is not None:
                return statement
        return None

    def run(self, plugin: Plugin) -> Statement | None:
        """Let one generator search, and note how long it did."""
        tally, result = self._session.tally, "deadline_exhausted"
        self._generator = plugin.generator or plugin.name
        began = tally.stopwatch()
        try:
            statement = self._run(plugin.scenario_generator)
            result = "solved" if statement is not None else "generators_exhausted"
            return statement
        finally:
            tally.searching.append(
                (tallied.GeneratorRun(self._session.action, self._generator, result), tally.stopwatch() - began)
            )

    def _run(self, generate: Generator) -> Statement | None:
        """Find the largest servable number of tasks, then serve all with what was learnt."""
        self._meter.begin(self._generator)
        self._recorded = []
        number = len(self._tasks)
        if not number or (number > 1 and self._takes_too_much(partial(self._gang, self._tasks))):
            return None
        solved, size, failed = 0, 1, 0
        while not failed and solved < number:
            statement, same = self._probe(generate, size)
            if statement is None:
                failed = size
            else:
                solved = size
                if solved == number and same:
                    return statement
                statement.discard()
                size = min(size * 2, number)
        self._close_in(generate, solved, failed)
        return self._probe(generate, number)[0] if solved or self._recorded else None

    def _takes_too_much(self, view: GangInfo, scenario: Scenario | None = None) -> bool:
        """Whether no acceptable scenario frees enough, or this one does not. If none does for the whole gang, serving a
        part of it is in vain."""
        least = least_to_take(self._session, view)
        return least > 0 and self._plan.most(view, None if scenario is None else largest_of(scenario)) < least

    def _close_in(self, generate: Generator, solved: int, failed: int) -> None:
        """Halve the gap between the largest number that worked and the smallest that did not."""
        while failed - solved > 1:
            middle = (solved + failed) // 2
            statement, _ = self._probe(generate, middle)
            if statement is None:
                failed = middle
            else:
                statement.discard()
                solved = middle

    def _probe(self, generate: Generator, size: int) -> tuple[Statement | None, bool]:
        """Try to serve the first `size` tasks, starting from the victims recorded so far.

        The second answer: trying again with the victims that this leaves recorded would end in the very same statement.
        Where groups are bound to domains the screens, which count the gang's running pods too, may ask for more victims
        than were needed."""
        session = self._session
        view = partial(self._gang, self._tasks[:size])
        if self._takes_too_much(view):
            return None, False
        known = [task for batch in self._recorded for task in batch.tasks]
        state = Accumulation(session, view, self._recorded, self._stream, self._nodes_with(known))
        bound: FreedGpuBound | None = None
        for scenario in generate(state):
            self._note("emitted")
            if bound is None:
                bound = FreedGpuBound(session, view, state.pending, known)
            freed = (task for batch in scenario.potential for task in batch.tasks)
            if not bound.allows(freed) or self._takes_too_much(view, scenario):
                session.tally.filtered[session.action] += 1
                continue
            mark = scenario.fingerprint()
            if mark in self._tried:
                self._note("duplicate")
                continue
            if self._meter.generator_done():
                break
            statement = self._simulate(scenario)
            if statement is not None:
                batches = scenario.batches
                self._recorded = [batch for batch in batches if batch.was_touched()]
                return statement, len(self._recorded) == len(batches) and not bound_groups(view)
            self._tried.add(mark)
        return None, False

    def _nodes_with(self, tasks: Iterable[TaskInfo]) -> NodeList:
        """The feasible nodes and those of these tasks. For tasks with whole GPUs no other node has room, so the whole
        cluster will do."""
        nodes = self._session.cluster.nodes
        if len(self._feasible) == len(nodes):
            return self._session.all_nodes
        names = [*self._feasible, *sorted({task.node for task in tasks} - self._feasible.keys())]
        return NodeList((nodes[name] for name in names), whole_for_gpus=True)

    def _simulate(self, scenario: Scenario) -> Statement | None:
        victims = scenario.tasks()
        if not victims:
            return None
        session = self._session
        self._meter.count()
        self._note("simulated")
        statement = session.statement()
        messages = [self._plan.message(task) for task in victims]
        for task, message in zip(victims, messages, strict=True):
            statement.evict(task, message, self._gang.uid)
        if self._place_all(statement, scenario, victims):
            if self._plan.valid(scenario):
                return statement
            self._note("validator_rejected")
        statement.discard()
        return None

    def _place_all(self, statement: Statement, scenario: Scenario, victims: Sequence[TaskInfo]) -> bool:
        """Everybody again in fair order: victims if they can, the preemptor in any case. What a victim that finds no
        place would want is asked now: it stays so after its eviction, so that nothing of it is served on its own in the
        same cycle."""
        nodes = self._nodes_with(victims)
        placed = False
        for gang in self._in_fair_order(scenario.preemptor, victims):
            done = allocate_gang(self._session, statement, nodes, gang, simulation=True)
            if gang.uid == self._gang.uid:
                if not done:
                    return False
                placed = True
            elif not done:
                self._session.wanted(gang, simulation=True)
        return placed

    def _in_fair_order(self, view: GangInfo, victims: Sequence[TaskInfo]) -> Iterator[GangInfo]:
        """Victim gangs and the preemptor, as the queue tree gives them out among all waiting gangs.

        The others only matter for the order between queues: once those that are left stand in one leaf, their own order
        decides."""
        session = self._session
        hit = {task.gang.uid: task.gang for task in victims if task.gang is not None}
        mine = [*[hit[uid] for uid in sorted(hit)], view]
        left = {gang.uid: gang for gang in mine}
        if len({gang.queue for gang in mine}) > 1:
            queue = GangQueue(session)
            for name, listed in session.lists.pending().items():
                queue.attach(name, listed, lambda gang: gang.uid not in hit and gang.uid != view.uid)
            queue.fill(mine)
            open_queues = Counter(gang.queue for gang in mine)
            while len(open_queues) > 1 and (gang := queue.pop_one_of(left)) is not None:
                open_queues -= Counter([gang.queue])
                yield left.pop(gang.uid)
        keyed = sorted((session.gang_key(gang), uid) for uid, gang in left.items())
        yield from [left[uid] for _, uid in keyed if self._has_leaf(left[uid])]

    def _has_leaf(self, gang: GangInfo) -> bool:
        queue = self._session.queues.get(gang.queue)
        return queue is not None and queue.is_leaf


def partial(gang: GangInfo, tasks: Sequence[TaskInfo]) -> GangInfo:
    """The gang as if it had only these tasks to place, with minima that they can reach. A pod set without any keeps its
    minimum: it is not there yet."""
    running = [task for task in gang.tasks.values() if task.status & ACTIVE_ALLOCATED]
    view = gang.with_tasks([*running, *tasks])
    for leaf in view.pod_sets.values():
        if leaf.tasks:
            leaf.min_available = min(leaf.min_available, len(leaf.tasks))
    _lower_minima(view.root)
    return view


def _lower_minima(group: Group) -> None:
    if group.min_groups is not None:
        filled = sum(any(leaf.tasks for leaf in member.pod_sets()) for member in group.members)
        group.min_groups = min(group.min_groups, filled)
    for child in group.groups:
        _lower_minima(child)


def least_to_take(session: Session, view: GangInfo) -> float:
    """GPUs that must be taken from others in any case: what is asked for beyond everything that is free. Moving victims
    frees nothing."""
    tasks = session.wanted(view, simulation=True)
    if any(task.shared or task.gpu.kind != "Regular" or task.gpu.dra for task in tasks):
        return 0
    session.free.refresh()
    return sum(task.gpus for task in tasks) - session.free.sum_free()


def largest_of(scenario: Scenario) -> dict[str, float]:
    """By queue, the GPUs of the largest victim."""
    by_gang: dict[tuple[str, str], float] = {}
    for batch in scenario.batches:
        key = (batch.gang.queue, batch.gang.uid)
        gpus = sum(max(task.accepted_gpus, task.quota_gpus) for task in batch.tasks)
        by_gang[key] = by_gang.get(key, 0.0) + gpus
    largest: dict[str, float] = {}
    for (queue, _), gpus in by_gang.items():
        largest[queue] = max(largest.get(queue, 0.0), gpus)
    return largest


def still_leaving(scenario: Scenario) -> bool:
    """Whether some victim of the scenario ended without a place."""
    return any(task.status == Status.RELEASING for _, tasks in scenario.victims for task in tasks)
