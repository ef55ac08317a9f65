"""What is stored right now, as a Reader: for admission hooks of the same process, which must not lag behind as a cache
may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.api.selectors import Selector, equals
from gangline.client.typed_views import decode
from gangline.cluster.server.catalogue import Catalogue
from gangline.cluster.server.store.shelf import Record
from gangline.cluster.server.store.store import Store

T = TypeVar("T", bound=Object)


class LiveReader:
    """Decodes what it is asked for; keeps nothing."""

    def __init__(self, store: Store, catalogue: Catalogue) -> None:
        self._store, self._catalogue = store, catalogue

    def serves(self, kind: Kind[Any]) -> bool:
        return self._catalogue.find(kind.group, kind.version, kind.plural) is not None

    def get(self, kind: Kind[T], name: str, namespace: str = "") -> T | None:
        record = self._store.get((kind.group, kind.plural), (namespace if kind.namespaced else "", name))
        return None if record is None else _view(kind, record)

    def by(self, kind: Kind[T], index: str, value: str) -> list[T]:
        raise LookupError(f"what is stored has no index {index!r}")

    def count(self, kind: Kind[Any], index: str, value: str) -> int:
        return len(self.by(kind, index, value))

    def owned(self, kind: Kind[T], uid: str) -> list[T]:
        return [item for item in self.list(kind) if any(owner.uid == uid for owner in item.metadata.owner_references)]

    def list(self, kind: Kind[T], namespace: str = "", labels: Selector | Mapping[str, str] | None = None) -> list[T]:
        wanted = labels if labels is None or isinstance(labels, Selector) else equals(labels)
        records = self._store.shelf((kind.group, kind.plural)).listing(namespace)
        return [_view(kind, record) for record in records if wanted is None or wanted.matches(record.labels)]


def _view(kind: Kind[T], record: Record) -> T:
    return decode(kind, record.body)
