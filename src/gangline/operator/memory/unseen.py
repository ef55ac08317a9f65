"""Writes of ours that the cache has not shown yet.

After a create the next look at the same key waits until the object, or anything later, has been seen; after a delete
until it is on its way out. A stale view can so only delay, never duplicate. Forgotten at a restart, when the cache is
listed afresh.
"""

from __future__ import annotations

from typing import Any

from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.operator.plan import Create, Delete, Step
from gangline.operator.watches import revision
from gangline.runtime import Key, Reader


class UnseenWrites:
    def __init__(self, kind: Kind[Any]) -> None:
        self._kind = kind
        self._made: dict[Key, dict[str, int]] = {}
        self._removed: dict[Key, dict[str, str]] = {}

    def of(self, key: Key) -> NotedWrites:
        return NotedWrites(self, key)

    def made(self, key: Key, obj: Object) -> None:
        self._made.setdefault(key, {})[obj.name] = int(obj.metadata.resource_version or 0)

    def removed(self, key: Key, name: str, uid: str) -> None:
        self._removed.setdefault(key, {})[name] = uid

    def forget(self, key: Key) -> None:
        self._made.pop(key, None)
        self._removed.pop(key, None)

    def caught_up(self, key: Key, read: Reader) -> bool:
        """Whether the cache has shown everything that was written for this key."""
        made = {
            name: written
            for name, written in self._made.get(key, {}).items()
            if read.get(self._kind, name, key.namespace) is None and revision(read, self._kind) < written
        }
        removed = {
            name: uid
            for name, uid in self._removed.get(key, {}).items()
            if (live := read.get(self._kind, name, key.namespace)) is not None
            and live.uid == uid
            and not live.metadata.deleting
        }
        self.forget(key)
        if made:
            self._made[key] = made
        if removed:
            self._removed[key] = removed
        return not made and not removed


class UnseenChoices:
    """Choices of ours, written in a status, that the cache has not shown yet: the controller must not choose again
    before it does."""

    def __init__(self) -> None:
        self._revisions: dict[Key, int] = {}

    def note(self, key: Key, written: Object | None) -> None:
        if written is not None:
            self._revisions[key] = int(written.metadata.resource_version or 0)

    def seen(self, key: Key, live: Object) -> bool:
        """Whether the cache's object is the one with the choice, or a later one."""
        if int(live.metadata.resource_version or 0) < self._revisions.get(key, 0):
            return False
        self.forget(key)
        return True

    def forget(self, key: Key) -> None:
        self._revisions.pop(key, None)


class NotedWrites:
    """Notes the writes of one reconcile."""

    def __init__(self, unseen: UnseenWrites, key: Key) -> None:
        self._unseen, self._key = unseen, key

    def note(self, step: Step, answer: Object | None) -> None:
        if step.kind is not self._unseen._kind:
            return
        if isinstance(step, Create) and answer is not None:
            self._unseen.made(self._key, answer)
        elif isinstance(step, Delete):
            self._unseen.removed(self._key, step.name, step.uid)
