"""Plain lists and watches in protobuf, written object by object from what is stored.

A list may have tens of thousands of objects: it is written in slices, between which others are answered
(dispatch.py). A watch's frames are shared by all who watch alike, as lines of JSON are. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gangline.client.wire import Response
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import whole
from gangline.cluster.server.show.negotiation import AnswerShape
from gangline.cluster.server.show.tables import META, partial
from gangline.cluster.server.store.shelf import Record
from gangline.cluster.server.store.watch_lines import WatchForm
from gangline.cluster.server.verbs.reads import ListPage, list_metadata
from gangline.cluster.server.wire import protobuf
from gangline.cluster.server.wire.codec import PROTOBUF

_METADATA = "PartialObjectMetadata"
SLICE_BYTES = 32 * 1024
"""Of stored JSON that become protobuf in a few milliseconds."""


def is_sliced(shape: AnswerShape) -> bool:
    """Whether a list of this shape is written here."""
    return shape.media == PROTOBUF and shape.kind in ("", _METADATA + "List")


def slices(resource: Resource, shape: AnswerShape, page: ListPage) -> Iterator[bytes]:
    """The items of a list, some at a time."""
    api_version, kind = _kind(resource, shape)
    write = protobuf.item_writer(api_version, kind)
    parts: list[bytes] = []
    size = 0
    for record in page.records:
        obj = whole(resource, record)
        parts.append(write(partial(obj, shape.version) if shape.kind else obj))
        size += len(record.body)
        if size >= SLICE_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def joined(resource: Resource, shape: AnswerShape, page: ListPage, items: list[bytes]) -> Response:
    """The list of which these are the slices."""
    api_version, kind = _kind(resource, shape)
    return Response(200, protobuf.listed(api_version, f"{kind}List", list_metadata(page), items), PROTOBUF)


def _kind(resource: Resource, shape: AnswerShape) -> tuple[str, str]:
    return (f"{META}/{shape.version}", _METADATA) if shape.kind else (resource.api_version, resource.kind)


def protobuf_form(resource: Resource, shape: AnswerShape) -> WatchForm:
    def watch_frame(kind: str, record: Record) -> bytes:
        obj = whole(resource, record)
        return protobuf.watch_event(kind, protobuf.encode(partial(obj, shape.version) if shape.kind else obj))

    key = protobuf.MAGIC + shape.kind.encode() + shape.version.encode() + resource.prefix
    return WatchForm(watch_frame, key, _failure, f"{PROTOBUF};stream=watch")


def _failure(status: Mapping[str, Any]) -> bytes:
    return protobuf.watch_event("ERROR", protobuf.encode(dict(status)))
