"""One connection to the server: requests answered one after another, and watches written in rounds, as HTTP/1.1.

silent_connection.py makes these, request_reader.py reads requests from their bytes, `Server.handle` answers. Writing is
by hand, because a general server spends more on a request than we do: here a request is one task, a watch is none, and
watchers at the same place are written the same bytes. Nothing here knows what a request means."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from gangline.client.wire import Request, Response, User
from gangline.cluster.server.access.identity import authenticate, certificate_user
from gangline.cluster.server.server import Server
from gangline.cluster.server.store.watch import StoreWatch
from gangline.cluster.server.wire.answering import answer_request
from gangline.cluster.server.wire.request_reader import RequestReader, WholeRequest
from gangline.cluster.server.wire.response_head import print_head
from gangline.cluster.server.wire.send_backlog import SendBacklog

log = logging.getLogger(__name__)
AHEAD_LIMIT = 64 * 1024
"""How much a client may send while its last request is still being answered."""
PIECE = 64 * 1024
"""Bytes written at once; a client that does not take them holds about four times as many in the buffers of its socket,
with TLS and without."""
SOCKET_BUFFERS = 4 * PIECE
AT_ONCE = 4
"""Pieces of one answer that are written before others have a turn; asyncio logs each further one to a connection that
broke meanwhile."""
SHARE, LONGEST_PAUSE = 4, 0.02
"""Watch events go out at once; after a round to all watchers, the next wait so many times as long as it took."""
FAREWELL_SECONDS = 1.0
"""How long a refusal has to arrive before the connection ends."""
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class ConnectionTimeouts:
    """Seconds after which a connection is given up."""

    handshake: float = 10.0
    """For the first byte, and for the handshake of TLS."""
    head: float = 32.0
    """From the first byte of a request, or the beginning of the connection, to the end of its head."""
    body: float = 60.0
    """From there to the end of its body."""
    idle: float = 300.0
    """Between requests."""
    stalled: float = 300.0
    """For an answer that the other side does not take."""


class WatcherRounds:
    """When watchers are written to: all who have something new in one round. The more there are, the more events share
    a round, so that watchers never keep the server from its requests."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._next: list[ServerConnection] = []
        self._not_before = 0.0
        self._framed = (b"", b"")

    def add(self, connection: ServerConnection) -> None:
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
        """Lines as one chunk of an answer; made once for all watchers of the same."""
        if self._framed[0] is not lines:
            self._framed = lines, b"%x\r\n%b\r\n" % (len(lines), lines)
        return self._framed[1]


