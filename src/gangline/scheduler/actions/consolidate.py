"""Consolidate: make room for a waiting gang by moving running ones closer together. Nobody loses a place.

Victims are preemptible gangs of any queue; a scenario counts only if every victim found a place again. Where a victim
asks that its replacement starts first, only that is asked for in this cycle: the room comes when it has moved.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from gangline.scheduler.actions.action import CycleAction
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import ALIVE
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.easier import FailedGangs
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.placing.lists import may_lose
from gangline.scheduler.placing.place import allocate_gang
from gangline.scheduler.victims.accumulate import VictimBatch
from gangline.scheduler.victims.evictions import consolidate_message, may_evict, victim_invariant_holds
from gangline.scheduler.victims.moves import first_moves, moves_of
from gangline.scheduler.victims.packing import fewest_moves
from gangline.scheduler.victims.search import Solution, VictimPlan, solve, still_leaving

if TYPE_CHECKING:
    from gangline.scheduler.session import Session
    from gangline.scheduler.statement import Statement

MOST_NODES = 256
"""In larger clusters only so many nodes are looked at for the cheapest moves: those with the most room."""


class Consolidate(CycleAction):
    name = "consolidation"
    takes_room = True

    def run(self, session: Session) -> None:
        if session.settings.max_consolidation_victims == 0:
            return
        queue = GangQueue(session, depth=session.settings.queue_depth.get(self.name))
        queue.fill(gang for gang in session.waiting_gangs() if gang.preemptible and may_evict(session, gang))
        failed, moving = FailedGangs(session), moves_of(session.cluster).concerned(session.cluster, session.now)
        while queue:
            gang = queue.pop()
            session.tally.acted[session.action] += 1
            if gang.uid in moving or failed.hopeless(gang) or not victim_invariant_holds(session, gang):
                continue
            solution = _try(session, gang)
            if solution.stop:
                return
            if solution.statement is None:
                failed.add(gang)
            elif session.hooks.somebody_prices and (moves := first_moves(solution.statement, gang, session.now)):
                solution.statement.discard()
                session.moves += moves
                return
            else:
                solution.statement.commit()


def _try(session: Session, gang: GangInfo) -> Solution:
    if not _enough(session, gang):
        return Solution()
    statement = _without_moves(session, gang) if session.settings.fewest_moves else None
    if statement is not None:
        return Solution(statement)
    plan = VictimPlan(
        victims=lambda: _victims(session, gang),
        valid=lambda scenario: not still_leaving(scenario) and session.hooks.consolidate_scenario(scenario),
        message=consolidate_message,
        first=partial(_cheapest, session, gang) if session.settings.fewest_moves else None,
    )
    return solve(session, gang, plan)


def _without_moves(session: Session, gang: GangInfo) -> Statement | None:
    """The fewest moves are none: room that is there already. Tried only where the GPUs that are free or leaving would
    do."""
    tasks = session.wanted(gang, simulation=True)
    size = max((task.quota_gpus for task in tasks), default=0.0)
    if size <= 0 or session.free.slots(size) < len(tasks):
        return None
    active, statement = gang.active_used, session.statement()
    if (
        allocate_gang(session, statement, session.all_nodes, gang, simulation=True)
        and gang.gang_satisfied
        and gang.active_used > active
    ):
        return statement
    statement.discard()
    return None


def _cheapest(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Iterator[list[VictimBatch]]:
    nodes = _roomiest(session, len(tasks))
    others = _standing_on(session, nodes) if nodes is not None else _all_victims(session)
    victims = (other for other in others if _may_move(session, gang, other))
    moves = fewest_moves(session, gang, tasks, victims, session.settings.max_consolidation_victims, nodes)
    if moves is not None:
        yield moves


def _all_victims(session: Session) -> Iterator[GangInfo]:
    for listed in session.lists.victims().values():
        yield from listed.gangs


def _roomiest(session: Session, tasks: int) -> list[str] | None:
    """The nodes with the most GPUs free, where the fewest must move; None: all, where there are not that many."""
    most = max(MOST_NODES, 2 * tasks)
    if len(session.cluster.nodes) <= most:
        return None
    session.free.refresh()
    free = session.free.by_node
    return heapq.nlargest(most, session.free.feasible, key=lambda name: (free[name], name))


def _standing_on(session: Session, nodes: Sequence[str]) -> Iterator[GangInfo]:
    """Who may be a victim and has a pod there."""
    seen: set[str] = set()
    for name in nodes:
        for placed in session.cluster.nodes[name].placed.values():
            gang = placed.task.gang
            if gang is not None and gang.uid not in seen:
                seen.add(gang.uid)
                if may_lose(session, gang):
                    yield gang


def _may_move(session: Session, gang: GangInfo, other: GangInfo) -> bool:
    return other.uid != gang.uid and session.hooks.consolidate_victim(gang, other) and _stands(session, other)


def _enough(session: Session, gang: GangInfo) -> bool:
    """Whether the whole cluster has the GPUs free that the gang asks for, wherever they are. What is kept for others
    does not count."""
    tasks = session.wanted(gang, simulation=True)
    session.free.refresh()
    gpus, memory = session.free.total()
    asked = sum(task.quota_gpus for task in tasks)
    if gpus < asked or memory < sum(task.gpu.memory for task in tasks):
        return False
    return not asked or gpus - _kept_for_others(session, gang) >= asked


def _kept_for_others(session: Session, gang: GangInfo) -> float:
    """GPUs that are free and reserved."""
    kept: dict[str, float] = {}
    for reservation in session.reservations:
        if reservation.gang != gang.uid:
            for name, gpus in reservation.nodes:
                kept[name] = kept.get(name, 0.0) + gpus
    return sum(min(gpus, session.free.by_node.get(name, 0.0)) for name, gpus in kept.items())


def _victims(session: Session, gang: GangInfo) -> GangQueue:
    """Preemptible gangs of any queue that stand somewhere; with a limit, one more than it, in victim order."""
    queue = GangQueue(session, victims=True)
    limit = session.settings.max_consolidation_victims

    def accept(other: GangInfo) -> bool:
        return _may_move(session, gang, other)

    if limit < 0:
        for name, listed in session.lists.victims().items():
            queue.attach(name, listed, accept)
    else:
        lists = [listed.backwards() for listed in session.lists.victims().values()]
        worst_first = (other for _, other in heapq.merge(*lists, key=itemgetter(0), reverse=True))
        queue.fill(islice((other for other in worst_first if accept(other)), limit + 1))
    return queue


def _stands(session: Session, gang: GangInfo) -> bool:
    """Some living pod of the gang is on a known node, or waits."""
    nodes = session.cluster.nodes
    return any(task.status & ALIVE and (not task.node or task.node in nodes) for task in gang.tasks.values())
