"""An event loop that wakes up a bounded number of times per second, so that under load one wake-up handles many events.

A wake-up costs about the same however much it finds: the poll, a read of each socket, its TLS records, the callbacks.
Five processes that wake for each of a few thousand events per second spend more on waking up than on the events, and on
a small machine the API server lacks that time. So a loop has a credit of wake-ups. While little happens, each event is
handled at once. When the credit is spent, the loop wakes up at a fixed rate and handles all that came meanwhile.
Components that only report wake up less often than those that bring pods to their nodes. `gangline run` makes the loop
once per process; nothing here knows what the events are."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Mapping

PER_SECOND, CREDIT = 100.0, 50.0
"""Wake-ups that each second adds to the credit, and the largest credit."""
OWN_PACE: Mapping[str, float] = {
    "scheduler": 50.0,
    "grouper": 50.0,
    "podgroup-controller": 20.0,
    "queue-controller": 10.0,
    "explainer": 20.0,
}
"""Components with another rate: a cycle takes what came in a tenth of a second anyway, and a status may wait under
load."""


class WakeUpCredit:
    """How long to wait before the next wake-up. Pure: time is handed in."""

    def __init__(self, now: float, per_second: float = PER_SECOND, most: float = CREDIT) -> None:
        self._credit, self._since = most, now
        self._per_second, self._most = per_second, most

    def wait(self, now: float) -> float:
        """Seconds until there is credit for a wake-up; 0: now."""
        self._credit = min(self._credit + (now - self._since) * self._per_second, self._most)
        self._since = now
        return max(1.0 - self._credit, 0.0) / self._per_second

    def spend(self) -> None:
        """The loop woke up once."""
        self._credit -= 1.0


class PacedSelector(selectors.DefaultSelector):
    """The selector of such a loop."""

    def __init__(self, per_second: float = PER_SECOND) -> None:
        super().__init__()
        self._credit = WakeUpCredit(time.monotonic(), per_second, CREDIT * per_second / PER_SECOND)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Where `timeout` ends before there is credit, no socket is read: the loop has something else to do then."""
        wait = self._credit.wait(time.monotonic())
        if timeout is not None and timeout < wait:
            time.sleep(max(timeout, 0.0))
            return []
        if wait > 0:
            time.sleep(wait)
            timeout = None if timeout is None else timeout - wait
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(timeout)
        if ready:
            self._credit.spend()
        return ready


def paced_loop(component: str = "") -> asyncio.AbstractEventLoop:
    """The event loop of a component's process."""
    return asyncio.SelectorEventLoop(PacedSelector(OWN_PACE.get(component, PER_SECOND)))
