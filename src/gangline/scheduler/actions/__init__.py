"""The actions of a cycle, by the name a configuration uses. To add one: one file with `run(session)`, one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gangline.scheduler.actions import allocate, consolidate, preempt, reclaim, stale_gangs

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

ACTIONS: dict[str, Callable[[Session], None]] = {
    "allocate": allocate.run,
    "consolidation": consolidate.run,
    "reclaim": reclaim.run,
    "preempt": preempt.run,
    "stalegangeviction": stale_gangs.run,
}
