"""What a watcher is told: where a watch begins, and changes as lines of JSON.

Pure; watch.py keeps the position of each watcher. An event is encoded once and shared by all plain watchers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core
from gangline.cluster.server.store.shelf import ADDED, DELETED, MODIFIED, Record, StoreChange
from gangline.cluster.server.verbs.reads import Filter, body_of, check_list_options, read_exact_revision
from gangline.errors import ApiError

DEFAULT_SECONDS = 3600
INITIAL_END = "k8s.io/initial-events-end"


BATCH, BATCH_BYTES = 500, 1024 * 1024
"""Changes a watcher is told in one go, at most, and their bytes."""


KEPT_LINE = 64 * 1024
"""Of longer events one form is kept for each change, as the bytes of the history are counted; others are made anew."""


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


def watch_plan(core: Core, call: ServerCall, wanted: Filter) -> WatchPlan:
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


def failure_line(error: ApiError) -> bytes:
    """A watch that cannot go on says why before it ends."""
    return b'{"type":"ERROR","object":' + msgspec.json.encode(error.status) + b"}\n"


def first_lines(make: Line, begin: WatchPlan) -> Iterator[bytes]:
    """What is there already."""
    start = 0
    while start < len(begin.initial):
        end, size = start, 0
        while end < len(begin.initial) and end - start < BATCH and size < BATCH_BYTES:
            size += len(begin.initial[end].body)
            end += 1
        yield b"".join([make(ADDED, record) for record in begin.initial[start:end]])
        start = end
    if begin.end_mark:
        yield bookmark(make, begin.revision, True)


def plain_line(resource: Resource) -> Line:
    return lambda kind, record: line(kind, resource, record)


def lines_of(changes: list[StoreChange], wanted: Filter, resource: Resource, shape: Line | None) -> list[bytes]:
    lines = []
    for change in changes:
        kind = seen_as(change, wanted)
        if kind is None:
            continue
        if shape is not None:
            lines.append(shape(kind, _shown(change, kind)))
            continue
        key = (kind, resource.prefix)
        ready = change.lines.get(key)
        if ready is None:
            ready = line(kind, resource, _shown(change, kind))
            if len(ready) <= KEPT_LINE or not change.lines:
                change.lines[key] = ready
        lines.append(ready)
    return lines


def seen_as(change: StoreChange, wanted: Filter) -> str | None:
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
