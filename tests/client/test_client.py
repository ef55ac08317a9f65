"""The client's verbs on the embedded server, in process and over HTTP alike."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable

import pytest

from embedded import admin, embedded
from gangline.api.kinds import CONFIG_MAP, NODE, POD
from gangline.cli.hints import hint
from gangline.client import Client, InProcess, Request, Response, User
from gangline.client.http import Http
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.wire.http import serve
from gangline.errors import (
    LONGEST_RETRY,
    AlreadyExists,
    ApiError,
    Conflict,
    Gone,
    NotFound,
    Unavailable,
    Unreadable,
    Untrusted,
    api_error,
)

POD_BODY = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def config_map(name: str, **data: str) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default", "labels": {"app": name[0]}}, "data": data}


@pytest.fixture(params=["in process", "over http"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    async with embedded(settings=ServerSettings(tokens={"secret": "admin"})) as server:
        if request.param == "in process":
            yield admin(server)
            return
        async for item in _over_http(server):
            yield item


async def _over_http(server: Server) -> AsyncIterator[Client]:
    listener = await serve(server)
    trust = ssl.create_default_context(cadata=server.secrets.authority.pair.certificate.decode())

    async def token() -> str:
        return "secret"

    client = Client(Http(listener.url, trust, token), manager="test")
    try:
        yield client
    finally:
        await client.close()
        await listener.close()


async def test_what_was_created_can_be_read_listed_and_deleted(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a", x="1"))
    assert (await client.get(CONFIG_MAP, "a", "default")).data == {"x": "1"}
    assert [item.uid for item in (await client.list(CONFIG_MAP, "default")).items] == [made.uid]
    await client.delete(CONFIG_MAP, "a", "default", uid=made.uid)
    with pytest.raises(NotFound, match='configmaps "a" not found'):
        await client.get(CONFIG_MAP, "a", "default")


async def test_a_list_is_read_page_by_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.client.PAGE", 2)
    for number in range(5):
        await client.create(CONFIG_MAP, config_map(f"a{number}"))
    assert [item.name for item in (await client.list(CONFIG_MAP, "default")).items] == ["a0", "a1", "a2", "a3", "a4"]


async def test_labels_select(client: Client) -> None:
    for name in ("a1", "a2", "b1"):
        await client.create(CONFIG_MAP, config_map(name))
    assert [item.name for item in (await client.list(CONFIG_MAP, labels={"app": "a"})).items] == ["a1", "a2"]
    assert [item["metadata"]["name"] for item in await client.list_raw(CONFIG_MAP, labels="app!=a,app")] == ["b1"]


async def test_a_second_create_and_a_stale_replace_are_refused(client: Client) -> None:
    await client.create(CONFIG_MAP, config_map("a"))
    with pytest.raises(AlreadyExists, match='configmaps "a" already exists'):
        await client.create(CONFIG_MAP, config_map("a"))
    stale = await client.get_raw(CONFIG_MAP, "a", "default")
    await client.patch(CONFIG_MAP, "a", "default", {"data": {"x": "2"}})
    with pytest.raises(Conflict, match="please apply your changes to the latest version"):
        await client.replace(CONFIG_MAP, stale)


async def test_a_field_we_have_never_heard_of_survives_our_patch(client: Client) -> None:
    await client.create(NODE, {"metadata": {"name": "n"}, "spec": {"podCIDR": "10.1.0.0/24"}})
    await client.patch(NODE, "n", "", {"metadata": {"labels": {"x": "y"}}})
    assert (await client.get_raw(NODE, "n"))["spec"]["podCIDR"] == "10.1.0.0/24"


async def test_apply_owns_only_what_it_says(client: Client) -> None:
    await client.create(CONFIG_MAP, config_map("a", theirs="1"))
    mine = {"metadata": {"name": "a", "namespace": "default"}, "data": {"mine": "2"}}
    await client.apply(CONFIG_MAP, mine, manager="me")
    await client.apply(CONFIG_MAP, mine | {"data": {}}, manager="me")
    assert (await client.get(CONFIG_MAP, "a", "default")).data == {"theirs": "1"}


async def test_a_watch_shows_each_change_after_its_revision(client: Client) -> None:
    start = (await client.list(CONFIG_MAP)).revision
    await client.create(CONFIG_MAP, config_map("a"))
    await client.patch(CONFIG_MAP, "a", "default", {"data": {"x": "2"}})
    await client.delete(CONFIG_MAP, "a", "default")
    seen = []
    async for event in client.watch(CONFIG_MAP, start):
        seen.append((event.type, event.object.data))
        if len(seen) == 3:
            break
    assert seen == [("ADDED", {}), ("MODIFIED", {"x": "2"}), ("DELETED", {"x": "2"})]


async def test_a_pod_is_bound_once(client: Client) -> None:
    await client.create(POD, POD_BODY)
    await client.bind("p", "default", "node-1")
    assert (await client.get(POD, "p", "default")).spec.node_name == "node-1"
    with pytest.raises(Conflict, match="already assigned to node"):
        await client.bind("p", "default", "node-2")


async def test_a_revision_that_is_no_longer_kept_is_gone() -> None:
    async with embedded(settings=ServerSettings(history=2)) as server:
        client = admin(server)
        for number in range(10):
            await client.create(CONFIG_MAP, config_map(f"a{number}"))
        with pytest.raises(Gone):
            async for _ in client.watch(CONFIG_MAP, "5"):
                pass


async def test_no_answer_names_the_server() -> None:
    client = Client(Http("http://127.0.0.1:9"), retries=0)
    with pytest.raises(Unavailable, match=r"^no answer from http://127.0.0.1:9: connection refused$"):
        await client.get(NODE, "n")
    await client.close()


async def test_what_came_before_the_end_of_a_watch_is_told_though_it_came_in_one_piece() -> None:
    pod = b'{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"default"}}}\n'
    gone = b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n'
    client, seen = Client(OnePiece([pod[:20], pod[20:] + pod + gone])), []
    with pytest.raises(Gone, match="too old"):
        async for event in client.watch(POD, "1"):
            seen.append(event.object.name)  # noqa: PERF401
    assert seen == ["a", "a"]


class OnePiece:
    """A server that answers a watch with these chunks."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    async def send(self, request: Request) -> Response:
        return Response(200, stream=self._stream())

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        for chunk in self._chunks:
            yield chunk

    async def close(self) -> None: ...


