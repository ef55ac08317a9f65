"""The actions of a cycle, by the name a configuration uses. To add one: one file with a class, one line here."""

from __future__ import annotations

from gangline.scheduler.actions.action import CycleAction
from gangline.scheduler.actions.allocate import Allocate
from gangline.scheduler.actions.consolidate import Consolidate
from gangline.scheduler.actions.preempt import Preempt
from gangline.scheduler.actions.reclaim import Reclaim
from gangline.scheduler.actions.stale_gangs import EvictStaleGangs

ACTIONS: dict[str, CycleAction] = {
    action.name: action for action in (Allocate(), Consolidate(), Reclaim(), Preempt(), EvictStaleGangs())
}
TAKE_ROOM: tuple[str, ...] = tuple(action.name for action in ACTIONS.values() if action.takes_room)
"""The actions that search for victims."""
