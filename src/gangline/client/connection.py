"""One HTTP/1.1 connection to an API server: one request at a time, and its answer or its stream.

Stands under http.py, which knows who we are and keeps connections. Written by hand, as the embedded server's side is
(docs/decisions/0009): for small requests by the thousand a general client costs more than everything else we do with them. It never
sends a request twice and knows nothing of kinds. A failure is an `OSError`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import cast

from gangline.client.wire import Response

HELD = 16 * 1024 * 1024
"""Bytes of a stream that nobody has taken yet, before the server has to wait."""
LONGEST_HEAD = 256 * 1024


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the body of an answer."""

    status: int
    headers: dict[str, str]
    warnings: tuple[str, ...]

    @property
    def chunked(self) -> bool:
        return self.headers.get("transfer-encoding", "").lower() == "chunked"

    @property
    def length(self) -> int | None:
        """Bytes of the body, if it is said before."""
        if self.status in (204, 304):
            return 0
        said = self.headers.get("content-length")
        return None if said is None or self.chunked else int(said)

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "application/octet-stream").partition(";")[0].strip().lower()

    @property
    def last(self) -> bool:
        """The server ends the connection after this answer."""
        return self.headers.get("connection", "").lower() == "close" or (self.length is None and not self.chunked)


def read_head(text: bytes) -> Head:
    """Raises ValueError when it is no head of an answer."""
    first, *lines = text.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(f"an answer that begins with {first[:60]!r} is not HTTP/1")
    pairs = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    return Head(int(rest[:3]), dict(pairs), tuple(value for name, value in pairs if name == "warning"))


def take_chunks(got: bytearray) -> tuple[list[bytes], bool]:
    """Takes whole chunks from what came; also whether the last one was among them. Raises ValueError when they are none."""
    found: list[bytes] = []
    at = 0
    while (line := got.find(b"\r\n", at)) >= 0:
        size = int(got[at:line].partition(b";")[0], 16)
        end = line + 2 + size
        if len(got) < end + 2:
            break
        if not size:
            del got[:end + 2]
            return found, True
        found.append(bytes(got[line + 2:end]))
        at = end + 2
    del got[:at]
    return found, False


class Connection(asyncio.BufferedProtocol):
    """`room` is where bytes arrive before they are looked at, at once: connections may share it. `gone` is called when it has ended."""

    def __init__(self, room: memoryview, gone: Callable[[Connection], None]) -> None:
        self._room, self._gone = room, gone
        self.ended = False
        self.free_since = 0.0
        self._got = bytearray()
        self._answer: asyncio.Future[Response] | None = None
        self._head: Head | None = None
        self._watching = self._streaming = self._heard = False
        self._chunks: list[bytes] = []
        self._held = 0
        self._more: asyncio.Future[None] | None = None
        self._complete = False
        self._trouble: OSError | None = None

    # --- asking ----------------------------------------------------------------------------------------------------------

    async def ask(self, request: bytes, watching: bool, patience: float) -> Response:
        """`watching`: the answer's body is a stream. `patience`: seconds without a byte after which it is given up."""
        loop = asyncio.get_running_loop()
        self._answer, self._watching, self._heard = loop.create_future(), watching, False
        self._transport.write(request)
        timer = loop.call_later(patience, self._impatient, patience)
        try:
            return await self._answer
        except BaseException:
            self.abort()
            raise
        finally:
            self._answer = None
            timer.cancel()

    def _impatient(self, patience: float) -> None:
        if self._answer is None or self._answer.done():
            return
        if not self._heard:
            self._fail(TimeoutError(f"nothing came for {patience:g} s"))
            return
        self._heard = False
        asyncio.get_running_loop().call_later(patience, self._impatient, patience)

    @property
    def usable(self) -> bool:
        """Another request may follow."""
        return not self.ended and not self._streaming

    def abort(self) -> None:
        self.ended = True
        self._transport.abort()

    # --- what comes -------------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        plug = transport.get_extra_info("socket")
        if plug is not None:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, count: int) -> None:
        self._got += self._room[:count]
        self._heard = True
        try:
            self._read()
        except ValueError as error:
            self._fail(ConnectionError(f"not understood: {error}"))

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = True
        head = self._head
        if head is not None and not self._streaming and head.length is None and not head.chunked and error is None:
            self._finish(head, bytes(self._got))
        self._fail(error if isinstance(error, OSError) else ConnectionError("the server ended the connection"))
        self._gone(self)

    def _read(self) -> None:
        if self._streaming:
            self._read_stream()
            return
        head = self._head or self._read_head()
        if head is None:
            return
        if head.length is not None:
            if len(self._got) >= head.length:
                body = bytes(self._got[:head.length])
                del self._got[:head.length]
                self._finish(head, body)
        elif head.chunked:
            chunks, last = take_chunks(self._got)
            self._chunks += chunks
            if last:
                self._finish(head, b"".join(self._chunks))

    def _read_head(self) -> Head | None:
        end = self._got.find(b"\r\n\r\n")
        if end < 0:
            if len(self._got) > LONGEST_HEAD:
                raise ValueError("the head of an answer does not end")
            return None
        head = read_head(bytes(self._got[:end]))
        del self._got[:end + 4]
        if head.status < 200:
            return self._read_head()
        if self._answer is None:
            raise ValueError("an answer to nothing")
        self._head = head
        if self._watching and head.status == 200 and head.chunked:
            self._streaming = True
            self._settle(Response(200, content_type=head.content_type, headers=head.headers, warnings=head.warnings, stream=self._stream()))
            self._read_stream()
            return None
        return head

    def _finish(self, head: Head, body: bytes) -> None:
        self._head, self._chunks = None, []
        if head.last:
            self.abort()
        self._settle(Response(head.status, body, head.content_type, head.headers, head.warnings))

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

    # --- a stream ---------------------------------------------------------------------------------------------------------

    def _read_stream(self) -> None:
        chunks, last = take_chunks(self._got)
        self._chunks += chunks
        self._held += sum(map(len, chunks))
        self._complete = self._complete or last
        if self._held > HELD:
            self._transport.pause_reading()
        if chunks or last:
            self._wake()

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    async def _stream(self) -> AsyncIterator[bytes]:
        """What came together is given together."""
        try:
            while True:
                if self._chunks:
                    found, paused = b"".join(self._chunks), self._held > HELD
                    self._chunks, self._held = [], 0
                    if paused and not self.ended:
                        self._transport.resume_reading()
                    yield found
                elif self._complete:
                    return
                elif self._trouble is not None:
                    raise self._trouble
                else:
                    self._more = asyncio.get_running_loop().create_future()
                    await self._more
        finally:
            self.abort()
