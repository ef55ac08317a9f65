"""Stale gangs: a gang that fell below its minimum and did not recover in time gives back what it still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.actions.action import CycleAction
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.victims.evictions import stale_message

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class EvictStaleGangs(CycleAction):
    name = "stalegangeviction"

    def run(self, session: Session) -> None:
        for gang in session.suspect_gangs():
            if gang.is_stale:
                _stale(session, gang)
            elif gang.stale_since is not None:
                session.stamp(gang, stale_since=None, stale=False)


def _stale(session: Session, gang: GangInfo) -> None:
    if gang.stale_since is None:
        session.stamp(gang, stale_since=session.now)
    grace = session.settings.staleness_grace if gang.record.staleness_grace is None else gang.record.staleness_grace
    assert gang.stale_since is not None
    if grace < 0 or session.now - gang.stale_since < grace:
        return
    session.stamp(gang, stale=True)
    with session.statement() as statement:
        known = [task for task in gang.allocated_tasks if task.node in session.cluster.nodes]
        for task in sorted(known, key=lambda item: item.uid):
            statement.evict(task, stale_message(gang, task))
        statement.commit()
