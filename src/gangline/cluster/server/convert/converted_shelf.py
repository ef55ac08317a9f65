"""The objects of a definition as one of its versions shows them, kept in step with those that are stored.

It is a shelf like any other: lists are cut out of it, and watchers keep a position in its changes. It follows the
stored shelf whenever somebody reads it, and while somebody waits for its changes. What cannot be converted stops it:
readers are told why, watchers end, and the next reader tries again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import msgspec

from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.convert.conversion_plan import ConversionPlan
from gangline.cluster.server.convert.webhook_converter import WebhookConverter
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import failure
from gangline.cluster.server.store.shelf import ADDED, DELETED, MODIFIED, Record, Shelf, StoreChange
from gangline.errors import ApiError

log = logging.getLogger(__name__)

SHARE = 8
"""Which part of what all changes of a server may take those of one view may take, too."""
LATEST = 200
"""Changes from before somebody read this version that can still be watched in it."""
STEP = 100
"""Changes that are taken over in one go."""


class ConvertedShelf(Shelf):
    def __init__(self, core: Core, converter: WebhookConverter, resource: Resource) -> None:
        super().__init__(resource.shelf, core.settings.history, core.store.revision)
        self._core, self._converter, self._version = core, converter, resource.version
        self.plan: ConversionPlan = resource.custom.plan
        self._source = core.store.shelf(resource.shelf)
        self._position = -1
        """In the changes of the stored shelf; below its first: everything has to be read anew."""
        self._reached = 0
        self._turn = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None

    def known(self, record: Record) -> Record | None:
        """A stored record as it is shown here, where that is known already."""
        shown = self.records.get(record.place)
        return shown if shown is not None and shown.revision == record.revision else None

    def reached(self, visible: int) -> int:
        return min(visible, self._reached)

    def wait(self, who: object, ring: Callable[[], None]) -> None:
        super().wait(who, ring)
        self._source.wait(self, self._stir)
        if self._is_behind():
            self._stir()

    def retire(self) -> None:
        """The definition says something else now: whoever reads starts anew."""
        self.retired = True
        self._source.forget(self)
        self.ring()

    def _stir(self) -> None:
        if self.has_waiters and not self.retired and (self._following is None or self._following.done()):
            self._following = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        """Take over what happened, and tell those who wait."""
        try:
            while self._is_behind():
                await self.follow()
                self.wake()
        except ApiError as error:
            self.failure = error.status
        except Exception:
            log.exception("%s cannot be followed in another version", self.key)
            self.failure = failure(500, "InternalError", "Internal error occurred: a conversion failed").status
        self.wake()
        if self.has_waiters and not self.retired:
            self._source.wait(self, self._stir)

    def _is_behind(self) -> bool:
        return self._position < self._source.first + len(self._source.changes) and not self.retired

    async def follow(self) -> None:
        """Everything that was stored before this moment is here afterwards."""
        wanted = self._core.store.revision
        async with self._turn:
            while self._reached < wanted:
                if self._position < self._source.first:
                    await self._anew()
                else:
                    await self._step()
            self.failure = None

    async def _anew(self) -> None:
        """All that was stored a few changes ago; those follow."""
        source = self._source
        older = source.changes[:-LATEST]
        revision = older[-1].revision if older else source.floor
        position, stored = source.first + len(older), source.listing_at(revision)
        shown = await self._converter.records(self.plan, stored, self._version)
        self.restart(revision, shown)
        self._position, self._reached = position, revision

    async def _step(self) -> None:
        revision = self._core.store.revision
        changes = self._source.since(self._position, revision, STEP)
        fresh = [change.record for change in changes if change.type != DELETED]
        shown = dict(zip(map(id, fresh), await self._converter.records(self.plan, fresh, self._version), strict=True))
        for change in changes:
            self._take_over(change, shown.get(id(change.record)))
        self._position += len(changes)
        self._reached = changes[-1].revision if len(changes) == STEP else revision

    def _take_over(self, change: StoreChange, shown: Record | None) -> None:
        place = change.record.place
        previous = self.records.get(place)
        if shown is not None:
            self.put(shown)
            kind = MODIFIED if previous is not None else ADDED
            self.remember(StoreChange(kind, change.revision, shown, previous, {}))
        elif previous is not None:
            self.drop(place)
            self.remember(StoreChange(DELETED, change.revision, _last(change.record, previous), previous, {}))
        if self.size > self._core.settings.history_bytes // SHARE:
            self.shrink(self.size // 2)


def _last(stored: Record, shown: Record) -> Record:
    """An object that went, as it was last shown, with the metadata it went with."""
    about = stored.object()["metadata"]
    obj = shown.object() | {"metadata": about}
    return msgspec.structs.replace(shown, revision=stored.revision, body=msgspec.json.encode(obj))
