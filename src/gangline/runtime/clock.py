"""Time as an input: the real clock, and one that tests move by hand.

Every wait of the runtime goes through a Clock, so a four-hour delay costs a test milliseconds. `now` is the date, which
somebody may set; `monotonic` is for how long something took, and only runs forward. Pure code takes a number and never
asks."""

from __future__ import annotations

import asyncio
import heapq
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from gangline.rules.values.times import micro_timestamp as micro_timestamp
from gangline.rules.values.times import seconds_of as seconds_of
from gangline.rules.values.times import timestamp as timestamp

T = TypeVar("T")


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since 1970."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment, whatever happens to the date."""
        ...

    async def sleep(self, seconds: float) -> None: ...


_STEADY = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC
"""Where there is one, the clock that also counts while the whole machine is asleep: others do not wait for us then."""


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.clock_gettime(_STEADY)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ManualClock:
    """Stands still until `advance` moves it; sleepers wake in the order of their times. `step` sets the date: nobody
    wakes."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._stepped = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> float:
        return self._now + self._stepped

    def monotonic(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        self._count += 1
        waker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, self._count, waker))
        await waker

    def step(self, seconds: float) -> None:
        self._stepped += seconds

    def advance(self, seconds: float) -> None:
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            _, _, waker = heapq.heappop(self._sleepers)
            if not waker.done():
                waker.set_result(None)


async def within(clock: Clock, seconds: float, work: Awaitable[T]) -> T:
    """What `work` gives, if it does so in time; else TimeoutError, and nobody waits for it to give up."""
    working, over = asyncio.ensure_future(work), asyncio.get_running_loop().create_future()

    def end(done: asyncio.Future[T] | None = None) -> None:
        if not over.done():
            over.set_result(None)

    working.add_done_callback(end)
    stop_timer = _call_later(clock, seconds, end)
    try:
        await over
        if working.done():
            return working.result()
        working.add_done_callback(_dropped)
        raise TimeoutError(f"it did not end within {seconds:g} s")
    except asyncio.CancelledError:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        raise
    finally:
        working.cancel()
        stop_timer()


def _call_later(clock: Clock, seconds: float, act: Callable[[], None]) -> Callable[[], object]:
    """Call when the time has come; gives what prevents that. Real time needs no task of its own: every watch of every
    informer has such a timer."""
    if type(clock) is SystemClock:
        return asyncio.get_running_loop().call_later(seconds, act).cancel
    timer = asyncio.ensure_future(clock.sleep(seconds))
    timer.add_done_callback(lambda _: act())
    return timer.cancel


def _dropped(late: asyncio.Future[T]) -> None:
    """What came too late is nobody's, an error neither."""
    if not late.cancelled():
        late.exception()
