"""List + watch → an indexed copy of the cluster that controllers read.

One `Cache` per component holds one `Informer` per kind. An informer lists, then follows the watch; whatever goes wrong,
it says so, counts it, waits a little longer each time, lists again and works out what was deleted meanwhile. A watch
that the server should have ended long ago is given up for another that goes on where it stopped: its connection may be
dead without anybody having said so. Readers get frozen objects and can never reach the network from here."""

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
from gangline.errors import ApiError, Forbidden, Gone, NotFound, Unauthorized, Unavailable
from gangline.runtime import background
from gangline.runtime.clock import Clock, SystemClock, within
from gangline.runtime.keys import Key, key_of
from gangline.runtime.metrics import UNREAD, WATCH_RESTARTS

log = logging.getLogger(__name__)
WATCH_SECONDS = 300
"""After which the server ends a watch, as it is asked to."""
GRACE = 30.0
"""Seconds after that, when a watch that is still open is taken to be dead."""
SOON, LATER, NOT_SERVED = 0.2, 30.0, 5.0
"""Seconds before the first new try, and at most between two; at most, where the server does not know the kind."""
PATIENCE = 10.0
"""Seconds after which whoever waits for a cache is told what it waits for, and between two times of telling."""
T = TypeVar("T", bound=Object)
Handler = Callable[[T | None, T | None], None]
"""Called with (before, after); None stands for "was not there" and "is gone"."""
Index = Callable[[Any], Iterable[str]]


class Reader(Protocol):
    """What a pure part may read: objects that are already here."""

    def get(self, kind: Kind[T], name: str, namespace: str = "") -> T | None: ...

    def by(self, kind: Kind[T], index: str, value: str) -> list[T]: ...

    def count(self, kind: Kind[Any], index: str, value: str) -> int: ...

    def owned(self, kind: Kind[T], uid: str) -> list[T]: ...

    def list(
        self, kind: Kind[T], namespace: str = "", labels: Selector | Mapping[str, str] | None = None
    ) -> list[T]: ...


def by_owner(obj: Object) -> Iterable[str]:
    return [owner.uid for owner in obj.metadata.owner_references]


class _Table:
    """One index: which objects have a value."""

    __slots__ = ("buckets", "values")

    def __init__(self, values: Index) -> None:
        self.values = values
        self.buckets: dict[str, dict[Key, None]] = {}

    def _values(self, key: Key, obj: Any) -> list[str]:
        try:
            return list(self.values(obj)) if obj is not None else []
        except Exception:
            log.exception("%s %s cannot be found by an index", type(obj).__name__, key)
            return []

    def move(self, key: Key, before: Any, after: Any) -> None:
        """The object of this key came, changed or went; most changes leave its values as they were."""
        old, new = self._values(key, before), self._values(key, after)
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

    def __init__(
        self,
        client: Client,
        kind: Kind[T],
        clock: Clock,
        labels: str = "",
        fields: str = "",
        trim: Callable[[T], T] | None = None,
    ) -> None:
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

    def count(self, index: str, value: str) -> int:
        """How many there are, without a list of them."""
        return len(self._tables[index].buckets.get(value, ()))

    def owned(self, uid: str) -> list[T]:
        """By owner; kept only once somebody asks."""
        self.add_index("owner", by_owner)
        return self.by("owner", uid)

    async def run(self) -> None:
        """Follow the server for ever; every failure is told, waited out and tried again."""
        failures = 0
        while True:
            began = self._clock.monotonic()
            try:
                await self._list()
                await self._follow()
            except Exception as error:
                failures = failures + 1 if self._clock.monotonic() - began < LATER else 1
                await self._clock.sleep(self._tell_failure(error, failures))

    def _tell_failure(self, error: Exception, failures: int) -> float:
        """Say what went wrong; gives the seconds until the next try."""
        why, text, longest = _diagnosis(error)
        WATCH_RESTARTS.labels(self.kind.resource, why).inc()
        wait = background.pause(failures, SOON, longest) if why != "gone" or failures > 1 else 0.0
        level = logging.ERROR if why in ("unreadable", UNEXPECTED) else logging.WARNING
        if why in ("gone", "not-served"):
            level = logging.DEBUG if isinstance(self.trouble, NotFound) else logging.INFO
        where = error if why == UNEXPECTED else None
        log.log(level, "watching %s: %s; again in %.1f s", self.kind.resource, text, wait, exc_info=where)
        if why != "gone":
            self.trouble = error if isinstance(error, ApiError) else Unavailable({"message": text})
        if why == "not-served":
            self._not_served()
        return wait

    def _not_served(self) -> None:
        """A kind the server does not know (yet) has no objects; whoever waits for this copy need not."""
        for key in list(self._objects):
            self._forget(key)
        self.revision = 0
        self.synced.set()

    async def _list(self) -> None:
        listing = await self._client.list(self.kind, labels=self._labels, fields=self._fields)
        present = {key_of(obj): obj for obj in listing.items}
        unread = {self._leave(item.metadata, item.problem) for item in listing.unread}
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
            try:
                await within(self._clock, WATCH_SECONDS + GRACE, self._watch())
            except TimeoutError:
                WATCH_RESTARTS.labels(self.kind.resource, "silent").inc()
                log.warning(
                    "watching %s: the server did not end a watch of %d s; its connection is taken to be dead, and "
                    "another goes on from revision %d",
                    self.kind.resource,
                    WATCH_SECONDS,
                    before,
                )
                continue
            empty = empty + 1 if self.revision == before else 0
            await self._clock.sleep(min(0.01 * 2.0 ** min(empty, 9), 5) if empty else 0)

    async def _watch(self) -> None:
        """Until the server ends it."""
        batches = self._client.watch_batches(
            self.kind, str(self.revision), labels=self._labels, fields=self._fields, seconds=WATCH_SECONDS
        )
        async with contextlib.aclosing(cast("AsyncGenerator[Sequence[WatchEvent[T]], None]", batches)):
            async for batch in batches:
                for event in batch:
                    self._take(event)

    def _take(self, event: WatchEvent[T]) -> None:
        obj = event.object
        if event.type == "DELETED":
            self._forget(key_of(obj), obj)
        elif event.type == "UNREAD":
            self._leave(obj.metadata, event.problem)
        elif event.type != "BOOKMARK":
            self._store(key_of(obj), obj)
        self.revision = max(self.revision, int(obj.metadata.resource_version or 0))

    def _leave(self, meta: Metadata, problem: str) -> Key:
        """An object that cannot be read stays as it was last known, and never keeps others from being seen."""
        key = Key(meta.namespace, meta.name)
        UNREAD.labels(self.kind.resource).inc()
        which = key if meta.name else "without a readable name"
        log.error("%s %s cannot be read and is left as it was: %s", self.kind.kind, which, problem)
        return key

    def _store(self, key: Key, obj: T) -> None:
        before = self._objects.get(key)
        if before is not None and before.metadata.resource_version == obj.metadata.resource_version:
            return
        try:
            obj = obj if self.trim is None else self.trim(obj)
        except Exception as error:
            self._leave(obj.metadata, f"{type(error).__name__}: {error}")
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


