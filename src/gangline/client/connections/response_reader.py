"""Answers read from the bytes of one connection: heads, bodies and their limits.

Stands under connection.py, which has the bytes. llhttp (httptools) says what the bytes mean; how many of them there may
be is decided here. Memory grows only with bytes that came, never with what a head or a chunk announces. Nothing here
reads a socket, waits, or knows what was asked. What is no answer is a `ValueError`.
"""

from __future__ import annotations

from dataclasses import dataclass

import httptools

LONGEST_HEAD = 256 * 1024
"""Bytes before a body, with all that the server says before its answer (1xx)."""
MOST_HEADERS = 512
LONGEST_BODY = 512 * 1024 * 1024
"""Of an answer that is no stream, and of all together that one client has not taken yet."""
FRAMING_LIMIT, FRAMING_SHARE = 64 * 1024, 8
"""Bytes of a chunked body that are no data (sizes, extensions, trailers): so many, and so many a byte of data."""


class HeldBytes:
    """What came and was not taken yet, over all connections of a client."""

    def __init__(self) -> None:
        self.total = 0


def read_length(text: str) -> int:
    """Of a Content-Length, which llhttp has found to be digits of a number that is not too large."""
    return int(text.lstrip("0") or "0")


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """What stands before the body of an answer."""

    status: int
    headers: dict[str, str]
    warnings: tuple[str, ...]
    stays: bool
    """The server keeps the connection after this answer."""

    @property
    def chunked(self) -> bool:
        return "transfer-encoding" in self.headers

    @property
    def endless(self) -> bool:
        """The body ends with the connection."""
        return not self.chunked and "content-length" not in self.headers and self.status not in (204, 304)

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "application/octet-stream").partition(";")[0].strip().lower()


class ResponseReader:
    """One answer after the other; `expect` says that one may come."""

    def __init__(self, together: HeldBytes | None = None) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._together = together or HeldBytes()
        self._body = bytearray()
        self.expect()
        self._expected = False

    def expect(self) -> None:
        """Another answer may come."""
        self._expected = True
        self.head: ResponseHead | None = None
        self.complete = self.streams = False
        """The whole answer was read. Its body is taken as it comes."""
        self._beginning = b""
        self._begin()
        self.take()
        self._size = self._wire = 0

    def take(self) -> bytes:
        """What came of the body since it was last taken."""
        body, self._body = bytes(self._body), bytearray()
        self._together.total -= len(body)
        return body

    @property
    def held(self) -> int:
        """Bytes that nobody has taken yet."""
        return len(self._body)

    def feed(self, data: memoryview) -> None:
        self._wire += len(data)
        if not self._beginning:
            self._beginning = bytes(data[:60])
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise ValueError("the server asks for another protocol") from None
        except httptools.HttpParserCallbackError as error:
            raise error.__context__ or error from None
        except httptools.HttpParserError as error:
            raise ValueError(self._describe(str(error))) from None
        self._check_size()

    def close(self) -> None:
        """Nothing will follow, and what came is taken; called once. Parser and reader know each other; this lets them
        go."""
        self._together.total -= len(self._body)
        self._together = HeldBytes()
        del self._parser

    def _describe(self, why: str) -> str:
        if self.head is not None:
            return why
        first = self._beginning.decode("latin-1").partition("\r\n")[0]
        return f"an answer that begins with {first!r} is not HTTP/1: {why}"

    def _check_size(self) -> None:
        if self.head is None:
            if self._wire > LONGEST_HEAD:
                raise ValueError("the head of an answer does not end")
        elif self.head.chunked and self._wire > FRAMING_LIMIT + (1 + FRAMING_SHARE) * self._size:
            raise ValueError("a chunked answer holds too much that is no data")

    # --- what llhttp finds ----------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._headers: dict[str, str] = {}
        self._warnings: list[str] = []
        self._count = 0

    def on_message_begin(self) -> None:
        if not self._expected or self.complete:
            raise ValueError("an answer came without a request")
        self._begin()

    def on_header(self, raw_name: bytes, raw_value: bytes) -> None:
        self._count += 1
        if self._count > MOST_HEADERS:
            raise ValueError(f"an answer has more than {MOST_HEADERS} headers")
        if self.head is None:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip(" \t")
            self._headers[name] = value
            if name == "warning":
                self._warnings.append(value)

    def on_headers_complete(self) -> None:
        status, version = self._parser.get_status_code(), self._parser.get_http_version()
        if version not in ("1.0", "1.1"):
            raise ValueError(f"an answer in HTTP/{version} is not HTTP/1")
        coding = self._headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise ValueError(f"an answer is encoded as {coding[:60]!r}, which nobody asked for")
        if status < 200:
            return
        head = ResponseHead(status, self._headers, tuple(self._warnings), self._parser.should_keep_alive())
        announced = 0 if head.chunked else read_length(self._headers.get("content-length", "0"))
        if announced > LONGEST_BODY:
            raise ValueError(f"an answer of {announced} bytes is larger than {LONGEST_BODY}")
        self.head, self._wire, self._count = head, 0, 0

    def on_body(self, data: bytes) -> None:
        self._size += len(data)
        self._body += data
        self._together.total += len(data)
        if self._together.total > LONGEST_BODY and not self.streams:
            raise ValueError(f"answers hold more than {LONGEST_BODY} bytes")

    def on_message_complete(self) -> None:
        if self.head is not None:
            self.complete, self._expected = True, False
