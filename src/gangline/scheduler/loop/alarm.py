"""Wakes the scheduler at the next moment at which time alone may change a decision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gangline.runtime import background
from gangline.runtime.clock import Clock


class CycleAlarm:
    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock, self._ring = clock, ring
        self._task: asyncio.Task[None] | None = None

    def set(self, moment: float | None) -> None:
        """Ring then, and at no other moment."""
        self.stop()
        if moment is not None:
            seconds = max(moment - self._clock.now(), 0.0) + 0.001
            self._task = background.later(seconds, self._ring, self._clock)

    def within(self, seconds: float) -> None:
        """Ring in so many seconds, unless it rings before."""
        if self._task is None or self._task.done():
            self._task = background.later(seconds, self._ring, self._clock)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
