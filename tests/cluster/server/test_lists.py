"""Lists: which objects, in which order, of which moment, page by page; and the shapes they come in."""

from __future__ import annotations

import pytest

from cluster.server.conftest import MAPS, PODS, Api, config_map, pod

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


async def made(api: Api, *names: str) -> None:
    for name in names:
        await api.post(MAPS, config_map(name, labels={"first": name[0]}))


async def test_pages_continue_the_moment_of_the_first(api: Api) -> None:
    await made(api, "a", "b", "c", "d")
    first = await api.get(MAPS, limit="2")
    assert (first.names, first.body["metadata"]["remainingItemCount"]) == (["a", "b"], 2)
    await api.delete(f"{MAPS}/c")
    await made(api, "e")
    second = await api.get(MAPS, **{"limit": "2", "continue": first.body["metadata"]["continue"]})
    assert second.names == ["c", "d"]
    assert "continue" not in second.body["metadata"]


async def test_many_may_read_page_by_page_while_others_write_and_each_sees_its_own_moment(api: Api) -> None:
    tokens = []
    for number in range(12):
        await made(api, f"m{number:02}")
        first = await api.get(MAPS, limit="1", labelSelector="first=m")
        tokens.append((number, str(first.body["metadata"].get("continue", "")), first.names))
    await api.delete(f"{MAPS}/m00")
    for number, token, names in tokens:
        while token:
            page = await api.get(MAPS, limit="1", labelSelector="first=m", **{"continue": token})
            names += page.names
            token = page.body["metadata"].get("continue", "")
        assert names == [f"m{item:02}" for item in range(number + 1)]


async def test_a_list_can_be_of_an_earlier_revision(api: Api) -> None:
    await made(api, "a", "b")
    then = str(api.server.revision)
    await api.delete(f"{MAPS}/a")
    await api.merge(f"{MAPS}/b", {"data": {"k": "new"}})
    old = await api.get(MAPS, resourceVersion=then, resourceVersionMatch="Exact")
    assert old.names == ["a", "b"]
    assert "data" not in old.body["items"][1]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("first=a", ["a1"]),
        ("first!=a", ["b1", "c1"]),
        ("first in (a,c)", ["a1", "c1"]),
        ("first notin (a,c)", ["b1"]),
        ("first", ["a1", "b1", "c1"]),
        ("!first", []),
        ("first,first!=b", ["a1", "c1"]),
    ],
)
async def test_label_selectors(api: Api, selector: str, names: list[str]) -> None:
    await made(api, "a1", "b1", "c1")
    assert (await api.get(MAPS, labelSelector=selector)).names == names


async def test_field_selectors_see_nodes_and_phases(api: Api) -> None:
    await api.post(PODS, pod("a", nodeName="n1"))
    await api.post(PODS, pod("b"))
    assert (await api.get(PODS, fieldSelector="spec.nodeName=n1")).names == ["a"]
    assert (await api.get(PODS, fieldSelector="spec.nodeName=,status.phase=Pending")).names == ["b"]
    assert (await api.get(PODS, fieldSelector="metadata.name!=a")).names == ["b"]
    refused = await api.get(PODS, fieldSelector="spec.hostname=x")
    assert (refused.status, refused.message) == (400, "field label not supported: spec.hostname")


async def test_items_of_built_in_lists_do_not_repeat_their_kind(api: Api) -> None:
    await made(api, "a")
    answer = await api.get(MAPS)
    assert answer.body["kind"] == "ConfigMapList"
    assert "kind" not in answer.body["items"][0]


async def test_a_table_has_a_row_for_each_object(api: Api) -> None:
    await api.post(PODS, pod("a", nodeName="n1"))
    status = {
        "phase": "Running",
        "containerStatuses": [
            {"name": "main", "image": "i", "imageID": "", "ready": True, "restartCount": 2, "state": {"running": {}}}
        ],
    }
    await api.merge(f"{PODS}/a/status", {"status": status})
    table = (await api.call("GET", PODS, accept=TABLE)).body
    assert [column["name"] for column in table["columnDefinitions"]][:5] == [
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
    ]
    assert table["rows"][0]["cells"][:4] == ["a", "1/1", "Running", "2"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


async def test_metadata_alone_can_be_asked_for(api: Api) -> None:
    await api.post(MAPS, config_map("a", {"k": "v"}))
    answer = await api.call("GET", f"{MAPS}/a", accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
    assert set(answer.body) == {"kind", "apiVersion", "metadata"}


async def test_yaml_is_spoken(api: Api) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
    assert (await api.call("POST", MAPS, body, "application/yaml")).status == 201
    answer = await api.call("GET", f"{MAPS}/a", accept="application/yaml")
    assert b"kind: ConfigMap" in answer.body


async def test_a_page_after_its_moment_was_forgotten_is_refused(api: Api) -> None:
    await made(api, "a", "b", "c")
    token = (await api.get(MAPS, limit="1")).body["metadata"]["continue"]
    api.server.store.shelf(("", "configmaps")).floor = api.server.revision + 1
    answer = await api.get(MAPS, **{"limit": "1", "continue": token})
    assert (answer.status, answer.body["reason"]) == (410, "Expired")


async def test_addresses_of_a_headless_service_without_ports_are_shown(api: Api) -> None:
    addresses = [{"ip": f"10.0.0.{number}"} for number in range(1, 5)]
    endpoints = "/api/v1/namespaces/default/endpoints"
    await api.post(endpoints, {"metadata": {"name": "llm-0"}, "subsets": [{"addresses": addresses}]})
    table = (await api.call("GET", endpoints, accept=TABLE)).body
    assert table["rows"][0]["cells"][:2] == ["llm-0", "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more..."]
