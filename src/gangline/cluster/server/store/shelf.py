"""All objects of one resource as encoded bytes, and its latest changes.

A write appends a `StoreChange`; watchers keep a position in that list and are woken, so a slow one costs a writer
nothing and simply falls off the end. Nothing here knows kinds, rules or requests; store.py joins the shelves.
"""

from __future__ import annotations

import asyncio
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

Place = tuple[str, str]
"""Namespace (empty for cluster scope) and name."""


ShelfKey = tuple[str, str]
"""API group and plural name."""


ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


PAUSE = 0.002
"""Seconds between two rings of a shelf: waking every watcher for every change would cost more than the changes."""


OVERHEAD = 1024
"""Bytes a change takes besides the texts of its object."""


MOST_PAGED = 8
"""Lists that are kept for those who read them page by page."""


_decode = msgspec.json.Decoder().decode


class Record(msgspec.Struct, frozen=True, gc=False):
    """One version of one object. `body` is its JSON without apiVersion and kind, which each reader's version
    prefixes."""

    place: Place
    revision: int
    uid: str
    body: bytes
    labels: dict[str, str]
    fields: tuple[str, ...]

    def object(self) -> dict[str, Any]:
        """A fresh, mutable copy."""
        return _decode(self.body)  # type: ignore[no-any-return]


def is_deleting(record: Record) -> bool:
    """Whether an object waits for its end."""
    return b'"deletionTimestamp"' in record.body and bool(record.object()["metadata"].get("deletionTimestamp"))


class StoreChange(msgspec.Struct, gc=False):
    type: str
    revision: int
    record: Record
    previous: Record | None
    lines: dict[tuple[str, bytes], bytes]
    """Encoded watch events by (event type, prefix): made once, shared by all watchers."""

    @property
    def size(self) -> int:
        """Bytes it takes, and those of an event of it."""
        return 2 * len(self.record.body) + OVERHEAD


