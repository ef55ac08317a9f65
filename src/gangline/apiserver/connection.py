"""One connection to the server: requests read from its bytes, one after another, and answers written back, as HTTP/1.1.

http.py listens and makes these; `Server.handle` answers. By hand, because a general server spends more on a request than we do: here a
request is one task, a watch is none, and watchers at the same place are written the same bytes. Nothing here knows what a request means.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple, cast
from urllib.parse import parse_qsl

from gangline.apiserver.identity import certificate_user
from gangline.apiserver.server import Server
from gangline.apiserver.status import answer, too_large_body
from gangline.apiserver.watch import Watch
from gangline.client.wire import JSON, Request, Response, User

log = logging.getLogger(__name__)
HEAD_LIMIT = 64 * 1024
AHEAD_LIMIT = 1024 * 1024
"""How much a client may send while its last request is still being answered."""
KEPT_HEAD = 2048
PIECE = 128 * 1024
SHARE, LONGEST_PAUSE = 4, 0.02
"""Watch events go out at once; after a round to all watchers, those that follow wait so many times as long as the round took."""
CHUNKED = -1
TEXT = "text/plain; charset=utf-8"


class Malformed(Exception):
    """Bytes that are no HTTP request; the text says why."""


class Head(NamedTuple):
    """The lines below a request line, understood."""

    headers: Mapping[str, str]
    """Lower-case names; values of a name that stands several times are lines of one text."""
    length: int
    """Of the body, or CHUNKED."""
    closes: bool
    stays: bool
    continues: bool


@dataclass(slots=True)
class Asked:
    """A request on its way in: its head is read, its body may not be there yet."""

    method: str
    target: str
    head: Head
    stays: bool


def read_head(data: bytes) -> Asked:
    line, _, rest = data.partition(b"\r\n")
    try:
        method, target, version = line.decode("latin-1").split(" ")
    except ValueError:
        raise Malformed("malformed request line") from None
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise Malformed(f"unsupported protocol version {version[:20]!r}")
    head = _kept_lines(rest) if len(rest) <= KEPT_HEAD else _lines(rest)
    return Asked(method, target, head, not head.closes if version == "HTTP/1.1" else head.stays)


def _lines(data: bytes) -> Head:
    headers: dict[str, str] = {}
    for line in data.decode("latin-1").split("\r\n") if data else ():
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or "\n" in value or "\r" in value or "\0" in value:
            raise Malformed("malformed header")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    connection = headers.get("connection", "").lower()
    return Head(headers, _length(headers), "close" in connection, "keep-alive" in connection,
                headers.get("expect", "").lower() == "100-continue")


_kept_lines = lru_cache(maxsize=4096)(_lines)
"""Clients repeat themselves: most heads were read before."""


def _length(headers: Mapping[str, str]) -> int:
    coding, text = headers.get("transfer-encoding", "").lower(), headers.get("content-length", "0")
    if coding:
        if coding != "chunked" or "content-length" in headers:
            raise Malformed("unsupported transfer encoding")
        return CHUNKED
    if not (text.isascii() and text.isdigit()):
        raise Malformed("malformed content length")
    return int(text)


def unchunk(data: bytes, limit: int) -> tuple[bytes, int] | None:
    """A chunked body and where it ends; None when its end is not there yet. A body beyond the limit is cut off after it."""
    pieces: list[bytes] = []
    position = size = 0
    while True:
        end = data.find(b"\r\n", position)
        if end < 0:
            return None
        digits = data[position:end].partition(b";")[0].strip()
        try:
            length = int(digits, 16)
        except ValueError:
            raise Malformed("malformed chunk") from None
        if length == 0:
            last = data.find(b"\r\n", end + 2) if data[end + 2: end + 4] == b"\r\n" else data.find(b"\r\n\r\n", end + 2) + 2
            return (b"".join(pieces), last + 2) if last >= end + 2 else None
        position = end + 2 + length + 2
        size += length
        if size > limit:
            return b"".join(pieces) + b"x" * length, len(data)
        if len(data) < position:
            return None
        if data[position - 2: position] != b"\r\n":
            raise Malformed("malformed chunk")
        pieces.append(data[end + 2: position - 2])


@lru_cache(maxsize=1024)
def _query(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(parse_qsl(text, keep_blank_values=True))


def translate(asked: Asked, body: bytes, user: User | None) -> Request:
    path, _, query = asked.target.partition("?")
    if not path.startswith("/"):
        path = "/" + path.partition("://")[2].partition("/")[2]
    headers = asked.head.headers
    return Request(asked.method, path, _query(query) if query else (), body, headers.get("content-type", JSON),
                   headers.get("accept", "*/*"), headers, user)


@lru_cache(maxsize=64)
def _status_line(status: int) -> str:
    try:
        return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    except ValueError:
        return f"HTTP/1.1 {status} Status\r\n"


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


def print_head(response: Response, stays: bool) -> bytes:
    """Everything above the body of an answer."""
    parts = [_status_line(response.status)]
    if response.content_type:
        parts.append(f"Content-Type: {response.content_type}\r\n")
    parts += [f"{name}: {_one_line(value)}\r\n" for name, value in response.headers.items()]
    parts += [f'Warning: 299 - "{_quoted(text)}"\r\n' for text in response.warnings if text.isprintable()]
    parts.append("Transfer-Encoding: chunked\r\n" if response.stream is not None else f"Content-Length: {len(response.body)}\r\n")
    parts.append(f"Date: {_date(int(time.time()))}\r\n\r\n" if stays else f"Date: {_date(int(time.time()))}\r\nConnection: close\r\n\r\n")
    return "".join(parts).encode()


def _one_line(text: str) -> str:
    return text if text.isprintable() else " ".join(text.split())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"') if "\\" in text or '"' in text else text


class Rounds:
    """When watchers are written to: all who have something new in one round. The more there are, the more events share a round, so that
    watchers never keep the server from its requests."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._next: list[Connection] = []
        self._not_before = 0.0
        self._framed = (b"", b"")

    def add(self, connection: Connection) -> None:
        if not self._next:
            self._loop.call_at(max(self._not_before, self._loop.time()), self._go)
        self._next.append(connection)

    def _go(self) -> None:
        began = self._loop.time()
        connections, self._next = self._next, []
        for connection in connections:
            connection.flush()
        ended = self._loop.time()
        self._not_before = ended + min(SHARE * (ended - began), LONGEST_PAUSE)

    def framed(self, lines: bytes) -> bytes:
        """Lines as one chunk of an answer; made once for all who are told the same."""
        if self._framed[0] is not lines:
            self._framed = lines, b"%x\r\n%b\r\n" % (len(lines), lines)
        return self._framed[1]


