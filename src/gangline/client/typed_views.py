"""Bytes of an object as its typed view, and what is known of one that does not fit.

Used by client.py and watch_events.py. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from gangline.api.kinds import Kind
from gangline.api.meta import Metadata, Model, Object, Raw
from gangline.errors import Unreadable

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


def unreadable(asked: str, error: Exception) -> Unreadable:
    """The error for an answer that cannot be read at all."""
    text = f"the answer to {asked} is none of a Kubernetes API server: {error}"
    return Unreadable({"message": text, "reason": "Unreadable", "code": 502})


def view(kind: Kind[T], body: bytes, asked: str) -> T:
    """An answer as the typed view of an object."""
    try:
        return decode(kind, body)
    except UNREADABLE as error:
        raise unreadable(asked, error) from error


def plain(body: bytes, asked: str) -> Raw:
    """An answer as the map it must be."""
    try:
        return STATUS.decode(body)
    except UNREADABLE as error:
        raise unreadable(asked, error) from error


F = TypeVar("F", bound=Model)


def read_as(form: type[F], body: bytes, asked: str) -> F:
    """An answer that is no object of a kind: a document of discovery, or a review."""
    try:
        return msgspec.json.decode(body, type=form)
    except UNREADABLE as error:
        raise unreadable(asked, error) from error


class DiscoveredVersion(Model, frozen=True):
    group_version: str


class DiscoveredGroup(Model, frozen=True):
    """What discovery says of a group: the preferred version goes first."""

    name: str = ""
    preferred_version: DiscoveredVersion | None = None
    versions: tuple[DiscoveredVersion, ...] = ()


class DiscoveredGroups(Model, frozen=True):
    groups: tuple[DiscoveredGroup, ...] | None = None


class DiscoveredResource(Model, frozen=True):
    name: str
    kind: str
    namespaced: bool
    singular_name: str = ""
    short_names: tuple[str, ...] | None = None


class DiscoveredResources(Model, frozen=True):
    resources: tuple[DiscoveredResource, ...] | None = None


class PlainList(Model, frozen=True):
    items: list[dict[str, Any]] | None = None


_PLAIN_LIST = msgspec.json.Decoder(PlainList)


def plain_items(body: bytes, asked: str) -> list[Raw]:
    """The objects of a list; each is a map and has metadata."""
    try:
        items = _PLAIN_LIST.decode(body).items or []
    except UNREADABLE as error:
        raise unreadable(asked, error) from error
    if not all(isinstance(item.get("metadata"), dict) for item in items):
        raise unreadable(asked, ValueError("an object has no metadata"))
    return items


def metadata_of(body: msgspec.Raw) -> Metadata:
    """Of an object that does not fit its typed view; empty, where not even that can be read."""
    try:
        return METADATA.decode(body).metadata
    except UNREADABLE:
        return Metadata()
