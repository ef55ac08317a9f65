"""Definitions whose versions a webhook converts: what is stored in one version is read and written in the other.

The same questions are asked of a kube-apiserver in tests/real/corpus/conversion.yaml.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cluster.server.conftest import MAPS, TOKEN, Api, config_map, in_process
from gangline.cluster.server.server import Server, ServerSettings
from real.answerer import Answerer, answerer

Obj = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLACES = "places.example.com"
V1, V2 = (f"/apis/example.com/{version}/namespaces/default/places" for version in ("v1", "v2"))


@pytest.fixture
async def hooks() -> AsyncIterator[Answerer]:
    async with answerer() as found:
        yield found


def version(name: str, *fields: str, storage: bool) -> Obj:
    spec = {"type": "object", "properties": {field: {"type": kinds[field]} for field in fields}}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }


kinds = {"host": "string", "port": "integer", "address": "string"}


def conversion(hooks: Answerer, way: str = "convert") -> Obj:
    client = {"url": f"{hooks.url}/{way}", "caBundle": hooks.authority}
    return {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client}}


def definition(how: Obj, stored: str = "v1") -> Obj:
    versions = [version("v1", "host", "port", storage=stored == "v1"), version("v2", "address", storage=stored == "v2")]
    names = {"plural": "places", "kind": "Place"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions, "conversion": how}
    return {"metadata": {"name": PLACES}, "spec": spec}


def place(name: str, api: str, **spec: Any) -> Obj:
    return {"apiVersion": f"example.com/{api}", "kind": "Place", "metadata": {"name": name}, "spec": spec}


async def defined(api: Api, how: Obj, stored: str = "v1") -> None:
    made = await api.post(DEFINITIONS, definition(how, stored))
    assert made.status == 201, made.body


async def redefine(api: Api, how: Obj, stored: str = "v1") -> None:
    changed = await api.merge(f"{DEFINITIONS}/{PLACES}", {"spec": definition(how, stored)["spec"]})
    assert changed.status == 200, changed.body


async def test_an_object_is_read_and_written_in_either_version(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    made = await api.post(V2, place("a", "v2", address="here:80"))
    assert (made.status, made.body["spec"]) == (201, {"address": "here:80"})
    assert (await api.get(f"{V1}/a")).body["spec"] == {"host": "here", "port": 80}
    changed = await api.merge(f"{V1}/a", {"spec": {"port": 81}})
    assert (changed.body["apiVersion"], changed.body["spec"]) == ("example.com/v1", {"host": "here", "port": 81})
    listed = await api.get(V2)
    assert [(item["apiVersion"], item["spec"]) for item in listed.body["items"]] == [
        ("example.com/v2", {"address": "here:81"})
    ]


async def test_a_watch_tells_everything_in_its_own_version(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    await api.post(V1, place("a", "v1", host="here", port=1))
    watch = await api.watch(V2)
    await api.merge(f"{V1}/a", {"spec": {"port": 2}})
    await api.post(V1, place("b", "v1", host="there", port=3))
    await api.delete(f"{V1}/a")
    told = [await watch.next() for _ in range(4)]
    await watch.close()
    assert [(event["type"], event["object"]["spec"]) for event in told if event] == [
        ("ADDED", {"address": "here:1"}),
        ("MODIFIED", {"address": "here:2"}),
        ("ADDED", {"address": "there:3"}),
        ("DELETED", {"address": "here:2"}),
    ]
    assert {event["object"]["apiVersion"] for event in told if event} == {"example.com/v2"}


async def test_a_watch_goes_on_from_before_anybody_read_its_version(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    first = await api.post(V1, place("a", "v1", host="here", port=1))
    await api.post(V1, place("b", "v1", host="there", port=2))
    watch = await api.watch(V2, resourceVersion=first.body["metadata"]["resourceVersion"])
    assert await watch.take(1) == [("ADDED", "b")]
    await watch.close()


async def test_a_webhook_that_fails_is_named_and_loses_nothing(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    await api.post(V1, place("a", "v1", host="here", port=1))
    await redefine(api, conversion(hooks, "convert/way=failed"))
    told = "conversion webhook for example.com/v1, Kind=Place failed: these cannot be converted"
    for answer in (await api.get(f"{V2}/a"), await api.get(V2), await api.delete(f"{V2}/a")):
        assert (answer.status, answer.message) == (500, told)
    refused = await api.post(V2, place("b", "v2", address="there:1"))
    assert (refused.status, refused.message) == (500, told.replace("v1", "v2"))
    assert (await api.get(V1)).names == ["a"]
    await redefine(api, conversion(hooks))
    assert (await api.get(f"{V2}/a")).body["spec"] == {"address": "here:1"}


async def test_a_watch_whose_webhook_fails_says_so_and_ends(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks, "convert/way=failed"))
    watch = await api.watch(V2)
    await api.post(V1, place("a", "v1", host="here", port=1))
    event = await watch.next()
    assert event is not None
    assert (event["type"], event["object"]["code"]) == ("ERROR", 500)
    assert event["object"]["message"].endswith("failed: these cannot be converted")
    assert await watch.next() is None
    await watch.close()


async def test_watchers_of_a_definition_that_converts_otherwise_start_anew(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    watch = await api.watch(V2)
    await redefine(api, conversion(hooks, "convert/way=label"))
    assert await watch.next() is None
    await watch.close()
    await api.post(V1, place("a", "v1", host="here", port=1))
    assert (await api.get(f"{V2}/a")).body["metadata"]["labels"] == {"seen": "yes"}


async def test_an_answer_that_is_too_long_is_not_read(hooks: Answerer) -> None:
    server = Server(ServerSettings(tokens={TOKEN: "admin"}, body_limit=20_000))
    await server.open()
    api = in_process(server)
    await defined(api, conversion(hooks))
    await api.post(V1, place("a", "v1", host="h" * 15_000, port=1) | {"metadata": {"name": "a", "labels": {"l": "x"}}})
    for name in "bcd":
        await api.post(V1, place(name, "v1", host="h" * 15_000, port=1))
    answer = await api.get(V2)
    await server.close()
    told = "conversion webhook for example.com/v1, Kind=Place failed: its answer is longer than 20000 bytes"
    assert (answer.status, answer.message) == (500, told)


async def test_objects_of_an_earlier_storage_version_are_converted_also_after_a_restart(
    tmp_path: Path, hooks: Answerer
) -> None:
    settings = ServerSettings(folder=tmp_path, tokens={TOKEN: "admin"})
    server = Server(settings)
    await server.open()
    api = in_process(server)
    await defined(api, conversion(hooks))
    await api.post(V1, place("a", "v1", host="here", port=1))
    await redefine(api, conversion(hooks), stored="v2")
    await api.post(V1, place("b", "v1", host="there", port=2))
    await server.close()
    server = Server(settings)
    await server.open()
    api = in_process(server)
    assert [item["spec"] for item in (await api.get(V1)).body["items"]] == [
        {"host": "here", "port": 1},
        {"host": "there", "port": 2},
    ]
    assert [item["spec"]["address"] for item in (await api.get(V2)).body["items"]] == ["here:1", "there:2"]
    await server.close()


async def test_a_definition_that_no_longer_converts_shows_what_is_stored(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    await api.post(V2, place("a", "v2", address="here:80"))
    await redefine(api, {"strategy": "None", "webhook": None})
    shown = await api.get(f"{V1}/a")
    assert (shown.body["apiVersion"], shown.body["spec"]) == ("example.com/v1", {"host": "here", "port": 80})
    assert (await api.get(f"{V2}/a")).body["spec"] == {}


async def test_an_admission_webhook_of_another_version_sees_and_changes_that_version(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    rule = {"apiGroups": ["example.com"], "apiVersions": ["v2"], "operations": ["CREATE"], "resources": ["places"]}
    hook = {
        "name": "marks.example.com",
        "clientConfig": {"url": f"{hooks.url}/label/key=marked/value=yes", "caBundle": hooks.authority},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [rule],
    }
    kinds_of_hooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    await api.post(kinds_of_hooks, {"metadata": {"name": "marks"}, "webhooks": [hook]})
    made = await api.post(V1, place("a", "v1", host="here", port=1))
    assert made.body["spec"] == {"host": "here", "port": 1}
    assert made.body["metadata"]["labels"] == {"marked": "yes"}


async def test_a_definition_that_cannot_go_is_no_business_of_others(api: Api, hooks: Answerer) -> None:
    await defined(api, conversion(hooks))
    await api.post(V1, place("a", "v1", host="here", port=1))
    await redefine(api, conversion(hooks, "convert/way=failed"), stored="v2")
    await api.delete(f"{DEFINITIONS}/{PLACES}")
    assert (await api.post(MAPS, config_map("m"))).status == 201
    await redefine(api, conversion(hooks), stored="v2")
    assert (await api.get(f"{DEFINITIONS}/{PLACES}")).status == 404
