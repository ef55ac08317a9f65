"""Reclaim: a queue below its fair share takes back what queues above theirs have borrowed.

Only a gang whose queue stays within its fair share (non-preemptible: within its quota) may reclaim; victims are
preemptible gangs of other queues. Whether a scenario is fair is decided by the plugins (`reclaim_scenario`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gangline.scheduler.actions.action import CycleAction
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.easier import FailedGangs
from gangline.scheduler.placing.gang_queue import GangQueue, SortedGangs
from gangline.scheduler.victims.accumulate import VictimBatch
from gangline.scheduler.victims.cheapest import cheapest_sets
from gangline.scheduler.victims.evictions import may_evict, reclaim_message, victim_invariant_holds
from gangline.scheduler.victims.search import VictimPlan, solve

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class Reclaim(CycleAction):
    name = "reclaim"
    takes_room = True

    def run(self, session: Session) -> None:
        queue = GangQueue(session, depth=session.settings.queue_depth.get(self.name))
        queue.fill(gang for gang in session.waiting_gangs() if may_evict(session, gang))
        failed: dict[str, FailedGangs] = {}
        while queue:
            gang = queue.pop()
            session.tally.acted[session.action] += 1
            if not session.hooks.somebody_reclaims or session.hooks.can_reclaim(gang) is not None:
                continue
            known = failed.get(gang.queue)
            if known is None:
                known = failed[gang.queue] = FailedGangs(session)
            if known.hopeless(gang) or not victim_invariant_holds(session, gang):
                continue
            session.hooks.before_solving(gang)
            solution = solve(session, gang, _plan(session, gang))
            if solution.stop:
                return
            if solution.statement is None:
                known.add(gang)
            else:
                solution.statement.commit()


def _plan(session: Session, gang: GangInfo) -> VictimPlan:
    return VictimPlan(
        victims=lambda: _victims(session, gang),
        valid=session.hooks.reclaim_scenario,
        message=reclaim_message(session, gang),
        most=lambda view, largest: _most(session, view, largest),
        first=partial(_cheapest, session, gang) if session.hooks.somebody_prices else None,
    )


def _cheapest(session: Session, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Iterator[list[VictimBatch]]:
    sets = cheapest_sets(session, gang, tasks, lambda: _accepted(session, gang))
    return (batches for batches in sets if _only_borrowed(session, batches))


def _most(session: Session, view: GangInfo, largest: Mapping[str, float] | None) -> float:
    """The most GPUs that plugins would let this gang take from other queues; `largest`: of victims such as these."""
    victims = session.lists.largest_victims() if largest is None else largest
    others = {name: gpus for name, gpus in victims.items() if name != view.queue and name in session.queues}
    return session.hooks.reclaim_most(view, others)


def _victims(session: Session, gang: GangInfo) -> GangQueue:
    """Preemptible gangs of other queues that every plugin lets go."""
    queue = GangQueue(session, victims=True)
    for name, listed in _givers(session, gang):
        queue.attach(name, listed, lambda other: session.hooks.reclaim_victim(gang, other))
    return queue


def _accepted(session: Session, gang: GangInfo) -> list[GangInfo]:
    """Those of them whose own queue borrows, in no order."""
    return [
        other
        for name, listed in _givers(session, gang)
        if _borrowed(session, name) > 0
        for other in listed.gangs
        if session.hooks.reclaim_victim(gang, other)
    ]


def _borrowed(session: Session, name: str) -> float:
    """GPUs that a queue holds above its own quota."""
    queue = session.queues.get(name)
    if queue is None:
        return 0.0
    held, quota = session.hooks.queue_allocated(queue), session.hooks.queue_deserved(queue)
    return held[2] - quota[2] if held is not None and quota is not None and quota[2] >= 0 else 0.0


def _only_borrowed(session: Session, batches: Sequence[VictimBatch]) -> bool:
    """Whether each queue still borrows when the last of its gangs goes: cheap victims of one that borrows a little are
    not taken for what another one borrows."""
    taken: dict[str, list[float]] = {}
    for batch in batches:
        taken.setdefault(batch.gang.queue, []).append(sum(gpus for _, gpus in batch.freed))
    return all(sum(gpus) - max(gpus) < _borrowed(session, name) for name, gpus in taken.items())


def _givers(session: Session, gang: GangInfo) -> list[tuple[str, SortedGangs]]:
    """Whole queues are asked about before their gangs."""
    return [
        (name, listed)
        for name, listed in session.lists.victims().items()
        if name != gang.queue and session.hooks.reclaim_queue(gang, name)
    ]