class ServerConnection(asyncio.BufferedProtocol):
    """`room` is where bytes arrive; all share it. `spoke` is called with the first request, `gone` at the end."""

    def __init__(
        self,
        server: Server,
        others: set[ServerConnection],
        rounds: WatcherRounds,
        backlog: SendBacklog,
        patience: ConnectionTimeouts,
        room: memoryview,
        spoke: Callable[[], None],
        gone: Callable[[], None],
    ) -> None:
        self._server, self._others, self._rounds, self._patience, self._room = server, others, rounds, patience, room
        self._spoke: Callable[[], None] | None = spoke
        self._gone, self._backlog = gone, backlog
        self._loop = asyncio.get_running_loop()
        self._held = bytearray()
        self._stays = True
        self._task: asyncio.Task[None] | None = None
        self._watch: StoreWatch | None = None
        self._rest: memoryview | None = None
        self._paused = self._held_back = self._leaving = self._goes_on = False
        self._user: User | None = None
        self._phase = "head"
        self.deadline = self._loop.time() + patience.head
        """When its time is over, unless something happens."""
        self._ended: asyncio.Future[None] | None = None

    @property
    def busy(self) -> bool:
        """Something is being answered."""
        return self._task is not None or self._watch is not None or self._rest is not None

    # --- the socket -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(PIECE)
        self._user = certificate_user(transport.get_extra_info("peercert"))
        self._reader = RequestReader(self._server.settings.body_limit, self._identify)
        self._others.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._leaving = True
        self._others.discard(self)
        self._rest, self._held = None, bytearray()
        self._backlog.leave(self)
        self._reader.close()
        self._gone()
        if self._ended is not None:
            self._ended.set_result(None)
        if self._watch is not None:
            watch, self._watch = self._watch, None
            watch.close()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, count: int) -> None:
        if self._leaving:
            return
        data = self._room[:count]
        if not (self._held or self._reader.ready or self.busy or self._paused):
            data = data[self._reader.feed(data) :]
        self._held += data
        self._go_on()
        if len(self._held) > AHEAD_LIMIT and not self._held_back:
            self._held_back = True
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        self._paused = True
        self._wait("stalled", self._patience.stalled)
        text = self._rest.obj if self._rest is not None else b""
        self._backlog.enter(self, SOCKET_BUFFERS, cast(bytes, text))

    def resume_writing(self) -> None:
        self._paused = False
        self._backlog.leave(self)
        if self._rest is not None:
            self._pump()
        elif self._watch is not None:
            self.flush()
        if self.busy:
            self._wait("answer", NEVER)
        else:
            self._wait("idle", self._patience.idle)
            self._go_on()

    def leave(self) -> None:
        """Close, at once if nothing is being answered, else after the answer."""
        self._stays = False
        if not self.busy:
            self._transport.close()
        elif self._watch is not None:
            self._watch.close()

    def tidy(self) -> None:
        """A watch that stands still keeps nothing that it will not tell any more."""
        if self._paused and self._watch is not None:
            self._watch.tidy()

    def expire(self) -> None:
        """Its time is over."""
        if self._paused:
            self.abort()
        else:
            self.leave()

    def abort(self) -> None:
        self._transport.abort()

    def ended(self) -> asyncio.Future[None]:
        """Is done when it has gone. To be asked once."""
        self._ended = self._loop.create_future()
        return self._ended

    # --- requests -------------------------------------------------------------------------------------------

    def _identify(self, asked: WholeRequest) -> User:
        return authenticate(asked.request(self._user), self._server.tokens, self._server.settings.anonymous)

    def _go_on(self) -> None:
        """Begin to answer the next request, or read on until there is one."""
        while not (self.busy or self._paused or self._leaving):
            if self._reader.ready:
                self._begin(self._reader.ready.popleft())
            elif self._held:
                held, self._held = self._held, bytearray()
                self._held += held[self._reader.feed(memoryview(held)) :]
            else:
                self._wait_for_more()
                return

    def _begin(self, asked: WholeRequest | Response) -> None:
        if self._spoke is not None and isinstance(asked, WholeRequest):
            self._spoke()
            self._spoke = None
        if isinstance(asked, Response):
            self._refuse(asked)
            return
        self._stays = asked.stays and self._stays
        self._wait("answer", NEVER)
        work = answer_request(self._server, self, asked.method, asked.request(self._user))
        self._task = self._loop.create_task(work)

    def _wait_for_more(self) -> None:
        if self._reader.continues:
            self._reader.continues = False
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if self._reader.head is not None:
            self._wait("body", self._patience.body)
        elif self._reader.begun:
            self._wait("head", self._patience.head)
        if self._held_back:
            self._held_back = False
            self._transport.resume_reading()

    def _wait(self, phase: str, seconds: float) -> None:
        """So long from now, unless it is in that phase already."""
        if phase != self._phase:
            self._phase, self.deadline = phase, self._loop.time() + seconds

    def _refuse(self, response: Response) -> None:
        """Answer what cannot be read further, and hang up once the answer can have arrived."""
        self._leaving = True
        self._held = bytearray()
        self._transport.write(print_head(response, False) + response.body)
        self._loop.call_later(FAREWELL_SECONDS, self._transport.close)

    # --- answers --------------------------------------------------------------------------------------------

    def answered(self, method: str, request: Request, response: Response) -> None:
        """A request has its answer: write it, unless nobody is left to read it."""
        self._task = None
        if self._transport.is_closing():
            if isinstance(response.stream, StoreWatch):
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
            assert isinstance(response.stream, StoreWatch)
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
        """Write on at a large body or at events, as fast as the other side reads."""
        self._write_rest()
        if self._rest is not None:
            return
        if self._watch is not None:
            self.flush()
        else:
            self._finished()

    def _write_rest(self) -> None:
        written = 0
        while self._rest is not None and not self._paused and not self._transport.is_closing():
            if written == AT_ONCE:
                if not self._goes_on:
                    self._loop.call_soon(self._write_on)
                self._goes_on = True
                return
            written += 1
            piece, rest = self._rest[:PIECE], self._rest[PIECE:]
            self._rest = rest if len(rest) else None
            self._transport.write(piece)
            if self._rest is None and self._watch is not None:
                self._transport.write(b"\r\n")

    def _write_on(self) -> None:
        self._goes_on = False
        if self._rest is not None and not self._paused:
            self._pump()

    def _write_lines(self, lines: bytes) -> None:
        """As one chunk; long lines are not copied for that, because many watchers may share them."""
        if len(lines) <= PIECE:
            self._transport.write(self._rounds.framed(lines))
            return
        self._transport.write(b"%x\r\n" % len(lines))
        self._rest = memoryview(lines)
        self._write_rest()

    def flush(self) -> None:
        """Write what a watch has to tell."""
        watch = self._watch
        if watch is None or self._rest is not None or self._paused or self._transport.is_closing():
            return
        lines = watch.take()
        while lines:
            self._write_lines(lines)
            if self._rest is not None or self._paused or self._transport.is_closing():
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
        if not self._stays:
            self._leaving = True
            self._transport.close()
            return
        self._wait("idle", self._patience.idle)
        self._go_on()
