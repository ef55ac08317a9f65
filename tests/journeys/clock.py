"""Time that a test moves where a real control plane has a time of its own: ours runs with it, ahead by what the test
added.

Only components of ours see the time that was added; what Kubernetes itself writes or waits for keeps real time.
"""

from __future__ import annotations

import asyncio
import contextlib
import time


class MovedClock:
    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        return time.time() + self._ahead

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead

    async def sleep(self, seconds: float) -> None:
        due = self.monotonic() + seconds
        await asyncio.sleep(0)
        while (left := due - self.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)

    def advance(self, seconds: float) -> None:
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()