class Shelf:
    """All objects of one resource, and its latest changes."""

    def __init__(self, key: ShelfKey, history: int, floor: int) -> None:
        self.key = key
        self.records: dict[Place, Record] = {}
        self.by_namespace: dict[str, dict[Place, Record]] = {}
        self.changes: list[StoreChange] = []
        self.first = 0
        self.size = 0
        """Bytes its changes take."""
        self.floor = floor
        self._history = history
        self.last_lines: tuple[object, bytes] = (None, b"")
        """The lines that were sent last, and what they are: watchers at the same position get the same bytes."""
        self._waiters: dict[object, Callable[[], None]] = {}
        self.ringing = False
        """Watchers are about to be sent changes."""
        self._not_before = 0.0
        self._order: list[Record] | None = None
        self._paged: dict[tuple[int, str], list[Record]] = {}
        """Lists of which not every page was read yet, by revision and namespace."""
        self.retired = False
        """Nothing is added any more: whoever follows it must look elsewhere."""
        self.failure: Mapping[str, Any] | None = None
        """The Status that says why it cannot be followed now."""

    @property
    def has_waiters(self) -> bool:
        return bool(self._waiters)

    def reached(self, visible: int) -> int:
        """Up to which revision it holds everything, of those that may be shown."""
        return visible

    def restart(self, revision: int, records: Iterable[Record]) -> None:
        """Hold these as of a revision, and remember nothing: whoever follows it starts anew."""
        self.first += len(self.changes) + 1
        self.changes, self.size, self.floor = [], 0, revision
        self._paged.clear()
        self.records, self.by_namespace = {}, {}
        for record in records:
            self.put(record)

    def begin(self, revision: int) -> None:
        """What happened before this revision cannot be watched here."""
        if not self.changes:
            self.floor = max(self.floor, revision)

    def put(self, record: Record) -> None:
        self.records[record.place] = record
        self.by_namespace.setdefault(record.place[0], {})[record.place] = record
        self._order = None

    def drop(self, place: Place) -> None:
        del self.records[place]
        del self.by_namespace[place[0]][place]
        self._order = None

    def remember(self, change: StoreChange) -> None:
        self.changes.append(change)
        self.size += change.size
        if len(self.changes) > 2 * self._history:
            self._forget_oldest(self._history)

    def shrink(self, most: int) -> None:
        """Forget the oldest changes until the others take no more bytes than these; the last one stays."""
        count, left = 0, self.size
        while left > most and count < len(self.changes) - 1:
            left -= self.changes[count].size
            count += 1
        if count:
            self._forget_oldest(count)

    def _forget_oldest(self, count: int) -> None:
        self.floor = self.changes[count - 1].revision
        self.size -= sum(change.size for change in self.changes[:count])
        del self.changes[:count]
        self.first += count
        self._paged = {key: records for key, records in self._paged.items() if key[0] >= self.floor}

    def listing(self, namespace: str = "") -> list[Record]:
        """Current records in the order of their keys."""
        if namespace:
            return sorted(self.by_namespace.get(namespace, {}).values(), key=place_of)
        if self._order is None:
            self._order = sorted(self.records.values(), key=place_of)
        return self._order

    def listing_at(self, revision: int, namespace: str = "") -> list[Record]:
        """The records as they were at an earlier revision that is still remembered."""
        newer = self.changes[self.position_after(revision) - self.first :]
        if not newer:
            return self.listing(namespace)
        records = dict(self.by_namespace.get(namespace, {}) if namespace else self.records)
        for change in reversed(newer):
            if namespace and change.record.place[0] != namespace:
                continue
            if change.previous is None:
                records.pop(change.record.place, None)
            else:
                records[change.record.place] = change.previous
        return sorted(records.values(), key=place_of)

    def begin_pages(self, revision: int, namespace: str, records: list[Record]) -> None:
        """A list whose further pages will be asked for: they are cut out of the same list."""
        self._paged[revision, namespace] = records
        if len(self._paged) > MOST_PAGED:
            del self._paged[next(iter(self._paged))]

    def paged(self, revision: int, namespace: str) -> list[Record]:
        """The list that somebody reads page by page."""
        records = self._paged.get((revision, namespace))
        return self.listing_at(revision, namespace) if records is None else records

    def end_pages(self, revision: int, namespace: str) -> None:
        self._paged.pop((revision, namespace), None)

    def position_after(self, revision: int) -> int:
        """The position of the first change newer than a revision."""
        return self.first + bisect_right(self.changes, revision, key=_revision)

    def since(self, position: int, visible: int, most: int, most_bytes: float = math.inf) -> list[StoreChange]:
        """Changes from a position on, as far as they may be shown; a change of more bytes comes alone."""
        start = position - self.first
        fresh = self.changes[start : start + most]
        while fresh and fresh[-1].revision > visible:
            fresh.pop()
        size = 0
        for count, change in enumerate(fresh):
            size += len(change.record.body)
            if size > most_bytes and count:
                return fresh[:count]
        return fresh

    def wait(self, who: object, ring: Callable[[], None]) -> None:
        """Ring once after the next change."""
        self._waiters[who] = ring

    def forget(self, who: object) -> None:
        """A waiter that gave up."""
        self._waiters.pop(who, None)

    def wake(self) -> None:
        """Ring for everybody who waits: at once if it was quiet, and once for all changes that follow closely."""
        if self._waiters and not self.ringing:
            self.ringing = True
            loop = asyncio.get_running_loop()
            if loop.time() >= self._not_before:
                loop.call_soon(self.ring)
            else:
                loop.call_at(self._not_before, self.ring)

    def ring(self) -> None:
        self.ringing = False
        self._not_before = asyncio.get_running_loop().time() + PAUSE
        waiters, self._waiters = self._waiters, {}
        for ring in waiters.values():
            ring()


def place_of(record: Record) -> Place:
    return record.place


def _revision(change: StoreChange) -> int:
    return change.revision
