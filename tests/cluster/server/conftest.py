"""An embedded server, asked in process and over HTTPS: tests that take `api` run both ways."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from gangline.client.wire import JSON, MERGE_PATCH, ByteStream, Request, Response, User
from gangline.cluster.server.access.identity import administrator
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.wire.http import serve

Obj = dict[str, Any]
TOKEN = "secret-of-the-tests"
Send = Callable[[Request], Awaitable[Response]]


@dataclass
class Answer:
    status: int
    body: Any
    warnings: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        return str(self.body["message"])

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]


@dataclass
class Api:
    """Short words for requests."""

    server: Server
    send: Send
    namespace: str = "default"
    extra: dict[str, str] = field(default_factory=dict)

    async def call(
        self, method: str, path: str, body: Any = None, content_type: str = JSON, accept: str = JSON, **query: str
    ) -> Answer:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = Request(
            method, path, tuple(query.items()), data, content_type, accept, {"user-agent": "tests/1", **self.extra}
        )
        response = await self.send(request)
        if response.stream is not None:
            await response.stream.aclose()
        found = json.loads(response.body) if response.body and "json" in response.content_type else response.body
        return Answer(response.status, found, response.warnings)

    async def get(self, path: str, **query: str) -> Answer:
        return await self.call("GET", path, **query)

    async def post(self, path: str, body: Any, **query: str) -> Answer:
        return await self.call("POST", path, body, **query)

    async def put(self, path: str, body: Any, **query: str) -> Answer:
        return await self.call("PUT", path, body, **query)

    async def merge(self, path: str, body: Any, **query: str) -> Answer:
        return await self.call("PATCH", path, body, MERGE_PATCH, **query)

    async def delete(self, path: str, body: Any = None, **query: str) -> Answer:
        return await self.call("DELETE", path, body, **query)

    async def watch(self, path: str, **query: str) -> Watch:
        request = Request("GET", path, (("watch", "true"), *query.items()), headers=self.extra)
        response = await self.send(request)
        assert response.stream is not None, response.body
        return Watch(response.stream)


class Watch:
    """Events one by one."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._lines: list[bytes] = []

    async def next(self) -> Obj | None:
        """The next event; None once the server has ended the watch."""
        while not self._lines:
            try:
                chunk = await anext(self._stream)
            except StopAsyncIteration:
                return None
            self._lines += chunk.splitlines()
        found: Obj = json.loads(self._lines.pop(0))
        return found

    async def take(self, count: int) -> list[tuple[str, str]]:
        """So many events as (type, object name)."""
        events = [await self.next() for _ in range(count)]
        return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events if event]

    async def close(self) -> None:
        await self._stream.aclose()


def in_process(server: Server, user: User | None = None) -> Api:
    return Api(server, server.transport(user or administrator()).send)


class _Socket:
    """The smallest HTTPS transport that can carry a watch."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url, self._session = url, session

    async def send(self, request: Request) -> Response:
        headers = {
            "authorization": f"Bearer {TOKEN}",
            "content-type": request.content_type,
            "accept": request.accept,
            **request.headers,
        }
        answer = await self._session.request(
            request.method, self._url + request.path, params=list(request.query), data=request.body, headers=headers
        )
        kind = answer.headers.get("Content-Type", "")
        warnings = tuple(answer.headers.getall("Warning", []))
        if request.argument("watch") == "true" and answer.status == 200:
            return Response(200, content_type=kind, stream=_chunks(answer), warnings=warnings)
        return Response(answer.status, await answer.read(), kind, answer.headers, warnings)


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    try:
        rest = b""
        async for chunk in answer.content.iter_any():
            lines, _, rest = (rest + chunk).rpartition(b"\n")
            if lines:
                yield lines
    finally:
        answer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    found = Server(ServerSettings(tokens={TOKEN: "admin"}))
    await found.open()
    yield found
    await found.close()


@pytest.fixture(params=["in process", "over HTTPS"])
async def api(request: pytest.FixtureRequest, server: Server) -> AsyncIterator[Api]:
    if request.param == "in process":
        yield in_process(server)
        return
    listener = await serve(server)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session:
        yield Api(server, _Socket(listener.url, session).send)
    await listener.close()


def config_map(name: str, data: dict[str, str] | None = None, **meta: Any) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **meta},
        **({"data": data} if data else {}),
    }


def pod(name: str, **spec: Any) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": "none"}], **spec},
    }


MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
