"""All shelves, one counter of revisions, and what is durable.

A `ChangeJournal` may make writes durable: until it says so, changes are not shown to watchers and their writers are not
answered. Nothing here knows kinds, rules or requests; verbs do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from gangline.cluster.server.store.shelf import ADDED, DELETED, MODIFIED, Place, Record, Shelf, ShelfKey, StoreChange


class ChangeJournal(Protocol):
    def append(self, revision: int, key: ShelfKey, place: Place, body: bytes | None) -> None: ...


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
        self.bytes = 0
        """What all objects take."""
        self._remembered = 0
        """Bytes that the changes of all shelves take."""
        self._start = 0
        self._shelves: dict[ShelfKey, Shelf] = {}
        self._unseen: dict[ShelfKey, Shelf] = {}
        self._settling: list[tuple[int, asyncio.Future[None]]] = []

    def shelf(self, key: ShelfKey) -> Shelf:
        shelf = self._shelves.get(key)
        if shelf is None:
            shelf = self._shelves[key] = Shelf(key, self._history, self._start)
        return shelf

    def shelves(self) -> Iterator[Shelf]:
        return iter(self._shelves.values())

    def get(self, key: ShelfKey, place: Place) -> Record | None:
        return self.shelf(key).records.get(place)

    def load(self, revision: int, rows: Iterable[tuple[ShelfKey, Record]]) -> None:
        """Take over what a journal kept: nothing older than `revision` can be watched."""
        self.revision = self.visible = self._start = revision
        for key, record in rows:
            self.shelf(key).put(record)
            self.bytes += len(record.body)

    def commit(self, key: ShelfKey, record: Record) -> StoreChange:
        """Store a new version whose revision the caller took from `next_revision`."""
        shelf = self.shelf(key)
        previous = shelf.records.get(record.place)
        shelf.put(record)
        self.bytes += len(record.body) - (len(previous.body) if previous else 0)
        return self._changed(
            shelf, StoreChange(MODIFIED if previous else ADDED, record.revision, record, previous, {}), record.body
        )

    def remove(self, key: ShelfKey, last: Record) -> StoreChange:
        """Forget an object; `last` is its final state, stamped with the revision of its end."""
        shelf = self.shelf(key)
        previous = shelf.records[last.place]
        shelf.drop(last.place)
        self.bytes -= len(previous.body)
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

    def unsettled(self, revision: int) -> asyncio.Future[None] | None:
        """What to wait for until a revision is durable; None if it is. Raises why nothing can be kept any more."""
        if self.broken is not None:
            raise self.broken
        if self.visible >= revision:
            return None
        future = asyncio.get_running_loop().create_future()
        self._settling.append((revision, future))
        return future