class Connection(asyncio.Protocol):
    def __init__(self, server: Server, others: set[Connection], rounds: Rounds) -> None:
        self._server = server
        self._others = others
        self._rounds = rounds
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._asked: Asked | None = None
        self._stays = True
        self._task: asyncio.Task[None] | None = None
        self._watch: Watch | None = None
        self._rest: memoryview | None = None
        self._paused = self._held_back = self._leaving = False
        self.since = self._loop.time()
        self.gone: asyncio.Future[None] = self._loop.create_future()

    @property
    def busy(self) -> bool:
        """Something is being answered."""
        return self._task is not None or self._watch is not None or self._rest is not None

    # --- the socket ----------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._user = certificate_user(transport.get_extra_info("peercert"))
        self._others.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._leaving = True
        self._others.discard(self)
        self._rest = None
        if not self.gone.done():
            self.gone.set_result(None)
        if self._watch is not None:
            watch, self._watch = self._watch, None
            watch.close()

    def data_received(self, data: bytes) -> None:
        if self._leaving:
            return
        self._buffer = self._buffer + data if self._buffer else data
        if not self.busy:
            self._advance()
        elif len(self._buffer) > AHEAD_LIMIT and not self._held_back:
            self._held_back = True
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._rest is not None:
            self._pump()
        elif self._watch is not None:
            self.flush()

    def leave(self) -> None:
        """Close, at once if nothing is being answered, else after the answer."""
        self._stays = False
        if not self.busy:
            self._transport.close()
        elif self._watch is not None:
            self._watch.close()

    def abort(self) -> None:
        self._transport.abort()

    # --- requests ------------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Read on until a request is complete, and begin to answer it."""
        try:
            if self._asked is None and not self._read_head():
                return
            asked = self._asked
            assert asked is not None
            body = self._read_body(asked.head.length)
        except Malformed as error:
            self._refuse(Response(400, f"400 Bad Request: {error}".encode(), TEXT))
            return
        if body is None:
            return
        if len(body) > self._server.settings.body_limit:
            self._refuse(answer(too_large_body(self._server.settings.body_limit)))
            return
        self._asked, self._stays = None, asked.stays and self._stays
        self._task = self._loop.create_task(self._answer(asked.method, translate(asked, body, self._user)))

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > HEAD_LIMIT:
                self._refuse(Response(431, b"431 Request Header Fields Too Large", TEXT))
            return False
        asked = self._asked = read_head(self._buffer[:end].lstrip(b"\r\n"))
        self._buffer = self._buffer[end + 4:]
        if asked.head.length > self._server.settings.body_limit:
            self._refuse(answer(too_large_body(self._server.settings.body_limit)))
            return False
        if asked.head.continues and not self._buffer:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def _read_body(self, length: int) -> bytes | None:
        if length == 0:
            return b""
        if length == CHUNKED:
            found = unchunk(self._buffer, self._server.settings.body_limit)
            if found is None:
                return None
            body, length = found
        elif len(self._buffer) < length:
            return None
        else:
            body = self._buffer[:length]
        self._buffer = self._buffer[length:]
        return body

    def _refuse(self, response: Response) -> None:
        """Answer what cannot be read further, and hang up once the answer can have arrived."""
        self._leaving = True
        self._transport.write(print_head(response, False) + response.body)
        self._loop.call_later(1, self._transport.close)

    # --- answers -------------------------------------------------------------------------------------------------------

    async def _answer(self, method: str, request: Request) -> None:
        response = await self._server.handle(request)
        self._task = None
        if self._transport.is_closing():
            if isinstance(response.stream, Watch):
                response.stream.close()
            return
        try:
            self._write(method, response)
        except Exception:
            log.exception("the answer to %s %s cannot be written", method, request.path)
            self._transport.abort()

    def _write(self, method: str, response: Response) -> None:
        head = print_head(response, self._stays)
        if response.stream is not None:
            assert isinstance(response.stream, Watch)
            self._transport.write(head)
            self._watch = response.stream
            self.flush()
        elif method == "HEAD" or not response.body:
            self._transport.write(head)
            self._finished()
        elif len(response.body) <= PIECE:
            self._transport.write(head + response.body)
            self._finished()
        else:
            self._transport.write(head)
            self._rest = memoryview(response.body)
            self._pump()

    def _pump(self) -> None:
        """Write on at a large body, as fast as the other side reads."""
        while self._rest is not None and not self._paused:
            piece, rest = self._rest[:PIECE], self._rest[PIECE:]
            self._rest = rest if len(rest) else None
            self._transport.write(piece)
        if self._rest is None:
            self._finished()

    def flush(self) -> None:
        """Write what a watch has to tell."""
        watch = self._watch
        if watch is None or self._paused:
            return
        lines = watch.take()
        while lines:
            self._transport.write(self._rounds.framed(lines))
            if self._paused:
                return
            lines = watch.take()
        if watch.ended:
            self._watch = None
            self._transport.write(b"0\r\n\r\n")
            self._finished()
        else:
            watch.wait(self._more)

    def _more(self) -> None:
        self._rounds.add(self)

    def _finished(self) -> None:
        self.since = self._loop.time()
        if not self._stays:
            self._transport.close()
            return
        if self._held_back:
            self._held_back = False
            self._transport.resume_reading()
        if self._buffer:
            self._advance()
