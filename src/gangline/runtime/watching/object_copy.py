"""The copy of one kind of object, with indexes; handlers are called with each change.

informer.py keeps it in step with the server. Nothing here reaches the network.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, Generic, TypeVar

from gangline.api.kinds import Kind
from gangline.api.meta import Metadata, Object
from gangline.runtime.keys import Key
from gangline.runtime.metrics import UNREAD

log = logging.getLogger(__name__)
T = TypeVar("T", bound=Object)
Handler = Callable[[T | None, T | None], None]
"""Called with (before, after); None stands for "was not there" and "is gone"."""
Index = Callable[[Any], Iterable[str]]


def by_owner(obj: Object) -> Iterable[str]:
    return [owner.uid for owner in obj.metadata.owner_references]


class IndexTable:
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


class ObjectCopy(Generic[T]):
    def __init__(self, kind: Kind[T], trim: Callable[[T], T] | None = None) -> None:
        self.kind, self.trim = kind, trim
        self._objects: dict[Key, T] = {}
        self._handlers: list[Handler[T]] = []
        self._tables: dict[str, IndexTable] = {}

    def on_change(self, handler: Handler[T]) -> None:
        self._handlers.append(handler)
        for obj in list(self._objects.values()):
            handler(None, obj)

    def add_index(self, name: str, index: Index) -> None:
        if name in self._tables:
            return
        table = self._tables[name] = IndexTable(index)
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

    def store(self, key: Key, obj: T) -> None:
        before = self._objects.get(key)
        if before is not None and before.metadata.resource_version == obj.metadata.resource_version:
            return
        try:
            obj = obj if self.trim is None else self.trim(obj)
        except Exception as error:
            self.leave(obj.metadata, f"{type(error).__name__}: {error}")
            return
        self._objects[key] = obj
        for table in self._tables.values():
            table.move(key, before, obj)
        self._tell(before, obj)

    def forget(self, key: Key, last: T | None = None) -> None:
        before = self._objects.pop(key, None)
        if before is not None:
            for table in self._tables.values():
                table.move(key, before, None)
            self._tell(last or before, None)

    def forget_all(self) -> None:
        for key in list(self._objects):
            self.forget(key)

    def forget_others(self, present: Container[Key]) -> None:
        for key in [key for key in self._objects if key not in present]:
            self.forget(key)

    def leave(self, meta: Metadata, problem: str) -> Key:
        """An object that cannot be read stays as it was last known, and never keeps others from being seen."""
        key = Key(meta.namespace, meta.name)
        UNREAD.labels(self.kind.resource).inc()
        which = key if meta.name else "without a readable name"
        log.error("%s %s cannot be read and is left as it was: %s", self.kind.kind, which, problem)
        return key

    def _tell(self, before: T | None, after: T | None) -> None:
        for handler in self._handlers:
            try:
                handler(before, after)
            except Exception:
                log.exception("a handler of %s failed", self.kind.resource)
