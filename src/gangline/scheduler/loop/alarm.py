"""Wakes the scheduler at the next moment at which time alone may change a decision. Acts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from gangline.runtime import background
from gangline.runtime.clock import Clock


class Alarm:
    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock, self._ring = clock, ring
        self._task: asyncio.Task[None] | None = None

    def set(self, moment: float | None) -> None:
        """Ring then, and at no other moment."""
        self.stop()
        if moment is not None:
            wait = partial(self._wait, moment - self._clock.now())
            self._task = background.start("alarm of the scheduler", wait, self._clock)

    async def _wait(self, seconds: float) -> None:
        await self._clock.sleep(max(seconds, 0.0) + 0.001)
        self._ring()

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