# --- a server that is none -------------------------------------------------------------------------------------------


def answering(body: bytes, status: int = 200) -> Client:
    """To a server that answers whatever it is asked with this."""

    async def handle(request: Request) -> Response:
        return Response(status, body)

    return Client(InProcess(handle, User("x")), retries=0)


NO_ANSWERS = [b"", b"<html>", b"[1, 2]", b"null", b"[" * 100_000, b'"\xff"', b'{"items": 5}', b'{"metadata": "x"}']


@pytest.mark.parametrize("body", NO_ANSWERS, ids=[repr(body[:12]) for body in NO_ANSWERS])
async def test_an_answer_that_is_none_is_said_to_be_none(body: bytes) -> None:
    client = answering(body)
    asked: list[Awaitable[object]] = [client.list(POD)]
    if b"metadata" not in body:
        asked.append(client.list_raw(POD))
    if b"items" not in body:
        asked += [client.get(POD, "a", "b"), client.create(POD, {}, "b"), client.patch(POD, "a", "b", {})]
    if not body.startswith(b"{"):
        asked += [client.get_raw(POD, "a", "b"), client.get_path("/version")]
    for question in asked:
        with pytest.raises(Unreadable, match="is none of a Kubernetes API server"):
            await question


@pytest.mark.parametrize("items", ["[null]", "[5]", "[{}]", '[{"metadata": "x"}]'])
async def test_a_list_of_what_are_no_objects_is_none(items: str) -> None:
    with pytest.raises(Unreadable):
        await answering(f'{{"items": {items}}}'.encode()).list_raw(POD)


async def test_a_list_whose_next_page_never_changes_ends() -> None:
    with pytest.raises(Unreadable, match="the next page is the one we were given"):
        await answering(b'{"metadata": {"continue": "again"}, "items": []}').list(POD)


async def test_a_list_of_ever_more_pages_ends() -> None:
    async def handle(request: Request) -> Response:
        after = int(dict(request.query).get("continue") or 0) + 1
        return Response(200, f'{{"metadata": {{"continue": "{after}"}}, "items": []}}'.encode())

    with pytest.raises(Unreadable, match="it has more than 10000 pages"):
        await Client(InProcess(handle, User("x")), retries=0).list(POD)


async def test_where_a_server_sends_us_nobody_goes() -> None:
    with pytest.raises(ApiError):
        await answering(b"", 302).list(POD)


@pytest.mark.parametrize("details", ["x", [1], {}, {"retryAfterSeconds": "inf"}, {"retryAfterSeconds": -1}])
def test_a_wait_that_is_no_number_is_none(details: object) -> None:
    assert api_error({"code": 429, "details": details}).retry_after is None
    assert api_error({"code": "x", "details": details}).code == 500


def test_no_server_makes_us_wait_for_ever() -> None:
    assert api_error({"code": 429, "details": {"retryAfterSeconds": 10**9}}).retry_after == LONGEST_RETRY
    assert api_error({"code": 429, "details": {"retryAfterSeconds": 2}}).retry_after == 2.0


async def test_a_certificate_that_is_not_trusted_is_told_as_such() -> None:
    async with embedded() as server:
        listener = await serve(server)
        client = Client(Http(listener.url, ssl.create_default_context()))
        try:
            with pytest.raises(Untrusted, match="its certificate is not trusted") as refused:
                await client.list(CONFIG_MAP)
            assert "made anew" in hint(refused.value)
        finally:
            await client.close()
            await listener.close()
