"""What a work queue holds: the name of an object, never an event."""

from __future__ import annotations

from typing import NamedTuple

from gangline.api.meta import Object


class Key(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def key_of(obj: Object) -> Key:
    return Key(obj.metadata.namespace, obj.metadata.name)
