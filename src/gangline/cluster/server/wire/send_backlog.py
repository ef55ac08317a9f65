"""What waits to be sent: the bytes of answers and watch events that clients do not take, over all connections.

http.py makes one `SendBacklog` for a listener; a connection enters when its client stops reading and leaves when it
reads on or has gone. Over the bound the one that has waited the longest is hung up on; its client asks again, as the
API allows. Who reads all the time is never in here. Nothing here reads, writes or waits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

log = logging.getLogger(__name__)
MOST_BYTES = 128 * 1024 * 1024
GRACE_SECONDS = 1.0
"""So long a client may stand still, however much waits: one that reads a long list stops now and then."""


class SlowReader(Protocol):
    """A connection, as seen here."""

    def abort(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Held:
    since: float
    own: int
    """Bytes of its socket's buffers."""
    text: bytes
    """What it still has to write; watchers of the same share the text."""


class SendBacklog:
    def __init__(self, most: int, grace: float, time: Callable[[], float]) -> None:
        self._most, self._grace, self._time = most, grace, time
        self._held: dict[SlowReader, _Held] = {}
        """The one that has waited the longest first."""
        self._shares: dict[int, int] = {}
        """How many hold a text, by its identity."""
        self.bytes = 0

    def enter(self, reader: SlowReader, own: int, text: bytes) -> None:
        """Its client does not take what was written."""
        self.leave(reader)
        self._held[reader] = _Held(self._time(), own, text)
        shares = self._shares.get(id(text), 0)
        self._shares[id(text)] = shares + 1
        self.bytes += own if shares else own + len(text)
        self.shrink()

    def leave(self, reader: SlowReader) -> None:
        """It goes on, or is closed; calling this for one that never entered does not matter."""
        held = self._held.pop(reader, None)
        if held is None:
            return
        left = self._shares.pop(id(held.text)) - 1
        if left:
            self._shares[id(held.text)] = left
        self.bytes -= held.own if left else held.own + len(held.text)

    def shrink(self) -> None:
        """Hang up on those who have waited the longest until the others hold no more than they may."""
        latest, gone = self._time() - self._grace, 0
        while self.bytes > self._most:
            reader, held = next(iter(self._held.items()))
            if held.since > latest:
                break
            self.leave(reader)
            reader.abort()
            gone += 1
        if gone:
            log.warning(
                "%d connections are closed that take no answers: what waits to be sent is more than %d bytes",
                gone,
                self._most,
            )
