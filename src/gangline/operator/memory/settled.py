"""Children of a set that were found to be as wanted: remembered by their revision, so that the next look is cheap.

A child is looked at again when it changes, or when the set asks for something else. Nothing here reads or writes.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import Kind
from gangline.api.meta import Object


class SettledChildren:
    """Children that were found to be as wanted, so that the next look at an unchanged one costs nothing."""

    MOST = 50_000

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], tuple[object, ...]] = OrderedDict()

    def check(self, kind: Kind[Any], live: Object, wish: tuple[object, ...]) -> bool:
        """Whether this revision of the child was fine under the same wish."""
        return self._seen.get((kind.resource, live.uid)) == (live.metadata.resource_version, wish)

    def note(self, kind: Kind[Any], live: Object, wish: tuple[object, ...]) -> None:
        self._seen[kind.resource, live.uid] = (live.metadata.resource_version, wish)
        if len(self._seen) > self.MOST:
            self._seen.popitem(last=False)


def wish_of(pcs: PodCliqueSet) -> tuple[object, ...]:
    """Everything of a set that its children are made from, as a value that can be compared."""
    meta = pcs.metadata
    return meta.uid, meta.generation, tuple(sorted(meta.labels.items())), tuple(sorted(meta.annotations.items()))
