"""Answers in protobuf, for programs that ask for nothing else: objects, lists, watches, refusals; and long answers,
compressed."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from cluster.server.conftest import Api, in_process
from gangline.client.wire import JSON, Request, Response
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.show.protobuf_answers import SLICE_BYTES
from gangline.cluster.server.wire.protobuf import decode
from gangline.cluster.server.wire.protobuf.reading import wire_fields

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
METADATA = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
ACCEPTED = "only the following media types are accepted: application/json, application/yaml, " + PROTOBUF


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    server = Server(ServerSettings())
    await server.open()
    yield in_process(server)
    await server.close()


async def ask(
    api: Api, path: str, accept: str = PROTOBUF, method: str = "GET", body: Any = None, **query: str
) -> Response:
    data = b"" if body is None else msgspec.json.encode(body)
    return await api.send(Request(method, path, tuple(query.items()), data, accept=accept))


async def make(api: Api, *names: str, **data: str) -> None:
    for name in names:
        made = await api.post(MAPS, {"metadata": {"name": name}, "data": data})
        assert made.status == 201


def events(stream: bytes) -> list[tuple[str, dict[str, Any]]]:
    """The frames of a watch: what happened, and to which object."""
    told = []
    while stream:
        size = int.from_bytes(stream[:4], "big")
        event = dict(wire_fields(stream[4 : 4 + size]))
        told.append((event[1].decode(), decode(dict(wire_fields(event[2]))[1])))
        stream = stream[4 + size :]
    return told


async def test_an_object_and_a_list_are_the_same_as_in_json(api: Api) -> None:
    await make(api, "a", "b", colour="red")
    for path in (f"{MAPS}/a", MAPS, "/api/v1/namespaces", "/apis/rbac.authorization.k8s.io/v1/clusterroles"):
        response = await ask(api, path)
        assert response.content_type == PROTOBUF
        told = (await api.get(path)).body
        assert decode(response.body) == told


async def test_what_is_created_changed_and_deleted_is_told_in_protobuf(api: Api) -> None:
    made = await ask(api, MAPS, method="POST", body={"metadata": {"name": "a"}})
    assert (made.status, made.content_type, decode(made.body)["metadata"]["name"]) == (201, PROTOBUF, "a")
    gone = await ask(api, f"{MAPS}/a", method="DELETE")
    assert (gone.status, gone.content_type, decode(gone.body)["status"]) == (200, PROTOBUF, "Success")


async def test_a_refusal_is_told_in_the_form_of_the_answer(api: Api) -> None:
    refused = await ask(api, f"{MAPS}/none")
    assert (refused.status, refused.content_type) == (404, PROTOBUF)
    assert decode(refused.body) == (await api.get(f"{MAPS}/none")).body
    as_yaml = await ask(api, f"{MAPS}/none", "application/yaml")
    assert (as_yaml.content_type, b'message: configmaps "none" not found' in as_yaml.body) == ("application/yaml", True)
    about_metadata = await ask(api, f"{MAPS}/none", METADATA)
    assert (about_metadata.status, about_metadata.content_type) == (404, JSON)


async def test_metadata_alone_is_protobuf_and_a_table_never_is(api: Api) -> None:
    await make(api, "a")
    metadata = decode((await ask(api, f"{MAPS}/a", METADATA)).body)
    assert metadata == (await api.call("GET", f"{MAPS}/a", accept=METADATA.replace(PROTOBUF, JSON))).body
    listed = decode((await ask(api, MAPS, METADATA.replace("Metadata", "MetadataList"))).body)
    assert (listed["kind"], [item["metadata"]["name"] for item in listed["items"]]) == (
        "PartialObjectMetadataList",
        ["a"],
    )
    table = "as=Table;g=meta.k8s.io;v=v1"
    refused = await ask(api, f"{MAPS}/a", f"{PROTOBUF};{table}")
    assert (refused.status, msgspec.json.decode(refused.body)["message"]) == (406, ACCEPTED)
    both = await ask(api, f"{MAPS}/a", f"{PROTOBUF};{table},{JSON};{table}")
    assert (both.content_type, msgspec.json.decode(both.body)["kind"]) == (JSON, "Table")


async def test_a_caller_gets_what_it_prefers(api: Api) -> None:
    for accept, media in (
        (f"{PROTOBUF}, */*", PROTOBUF),
        (f"{JSON},{PROTOBUF}", JSON),
        (f"{JSON};q=0.1,{PROTOBUF}", PROTOBUF),
        (f"*/*,{PROTOBUF}", PROTOBUF),
        ("*/*", JSON),
    ):
        assert (await ask(api, "/api/v1/namespaces/default", accept)).content_type == media, accept


async def test_a_watch_is_told_in_frames(api: Api) -> None:
    await make(api, "a")
    response = await ask(
        api,
        MAPS,
        watch="true",
        allowWatchBookmarks="true",
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
    )
    assert (response.status, response.content_type) == (200, f"{PROTOBUF};stream=watch")
    assert response.stream is not None
    told = events(await anext(response.stream)) + events(await anext(response.stream))
    assert [(kind, obj["metadata"].get("name")) for kind, obj in told] == [("ADDED", "a"), ("BOOKMARK", None)]
    assert told[1][1]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    await api.delete(f"{MAPS}/a")
    [(kind, obj)] = events(await anext(response.stream))
    assert (kind, obj["kind"], obj["metadata"]["name"]) == ("DELETED", "ConfigMap", "a")
    await response.stream.aclose()


async def test_a_watch_that_cannot_go_on_says_why_in_a_frame() -> None:
    server = Server(ServerSettings(history=1))
    await server.open()
    api = in_process(server)
    await make(api, *"abcdef")
    response = await ask(api, MAPS, watch="true", resourceVersion="1")
    assert response.stream is not None
    [(kind, status)] = events(await anext(response.stream))
    assert (kind, status["kind"], status["code"], status["reason"]) == ("ERROR", "Status", 410, "Expired")
    await server.close()


async def test_a_watch_is_never_told_in_yaml(api: Api) -> None:
    refused = await ask(api, MAPS, "application/yaml", watch="true")
    assert refused.status == 406
    assert b"application/json;stream=watch" in refused.body


async def test_a_custom_resource_is_told_in_json_or_not_at_all(api: Api) -> None:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": "odds", "kind": "Odd", "singular": "odd", "listKind": "OddList"}
    spec = {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [version]}
    await api.post(CRDS, {"metadata": {"name": "odds.x.io"}, "spec": spec})
    odds = "/apis/x.io/v1/namespaces/default/odds"
    refused = await ask(
        api, odds, method="POST", body={"apiVersion": "x.io/v1", "kind": "Odd", "metadata": {"name": "a"}}
    )
    assert (refused.status, decode(refused.body)["message"]) == (406, ACCEPTED)
    assert (await api.get(odds)).names == []
    made = {"apiVersion": "x.io/v1", "kind": "Odd", "metadata": {"name": "a"}}
    assert (await ask(api, odds, f"{PROTOBUF},{JSON}", "POST", made)).content_type == JSON
    assert (await ask(api, odds, watch="true")).status == 406
    assert decode((await ask(api, f"{odds}/a", METADATA)).body)["metadata"]["name"] == "a"
    definition = decode((await ask(api, f"{CRDS}/odds.x.io")).body)
    assert definition == (await api.get(f"{CRDS}/odds.x.io")).body


async def test_discovery_is_told_in_protobuf(api: Api) -> None:
    for path in ("/api", "/apis", "/apis/apps", "/apis/apps/v1", "/api/v1"):
        response = await ask(api, path)
        told, plain = decode(response.body), (await api.get(path)).body
        assert (response.content_type, told["kind"]) == (PROTOBUF, plain["kind"])
    assert [item["name"] for item in told["resources"]] == [item["name"] for item in plain["resources"]]


async def test_others_are_answered_while_a_long_list_is_written(api: Api) -> None:
    await make(api, *(f"m{number}" for number in range(4)), text="x" * SLICE_BYTES)
    answered: list[str] = []

    async def note(path: str) -> None:
        await ask(api, path)
        answered.append(path)

    await asyncio.gather(note(MAPS), note(f"{MAPS}/m0"))
    assert answered == [f"{MAPS}/m0", MAPS]


@pytest.mark.parametrize("accept", [JSON, PROTOBUF])
async def test_a_long_answer_is_compressed_for_who_can_read_it(api: Api, accept: str) -> None:
    await make(api, "a", "b", text="x" * 100_000)
    plain = (await ask(api, MAPS, accept)).body
    for encoding, told in (("gzip", True), ("deflate, gzip", True), ("deflate", False), ("gzip;q=0", False)):
        request = Request("GET", MAPS, accept=accept, headers={"accept-encoding": encoding})
        response = await api.send(request)
        assert ("Content-Encoding" in response.headers) == told
        assert (gzip.decompress(response.body) if told else response.body) == plain
    short = await api.send(Request("GET", f"{MAPS}/a", accept=accept, headers={"accept-encoding": "gzip"}))
    assert "Content-Encoding" not in short.headers
