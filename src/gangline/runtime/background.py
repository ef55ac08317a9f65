"""Background work that never dies silently: a failure is logged, counted, and started again, later and later.

Every task of the runtime that is to live as long as its component is started here. Who started it stops it: cancel the
task. Nothing here knows what the work is.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Any

from gangline.errors import GanglineError
from gangline.runtime.clock import Clock
from gangline.runtime.metrics import RESTARTS

log = logging.getLogger(__name__)
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0


def pause(failures: int, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT) -> float:
    """Seconds to wait after so many failures in a row: longer each time, and spread so that not all come back at
    once."""
    return min(first * 2.0 ** min(failures - 1, 20), longest) * random.uniform(0.5, 1.0)


def start(name: str, work: Callable[[], Awaitable[None]], clock: Clock) -> asyncio.Task[None]:
    """Work that is begun anew whenever it fails; it is over when it returns, or when its task is cancelled."""
    return asyncio.create_task(_keep(name, work, clock), name=name)


async def _keep(name: str, work: Callable[[], Awaitable[None]], clock: Clock) -> None:
    failures, began = 0, clock.monotonic()
    while True:
        try:
            await work()
            return
        except asyncio.CancelledError as error:
            if cancelled():
                raise
            trouble: BaseException = error
        except Exception as error:
            trouble = error
        failures = failures + 1 if clock.monotonic() - began < LONGEST_WAIT else 1
        wait = pause(failures)
        RESTARTS.labels(name).inc()
        known = isinstance(trouble, GanglineError)
        log.error(
            "%s failed%s; it starts again in %.1f s",
            name,
            f": {trouble}" if known else "",
            wait,
            exc_info=None if known else trouble,
        )
        await clock.sleep(wait)
        began = clock.monotonic()


def later(seconds: float, act: Callable[[], None], clock: Clock) -> asyncio.Task[None]:
    """What is done once, when its time has come; not at all if the task is cancelled before. The time counts from now,
    not from when the task gets to run."""
    due = clock.monotonic() + seconds

    async def wait() -> None:
        await clock.sleep(due - clock.monotonic())
        act()

    return noticed(asyncio.create_task(wait(), name="a timer"))


class WorkerPool:
    """Workers that all do the same, at most so many at once: one more begins when there is work, and goes when `work`
    returns, which is when it finds nothing more to do."""

    def __init__(self, name: str, work: Callable[[], Awaitable[None]], most: int, clock: Clock) -> None:
        self._name, self._work, self._most, self._clock = name, work, most, clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped = False

    def call(self) -> None:
        """There is something to do."""
        if len(self._tasks) < self._most and not self._stopped:
            self._tasks.add(start(self._name, self._work_once, self._clock))

    async def _work_once(self) -> None:
        await self._work()
        task = asyncio.current_task()
        assert task is not None
        self._tasks.remove(task)  # at once, and not when it is done: a call until then needs another one

    async def stop(self) -> None:
        self._stopped = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def cancelled() -> bool:
    """Whether somebody cancelled this task; a CancelledError may also come out of what it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def noticed(task: asyncio.Task[Any]) -> asyncio.Task[Any]:
    """A task that is done once: its failure is logged at once."""
    task.add_done_callback(_tell)
    return task


def _tell(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("%s failed", task.get_name(), exc_info=error)
