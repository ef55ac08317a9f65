"""Allocate: give room that is there, or about to be, to waiting gangs, queue by queue in fair order.

A gang is placed whole or not at all. A gang whose minimum needs room that is still being freed waits as a whole. A gang
that got its minimum goes back into the queue for one more pod at a time, so that growth competes with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.actions.action import CycleAction
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.placing.place import allocate_gang
from gangline.scheduler.placing.waiting import WaitingBundles, tell_alike, waiting_bundles

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class Allocate(CycleAction):
    name = "allocate"

    def run(self, session: Session) -> None:
        queue = GangQueue(session, depth=session.settings.queue_depth.get(self.name))
        if session.settings.skips_alike and not session.cluster.shunning and queue.unlimited:
            _first_of_each(session, queue)
            return
        queue.fill(session.waiting_gangs())
        while queue:
            gang = queue.pop()
            if not _try(session, gang):
                session.hooks.not_placed(gang)
            elif gang.pending:
                queue.push(gang)


def _first_of_each(session: Session, queue: GangQueue) -> None:
    """The same, but of gangs that ask for the same, those after one that failed are not tried where they would fail
    too."""
    bundles = waiting_bundles(session)
    queue.fill(gang for bundle in list(bundles.bundles.values()) if session.worth_a_try(gang := bundle.gangs[0]))
    grown: set[str] = set()
    while queue:
        gang = queue.pop()
        placed = _try(session, gang)
        if not placed:
            session.hooks.not_placed(gang)
        following = _following(session, bundles, gang, placed) if gang.uid not in grown else None
        if placed and gang.pending:
            grown.add(gang.uid)
            queue.push(gang)
        if following is not None:
            queue.push(following)


def _following(session: Session, bundles: WaitingBundles, gang: GangInfo, placed: bool) -> GangInfo | None:
    """The next gang of the bundle that is worth a try; those that would fail as this one did get its refusal."""
    for other in bundles.after(gang):
        if placed or not session.hooks.fails_alike(gang, other):
            return other
        if session.settings.explains:
            tell_alike(session, gang, other)
    return None


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
