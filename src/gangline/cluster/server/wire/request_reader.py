"""Requests read from the bytes of one connection: heads, bodies and their limits.

Stands between connection.py, which has the bytes, and `Server.handle`, which gets the requests. llhttp (httptools)
says what the bytes mean; how many of them there may be is decided here. Memory grows only with bytes that came, never
with what a head or a chunk announces. Nothing here reads a socket, writes an answer, or knows what a request is
about.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl

import httptools

from gangline.client.connections.response_reader import read_length
from gangline.client.wire import JSON, Request, Response, User
from gangline.cluster.server.status import answer, too_large_body
from gangline.errors import ApiError

HEAD_LIMIT = 64 * 1024
"""Bytes before a body: request line and headers."""
TARGET_LIMIT = 32 * 1024
HEADERS_LIMIT = 256
"""Headers of one request, and as many trailers."""
ARGUMENTS_LIMIT = 1000
"""Arguments of one query."""
FRAMING_LIMIT, FRAMING_SHARE = 32 * 1024, 8
"""Bytes of a chunked body that are no data (sizes, extensions, trailers): so many, and so many a byte of data."""
STRANGER_LIMIT = 64 * 1024
"""Bytes of a body that are kept before its sender is known to be somebody."""
PIECE = 16 * 1024
"""Bytes read at once, of which each may belong to another request."""
KEPT_BYTES, KEPT_HEADERS, KEPT_QUERY = 2048, 24, 512
"""Heads and queries that are no larger are remembered: clients repeat themselves."""
CHUNKED = -1
_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
TEXT = "text/plain; charset=utf-8"
Query = tuple[tuple[str, str], ...]


class RequestHead(NamedTuple):
    """The headers of a request, understood."""

    headers: Mapping[str, str]
    """Lower-case names; values of a name that stands several times are lines of one text."""
    length: int
    """Of the body, or CHUNKED."""
    continues: bool
    """The sender waits for a word before it sends the body."""


class WholeRequest(NamedTuple):
    """A whole request."""

    method: str
    path: str
    query: Query
    head: RequestHead
    body: bytes
    stays: bool
    """The connection may carry another one."""

    def request(self, user: User | None) -> Request:
        headers = self.head.headers
        return Request(
            self.method,
            self.path,
            self.query,
            self.body,
            headers.get("content-type", JSON),
            headers.get("accept", "*/*"),
            headers,
            user,
        )


class RequestRefused(Exception):
    """The request is read no further; `response` says why."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.body)
        self.response = response


def malformed(why: str) -> RequestRefused:
    return RequestRefused(Response(400, f"400 Bad Request: {why}".encode(), TEXT))


def too_large_head() -> RequestRefused:
    return RequestRefused(Response(431, b"431 Request Header Fields Too Large", TEXT))


def read_headers(lines: bytes) -> RequestHead:
    """From a line for each name and each value, by turns; llhttp lets no line break into them."""
    headers: dict[str, str] = {}
    parts = lines.decode("latin-1").split("\n") if lines else []
    for name, value in zip(parts[::2], parts[1::2], strict=True):
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    if "\n" in headers.get("host", ""):
        raise malformed("too many Host headers")
    expected = headers.get("expect", "").lower()
    if expected not in ("", "100-continue"):
        raise RequestRefused(Response(417, b"417 Expectation Failed", TEXT))
    return RequestHead(headers, _length(headers), bool(expected))


_kept_headers = lru_cache(maxsize=1024)(read_headers)


def _length(headers: Mapping[str, str]) -> int:
    """Content-Length has been found to be a number, and not to stand beside Transfer-Encoding."""
    coding = headers.get("transfer-encoding")
    if coding is None:
        return read_length(headers.get("content-length", "0"))
    if coding.lower() != "chunked":
        raise malformed("unsupported transfer encoding")
    return CHUNKED


def read_target(target: str) -> tuple[str, Query]:
    """Path and arguments; of an absolute URL too."""
    path, _, query = target.partition("?")
    if not path.startswith("/"):
        path = "/" + path.partition("://")[2].partition("/")[2]
    if "%" in path and _BROKEN_ESCAPE.search(path):
        raise RequestRefused(Response(400, b"400 Bad Request", TEXT))
    if not query:
        return path, ()
    return path, _kept_query(query) if len(query) <= KEPT_QUERY else _query(query)


def _query(text: str) -> Query:
    try:
        return tuple(parse_qsl(text, keep_blank_values=True, max_num_fields=ARGUMENTS_LIMIT))
    except ValueError:
        raise malformed(f"more than {ARGUMENTS_LIMIT} arguments in the query") from None


_kept_query = lru_cache(maxsize=1024)(_query)


