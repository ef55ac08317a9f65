"""A controller at work: events of the cache become keys, and workers reconcile them one by one.

A reconcile returns (done), returns `Again(seconds)`, or raises; a failed write is tried again with growing waits. A
report that has to wait for its turn (writer.py) ends a reconcile, which is then run again in turn. What a controller is
stands in controller.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from gangline.api.kinds import Kind
from gangline.errors import ApiError, Conflict, GanglineError, NotFound
from gangline.runtime import background
from gangline.runtime.background import WorkerPool
from gangline.runtime.cache import Cache
from gangline.runtime.controller import Context, Controller, Watch, itself
from gangline.runtime.keys import Key, key_of
from gangline.runtime.metrics import ReconcileMeter
from gangline.runtime.queue import WorkQueue
from gangline.runtime.watching.informer import Informer
from gangline.runtime.writer import NotInTurn

log = logging.getLogger(__name__)
REPORTERS = 8
"""Workers of a controller on what was put off, at most."""


class RunningController:
    """A controller at work: its queue, and workers while there is something in it."""

    def __init__(self, controller: Controller, context: Context, cache: Cache) -> None:
        self.controller = controller
        self.queue = WorkQueue(context.clock, controller.longest_wait)
        self._context, self._in_turn = context, replace(context, writer=context.writer.in_turn())
        self._cache = cache
        clock, workers = context.clock, controller.workers
        self._workers = WorkerPool(controller.name, self._work, workers, clock)
        self._reporters = WorkerPool(f"{controller.name} reports", self._work_in_turn, min(workers, REPORTERS), clock)
        self._followed: list[Watch] = []
        self._problems: dict[Key, str] = {}
        """What each key failed with last: the same again is no news."""
        self._meter = ReconcileMeter(controller.name)
        for kind in [watch.kind for watch in controller.watches] + list(controller.reads):
            self._informer(kind)
        for kind, name, index in controller.indexes:
            self._informer(kind).add_index(name, index)

    def _informer(self, kind: Kind[Any]) -> Informer[Any]:
        controller = self.controller
        return self._cache.informer(kind, *controller.selectors.get(kind, ("", "")), controller.trims.get(kind))

    def start(self) -> None:
        """Called once the cache is complete."""
        self.queue.call, self.queue.call_later = self._workers.call, self._reporters.call
        for watch in self.controller.watches:
            self.follow(watch)
        self.controller.started(self)

    def follow(self, watch: Watch) -> None:
        """Watch a kind; once for each kind and each function that finds its keys."""
        if watch not in self._followed:
            self._followed.append(watch)
            self._cache.informer(watch.kind).on_change(self._handler(watch))

    def again(self) -> None:
        """Look at everything again."""
        for obj in self._cache.list(self.controller.watches[0].kind):
            self.queue.add(key_of(obj))

    def _handler(self, watch: Watch) -> Callable[[Any, Any], None]:
        when, add = watch.when, self.queue.add

        def changed(before: Any, after: Any) -> None:
            if when is not None and not when(before, after):
                return
            if watch.keys is itself:
                add(key_of(before if after is None else after))
                return
            keys = {key for obj in (before, after) if obj is not None for key in watch.keys(obj, self._cache)}
            for key in sorted(keys) if len(keys) > 1 else keys:
                add(key)

        return changed

    async def _work(self) -> None:
        while (key := self.queue.take()) is not None:
            try:
                await self._reconcile(key, self._context)
            finally:
                self.queue.done(key)
            await asyncio.sleep(0)  # calls in process never wait by themselves: informers and others have a turn here

    async def _work_in_turn(self) -> None:
        """Work on what was put off, in turn: what changed meanwhile is told with it."""
        while self.queue.has_put_off:
            if not self.queue.overdue:
                await self._context.writer.lanes.turn()
            key = self.queue.take_put_off()
            if key is not None:
                try:
                    await self._reconcile(key, self._in_turn)
                finally:
                    self.queue.done(key)
            await asyncio.sleep(0)

    def _fields(self, key: Key) -> dict[str, object]:
        """What a line of the log says of a reconcile in fields of its own."""
        return {"controller": self.controller.name, "object": key}

    async def _reconcile(self, key: Key, context: Context) -> None:
        name, began = self.controller.name, perf_counter()
        outcome = "failed"
        try:
            again = await self.controller.reconcile(context, key)
            outcome = "again" if again else "done"
            self.queue.forget(key)
            self._problems.pop(key, None)
            if again is not None and again.in_turn:
                self.queue.put_off(key)
            elif again is not None:
                self.queue.add_after(key, again.seconds)
        except NotInTurn:
            outcome = "again"
            self.queue.forget(key)
            self.queue.put_off(key)
        except (Conflict, NotFound):
            outcome = "stale"
            self.queue.retry(key)
        except (ApiError, GanglineError) as error:
            wait = self.queue.retry(key)
            level = logging.DEBUG if self._problems.get(key) == str(error) else logging.WARNING
            self._problems[key] = str(error)
            log.log(level, "%s %s: %s; again in %.1f s", name, key, error, wait, extra=self._fields(key))
        except asyncio.CancelledError:
            if background.cancelled():
                raise
            wait = self.queue.retry(key)
            log.exception(
                "%s %s: something it waited for was given up; again in %.1f s", name, key, wait, extra=self._fields(key)
            )
        except Exception:
            wait = self.queue.retry(key)
            log.exception("%s %s failed; again in %.1f s", name, key, wait, extra=self._fields(key))
        self._meter.note(outcome, perf_counter() - began)

    @property
    def idle(self) -> bool:
        return self.queue.idle

    async def stop(self) -> None:
        self.queue.close()
        await self._workers.stop()
        await self._reporters.stop()
