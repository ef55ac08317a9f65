"""The indexed copy of the cluster that the controllers of a component read: one informer per kind.

Readers get frozen objects and can never reach the network from here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar, cast

from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.api.selectors import Selector, equals
from gangline.client import Client
from gangline.runtime import background
from gangline.runtime.clock import Clock, SystemClock
from gangline.runtime.keys import Key
from gangline.runtime.watching.informer import Informer

log = logging.getLogger(__name__)
PATIENCE = 10.0
"""Seconds after which a wait for a cache is logged with what it waits for, and between two such lines."""
T = TypeVar("T", bound=Object)


class Reader(Protocol):
    """What a pure part may read: objects that are already here."""

    def get(self, kind: Kind[T], name: str, namespace: str = "") -> T | None: ...

    def by(self, kind: Kind[T], index: str, value: str) -> list[T]: ...

    def count(self, kind: Kind[Any], index: str, value: str) -> int: ...

    def owned(self, kind: Kind[T], uid: str) -> list[T]: ...

    def list(
        self, kind: Kind[T], namespace: str = "", labels: Selector | Mapping[str, str] | None = None
    ) -> list[T]: ...


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
        informer = self._informers.get(kind)
        if informer is None:
            informer = self._informers[kind] = Informer(self._client, kind, self._clock, labels, fields, trim)
        return informer

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
        """Log what is waited for, again and again: a process that waits for a list must not look as if it hung."""
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

    @property
    def newest(self) -> int:
        """The newest revision seen of any kind."""
        return max((informer.revision for informer in self._informers.values()), default=0)

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
