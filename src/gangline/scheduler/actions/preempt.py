"""Preempt: a gang with a higher priority takes the place of gangs with a lower one in the same queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gangline.scheduler.actions.action import CycleAction
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.easier import FailedGangs
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.victims.accumulate import VictimBatch
from gangline.scheduler.victims.cheapest import cheapest_sets
from gangline.scheduler.victims.evictions import may_evict, preempt_message, victim_invariant_holds
from gangline.scheduler.victims.search import Solution, VictimPlan, solve

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class Preempt(CycleAction):
    name = "preempt"
    takes_room = True

    def run(self, session: Session) -> None:
        queue = GangQueue(session, depth=session.settings.queue_depth.get(self.name))
        queue.fill(gang for gang in session.waiting_gangs() if may_evict(session, gang))
        failed: dict[str, FailedGangs] = {}
        while queue:
            gang = queue.pop()
            session.tally.acted[session.action] += 1
            known = failed.get(gang.queue)
            if known is None:
                known = failed[gang.queue] = FailedGangs(session)
            if known.hopeless(gang) or not victim_invariant_holds(session, gang):
                continue
            solution = _try(session, gang)
            if solution.stop:
                return
            if solution.statement is None:
                known.add(gang)
            else:
                solution.statement.commit()


def _try(session: Session, gang: GangInfo) -> Solution:
    if session.hooks.firm_over_quota(gang, session.wanted(gang, simulation=True)) is not None:
        return Solution()
    lowest = session.lists.lowest_priority(gang.queue)
    if lowest is None or lowest >= gang.priority:
        return Solution()
    plan = VictimPlan(
        victims=lambda: _victims(session, gang),
        valid=session.hooks.preempt_scenario,
        message=lambda task: preempt_message(gang, task),
        first=partial(_cheapest, session, gang) if session.hooks.somebody_prices else None,
    )
    return solve(session, gang, plan)


def _cheapest(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Iterator[list[VictimBatch]]:
    return cheapest_sets(session, gang, tasks, lambda: _accepted(session, gang))


def _victims(session: Session, gang: GangInfo) -> GangQueue:
    """Preemptible gangs of the same queue with a lower priority."""
    queue = GangQueue(session, victims=True)
    listed = session.lists.victims().get(gang.queue)
    if listed is not None:
        queue.attach(gang.queue, listed, lambda other: _may_lose(session, gang, other))
    return queue


def _accepted(session: Session, gang: GangInfo) -> list[GangInfo]:
    """The same, in no order."""
    listed = session.lists.victims().get(gang.queue)
    return [] if listed is None else [other for other in listed.gangs if _may_lose(session, gang, other)]


def _may_lose(session: Session, gang: GangInfo, other: GangInfo) -> bool:
    return other.uid != gang.uid and other.priority < gang.priority and session.hooks.preempt_victim(gang, other)
