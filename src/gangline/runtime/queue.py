"""A work queue of keys: each key once, none worked on twice at the same time, failures later and later.

`add` is for "something changed", `add_after` for "look again then", `put_off` for "when reports have their turn",
`retry` for "it failed". Only the clock is asked for time."""

from __future__ import annotations

import asyncio
from collections import deque

from gangline.runtime.clock import Clock
from gangline.runtime.keys import Key

FIRST_DELAY, LONGEST_DELAY = 0.005, 60.0


class WorkQueue:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: deque[Key] = deque()
        self._waiting: set[Key] = set()
        self._working: set[Key] = set()
        self._again: set[Key] = set()
        self._put_off: dict[Key, None] = {}
        self._failures: dict[Key, int] = {}
        self._timers: dict[Key, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._wake_later = asyncio.Event()

    def add(self, key: Key) -> None:
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._put_off.pop(key, None)
            self._waiting.add(key)
            self._ready.append(key)
            self._wake.set()

    def add_after(self, key: Key, seconds: float) -> None:
        """Look again later; a later call for the same key replaces the earlier one."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        self._timers[key] = asyncio.create_task(self._later(key, seconds))

    def put_off(self, key: Key) -> None:
        """Keep it for whoever takes what was put off, unless something changes before."""
        self._put_off[key] = None
        self._wake_later.set()

    async def _later(self, key: Key, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._timers.pop(key, None)
        self.add(key)

    def retry(self, key: Key) -> float:
        """Try again after a wait that doubles with each failure in a row; returns the wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay = min(FIRST_DELAY * 2.0 ** min(failures, 20), LONGEST_DELAY)
        self.add_after(key, delay)
        return delay

    def forget(self, key: Key) -> None:
        self._failures.pop(key, None)

    async def take(self) -> Key:
        while not self._ready:
            self._wake.clear()
            await self._wake.wait()
        key = self._ready.popleft()
        self._waiting.discard(key)
        self._working.add(key)
        return key

    async def some_put_off(self) -> None:
        """Wait until something is put off."""
        while not self._put_off:
            self._wake_later.clear()
            await self._wake_later.wait()

    def take_put_off(self) -> Key | None:
        key = next(iter(self._put_off), None)
        if key is not None:
            del self._put_off[key]
            self._working.add(key)
        return key

    def done(self, key: Key) -> None:
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    @property
    def idle(self) -> bool:
        """Nothing to do now (work that waits for a time does not count)."""
        return not self._ready and not self._working and not self._put_off

    @property
    def failing(self) -> bool:
        """Some key failed and waits to be tried again."""
        return bool(self._failures)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
