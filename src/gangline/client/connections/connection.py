"""One HTTP/1.1 connection to an API server: one request at a time, and its answer or its stream.

Stands under http.py, which knows who we are and keeps connections, and over response_reader.py, which reads answers.
Works by callbacks; exchange.py is for whoever awaits.
Requests are written by hand (docs/decisions/0012): for small ones by the thousand a general client costs more than
everything else we do with them. It never sends a request twice and knows nothing of kinds. A failure is an `OSError`.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import cast

from gangline.client.connections.exchange import streamed
from gangline.client.connections.response_reader import HeldBytes, ResponseHead, ResponseReader
from gangline.client.wire import Response

HELD = 16 * 1024 * 1024
"""Bytes of a stream that nobody has taken yet, before the server has to wait."""
LONGEST_ANSWER = 10
"""So many times the patience a whole answer may take; its head may take it once."""


class ClientConnection(asyncio.BufferedProtocol):
    """`room` is where bytes arrive before they are looked at, at once: connections may share it, and `together` counts
    what they hold. `gone` is called when it has ended."""

    def __init__(self, room: memoryview, together: HeldBytes, gone: Callable[[ClientConnection], None]) -> None:
        self._room, self._gone = room, gone
        self.ended = False
        self.free_since = 0.0
        self.tls: ssl.SSLObject | None = None
        self._reader = ResponseReader(together)
        self._answer: asyncio.Future[Response] | None = None
        self._watching = self._streaming = self._heard = self._waits = False
        self._timer: asyncio.TimerHandle | None = None
        self._more: asyncio.Future[None] | None = None
        self._trouble: OSError | None = None

    # --- asking ---------------------------------------------------------------------------------------------

    def begin(self, request: bytes, watching: bool, patience: float) -> asyncio.Future[Response]:
        """Send a request; what is given has its answer in the end. `exchange.ask` waits for it."""
        loop = asyncio.get_running_loop()
        self._answer, self._watching, self._heard = loop.create_future(), watching, False
        self._reader.expect()
        self._transport.write(request)
        self._timer = loop.call_later(patience, self._impatient, patience, LONGEST_ANSWER - 1)
        return self._answer

    def end(self) -> None:
        """The answer of a request was taken, or is wanted no more."""
        self._answer = None
        if self._timer is not None:
            self._timer.cancel()

    def _impatient(self, patience: float, times: int) -> None:
        if self._answer is None or self._answer.done():
            return
        if not self._heard:
            self._fail(TimeoutError(f"nothing came for {patience:g} s"))
        elif self._reader.head is None:
            self._fail(TimeoutError(f"the head of an answer did not come within {patience:g} s"))
        elif not times:
            self._fail(TimeoutError(f"an answer did not end within {LONGEST_ANSWER * patience:g} s"))
        else:
            self._heard = False
            self._timer = asyncio.get_running_loop().call_later(patience, self._impatient, patience, times - 1)

    @property
    def usable(self) -> bool:
        """Another request may follow."""
        return not self.ended and not self._streaming

    def abort(self) -> None:
        self.ended = True
        self._transport.abort()

    # --- what comes -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        plug = transport.get_extra_info("socket")
        if plug is not None:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, count: int) -> None:
        self._heard = True
        trouble: ValueError | None = None
        try:
            self._reader.feed(self._room[:count])
        except ValueError as error:
            trouble = error
        self._look()
        if trouble is not None:
            self._fail(ConnectionError(f"not understood: {trouble}"))

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = True
        head = self._reader.head
        if head is not None and head.endless and not self._streaming and error is None:
            self._finish(head)
        self._fail(error if isinstance(error, OSError) else ConnectionError("the server ended the connection"))
        self._reader.close()
        self._gone(self)

    def _look(self) -> None:
        """At what was read."""
        head = self._reader.head
        if head is None:
            return
        if self._watching and head.status == 200 and head.chunked and not self._streaming:
            self._streaming = self._reader.streams = True
            self._settle(
                Response(
                    200,
                    content_type=head.content_type,
                    headers=head.headers,
                    warnings=head.warnings,
                    stream=streamed(self),
                )
            )
        if not self._streaming:
            if self._reader.complete:
                self._finish(head)
            return
        if self._reader.held > HELD and not self._waits and not self.ended:
            self._waits = True
            self._transport.pause_reading()
        if self._reader.held or self._reader.complete:
            self._wake()

    def _finish(self, head: ResponseHead) -> None:
        if not head.stays:
            self.abort()
        self._settle(Response(head.status, self._reader.take(), head.content_type, head.headers, head.warnings))

    def _settle(self, answer: Response) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def _fail(self, error: OSError) -> None:
        self._trouble = self._trouble or error
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
        self._wake()
        if not self.ended:
            self.abort()

    # --- a stream -------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    def take(self) -> bytes:
        """What came of a stream and was not taken yet, together; empty: nothing now."""
        if not self._reader.held:
            return b""
        chunk = self._reader.take()
        if self._waits and not self.ended:
            self._waits = False
            self._transport.resume_reading()
        return chunk

    def is_over(self) -> bool:
        """Whether a stream has come to its end; raises what cut it off."""
        if not self._reader.complete and self._trouble is not None:
            raise self._trouble
        return self._reader.complete

    def more(self) -> asyncio.Future[None]:
        """Is done when there may be more of a stream."""
        self._more = asyncio.get_running_loop().create_future()
        return self._more
