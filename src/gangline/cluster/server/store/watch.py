"""Watches: a position in a shelf's changes, turned into lines of JSON.

Nothing is queued per watcher. A watcher reads on from its position whenever the shelf wakes it, many changes in one
write; one that is so slow that its position has been forgotten is told 410 and ends; one whose resource is served no
more ends without a word, as on a real server. An event's bytes are made once and shared by all plain watchers."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import msgspec

from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import too_large_revision, too_old
from gangline.cluster.server.store.store import ADDED, DELETED, MODIFIED, Record, StoreChange
from gangline.cluster.server.verbs.reads import Filter, body_of, check_list_options, read_exact_revision, read_filter
from gangline.errors import ApiError

INITIAL_END = "k8s.io/initial-events-end"
DEFAULT_SECONDS = 3600
BATCH, BATCH_BYTES = 500, 1024 * 1024
"""Changes a watcher is told in one go, at most, and their bytes."""
KEPT_LINE = 64 * 1024
"""A longer event is made anew for each watcher rather than kept."""
BEHIND, AHEAD = -1, -2
"""Positions from which a watch cannot begin: what it asks for is forgotten, or has not happened."""
Line = Callable[[str, Record], bytes]
"""An event's line in the shape the watcher asked for."""


@dataclass(slots=True)
class WatchPlan:
    position: int
    """Before the first change that is remembered: the watch is told so and ends."""
    revision: int
    initial: list[Record]
    end_mark: bool


def line(kind: str, resource: Resource, record: Record) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + resource.prefix + body_of(resource, record)[1:] + b"}\n"


def plan(core: Core, call: ServerCall, wanted: Filter) -> WatchPlan:
    """Where a watch begins, and what it is told first."""
    check_list_options(call)
    shelf = core.store.shelf(call.resource.shelf)
    argument = call.request.argument
    revision = read_exact_revision(call)
    call.number("limit")
    initial = argument("sendInitialEvents")
    bookmarks = truth(argument("allowWatchBookmarks"))
    if revision > core.store.revision and initial and truth(initial):
        return WatchPlan(AHEAD, revision, [], False)
    visible = core.store.visible
    state = truth(initial) if initial else revision == 0
    if state:
        records = [record for record in shelf.listing_at(visible, wanted.namespace) if wanted(record)]
        return WatchPlan(shelf.position_after(visible), visible, records, bookmarks)
    if initial and revision == 0:
        return WatchPlan(shelf.position_after(visible), visible, [], False)
    if revision < shelf.floor:
        return WatchPlan(BEHIND, revision, [], False)
    return WatchPlan(shelf.position_after(revision), revision, [], False)


def bookmark(make: Line, revision: int, end: bool) -> bytes:
    """How far a watch is, told as an object of its kind that has nothing but a revision."""
    about: dict[str, object] = {"resourceVersion": str(revision)}
    if end:
        about["annotations"] = {INITIAL_END: "true"}
    return make("BOOKMARK", Record(("", ""), revision, "", msgspec.json.encode({"metadata": about}), {}, ()))


def failed(error: ApiError) -> bytes:
    """A watch that cannot go on says why before it ends."""
    return b'{"type":"ERROR","object":' + msgspec.json.encode(error.status) + b"}\n"


def open_watch(core: Core, call: ServerCall, shape: Line | None = None) -> StoreWatch:
    """Refuses at once what cannot be watched; the watch does the rest."""
    wanted = read_filter(call)
    begin = plan(core, call, wanted)
    seconds = call.number("timeoutSeconds") or DEFAULT_SECONDS
    return StoreWatch(core, call, wanted, begin, seconds, shape)


