"""The objects of a cluster by kind and name, as plain data; the ground that every answer of this folder stands on.

A change gives another `ClusterObjects` and leaves this one as it is: so a remedy is tried on exactly what a person
would apply. Nothing here speaks to a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from gangline.api import kinds, names
from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw

T = TypeVar("T", bound=Object)


R = TypeVar("R")


ObjectKey = tuple[str, str]
"""Namespace ("" where there is none) and name."""
Difference = tuple[str, ObjectKey, Raw | None, Raw | None]
"""Kind (as `plural.group`), key, before, after."""


class ClusterObjects:
    """`unread`: kinds (as `plural.group`) that could not be read, and the server's error."""

    def __init__(
        self, by_kind: Mapping[str, Mapping[ObjectKey, Raw]], now: float, unread: Mapping[str, str] | None = None
    ) -> None:
        self._by_kind = by_kind
        self._foreign: dict[tuple[str, str], Kind[Any]] = {}
        self._typed: dict[tuple[str, ObjectKey], Any] = {}
        self._remembered: dict[str, Any] = {}
        self.base = self
        """The objects as they were read, before any change."""
        self.now = now
        self.unread = dict(unread or {})

    @classmethod
    def of(
        cls, listed: Iterable[tuple[Kind[Any], Iterable[Raw]]], now: float, unread: Mapping[str, str] | None = None
    ) -> ClusterObjects:
        read = [(kind, {key_of(obj): obj for obj in of_kind}) for kind, of_kind in listed]
        made = cls({kind.resource: of_kind for kind, of_kind in read}, now, unread)
        strange = [kind for kind, _ in read if kinds.known(kind.api_version, kind.kind) is None]
        made._foreign = {(kind.api_version, kind.kind): kind for kind in strange}
        return made

    @property
    def foreign(self) -> list[Kind[Any]]:
        """Kinds of other makers that were read."""
        return list(self._foreign.values())

    def kind(self, api_version: object, kind: object) -> Kind[Any] | None:
        """The kind of an object or reference, where objects of it are read."""
        return kinds.known(str(api_version), str(kind)) or self._foreign.get((str(api_version), str(kind)))

    def serves(self, kind: Kind[Any]) -> bool:
        """Whether the server knows the kind at all."""
        return kind.resource in self._by_kind

    def hidden(self, *of: Kind[Any]) -> list[str]:
        """Those of the kinds (as `plural.group`) of which nothing may be read, not even in the namespace that was asked
        about: what is not found among them may well be there."""
        read = self.base._by_kind
        return [kind.resource for kind in of if kind.resource in self.unread and kind.resource not in read]

    def raw(self, kind: Kind[Any], name: str, namespace: str = "") -> Raw | None:
        return self._by_kind.get(kind.resource, {}).get((namespace if kind.namespaced else "", name))

    def raws(self, kind: Kind[Any], namespace: str | None = None) -> list[Raw]:
        """All objects of a kind, of one namespace if it is given."""
        of_kind = self._by_kind.get(kind.resource, {})
        return [obj for (where, _), obj in of_kind.items() if namespace is None or where == namespace]

    def get(self, kind: Kind[T], name: str, namespace: str = "") -> T | None:
        key = (namespace if kind.namespaced else "", name)
        return self._view(kind, key) if key in self._by_kind.get(kind.resource, {}) else None

    def all(self, kind: Kind[T], namespace: str | None = None) -> list[T]:
        return [
            self._view(kind, key)
            for key in self._by_kind.get(kind.resource, {})
            if namespace is None or key[0] == namespace
        ]

    def _view(self, kind: Kind[T], key: ObjectKey) -> T:
        kept = self._typed.get((kind.resource, key))
        if kept is None:
            kept = self._typed[kind.resource, key] = msgspec.convert(self._by_kind[kind.resource][key], kind.type)
        typed: T = kept
        return typed

    def everything(self) -> Iterable[Raw]:
        return (obj for of_kind in self._by_kind.values() for obj in of_kind.values())

    def remembered(self, name: str, build: Callable[[], R]) -> R:
        """What follows from the objects, worked out once."""
        if name not in self._remembered:
            self._remembered[name] = build()
        value: R = self._remembered[name]
        return value

    @property
    def revision(self) -> int:
        """The newest resourceVersion among the objects as they were read; 0 where they have none."""
        return self.base.remembered("revision", lambda: max(map(_version, self.base.everything()), default=0))

    def count_pods(self) -> int:
        return len(self._by_kind.get("pods", {}))

    def changes(self) -> Iterator[Difference]:
        """What differs from the objects as they were read."""
        for resource in self._by_kind.keys() | self.base._by_kind.keys():
            mine, theirs = self._by_kind.get(resource, {}), self.base._by_kind.get(resource, {})
            if mine is not theirs:
                for key in mine.keys() | theirs.keys():
                    if mine.get(key) is not theirs.get(key):
                        yield resource, key, theirs.get(key), mine.get(key)

    def put(self, kind: Kind[Any], obj: Raw | None, name: str, namespace: str = "") -> ClusterObjects:
        """With one object in place of what stood there; None: without it."""
        key = (namespace if kind.namespaced else "", name)
        of_kind = {item: held for item, held in self._by_kind.get(kind.resource, {}).items() if item != key}
        if obj is not None:
            of_kind[key] = obj
        other = ClusterObjects({**self._by_kind, kind.resource: of_kind}, self.now, self.unread)
        other.base = self.base
        other._foreign = self._foreign
        other._typed = {item: view for item, view in self._typed.items() if item != (kind.resource, key)}
        return other


def _version(obj: Raw) -> int:
    version = str(dig(obj, "metadata", "resourceVersion") or "")
    return int(version) if version.isdigit() else 0


def key_of(obj: Raw) -> ObjectKey:
    meta = obj.get("metadata") or {}
    return str(meta.get("namespace") or ""), str(meta.get("name") or "")


def is_simulated(node: Raw) -> bool:
    """Whether the simulated kubelet plays it."""
    provider = str(dig(node, "spec", "providerID") or "")
    return names.SIMULATED in (dig(node, "metadata", "labels") or {}) or provider.startswith(names.SIMULATED_PROVIDER)


def dig(obj: Any, *path: str) -> Any:
    """What stands at a path of plain data; None where there is nothing."""
    for part in path:
        if not isinstance(obj, Mapping):
            return None
        obj = obj.get(part)
    return obj
