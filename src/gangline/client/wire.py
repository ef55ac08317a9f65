"""One request, one response: the seam between whoever asks and whoever answers.

A `Transport` carries a Request to an API server and brings back a Response: over HTTP (client/http.py), or by calling
the embedded server in the same process (`InProcess`). Nothing here knows kinds or objects; client/client.py does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class User:
    """Who asks. In process it is stated by whoever built the transport; over HTTP the server works it out."""

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


class InProcess:
    """Calls a handler of the same process under a stated identity: same semantics as HTTP, without the socket."""

    def __init__(self, handle: Callable[[Request], Awaitable[Response]], user: User, agent: str = "gangline") -> None:
        self._handle = handle
        self._user = user
        self._agent = agent

    async def send(self, request: Request) -> Response:
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