class RequestReader:
    """`identify` raises what a sender whom nobody knows is answered; it is asked before much of a body is kept."""

    def __init__(self, body_limit: int, identify: Callable[[WholeRequest], object]) -> None:
        self._limit, self._identify = body_limit, identify
        self.ready: deque[WholeRequest | Response] = deque()
        """What was read, in its order; a Response is a refusal, after which nothing is read."""
        self.head: RequestHead | None = None
        """Of a request whose body is on its way."""
        self.continues = False
        """The sender of that body waits for 100 Continue."""
        self._parser = httptools.HttpRequestParser(self)
        self._ended = False
        self._wire = 0
        self._target = b""
        self._lines: list[bytes] = []
        self._trailers = 0
        self._body = bytearray()
        self._room = 0

    @property
    def begun(self) -> bool:
        """A request has begun to arrive, and is not all here."""
        return self._wire > 0 or self.head is not None

    def feed(self, data: memoryview) -> int:
        """Read until something is ready; gives how many bytes were taken."""
        taken, size = 0, len(data)
        while taken < size and not self.ready and not self._ended:
            rest = self.head.length - len(self._body) if self.head is not None else 0
            piece = data if size <= PIECE else data[taken : taken + max(PIECE, rest)]
            taken += len(piece)
            self._read(piece)
        return size if self._ended else taken

    def close(self) -> None:
        """Nothing will follow. Parser, reader and its user refer to each other; this breaks the cycle."""
        self._ended = True
        self.ready.clear()
        del self._parser, self._identify

    def _read(self, piece: memoryview) -> None:
        self._wire += len(piece)
        try:
            self._parser.feed_data(piece)
            self._check_size()
        except httptools.HttpParserUpgrade:
            self._ended = True  # nobody is upgraded: the request is answered as any other; what follows is not HTTP
        except httptools.HttpParserCallbackError as error:
            self._refuse(error.__context__)
        except (httptools.HttpParserError, RequestRefused) as error:
            self._refuse(error)

    def _refuse(self, error: BaseException | None) -> None:
        if self._ended:
            return
        self._ended = True
        if isinstance(error, httptools.HttpParserError):
            error = malformed(str(error))
        if not isinstance(error, RequestRefused):
            raise error or RuntimeError("the parser stopped and did not say why")
        self.ready.append(error.response)

    def _check_size(self) -> None:
        if self.head is None:
            if self._wire > HEAD_LIMIT:
                raise too_large_head()
        elif self.head.length == CHUNKED and self._wire > FRAMING_LIMIT + (1 + FRAMING_SHARE) * len(self._body):
            raise malformed("a chunked body holds too much that is no data")

    # --- what llhttp finds ----------------------------------------------------------------------------------

    def on_url(self, part: bytes) -> None:
        self._target = self._target + part if self._target else part
        if len(self._target) > TARGET_LIMIT:
            raise too_large_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.head is not None:
            self._trailers += 1
            if self._trailers > HEADERS_LIMIT:
                raise too_large_head()
            return  # trailers mean nothing to us
        lines = self._lines
        lines.append(name)
        lines.append(value)
        if len(lines) > 2 * HEADERS_LIMIT:
            raise too_large_head()

    def on_headers_complete(self) -> None:
        pairs = b"\n".join(self._lines)
        small = len(pairs) <= KEPT_BYTES and len(self._lines) <= 2 * KEPT_HEADERS
        head = _kept_headers(pairs) if small else read_headers(pairs)
        version = self._parser.get_http_version()
        if version == "1.1":
            if "host" not in head.headers:
                raise malformed("missing required Host header")
        elif version != "1.0":
            raise malformed(f"unsupported protocol version HTTP/{version}")
        elif head.length == CHUNKED:
            raise malformed("unsupported transfer encoding")
        self._path, self._query = read_target(self._target.decode("latin-1"))
        self.head, self._wire = head, 0
        if head.length:
            self._expect_body(head, version == "1.1")

    def _expect_body(self, head: RequestHead, may_continue: bool) -> None:
        if self._parser.should_upgrade():
            raise malformed("a request for another protocol with a body")
        self._room = min(STRANGER_LIMIT, self._limit)
        if head.length > self._room:
            self._make_room(head.length)
        self.continues = head.continues and may_continue

    def _make_room(self, size: int) -> None:
        """For a body of so many bytes, or more: whose it is must be known, and it must not be too large."""
        try:
            self._identify(self._asked(b""))
        except ApiError as error:
            raise RequestRefused(answer(error)) from None
        self._room = self._limit
        if size > self._limit:
            raise RequestRefused(answer(too_large_body(self._limit)))

    def on_body(self, data: bytes) -> None:
        size = len(self._body) + len(data)
        while size > self._room:
            self._make_room(size)
        self.continues = False
        self._body += data

    def on_message_complete(self) -> None:
        stays = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        self.ready.append(self._asked(bytes(self._body), stays))
        self._ended = not stays  # whatever follows the last request is nothing to us
        self.head, self._target, self._lines, self._wire = None, b"", [], 0
        if self._body:
            self._body = bytearray()
        self.continues, self._trailers = False, 0

    def _asked(self, body: bytes, stays: bool = True) -> WholeRequest:
        assert self.head is not None
        return WholeRequest(self._parser.get_method().decode(), self._path, self._query, self.head, body, stays)
