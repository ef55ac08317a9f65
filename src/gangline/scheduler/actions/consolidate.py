"""Consolidate: make room for a waiting gang by moving running ones closer together. Nobody loses a place.

Victims are preemptible gangs of any queue; a scenario counts only if every victim found a place again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import ALIVE
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.easier import FailedGangs
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.placing.place import allocate_gang
from gangline.scheduler.victims.accumulate import Batch
from gangline.scheduler.victims.evictions import consolidate_message, may_evict, victim_invariant_holds
from gangline.scheduler.victims.packing import fewest_moves
from gangline.scheduler.victims.search import Solution, VictimPlan, solve, still_leaving

if TYPE_CHECKING:
    from gangline.scheduler.session import Session
    from gangline.scheduler.statement import Statement


def run(session: Session) -> None:
    if session.settings.max_consolidation_victims == 0:
        return
    queue = GangQueue(session, depth=session.settings.queue_depth.get("consolidation"))
    queue.fill(gang for gang in session.waiting_gangs() if gang.preemptible and may_evict(session, gang))
    failed = FailedGangs(session)
    while queue:
        gang = queue.pop()
        session.tally.acted[session.action] += 1
        if failed.hopeless(gang) or not victim_invariant_holds(session, gang):
            continue
        solution = _try(session, gang)
        if solution.stop:
            return
        if solution.statement is None:
            failed.add(gang)
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
        first=lambda tasks: _cheapest(session, gang, tasks),
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


def _cheapest(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Iterator[list[Batch]]:
    if not session.settings.fewest_moves:
        return
    lists = session.lists.victims().values()
    victims = (other for listed in lists for other in listed.gangs if _may_move(session, gang, other))
    moves = fewest_moves(session, gang, tasks, victims, session.settings.max_consolidation_victims)
    if moves is not None:
        yield moves


def _may_move(session: Session, gang: GangInfo, other: GangInfo) -> bool:
    return other.uid != gang.uid and session.hooks.consolidate_victim(gang, other) and _stands(session, other)


def _enough(session: Session, gang: GangInfo) -> bool:
    """Whether the whole cluster has the GPUs free that the gang asks for, wherever they are."""
    tasks = session.wanted(gang, simulation=True)
    session.free.refresh()
    gpus, memory = session.free.total()
    return gpus >= sum(task.quota_gpus for task in tasks) and memory >= sum(task.gpu.memory for task in tasks)


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
        everybody = (other for listed in session.lists.victims().values() for other in listed.gangs if accept(other))
        queue.fill(sorted(everybody, key=session.gang_key, reverse=True)[: limit + 1])
    return queue


def _stands(session: Session, gang: GangInfo) -> bool:
    """Some living pod of the gang is on a known node, or waits."""
    nodes = session.cluster.nodes
    return any(task.status & ALIVE and (not task.node or task.node in nodes) for task in gang.tasks.values())
