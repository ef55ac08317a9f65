"""Watches: a position in a shelf's changes, turned into lines of JSON.

Nothing is queued per watcher. A watcher reads on from its position whenever the shelf wakes it, many changes in one write; one that is so
slow that its position has been forgotten is told 410 and ends. An event's bytes are made once and shared by all plain watchers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import msgspec

from gangline.apiserver.call import Call, truth
from gangline.apiserver.core import Core
from gangline.apiserver.reads import Filter, body_of, check_list_options, read_exact_revision, read_filter
from gangline.apiserver.resources import Resource
from gangline.apiserver.status import too_large_revision, too_old
from gangline.apiserver.store import ADDED, DELETED, MODIFIED, Change, Record, Shelf
from gangline.errors import ApiError

INITIAL_END = "k8s.io/initial-events-end"
DEFAULT_SECONDS = 3600
BATCH = 500
BEHIND, AHEAD = -1, -2
"""Positions from which a watch cannot begin: what it asks for is forgotten, or has not happened."""
Line = Callable[[str, Record], bytes]
"""An event's line in the shape the watcher asked for."""


@dataclass(slots=True)
class Plan:
    position: int
    """Before the first change that is remembered: the watch is told so and ends."""
    revision: int
    initial: list[Record]
    end_mark: bool


def line(kind: str, resource: Resource, record: Record) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + resource.prefix + body_of(resource, record)[1:] + b"}\n"


def plan(core: Core, call: Call, wanted: Filter) -> Plan:
    """Where a watch begins, and what it is told first."""
    check_list_options(call)
    shelf = core.store.shelf(call.resource.shelf)
    argument = call.request.argument
    revision = read_exact_revision(call)
    call.number("limit")
    initial = argument("sendInitialEvents")
    bookmarks = truth(argument("allowWatchBookmarks"))
    if revision > core.store.revision and initial and truth(initial):
        return Plan(AHEAD, revision, [], False)
    visible = core.store.visible
    state = truth(initial) if initial else revision == 0
    if state:
        records = [record for record in shelf.listing_at(visible, wanted.namespace) if wanted(record)]
        return Plan(shelf.position_after(visible), visible, records, bookmarks)
    if initial and revision == 0:
        return Plan(shelf.position_after(visible), visible, [], False)
    if revision < shelf.floor:
        return Plan(BEHIND, revision, [], False)
    return Plan(shelf.position_after(revision), revision, [], False)


def bookmark(make: Line, revision: int, end: bool) -> bytes:
    """How far a watch is, told as an object of its kind that has nothing but a revision."""
    about: dict[str, object] = {"resourceVersion": str(revision)}
    if end:
        about["annotations"] = {INITIAL_END: "true"}
    return make("BOOKMARK", Record(("", ""), revision, "", msgspec.json.encode({"metadata": about}), {}, ()))


def failed(error: ApiError) -> bytes:
    """A watch that cannot go on says why before it ends."""
    return b'{"type":"ERROR","object":' + msgspec.json.encode(error.status) + b"}\n"


def open_watch(core: Core, call: Call, shape: Line | None = None) -> AsyncIterator[bytes]:
    """Refuses at once what cannot be watched; the iterator does the rest."""
    wanted = read_filter(call)
    begin = plan(core, call, wanted)
    seconds = call.number("timeoutSeconds") or DEFAULT_SECONDS
    return _stream(core, call, wanted, begin, seconds, shape)


async def _stream(core: Core, call: Call, wanted: Filter, begin: Plan, seconds: int, shape: Line | None) -> AsyncIterator[bytes]:
    resource, shelf = call.resource, core.store.shelf(call.resource.shelf)
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    bookmarks = truth(call.request.argument("allowWatchBookmarks"))
    make = shape or _plain(resource)
    for chunk in range(0, len(begin.initial), BATCH):
        yield b"".join([make(ADDED, record) for record in begin.initial[chunk: chunk + BATCH]])
    if begin.end_mark:
        yield bookmark(make, begin.revision, True)
    position, seen = begin.position, begin.revision
    due = loop.time() + core.settings.bookmark_seconds
    while True:
        if position < shelf.first:
            behind = too_old(seen, shelf.floor) if position != AHEAD else too_large_revision(seen, core.store.revision)
            yield failed(behind)
            return
        fresh = shelf.since(position, core.store.visible)[:BATCH]
        if fresh:
            position += len(fresh)
            seen = fresh[-1].revision
            lines = _lines(fresh, wanted, resource, shape)
            if lines:
                yield b"".join(lines)
            continue
        left = end - loop.time()
        if left <= 0 or core.closing:
            return
        await _wait(shelf, min(left, due - loop.time()) if bookmarks else left)
        if bookmarks and loop.time() >= due:
            due = loop.time() + core.settings.bookmark_seconds
            if not shelf.since(position, core.store.visible):
                yield bookmark(make, max(seen, core.store.visible), False)


async def _wait(shelf: Shelf, seconds: float) -> None:
    future = shelf.wait()
    handle = asyncio.get_running_loop().call_later(max(seconds, 0), _give_up, future)
    try:
        await future
    finally:
        handle.cancel()
        shelf.forget(future)


def _give_up(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _plain(resource: Resource) -> Line:
    return lambda kind, record: line(kind, resource, record)


def _lines(changes: list[Change], wanted: Filter, resource: Resource, shape: Line | None) -> list[bytes]:
    found = []
    for change in changes:
        if wanted.namespace and change.record.place[0] != wanted.namespace:
            continue
        kind = _seen_as(change, wanted)
        if kind is None:
            continue
        if shape is not None:
            found.append(shape(kind, _shown(change, kind)))
            continue
        key = (kind, resource.prefix)
        ready = change.lines.get(key)
        if ready is None:
            ready = change.lines[key] = line(kind, resource, _shown(change, kind))
        found.append(ready)
    return found


def _seen_as(change: Change, wanted: Filter) -> str | None:
    """What a change is to somebody who sees only some objects."""
    if not wanted.selects:
        return change.type
    before = change.previous is not None and wanted(change.previous)
    if change.type == DELETED:
        return DELETED if before else None
    if wanted(change.record):
        return MODIFIED if before else ADDED
    return DELETED if before else None


def _shown(change: Change, kind: str) -> Record:
    """An object that left the selection is shown as it was last seen, under the new revision."""
    if kind != DELETED or change.type == DELETED or change.previous is None:
        return change.record
    obj = change.previous.object()
    obj["metadata"]["resourceVersion"] = str(change.revision)
    return msgspec.structs.replace(change.previous, body=msgspec.json.encode(obj), revision=change.revision)
