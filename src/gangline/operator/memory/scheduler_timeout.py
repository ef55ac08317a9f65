"""How long a scheduler has reported nothing about a gang whose gates were lifted.

Remembered per gang while this process runs; a sign from the scheduler, or pods that are held back again, ends it. Asked
by the controller of gangs, which has the clock. Nothing here reads or writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangline.runtime import Key

PATIENCE = 120.0
"""Seconds after which a scheduler that says nothing is reported."""


class SchedulerSilence:
    def __init__(self) -> None:
        self._since: dict[Key, tuple[str, float]] = {}

    def forget(self, key: Key) -> None:
        self._since.pop(key, None)

    def wait(self, key: Key, uid: str, unanswered: bool, now: float) -> float | None:
        """Seconds until a silent scheduler is reported; None where it has answered, or has nothing to look at yet."""
        if not unanswered:
            self.forget(key)
            return None
        known = self._since.get(key)
        if known is None or known[0] != uid:
            known = self._since[key] = (uid, now)
        return max(PATIENCE - (now - known[1]), 0.0)
