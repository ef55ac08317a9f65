"""Bytes of an object as its typed view, and what is known of one that does not fit.

Used by client.py and watch_events.py. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from gangline.api.kinds import Kind
from gangline.api.meta import Metadata, Model, Object

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class UnreadObject:
    """An object that does not fit its typed view: a server may hold what an older or looser definition let in."""

    metadata: Metadata
    problem: str


class OnlyMetadata(Model, frozen=True):
    metadata: Metadata = Metadata()


METADATA = msgspec.json.Decoder(OnlyMetadata)


STATUS = msgspec.json.Decoder(dict[str, Any])


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding an object ends with that is no such object."""


_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {}


def decode(kind: Kind[T], body: bytes | msgspec.Raw) -> T:
    """Bytes of an object → its typed view."""
    decoder = _DECODERS.get(kind.type)
    if decoder is None:
        decoder = _DECODERS[kind.type] = msgspec.json.Decoder(kind.type, strict=False)
    result: T = decoder.decode(body)
    return result


def metadata_of(body: msgspec.Raw) -> Metadata:
    """Of an object that does not fit its typed view; empty, where not even that can be read."""
    try:
        return METADATA.decode(body).metadata
    except UNREADABLE:
        return Metadata()