UNEXPECTED = "unexpected"


def _diagnosis(error: Exception) -> tuple[str, str, float]:
    """Why a copy cannot be followed: in a word, in a sentence, and the longest wait until the next try."""
    match error:
        case Gone():
            return "gone", f"the revision it had come to is no longer kept ({error})", LATER
        case NotFound():
            text = f"the server does not know this kind ({error}); is its CustomResourceDefinition installed?"
            return "not-served", text, NOT_SERVED
        case Forbidden() | Unauthorized():
            return "refused", f"the server refuses it ({error}); the account needs the verbs list and watch", LATER
        case ApiError():
            return "unavailable", str(error), LATER
        case msgspec.MsgspecError() | UnicodeDecodeError():
            return "unreadable", f"the server sent what is no answer to that: {error}", LATER
    return UNEXPECTED, f"{type(error).__name__}: {error}", LATER


class Cache:
    """All informers of a process; the Reader that pure parts are given."""

    def __init__(self, client: Client, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self._informers: dict[Kind[Any], Informer[Any]] = {}
        self._tasks: dict[Kind[Any], asyncio.Task[None]] = {}

    def informer(
        self, kind: Kind[T], labels: str = "", fields: str = "", trim: Callable[[T], T] | None = None
    ) -> Informer[T]:
        """The informer of a kind; the first call decides its selectors, and what is left out of what it keeps."""
        found = self._informers.get(kind)
        if found is None:
            found = self._informers[kind] = Informer(self._client, kind, self._clock, labels, fields, trim)
        return found

    async def start(self) -> None:
        """Run what was asked for so far, and wait until it is complete once."""
        for kind, informer in self._informers.items():
            if kind not in self._tasks:
                self._tasks[kind] = background.start(f"informer {kind.resource}", informer.run, self._clock)
        speaking = background.start("cache", self._tell_waiting, self._clock)
        try:
            await asyncio.gather(*(informer.synced.wait() for informer in self._informers.values()))
        finally:
            speaking.cancel()

    async def _tell_waiting(self) -> None:
        """Say what is waited for, again and again: whoever waits for a list must not look like a process that hangs."""
        began = self._clock.monotonic()
        while True:
            await self._clock.sleep(PATIENCE)
            missing = [
                f"{informer.kind.resource} ({informer.trouble or 'no answer yet'})"
                for informer in self.informers
                if not informer.synced.is_set()
            ]
            waited = self._clock.monotonic() - began
            log.warning("not started yet: %.0f s without a first list of %s", waited, ", ".join(missing))

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    def drop(self, kind: Kind[Any]) -> None:
        """Follow a kind no longer, and forget its objects."""
        informer = self._informers.pop(kind, None)
        if informer is not None:
            informer.synced.set()
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

    def count(self, kind: Kind[Any], index: str, value: str) -> int:
        return self._informers[kind].count(index, value)

    def owned(self, kind: Kind[T], uid: str) -> list[T]:
        return self._informers[kind].owned(uid)

    def list(self, kind: Kind[T], namespace: str = "", labels: Selector | Mapping[str, str] | None = None) -> list[T]:
        selector = labels if labels is None or isinstance(labels, Selector) else equals(labels)
        return [
            obj
            for obj in self._informers[kind].values()
            if (not namespace or obj.metadata.namespace == namespace)
            and (selector is None or selector.matches(obj.metadata.labels))
        ]
