"""A work queue of keys: each key once, none worked on twice at the same time, failures later and later.

`add` is for "something changed", `add_after` for "look again then", `put_off` for "when reports have their turn",
`retry` for "it failed". Whoever works on the keys is called when there is one. Only the clock is asked for time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from gangline.runtime import background
from gangline.runtime.clock import Clock
from gangline.runtime.keys import Key

FIRST_DELAY, LONGEST_DELAY = 0.005, 60.0
LONGEST_PUT_OFF = 20.0
"""Seconds after which what was put off waits for no turn any more."""


def _nobody() -> None:
    """Works on it yet."""


class WorkQueue:
    """`call` gets each key that can be taken, `call_later` each that was put off."""

    def __init__(self, clock: Clock, longest: float = LONGEST_DELAY) -> None:
        self._clock, self._longest = clock, longest
        self.call: Callable[[], None] = _nobody
        self.call_later: Callable[[], None] = _nobody
        self._ready: deque[Key] = deque()
        self._waiting: set[Key] = set()
        self._working: set[Key] = set()
        self._again: set[Key] = set()
        self._put_off: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._timers: dict[Key, asyncio.Task[None]] = {}

    def add(self, key: Key) -> None:
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._put_off.pop(key, None)
            self._waiting.add(key)
            self._ready.append(key)
            self.call()

    def add_after(self, key: Key, seconds: float) -> None:
        """Look again later; a later call for the same key replaces the earlier one."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        self._timers[key] = background.later(seconds, partial(self._due, key), self._clock)

    def put_off(self, key: Key) -> None:
        """Keep it among the keys that were put off, unless something changes before."""
        self._put_off[key] = self._clock.monotonic()
        self.call_later()

    def _due(self, key: Key) -> None:
        self._timers.pop(key, None)
        self.add(key)

    def retry(self, key: Key) -> float:
        """Try again after a wait that doubles with each failure in a row; returns the wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay = min(FIRST_DELAY * 2.0 ** min(failures, 20), self._longest)
        self.add_after(key, delay)
        return delay

    def forget(self, key: Key) -> None:
        self._failures.pop(key, None)

    def take(self) -> Key | None:
        """The next key to work on; None when there is none. Whoever takes one says when it is `done`."""
        if not self._ready:
            return None
        key = self._ready.popleft()
        self._waiting.discard(key)
        self._working.add(key)
        return key

    @property
    def has_put_off(self) -> bool:
        return bool(self._put_off)

    @property
    def overdue(self) -> bool:
        """Something was put off so long ago that it waits no longer."""
        return self._clock.monotonic() - next(iter(self._put_off.values()), float("inf")) >= LONGEST_PUT_OFF

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

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
