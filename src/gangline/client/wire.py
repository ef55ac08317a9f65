"""One request, one response: the seam between client and server.

A `Transport` carries a Request to an API server and brings back a Response: over HTTP (client/http.py), or by calling
the embedded server in the same process (`InProcess`); where none comes back, it raises `no_answer`. Nothing here
knows kinds or objects; client/client.py does."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from gangline.errors import Unavailable, Untrusted

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class User:
    """The user of a request. In process the builder of the transport states it; over HTTP the server finds it out."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class ByteStream(Protocol):
    """Chunks that come one after the other. Whoever reads it must `aclose` it."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    def __anext__(self) -> Awaitable[bytes]: ...

    def aclose(self) -> Awaitable[None]: ...


class Request(msgspec.Struct, frozen=True, gc=False):
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = JSON
    accept: str = JSON
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Other headers, with lower-case names (user-agent, authorization, impersonate-…)."""
    user: User | None = None

    def argument(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        for key, value in self.query:
            if key == name:
                return value
        return default

    def arguments(self, name: str) -> list[str]:
        """All values of a query parameter, the empty ones too."""
        return [value for key, value in self.query if key == name]


@dataclass(slots=True)
class Response:
    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    stream: ByteStream | None = None
    """Set for a watch: chunks of whole lines, one JSON event a line."""


class Transport(Protocol):
    async def send(self, request: Request) -> Response: ...

    async def close(self) -> None: ...


IN_A_ROW = 16
"""Calls in process that may follow each other before others have a turn."""


class InProcess:
    """Calls a handler of the same process under a stated identity: same semantics as HTTP, without the socket.

    Such a call never has to wait by itself. So after some calls in a row others have a turn, as they would with a
    socket. Without that, watchers would fall behind what the server remembers."""

    def __init__(self, handle: Callable[[Request], Awaitable[Response]], user: User, agent: str = "gangline") -> None:
        self._handle = handle
        self._user = user
        self._agent = agent
        self._in_a_row = 0

    async def send(self, request: Request) -> Response:
        self._in_a_row += 1
        if self._in_a_row >= IN_A_ROW:
            self._in_a_row = 0
            await asyncio.sleep(0)
        headers = request.headers if "user-agent" in request.headers else {**request.headers, "user-agent": self._agent}
        return await self._handle(
            Request(
                request.method,
                request.path,
                request.query,
                request.body,
                request.content_type,
                request.accept,
                headers,
                self._user,
            )
        )

    async def close(self) -> None:
        return None


def no_answer(server: str, error: OSError) -> Unavailable:
    kind = Untrusted if isinstance(error, ssl.SSLCertVerificationError) else Unavailable
    text = f"no answer from {server}: {_in_words(error)}"
    return kind({"message": text, "reason": "ServiceUnavailable", "code": 503})


def _in_words(error: OSError) -> str:
    """Says "connection refused", not "[Errno 111] Connect call failed"; other errors have better words themselves."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, ConnectionError | TimeoutError) and error.errno:
        return os.strerror(error.errno).lower()
    return str(error) or type(error).__name__