class StoreWatch:
    """One watcher. `take` what there is to tell, or iterate and wait for it; whoever is done must `aclose`."""

    def __init__(
        self, core: Core, call: ServerCall, wanted: Filter, begin: WatchPlan, seconds: int, shape: Line | None
    ) -> None:
        self._core, self._resource, self._wanted, self._shape = core, call.resource, wanted, shape
        self._shelf = core.store.shelf(call.resource.shelf)
        self._make = shape or _plain(call.resource)
        self._position, self._seen = begin.position, begin.revision
        self._first = _first_lines(self._make, begin)
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + seconds
        self._pause = (
            core.settings.bookmark_seconds if truth(call.request.argument("allowWatchBookmarks")) else float("inf")
        )
        self._due = self._loop.time() + self._pause
        self._timer: asyncio.TimerHandle | None = None
        self._ring: Callable[[], None] | None = None
        self.ended = False

    def take(self) -> bytes:
        """The next lines; empty when there are none now, or never again if `ended`."""
        if self.ended:
            return b""
        for lines in self._first:
            return lines
        found = self._fresh()
        return found or self._nothing_new()

    def _fresh(self) -> bytes:
        shelf, visible = self._shelf, self._core.store.visible
        while not self.ended:
            if self._position < shelf.first:
                self.ended = True
                return failed(
                    too_old(self._seen, shelf.floor)
                    if self._position != AHEAD
                    else too_large_revision(self._seen, self._core.store.revision)
                )
            changes = shelf.since(self._position, visible, BATCH, BATCH_BYTES)
            if not changes:
                return b""
            lines = self._told(changes)
            self._position += len(changes)
            self._seen = changes[-1].revision
            if lines:
                return lines
        return b""

    def _told(self, changes: list[StoreChange]) -> bytes:
        """The lines of some changes; those who see all of a shelf share them."""
        if self._shape is not None or self._wanted.selects:
            return b"".join(_lines(changes, self._wanted, self._resource, self._shape))
        key = (self._position, len(changes), self._resource.prefix, self._wanted.namespace)
        if self._shelf.told[0] != key:
            self._shelf.told = key, b"".join(_lines(changes, self._wanted, self._resource, None))
        return self._shelf.told[1]

    def _nothing_new(self) -> bytes:
        now = self._loop.time()
        if now >= self._end or self._core.closing or self._orphaned():
            self.ended = True
        elif now >= self._due:
            self._due = now + self._pause
            return bookmark(self._make, max(self._seen, self._core.store.visible), False)
        return b""

    def _orphaned(self) -> bool:
        """Whether its resource is served no more, and it has been told how the last object went."""
        told = self._position >= self._shelf.first + len(self._shelf.changes)
        return told and not self._core.catalogue.serves(self._resource)

    def wait(self, ring: Callable[[], None]) -> None:
        """Ring once when there may be more to take."""
        self._ring = ring
        self._shelf.wait(self, self._changed)
        if self._timer is None:
            self._timer = self._loop.call_at(min(self._end, self._due), _ring, weakref.ref(self))

    def _changed(self) -> None:
        """Something happened on the shelf; whoever sees only some of it sleeps on if it is nothing to him."""
        if (
            (self._wanted.selects or self._wanted.namespace)
            and self._position >= self._shelf.first
            and not self._core.closing
        ):
            changes = self._shelf.since(self._position, self._core.store.visible, BATCH)
            if changes and len(changes) < BATCH and not any(_seen_as(change, self._wanted) for change in changes):
                self._position += len(changes)
                self._seen = changes[-1].revision
                self._shelf.wait(self, self._changed)
                return
        self.ring()

    def ring(self) -> None:
        ring, self._ring = self._ring, None
        self._shelf.forget(self)
        if ring is not None:
            ring()

    def on_time(self) -> None:
        self._timer = None
        if self._ring is not None:
            self.ring()

    def __aiter__(self) -> StoreWatch:
        return self

    async def __anext__(self) -> bytes:
        while True:
            found = self.take()
            if found:
                return found
            if self.ended:
                raise StopAsyncIteration
            future = self._loop.create_future()
            self.wait(partial(_finish, future))
            try:
                await future
            finally:
                self._shelf.forget(self)

    async def aclose(self) -> None:
        self.close()

    def close(self) -> None:
        self.ended = True
        if self._timer is not None:
            self._timer.cancel()
        self.ring()


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _ring(watch: weakref.ref[StoreWatch]) -> None:
    found = watch()
    if found is not None:
        found.on_time()


def _first_lines(make: Line, begin: WatchPlan) -> Iterator[bytes]:
    """What is there already."""
    for start in range(0, len(begin.initial), BATCH):
        yield b"".join([make(ADDED, record) for record in begin.initial[start : start + BATCH]])
    if begin.end_mark:
        yield bookmark(make, begin.revision, True)


def _plain(resource: Resource) -> Line:
    return lambda kind, record: line(kind, resource, record)


def _lines(changes: list[StoreChange], wanted: Filter, resource: Resource, shape: Line | None) -> list[bytes]:
    lines = []
    for change in changes:
        kind = _seen_as(change, wanted)
        if kind is None:
            continue
        if shape is not None:
            lines.append(shape(kind, _shown(change, kind)))
            continue
        key = (kind, resource.prefix)
        ready = change.lines.get(key)
        if ready is None:
            ready = line(kind, resource, _shown(change, kind))
            if len(ready) <= KEPT_LINE:
                change.lines[key] = ready
        lines.append(ready)
    return lines


def _seen_as(change: StoreChange, wanted: Filter) -> str | None:
    """What a change is to somebody who sees only some objects."""
    if wanted.namespace and change.record.place[0] != wanted.namespace:
        return None
    if not wanted.selects:
        return change.type
    before = change.previous is not None and wanted(change.previous)
    if change.type == DELETED:
        return DELETED if before else None
    if wanted(change.record):
        return MODIFIED if before else ADDED
    return DELETED if before else None


def _shown(change: StoreChange, kind: str) -> Record:
    """An object that left the selection is shown as it was last seen, under the new revision."""
    if kind != DELETED or change.type == DELETED or change.previous is None:
        return change.record
    obj = change.previous.object()
    obj["metadata"]["resourceVersion"] = str(change.revision)
    return msgspec.structs.replace(change.previous, body=msgspec.json.encode(obj), revision=change.revision)
