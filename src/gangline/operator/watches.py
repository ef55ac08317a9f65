"""Which changes of an object are acted upon, and which set or gang they concern; for every controller.

What only one controller asks is in its own watches.py. Nothing here reads more than the cache, or writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.api import names
from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.config import Manner
from gangline.runtime import Cache, Key, Reader


def served(read: Reader, kind: Kind[Any]) -> bool:
    """Whether the API server serves a kind: its informer has been answered."""
    return revision(read, kind) > 0


def revision(read: Reader, kind: Kind[Any]) -> int:
    return read.revision(kind) if isinstance(read, Cache) else 0


def set_key(obj: Object, read: Reader) -> list[Key]:
    """The set that an object is part of."""
    owner = obj.labels.get(names.PART_OF)
    return [Key(obj.namespace, owner)] if owner else []


def gang_key(obj: Object, read: Reader) -> list[Key]:
    gang = obj.labels.get(names.POD_GANG)
    return [Key(obj.namespace, gang)] if gang else []


def asked_again(before: Object | None, after: Object | None) -> bool:
    """Whether someone changed what is wanted: spec, labels, annotations, finalizers, deletion; a status alone does not
    count."""
    if before is None or after is None:
        return True
    old, new = before.metadata, after.metadata
    return (
        old.generation != new.generation
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.deletion_timestamp != new.deletion_timestamp
        or old.finalizers != new.finalizers
    )


def wanted_again(before: Object | None, after: Object | None) -> bool:
    """Whether someone changed the spec, asked for another look, or deleted the object; labels and annotations do not
    count."""
    if before is None or after is None:
        return True
    old, new = before.metadata, after.metadata
    return (
        old.generation != new.generation
        or old.deletion_timestamp != new.deletion_timestamp
        or old.annotations.get(names.RECONCILE_TRIGGER) != new.annotations.get(names.RECONCILE_TRIGGER)
    )


def set_change_filter(manner: Manner) -> Callable[[Object | None, Object | None], bool]:
    """Which changes of a set are acted upon."""
    return wanted_again if manner.marks_unheard else asked_again
