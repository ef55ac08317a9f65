"""List + watch → an indexed copy of the cluster that controllers read.

One `Cache` per component holds one `Informer` per kind. An informer lists, then follows the watch; when the revision is gone it
lists again and works out what was deleted meanwhile. Readers get frozen objects and can never reach the network from here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec

from gangline.api.kinds import Kind
from gangline.api.meta import Metadata, Object
from gangline.api.selectors import Selector, equals
from gangline.client import Client, WatchEvent
from gangline.errors import ApiError, Gone, NotFound
from gangline.runtime.clock import Clock, SystemClock
from gangline.runtime.keys import Key, key_of

log = logging.getLogger(__name__)
T = TypeVar("T", bound=Object)
Handler = Callable[[T | None, T | None], None]
"""Called with (before, after); None stands for "was not there" and "is gone"."""
Index = Callable[[Any], Iterable[str]]


class Reader(Protocol):
    """What a pure part may read: objects that are already here."""

    def get(self, kind: Kind[T], name: str, namespace: str = "") -> T | None: ...

    def by(self, kind: Kind[T], index: str, value: str) -> list[T]: ...

    def owned(self, kind: Kind[T], uid: str) -> list[T]: ...

    def list(self, kind: Kind[T], namespace: str = "", labels: Selector | Mapping[str, str] | None = None) -> list[T]: ...


def by_owner(obj: Object) -> Iterable[str]:
    return [owner.uid for owner in obj.metadata.owner_references]


class _Table:
    """One index: which objects have a value."""

    __slots__ = ("buckets", "values")

    def __init__(self, values: Index) -> None:
        self.values = values
        self.buckets: dict[str, dict[Key, None]] = {}

    def move(self, key: Key, before: Any, after: Any) -> None:
        """The object of this key came, changed or went; most changes leave its values as they were."""
        old = list(self.values(before)) if before is not None else []
        new = list(self.values(after)) if after is not None else []
        if old == new:
            return
        for value in old:
            bucket = self.buckets.get(value)
            if bucket is not None:
                bucket.pop(key, None)
                if not bucket:
                    del self.buckets[value]
        for value in new:
            self.buckets.setdefault(value, {})[key] = None


class Informer(Generic[T]):
    """The copy of one kind."""

    def __init__(self, client: Client, kind: Kind[T], clock: Clock, labels: str = "", fields: str = "",
                 trim: Callable[[T], T] | None = None) -> None:
        self.kind = kind
        self.trim = trim
        self.revision = 0
        self.selects = bool(labels or fields)
        self.synced = asyncio.Event()
        self.trouble: ApiError | None = None
        """What the server said instead, while this copy cannot be brought up to date."""
        self._client, self._clock, self._labels, self._fields = client, clock, labels, fields
        self._objects: dict[Key, T] = {}
        self._handlers: list[Handler[T]] = []
        self._tables: dict[str, _Table] = {}

    def on_change(self, handler: Handler[T]) -> None:
        self._handlers.append(handler)
        for obj in list(self._objects.values()):
            handler(None, obj)

    def add_index(self, name: str, index: Index) -> None:
        if name in self._tables:
            return
        table = self._tables[name] = _Table(index)
        for key, obj in self._objects.items():
            table.move(key, None, obj)

    def get(self, key: Key) -> T | None:
        return self._objects.get(key)

    def values(self) -> Iterator[T]:
        return iter(self._objects.values())

    def by(self, index: str, value: str) -> list[T]:
        return [self._objects[key] for key in self._tables[index].buckets.get(value, ())]

    def owned(self, uid: str) -> list[T]:
        """By owner; kept only once somebody asks."""
        self.add_index("owner", by_owner)
        return self.by("owner", uid)

    async def run(self) -> None:
        """Follow the server for ever; every failure is waited out and tried again."""
        wait = 0.1
        while True:
            try:
                await self._list()
                wait = 0.1
                await self._follow()
            except Gone:
                continue
            except NotFound as error:
                self.trouble = error
                self._not_served()
                await self._clock.sleep(min(wait := wait * 2, 5))
            except ApiError as error:
                self.trouble = error
                log.warning("watching %s: %s", self.kind.resource, error)
                await self._clock.sleep(min(wait := wait * 2, 30))
            except msgspec.DecodeError as error:
                log.error("watching %s: the server sent what is no JSON: %s", self.kind.resource, error)
                await self._clock.sleep(min(wait := wait * 2, 30))

    def _not_served(self) -> None:
        """A kind the server does not know (yet) has no objects; whoever waits for this copy need not."""
        for key in list(self._objects):
            self._forget(key)
        self.revision = 0
        self.synced.set()

    async def _list(self) -> None:
        listing = await self._client.list(self.kind, labels=self._labels, fields=self._fields)
        present = {key_of(obj): obj if self.trim is None else self.trim(obj) for obj in listing.items}
        unread = {self._leave(each.metadata, each.problem) for each in listing.unread}
        for key in [key for key in self._objects if key not in present and key not in unread]:
            self._forget(key)
        for key, obj in present.items():
            self._store(key, obj)
        self.revision = int(listing.revision or 0)
        self.trouble = None
        self.synced.set()

    async def _follow(self) -> None:
        empty = 0
        while True:
            before = self.revision
            batches = self._client.watch_batches(self.kind, str(self.revision), labels=self._labels, fields=self._fields)
            async with contextlib.aclosing(cast("AsyncGenerator[Sequence[WatchEvent[T]], None]", batches)):
                async for batch in batches:
                    for event in batch:
                        self._take(event)
            empty = empty + 1 if self.revision == before else 0
            await self._clock.sleep(min(0.01 * 2.0 ** min(empty, 9), 5) if empty else 0)

    def _take(self, event: WatchEvent[T]) -> None:
        obj = event.object
        if event.type == "DELETED":
            self._forget(key_of(obj), obj)
        elif event.type == "UNREAD":
            self._leave(obj.metadata, event.problem)
        elif event.type != "BOOKMARK":
            self._store(key_of(obj), obj if self.trim is None else self.trim(obj))
        self.revision = max(self.revision, int(obj.metadata.resource_version or 0))

    def _leave(self, meta: Metadata, problem: str) -> Key:
        """An object that cannot be read stays as it was last known, and never keeps others from being seen."""
        key = Key(meta.namespace, meta.name)
        log.error("%s %s cannot be read and is left as it was: %s", self.kind.kind, key, problem)
        return key

    def _store(self, key: Key, obj: T) -> None:
        before = self._objects.get(key)
        if before is not None and before.metadata.resource_version == obj.metadata.resource_version:
            return
        self._objects[key] = obj
        for table in self._tables.values():
            table.move(key, before, obj)
        self._tell(before, obj)

    def _forget(self, key: Key, last: T | None = None) -> None:
        before = self._objects.pop(key, None)
        if before is not None:
            for table in self._tables.values():
                table.move(key, before, None)
            self._tell(last or before, None)

    def _tell(self, before: T | None, after: T | None) -> None:
        for handler in self._handlers:
            try:
                handler(before, after)
            except Exception:
                log.exception("a handler of %s failed", self.kind.resource)


class Cache:
    """All informers of a process; the Reader that pure parts are given."""

    def __init__(self, client: Client, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self._informers: dict[Kind[Any], Informer[Any]] = {}
        self._tasks: dict[Kind[Any], asyncio.Task[None]] = {}

    def informer(self, kind: Kind[T], labels: str = "", fields: str = "", trim: Callable[[T], T] | None = None) -> Informer[T]:
        """The informer of a kind; the first call decides its selectors, and what is left out of what it keeps."""
        found = self._informers.get(kind)
        if found is None:
            found = self._informers[kind] = Informer(self._client, kind, self._clock, labels, fields, trim)
        return found

    async def start(self) -> None:
        """Run what was asked for so far, and wait until it is complete once."""
        for kind, informer in self._informers.items():
            if kind not in self._tasks:
                self._tasks[kind] = asyncio.create_task(informer.run(), name=f"informer {kind.resource}")
        await asyncio.gather(*(informer.synced.wait() for informer in self._informers.values()))

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    def drop(self, kind: Kind[Any]) -> None:
        """Follow a kind no longer, and forget its objects."""
        self._informers.pop(kind, None)
        task = self._tasks.pop(kind, None)
        if task is not None:
            task.cancel()

    @property
    def informers(self) -> Iterable[Informer[Any]]:
        return self._informers.values()

    def follows(self, kind: Kind[Any]) -> bool:
        return kind in self._informers

    def revision(self, kind: Kind[Any]) -> int:
        """The newest revision seen of a kind; 0 if it is not followed here, or not served."""
        informer = self._informers.get(kind)
        return informer.revision if informer is not None else 0

    def get(self, kind: Kind[T], name: str, namespace: str = "") -> T | None:
        return cast("T | None", self._informers[kind].get(Key(namespace if kind.namespaced else "", name)))

    def by(self, kind: Kind[T], index: str, value: str) -> list[T]:
        return self._informers[kind].by(index, value)

    def owned(self, kind: Kind[T], uid: str) -> list[T]:
        return self._informers[kind].owned(uid)

    def list(self, kind: Kind[T], namespace: str = "", labels: Selector | Mapping[str, str] | None = None) -> list[T]:
        selector = labels if labels is None or isinstance(labels, Selector) else equals(labels)
        return [obj for obj in self._informers[kind].values()
                if (not namespace or obj.metadata.namespace == namespace)
                and (selector is None or selector.matches(obj.metadata.labels))]
