"""Events go an hour after they were last written, as a kube-apiserver's do (`--event-ttl`); also those that a data
folder held.

How old a stored event is stands in the times that the server itself put into it. Nobody can make one stay longer: what
an event says about itself does not count. Watchers get it as any other deletion."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator

from gangline.cluster.server.core import Core
from gangline.cluster.server.store.shelf import DELETED, Place, Record, ShelfKey, StoreChange
from gangline.rules.values import times

EVENTS: ShelfKey = ("", "events")
LIFE = 3600.0
"""Seconds that an event lives after it was last written."""
PERIOD = 30.0
"""Real seconds between two looks; whoever asks for events sees none that is over, in any case."""


class Expiry:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._written: OrderedDict[Place, float] = OrderedDict()
        """When each event was last written, the oldest first."""
        self._timer: asyncio.TimerHandle | None = None
        now = core.settings.clock()
        events = [(_age_mark(record, now), record.place) for record in core.store.shelf(EVENTS).records.values()]
        self._written.update((place, moment) for moment, place in sorted(events))
        core.store.listeners.append(self._note)
        self._again()

    def sweep(self) -> None:
        """Remove what is over."""
        oldest = self._core.settings.clock() - LIFE
        while self._written and next(iter(self._written.values())) <= oldest:
            place, _ = self._written.popitem(last=False)
            self._remove(place)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _note(self, key: ShelfKey, change: StoreChange) -> None:
        if key != EVENTS:
            return
        self._written.pop(change.record.place, None)
        if change.type != DELETED:
            self._written[change.record.place] = self._core.settings.clock()

    def _remove(self, place: Place) -> None:
        resource, record = self._core.catalogue.any_version(*EVENTS), self._core.store.get(EVENTS, place)
        if resource is not None and record is not None:
            self._core.remove(resource, place, record.object())

    def _again(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(PERIOD, self._look)

    def _look(self) -> None:
        if not self._core.closing:
            self.sweep()
            self._again()


def _age_mark(record: Record, now: float) -> float:
    """When a stored event was last written; one that says a time to come was written just now."""
    stated = [moment for text in _stamps(record) if (moment := times.seconds(text)) is not None]
    return min(max(stated, default=now), now)


def _stamps(record: Record) -> Iterator[str | None]:
    about = record.object()["metadata"]
    yield about.get("creationTimestamp")
    for entry in about.get("managedFields") or ():
        yield entry.get("time")
