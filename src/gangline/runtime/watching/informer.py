"""List + watch → a copy of one kind that is in step with the server.

An informer lists, then follows the watch; whatever goes wrong, it says so, counts it, waits a little longer each time,
lists again and works out what was deleted meanwhile. A watch that the server should have ended long ago is given up for
another that goes on where it stopped: its connection may be dead without a sign."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeVar, cast

from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.client import Client, WatchEvent
from gangline.errors import ApiError, NotFound, Unavailable
from gangline.runtime import background
from gangline.runtime.clock import Clock, within
from gangline.runtime.keys import key_of
from gangline.runtime.metrics import WATCH_RESTARTS
from gangline.runtime.watching.object_copy import ObjectCopy
from gangline.runtime.watching.watch_failures import GONE, LATER, NOT_SERVED, UNEXPECTED, diagnosis, level_of

log = logging.getLogger(__name__)
WATCH_SECONDS = 300
"""After which the server ends a watch, as it is asked to."""
GRACE = 30.0
"""Seconds after that, when a watch that is still open is taken to be dead."""
SOON = 0.2
"""Seconds before the first new try."""
T = TypeVar("T", bound=Object)


class Informer(ObjectCopy[T]):
    """The copy of one kind, in step with the server."""

    def __init__(
        self,
        client: Client,
        kind: Kind[T],
        clock: Clock,
        labels: str = "",
        fields: str = "",
        trim: Callable[[T], T] | None = None,
    ) -> None:
        super().__init__(kind, trim)
        self.revision = 0
        self.selects = bool(labels or fields)
        self.synced = asyncio.Event()
        self.trouble: ApiError | None = None
        """The error of the server, while this copy cannot be brought up to date."""
        self._client, self._clock, self._labels, self._fields = client, clock, labels, fields

    async def run(self) -> None:
        """Follow the server for ever; every failure is logged, waited out and tried again."""
        failures = 0
        while True:
            began = self._clock.monotonic()
            try:
                await self._list()
                await self._follow()
            except Exception as error:
                failures = failures + 1 if self._clock.monotonic() - began < LATER else 1
                await self._clock.sleep(self._tell_failure(error, failures))

    def _tell_failure(self, error: Exception, failures: int) -> float:
        """Say what went wrong; gives the seconds until the next try."""
        why, text, longest = diagnosis(error)
        WATCH_RESTARTS.labels(self.kind.resource, why).inc()
        wait = background.pause(failures, SOON, longest) if why != GONE or failures > 1 else 0.0
        level = level_of(why, known=isinstance(self.trouble, NotFound))
        where = error if why == UNEXPECTED else None
        log.log(level, "watching %s: %s; again in %.1f s", self.kind.resource, text, wait, exc_info=where)
        if why != GONE:
            self.trouble = error if isinstance(error, ApiError) else Unavailable({"message": text})
        if why == NOT_SERVED:
            self._not_served()
        return wait

    def _not_served(self) -> None:
        """A kind the server does not know (yet) has no objects; nobody has to wait for this copy."""
        self.forget_all()
        self.revision = 0
        self.synced.set()

    async def _list(self) -> None:
        listing = await self._client.list(self.kind, labels=self._labels, fields=self._fields)
        present = {key_of(obj): obj for obj in listing.items}
        unread = {self.leave(item.metadata, item.problem) for item in listing.unread}
        self.forget_others(present.keys() | unread)
        for key, obj in present.items():
            self.store(key, obj)
        self.revision = int(listing.revision or 0)
        self.trouble = None
        self.synced.set()

    async def _follow(self) -> None:
        empty = 0
        while True:
            before = self.revision
            try:
                await within(self._clock, WATCH_SECONDS + GRACE, self._watch())
            except TimeoutError:
                WATCH_RESTARTS.labels(self.kind.resource, "silent").inc()
                log.warning(
                    "watching %s: the server did not end a watch of %d s; its connection is taken to be dead, and "
                    "another goes on from revision %d",
                    self.kind.resource,
                    WATCH_SECONDS,
                    before,
                )
                continue
            empty = empty + 1 if self.revision == before else 0
            await self._clock.sleep(min(0.01 * 2.0 ** min(empty, 9), 5) if empty else 0)

    async def _watch(self) -> None:
        """Until the server ends it."""
        batches = self._client.watch_batches(
            self.kind, str(self.revision), labels=self._labels, fields=self._fields, seconds=WATCH_SECONDS
        )
        async with contextlib.aclosing(cast("AsyncGenerator[Sequence[WatchEvent[T]], None]", batches)):
            async for batch in batches:
                for event in batch:
                    self._take(event)

    def _take(self, event: WatchEvent[T]) -> None:
        obj = event.object
        if event.type == "DELETED":
            self.forget(key_of(obj), obj)
        elif event.type == "UNREAD":
            self.leave(obj.metadata, event.problem)
        elif event.type != "BOOKMARK":
            self.store(key_of(obj), obj)
        self.revision = max(self.revision, int(obj.metadata.resource_version or 0))
