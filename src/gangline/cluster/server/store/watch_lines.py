"""What a watcher gets: where a watch begins, and changes as events.

Pure; watch.py keeps the position of each watcher. An event is encoded once and shared by all watchers of one plain
form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from gangline.client.wire import JSON
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core
from gangline.cluster.server.store.shelf import ADDED, DELETED, MODIFIED, Record, Shelf, StoreChange
from gangline.cluster.server.verbs.reads import Filter, body_of, check_list_options, read_exact_revision

DEFAULT_SECONDS = 3600
INITIAL_END = "k8s.io/initial-events-end"


BATCH, BATCH_BYTES = 500, 1024 * 1024
"""The most changes that a watcher gets in one go, and their most bytes."""


KEPT_LINE = 64 * 1024
"""Of longer events one form is kept for each change, as the bytes of the history are counted; others are made anew."""


BEHIND, AHEAD = -1, -2
"""Positions from which a watch cannot begin: what it asks for is forgotten, or has not happened."""


Line = Callable[[str, Record], bytes]
"""An event's bytes in the form the watcher asked for: a line of JSON, or a frame of protobuf."""


def event(kind: str, body: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + body + b"}\n"


def _failure_line(status: Mapping[str, Any]) -> bytes:
    return event("ERROR", msgspec.json.encode(status))


@dataclass(frozen=True, slots=True)
class WatchForm:
    """The form in which a watcher gets changes."""

    line: Line
    key: bytes = b""
    """The same for all watchers that get the same bytes; empty: this one shares with nobody."""
    failure: Callable[[Mapping[str, Any]], bytes] = _failure_line
    """How a watch that cannot go on says why before it ends, from a Status."""
    content_type: str = JSON


@dataclass(slots=True)
class WatchPlan:
    position: int
    """Before the first change that is remembered: the watch gets 410 and ends."""
    revision: int
    initial: list[Record]
    end_mark: bool


def plain_form(resource: Resource) -> WatchForm:
    prefix = resource.prefix
    return WatchForm(lambda kind, record: event(kind, prefix + body_of(resource, record)[1:]), prefix)


def watch_plan(core: Core, call: ServerCall, shelf: Shelf, wanted: Filter) -> WatchPlan:
    """Where a watch begins, and what it gets first."""
    check_list_options(call)
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
    """How far a watch is, as an object of its kind that has nothing but a revision."""
    about: dict[str, object] = {"resourceVersion": str(revision)}
    if end:
        about["annotations"] = {INITIAL_END: "true"}
    return make("BOOKMARK", Record(("", ""), revision, "", msgspec.json.encode({"metadata": about}), {}, ()))


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


def lines_of(changes: list[StoreChange], wanted: Filter, form: WatchForm) -> list[bytes]:
    lines = []
    for change in changes:
        kind = seen_as(change, wanted)
        if kind is None:
            continue
        key = (kind, form.key)
        ready = change.lines.get(key) if form.key else None
        if ready is None:
            ready = form.line(kind, _shown(change, kind))
            if form.key and (len(ready) <= KEPT_LINE or not change.lines):
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
