"""Sends writes beside the cycle: many at once, one after the other for the same object, again when the server is in
trouble.

A write that waits behind another of the same object is replaced by a newer one. The cycle never waits for any of them;
`idle` says whether all are done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable

from gangline.errors import ApiError, TooManyRequests, Unavailable
from gangline.runtime.background import noticed
from gangline.runtime.clock import Clock

log = logging.getLogger(__name__)
AT_ONCE = 64
TRIES = 6

Write = Callable[[], Awaitable[None]]
Failed = Callable[[ApiError], None]


class DecisionWriter:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._room = asyncio.Semaphore(AT_ONCE)
        self._waiting: dict[Hashable, tuple[Write, Failed | None]] = {}
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}
        self.done = 0

    def put(self, key: Hashable, write: Write, failed: Failed | None = None) -> None:
        """Send a write; `failed` is called when it cannot be sent."""
        self._waiting[key] = (write, failed)
        if key not in self._tasks:
            self._tasks[key] = noticed(asyncio.create_task(self._send_all(key), name=f"write of {key}"))

    def busy(self, key: Hashable) -> bool:
        return key in self._tasks

    async def _send_all(self, key: Hashable) -> None:
        try:
            while key in self._waiting:
                write, failed = self._waiting.pop(key)
                async with self._room:
                    await self._send(key, write, failed)
        finally:
            del self._tasks[key]

    async def _send(self, key: Hashable, write: Write, failed: Failed | None) -> None:
        for attempt in range(TRIES):
            try:
                await write()
                self.done += 1
                return
            except (Unavailable, TooManyRequests) as error:
                if attempt + 1 == TRIES:
                    self._give_up(key, error, failed)
                    return
                await self._clock.sleep(error.retry_after or 0.1 * 2**attempt)
            except ApiError as error:
                self._give_up(key, error, failed)
                return
            except Exception as error:
                log.exception("writing %s failed", key)
                self._give_up(key, Unavailable({"message": f"{type(error).__name__}: {error}"}), failed)
                return

    def _give_up(self, key: Hashable, error: ApiError, failed: Failed | None) -> None:
        log.info("%s is not written: %s", key, error)
        try:
            if failed is not None:
                failed(error)
        except Exception:
            log.exception("that %s is not written could not be told", key)

    @property
    def idle(self) -> bool:
        return not self._tasks

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
