"""A watch, from chunks of bytes to events: cut at ends of lines, decoded once, shared by all watchers of a process.

client.py hands the stream here; what a server ends a watch with becomes an error of the family in errors.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic

import msgspec

from gangline.api.kept import kept_pairs
from gangline.api.kinds import Kind
from gangline.api.meta import Model
from gangline.client.typed_views import METADATA, STATUS, UNREADABLE, T, decode, metadata_of
from gangline.client.wire import ByteStream
from gangline.errors import ApiError, Unavailable, api_error

LONGEST_EVENT = 64 * 1024 * 1024
"""Bytes of one line of a watch; an object has a few megabytes at most."""


LONGEST_SHARED = 32 * 1024
"""Bytes of an event that is kept decoded for other watchers of this process."""
SHARED, BATCHES, LARGE = 1024, 32, 256 * 1024
"""How many watch events are kept decoded for other watchers of this process, how many batches of them, and of which
size at most."""


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    type: str
    """ADDED, MODIFIED, DELETED, or BOOKMARK or UNREAD (whose objects have only metadata)."""
    object: T
    problem: str = ""
    """What is wrong with an UNREAD object."""


class _RawEvent(Model, frozen=True):
    type: str
    object: msgspec.Raw


_EVENT = msgspec.json.Decoder(_RawEvent)


async def whole_lines(stream: ByteStream) -> AsyncIterator[bytes]:
    """Chunks cut at ends of lines."""
    rest: list[bytes] = []
    held = 0
    try:
        async for chunk in stream:
            end = chunk.rfind(b"\n") + 1
            if end:
                yield b"".join((*rest, chunk[:end]))
                rest, held = [], 0
            if end < len(chunk):
                rest.append(chunk[end:])
                held += len(chunk) - end
            if held > LONGEST_EVENT:
                raise Unavailable({"message": f"an event of a watch is larger than {LONGEST_EVENT} bytes", "code": 503})
        if rest:
            yield b"".join(rest)
    finally:
        await stream.aclose()


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events that came together; `failure` is the Status with which the server ended the watch after them."""

    events: Sequence[WatchEvent[Any]]
    failure: Mapping[str, Any] | None = None


@lru_cache(maxsize=BATCHES)
def shared_batch(kind: Kind[Any], lines: bytes) -> EventBatch:
    """Components of one process watch the same objects: each event is decoded once, and the frozen object shared."""
    return batch_of(kind, lines)


def batch_of(kind: Kind[Any], lines: bytes) -> EventBatch:
    return _batch(lines, lambda line: _shared_event(kind, line))


def own_batch(kind: Kind[Any], lines: bytes) -> EventBatch:
    """For the only watcher of a process: nothing is kept."""
    return _batch(lines, lambda line: _event(kind, line))


def _batch(lines: bytes, read: Callable[[bytes], WatchEvent[Any]]) -> EventBatch:
    events: list[WatchEvent[Any]] = []
    try:
        events.extend(read(line) for line in lines.split(b"\n") if line)
    except ApiError as error:
        return EventBatch(events, error.status)
    return EventBatch(events)


def _event(kind: Kind[T], line: bytes) -> WatchEvent[T]:
    event = _EVENT.decode(line)
    if event.type == "ERROR":
        raise api_error(STATUS.decode(event.object))
    if event.type == "BOOKMARK":
        return WatchEvent("BOOKMARK", kind.type(metadata=METADATA.decode(event.object).metadata))
    try:
        return WatchEvent(event.type, decode(kind, event.object))
    except UNREADABLE as error:
        known = kind.type(metadata=metadata_of(event.object))
        return WatchEvent("DELETED", known) if event.type == "DELETED" else WatchEvent("UNREAD", known, str(error))


_shared_event = kept_pairs(SHARED, LONGEST_SHARED)(_event)
