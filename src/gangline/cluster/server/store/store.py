"""Every object as encoded bytes in memory, the revisions, and the recent changes that watchers read.

A `Shelf` holds all objects of one resource. A write appends a `StoreChange`; watchers keep a position in that list and
are woken, so a slow one costs a writer nothing and simply falls off the end. A `ChangeJournal` may make writes durable:
until it says so, changes are not shown to watchers. Nothing here knows kinds, rules or requests; verbs do."""

from __future__ import annotations

import asyncio
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

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


class ChangeJournal(Protocol):
    def append(self, revision: int, key: ShelfKey, place: Place, body: bytes | None) -> None: ...


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
        self.told: tuple[object, bytes] = (None, b"")
        """The lines that were told last, and what they are: watchers at the same place are told the same bytes."""
        self._waiters: dict[object, Callable[[], None]] = {}
        self.ringing = False
        """Watchers are about to be told of changes."""
        self._not_before = 0.0
        self._order: list[Record] | None = None

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

    def listing(self, namespace: str = "") -> list[Record]:
        """Current records in the order of their keys."""
        if namespace:
            return sorted(self.by_namespace.get(namespace, {}).values(), key=_place)
        if self._order is None:
            self._order = sorted(self.records.values(), key=_place)
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
        return sorted(records.values(), key=_place)

    def position_after(self, revision: int) -> int:
        """The position of the first change newer than a revision."""
        return self.first + bisect_right(self.changes, revision, key=_revision)

    def since(self, position: int, visible: int, most: int, most_bytes: float = math.inf) -> list[StoreChange]:
        """Changes from a position on, as far as they may be shown; a change of more bytes comes alone."""
        start = position - self.first
        fresh = self.changes[start : start + most]
        while fresh and fresh[-1].revision > visible:
            fresh.pop()
        told = 0
        for count, change in enumerate(fresh):
            told += len(change.record.body)
            if told > most_bytes and count:
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


def _place(record: Record) -> Place:
    return record.place


def _revision(change: StoreChange) -> int:
    return change.revision


def _size(shelf: Shelf) -> int:
    return shelf.size


class Store:
    """All shelves, one counter of revisions."""

    def __init__(
        self, history: int = 8192, journal: ChangeJournal | None = None, history_bytes: int = 256 * 1024 * 1024
    ) -> None:
        self.revision = 1
        self.visible = 1
        self.journal = journal
        self.listeners: list[Callable[[ShelfKey, StoreChange], None]] = []
        self.broken: Exception | None = None
        self._history, self._history_bytes = history, history_bytes
        self._remembered = 0
        """Bytes that the changes of all shelves take."""
        self._start = 0
        self._shelves: dict[ShelfKey, Shelf] = {}
        self._unseen: dict[ShelfKey, Shelf] = {}
        self._settling: list[tuple[int, asyncio.Future[None]]] = []

    def shelf(self, key: ShelfKey) -> Shelf:
        found = self._shelves.get(key)
        if found is None:
            found = self._shelves[key] = Shelf(key, self._history, self._start)
        return found

    def shelves(self) -> Iterator[Shelf]:
        return iter(self._shelves.values())

    def get(self, key: ShelfKey, place: Place) -> Record | None:
        return self.shelf(key).records.get(place)

    def load(self, revision: int, rows: Iterable[tuple[ShelfKey, Record]]) -> None:
        """Take over what a journal kept: nothing older than `revision` can be watched."""
        self.revision = self.visible = self._start = revision
        for key, record in rows:
            self.shelf(key).put(record)

    def commit(self, key: ShelfKey, record: Record) -> StoreChange:
        """Store a new version whose revision the caller took from `next_revision`."""
        shelf = self.shelf(key)
        previous = shelf.records.get(record.place)
        shelf.put(record)
        return self._changed(
            shelf, StoreChange(MODIFIED if previous else ADDED, record.revision, record, previous, {}), record.body
        )

    def remove(self, key: ShelfKey, last: Record) -> StoreChange:
        """Forget an object; `last` is its final state, stamped with the revision of its end."""
        shelf = self.shelf(key)
        previous = shelf.records[last.place]
        shelf.drop(last.place)
        return self._changed(shelf, StoreChange(DELETED, last.revision, last, previous, {}), None)

    @property
    def next_revision(self) -> int:
        return self.revision + 1

    def _changed(self, shelf: Shelf, change: StoreChange, body: bytes | None) -> StoreChange:
        self.revision = change.revision
        self._remember(shelf, change)
        self._unseen[shelf.key] = shelf
        for listener in self.listeners:
            listener(shelf.key, change)
        if self.journal is None:
            self.settle(change.revision)
        else:
            self.journal.append(change.revision, shelf.key, change.record.place, body)
        return change

    def _remember(self, shelf: Shelf, change: StoreChange) -> None:
        """Past the bound, the shelf that takes the most bytes forgets half of them: those who follow it and are far
        behind start anew."""
        before = shelf.size
        shelf.remember(change)
        self._remembered += shelf.size - before
        if self._remembered > self._history_bytes:
            largest = max(self._shelves.values(), key=_size)
            self._remembered -= largest.size
            largest.shrink(largest.size // 2)
            self._remembered += largest.size

    def settle(self, revision: int) -> None:
        """Everything up to `revision` is durable: show it to watchers, let its writers answer."""
        self.visible = max(self.visible, revision)
        unseen, self._unseen = self._unseen, {}
        for shelf in unseen.values():
            shelf.wake()
            if shelf.changes and shelf.changes[-1].revision > self.visible:
                self._unseen[shelf.key] = shelf
        if self._settling:
            ready = [future for wanted, future in self._settling if wanted <= revision]
            self._settling = [pair for pair in self._settling if pair[0] > revision]
            for future in ready:
                if not future.done():
                    future.set_result(None)

    def fail(self, error: Exception) -> None:
        """The journal is broken: no writer is answered with success any more."""
        self.broken = error
        settling, self._settling = self._settling, []
        for _, future in settling:
            if not future.done():
                future.set_exception(error)

    async def settled(self, revision: int) -> None:
        """Wait until a revision is durable."""
        if self.broken is not None:
            raise self.broken
        if self.visible < revision:
            future = asyncio.get_running_loop().create_future()
            self._settling.append((revision, future))
            await future
