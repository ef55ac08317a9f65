"""How often a process looks for news: in a crowd it lets some gather, so that one look takes many.

Every wake-up of a process costs about the same, however much it finds: the poll, a read of each socket, its TLS
records, the callbacks. Five processes that wake for each of a few thousand events a second spend more on waking than
on the events, and on a small machine they take that from the API server. So a loop has a credit of looks: while little
happens, each piece of news is taken at once; once the credit is spent, it looks so many times a second and takes all
that came. Who only tells how things stand looks less often than who brings pods to their nodes. Called once by whoever
starts a process (`gangline run`); nothing here knows what the news are."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Mapping

PER_SECOND, CREDIT = 100.0, 50.0
"""Looks that a second brings, and the most that are saved up."""
OWN_PACE: Mapping[str, float] = {
    "scheduler": 50.0,
    "grouper": 50.0,
    "podgroup-controller": 20.0,
    "queue-controller": 10.0,
    "explainer": 20.0,
}
"""Components that look otherwise: a cycle takes what came in a tenth of a second anyway, and a status waits in a
crowd."""


class LookCredit:
    """How long to wait before the next look. Pure: time is handed in."""

    def __init__(self, now: float, per_second: float = PER_SECOND, most: float = CREDIT) -> None:
        self._credit, self._since = most, now
        self._per_second, self._most = per_second, most

    def wait(self, now: float) -> float:
        """Seconds until there is credit for a look; 0: now."""
        self._credit = min(self._credit + (now - self._since) * self._per_second, self._most)
        self._since = now
        return max(1.0 - self._credit, 0.0) / self._per_second

    def spend(self) -> None:
        """One look was taken."""
        self._credit -= 1.0


class PacedSelector(selectors.DefaultSelector):
    """The selector of such a loop."""

    def __init__(self, per_second: float = PER_SECOND) -> None:
        super().__init__()
        self._looks = LookCredit(time.monotonic(), per_second, CREDIT * per_second / PER_SECOND)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Where `timeout` ends before there is credit, nothing is looked at: there is something to do meanwhile."""
        wait = self._looks.wait(time.monotonic())
        if timeout is not None and timeout < wait:
            time.sleep(max(timeout, 0.0))
            return []
        if wait > 0:
            time.sleep(wait)
            timeout = None if timeout is None else timeout - wait
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(timeout)
        if ready:
            self._looks.spend()
        return ready


def paced_loop(component: str = "") -> asyncio.AbstractEventLoop:
    """The loop of a component's process."""
    return asyncio.SelectorEventLoop(PacedSelector(OWN_PACE.get(component, PER_SECOND)))
