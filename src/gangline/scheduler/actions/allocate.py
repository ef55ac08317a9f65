"""Allocate: give room that is there, or about to be, to waiting gangs, queue by queue in fair order.

A gang is placed whole or not at all. A gang whose minimum needs room that is still being freed waits as a whole. A gang
that got its minimum goes back into the queue for one more pod at a time, so that growth competes with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.placing.order import GangQueue
from gangline.scheduler.placing.place import allocate_gang

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


def run(session: Session) -> None:
    queue = GangQueue(session, depth=session.settings.queue_depth.get("allocate"))
    queue.fill(session.waiting_gangs())
    while queue:
        gang = queue.pop()
        if _try(session, gang) and gang.pending:
            queue.push(gang)


def _try(session: Session, gang: GangInfo) -> bool:
    started = gang.allocated > 0
    with session.statement() as statement:
        if not allocate_gang(session, statement, session.all_nodes, gang, simulation=False):
            return False
        waits = _must_wait(gang)
        if waits:
            statement.wait_together(gang.uid)
        if not statement.commit():
            return False
        if not waits and not started:
            session.stamp(gang, last_start=session.now)
    return True


def _must_wait(gang: GangInfo) -> bool:
    """Whether some pod set needs a waiting task to reach its minimum."""
    return any(
        leaf.pipelined and leaf.active_allocated - leaf.pipelined < leaf.min_available
        for leaf in gang.pod_sets.values()
    )
