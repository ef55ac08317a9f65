"""Watches: a position in a shelf's changes, turned into events.

Nothing is queued per watcher. Whenever the shelf wakes a watcher, it reads on from its position and sends many changes
in one write. A watcher that is too slow finds that its position was forgotten: it gets 410 and ends. When its resource
is no longer served, it ends without a word, as on a real server. The bytes of an event are made once and shared by all
plain watchers."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable

from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.convert.conversion_plan import plan_of
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import too_large_revision, too_old
from gangline.cluster.server.store.shelf import Shelf, StoreChange
from gangline.cluster.server.store.watch_lines import (
    AHEAD,
    BATCH,
    BATCH_BYTES,
    WatchForm,
    WatchPlan,
    bookmark,
    first_lines,
    lines_of,
    seen_as,
)
from gangline.cluster.server.verbs.reads import Filter


class StoreWatch:
    """One watcher. `take` what there is to tell, and `wait` for more; whoever is done must `close`."""

    def __init__(
        self,
        core: Core,
        call: ServerCall,
        shelf: Shelf,
        wanted: Filter,
        begin: WatchPlan,
        seconds: int,
        form: WatchForm,
    ) -> None:
        self._core, self._resource, self._wanted, self._form = core, call.resource, wanted, form
        self._shelf = shelf
        self._position, self._seen = begin.position, begin.revision
        self._first = first_lines(form.line, begin)
        self.loop = asyncio.get_running_loop()
        self._end = self.loop.time() + seconds
        self._pause = (
            core.settings.bookmark_seconds if truth(call.request.argument("allowWatchBookmarks")) else float("inf")
        )
        self._due = self.loop.time() + self._pause
        self._timer: asyncio.TimerHandle | None = None
        self._ring: Callable[[], None] | None = None
        self.ended = False

    def take(self) -> bytes:
        """The next lines; empty when there are none now, or never again if `ended`."""
        if self.ended:
            return b""
        for lines in self._first:
            return lines
        if self.loop.time() >= self._end:
            self.ended = True
            return b""
        return self._fresh() or self._nothing_new()

    def _fresh(self) -> bytes:
        shelf, visible = self._shelf, self._core.store.visible
        while not self.ended:
            if self._position < shelf.first:
                self.ended = True
                why = (
                    too_old(self._seen, shelf.floor)
                    if self._position != AHEAD
                    else too_large_revision(self._seen, self._core.store.revision)
                )
                return self._form.failure(why.status)
            changes = shelf.since(self._position, visible, BATCH, BATCH_BYTES)
            if not changes:
                return self._failed()
            lines = self._shared_lines(changes)
            self._position += len(changes)
            self._seen = changes[-1].revision
            if lines:
                return lines
        return b""

    def _failed(self) -> bytes:
        """Why no more can be sent, if that is so."""
        if self._shelf.failure is None:
            return b""
        self.ended = True
        return self._form.failure(self._shelf.failure)

    def _shared_lines(self, changes: list[StoreChange]) -> bytes:
        """The lines of some changes; those who see all of a shelf share them."""
        if not self._form.key or self._wanted.selects:
            return b"".join(lines_of(changes, self._wanted, self._form))
        key = (self._position, len(changes), self._form.key, self._wanted.namespace)
        if self._shelf.last_lines[0] != key:
            self._shelf.last_lines = key, b"".join(lines_of(changes, self._wanted, self._form))
        return self._shelf.last_lines[1]

    def _nothing_new(self) -> bytes:
        now = self.loop.time()
        if self._core.closing or self._orphaned():
            self.ended = True
        elif now >= self._due:
            self._due = now + self._pause
            return bookmark(self._form.line, max(self._seen, self._shelf.reached(self._core.store.visible)), False)
        return b""

    def _orphaned(self) -> bool:
        """Whether its resource is served no more, or otherwise, and it has got the deletion of the last object."""
        caught_up = self._position >= self._shelf.first + len(self._shelf.changes)
        return caught_up and (self._shelf.retired or not self._is_served())

    def _is_served(self) -> bool:
        resource = self._resource
        now = self._core.catalogue.find(resource.group, resource.version, resource.plural)
        return now is not None and plan_of(now) == plan_of(resource)

    def wait(self, ring: Callable[[], None]) -> None:
        """Ring once when there may be more to take."""
        self._ring = ring
        self._shelf.wait(self, self._changed)
        if self._timer is None:
            self._timer = self.loop.call_at(min(self._end, self._due), _ring, weakref.ref(self))

    def _changed(self) -> None:
        """Something happened on the shelf; whoever sees only some of it sleeps on if it is nothing to him."""
        if (
            (self._wanted.selects or self._wanted.namespace)
            and self._position >= self._shelf.first
            and not self._core.closing
        ):
            changes = self._shelf.since(self._position, self._core.store.visible, BATCH)
            if changes and len(changes) < BATCH and not any(seen_as(change, self._wanted) for change in changes):
                self._position += len(changes)
                self._seen = changes[-1].revision
                self._shelf.wait(self, self._changed)
                return
        self.ring()

    def tidy(self) -> None:
        """A watcher that fell so far behind that it can only get 410 does not get what was there first either: those
        objects may be kept by nobody else."""
        if self._position < self._shelf.first:
            self._first = iter(())

    def give_up(self) -> None:
        """Wait no longer."""
        self._shelf.forget(self)

    def ring(self) -> None:
        ring, self._ring = self._ring, None
        self._shelf.forget(self)
        if ring is not None:
            ring()

    def on_time(self) -> None:
        self._timer = None
        if self._ring is not None:
            self.ring()

    def close(self) -> None:
        self.ended = True
        if self._timer is not None:
            self._timer.cancel()
        self.ring()


def _ring(watch: weakref.ref[StoreWatch]) -> None:
    still_there = watch()
    if still_there is not None:
        still_there.on_time()
