"""Requests that are written oddly, and what a kube-apiserver 1.35 says to them: patches, events, evictions, names."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.server.conftest import MAPS, PODS, Api, config_map, pod
from gangline.client.wire import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH

EVENTS = "/api/v1/namespaces/default/events"
NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
ONE = {"op": "add", "path": "/data/x", "value": "y"}


async def test_what_a_json_patch_says_that_nobody_knows_is_warned_of(api: Api) -> None:
    await api.post(MAPS, config_map("a", {"k": "v"}))
    body = [{**ONE, "bogus": 1}, {**ONE, "bogus": 1, "more": 2}]
    answer = await api.call("PATCH", f"{MAPS}/a", body, JSON_PATCH)
    told = [warning for warning in answer.warnings if "json patch unknown field" in warning]
    assert answer.status == 200 and len(told) == 3
    assert "[0].bogus" in told[0] and "[1].bogus" in told[1] and "[1].more" in told[2]
    assert (await api.call("PATCH", f"{MAPS}/a", body, JSON_PATCH, fieldValidation="Ignore")).warnings == ()
    answer = await api.call("PATCH", f"{MAPS}/a", body, JSON_PATCH, fieldValidation="Strict")
    assert answer.status == 422
    assert answer.message.endswith(
        'strict decoding error: json patch unknown field "[0].bogus", json patch unknown field "[1].bogus", '
        'json patch unknown field "[1].more"'
    )


@pytest.mark.parametrize("name", ["op", "path", "from"])
async def test_a_part_of_a_json_patch_that_is_no_text_is_a_bad_request(api: Api, name: str) -> None:
    await api.post(MAPS, config_map("a", {"k": "v"}))
    answer = await api.call("PATCH", f"{MAPS}/a", [{**ONE, name: 5}], JSON_PATCH)
    told = f"error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.{name} of type string"
    assert (answer.status, answer.message) == (400, told)


async def test_a_key_that_stands_twice_in_a_strict_patch_is_told_with_what_nobody_knows(api: Api) -> None:
    await api.post(MAPS, config_map("a", {"k": "v"}))
    body = b'{"data":{"x":"1","x":"2"}, "bogus": 1}'
    answer = await api.call("PATCH", f"{MAPS}/a", body, STRATEGIC_PATCH, fieldValidation="Strict")
    told = (
        'Invalid value: "map[bogus:1 data:map[x:2]]": strict decoding error: '
        'duplicate field "data.x", unknown field "bogus"'
    )
    assert (answer.status, answer.body["details"]["causes"][0]["message"]) == (422, told)


async def test_a_patch_of_nothing_that_is_there_is_not_read(api: Api) -> None:
    answer = await api.call("PATCH", f"{MAPS}/none", b"{", MERGE_PATCH)
    assert (answer.status, answer.message) == (404, 'configmaps "none" not found')


@pytest.mark.parametrize(("body", "told"), [(b"null", "Invalid JSON Patch"), (b"5", "number"), (b'"x"', "string")])
async def test_a_merge_patch_that_is_no_object_is_a_bad_request(api: Api, body: bytes, told: str) -> None:
    await api.post(MAPS, config_map("a"))
    answer = await api.call("PATCH", f"{MAPS}/a", body, MERGE_PATCH)
    assert answer.status == 400 and told in answer.message


async def test_unknown_fields_of_a_patch_are_told_in_order_of_their_names(api: Api) -> None:
    await api.post(MAPS, config_map("a"))
    answer = await api.merge(f"{MAPS}/a", {"metadata": {"z": 1, "b": 2}, "a": 3})
    assert [text.split('\\"')[-2] if '\\"' in text else text.split('"')[-2] for text in answer.warnings] == [
        "a",
        "metadata.b",
        "metadata.z",
    ]


async def test_an_event_written_in_one_group_is_selected_by_fields_in_the_other(api: Api) -> None:
    event = {
        "metadata": {"name": "e"},
        "eventTime": "2024-01-01T00:00:00.000000Z",
        "action": "a",
        "reason": "r",
        "type": "Normal",
        "reportingController": "x.y/z",
        "reportingInstance": "i",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
    }
    assert (await api.post(NEW_EVENTS, event)).status == 201
    for path, selector in (
        (EVENTS, "involvedObject.name=p,reason=r,type=Normal"),
        (NEW_EVENTS, "regarding.name=p,reason=r,type=Normal"),
        (EVENTS, "reportingComponent=x.y/z"),
    ):
        assert (await api.get(path, fieldSelector=selector)).names == ["e"]
    assert (await api.get(EVENTS, fieldSelector="type=Warning")).names == []
    answer = await api.get(f"{NEW_EVENTS}/none")
    assert (answer.status, answer.message) == (404, 'events.events.k8s.io "none" not found')


async def test_a_new_event_that_says_no_time_is_not_asked_who_tells_of_it(api: Api) -> None:
    answer = await api.post(NEW_EVENTS, {"metadata": {"name": "f"}})
    assert answer.status == 422
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == ["eventTime", "type"]


ODD_EVICTIONS: tuple[tuple[Any, dict[str, str], int, str], ...] = (
    (
        {"metadata": {"name": "p", "x": 1}},
        {"fieldValidation": "Strict"},
        400,
        'strict decoding error: unknown field "meta',
    ),
    (
        {"metadata": {"name": "p"}},
        {"dryRun": "No"},
        422,
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported',
    ),
    ({}, {}, 400, "name in URL does not match name in Eviction object"),
    (
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}},
        {},
        400,
        'Pod in version "v1" cannot be handled as',
    ),
)


@pytest.mark.parametrize(("body", "query", "code", "told"), ODD_EVICTIONS)
async def test_an_odd_eviction_is_refused(api: Api, body: Any, query: dict[str, str], code: int, told: str) -> None:
    await api.post(PODS, pod("p"))
    answer = await api.post(f"{PODS}/p/eviction", body, **query)
    assert answer.status == code and told in answer.message


async def test_a_binding_says_which_pod_it_is_about_and_where(api: Api) -> None:
    bindings = "/api/v1/namespaces/default/bindings"
    answer = await api.post(bindings, {"target": {"name": "n"}})
    assert (answer.status, answer.message) == (400, "Name parameter required.")
    answer = await api.post(bindings, {"metadata": {"name": "p", "namespace": "other"}, "target": {"name": "n"}})
    assert answer.message == "the namespace of the provided object does not match the namespace sent on the request"


@pytest.mark.parametrize(("about", "told"), [({}, "Unknown"), ({"generateName": "g-"}, "g-"), ({"name": "p"}, "p")])
async def test_admission_names_a_pod_that_has_no_name_yet(api: Api, about: dict[str, str], told: str) -> None:
    answer = await api.post(PODS, {**pod("", priority=5), "metadata": about})
    assert answer.status == 403 and answer.message.startswith(f'pods "{told}" is forbidden: the integer value of prio')


@pytest.mark.parametrize(("revision", "code"), [("x", 201), ("0", 201), ("", 201), ("7", 500), ("-1", 201)])
async def test_only_a_revision_that_is_a_number_keeps_an_object_from_being_created(
    api: Api, revision: str, code: int
) -> None:
    assert (await api.post(MAPS, config_map("a", resourceVersion=revision))).status == code


async def test_an_empty_list_of_metadata_alone_has_no_items(api: Api) -> None:
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    answer = await api.call("GET", MAPS, accept=accept, labelSelector="none=none")
    assert answer.body["items"] is None


async def test_an_amount_that_is_no_text_is_told_by_the_rule_for_amounts(api: Api) -> None:
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": []}}}
    answer = await api.post("/api/v1/namespaces/default/resourcequotas", quota)
    assert answer.status == 400 and "quantities must match the regular expression" in answer.message


@pytest.mark.parametrize("given", [{}, {"propagationPolicy": ""}])
async def test_an_empty_policy_of_a_delete_is_none_of_the_three(api: Api, given: dict[str, str]) -> None:
    await api.post(MAPS, config_map("a"))
    answer = await (api.delete(f"{MAPS}/a", given) if given else api.delete(f"{MAPS}/a", propagationPolicy=""))
    assert answer.status == 422 and "Unsupported value" in answer.message


async def test_what_is_wrong_with_a_new_object_is_told_before_its_revision(api: Api) -> None:
    assert (await api.post(MAPS, config_map("A", resourceVersion="5"))).status == 422


async def test_nothing_can_be_asked_of_a_container_on_a_node_that_nobody_registered(api: Api) -> None:
    await api.post(PODS, pod("p", nodeName="n"))
    for what in ("log", "exec", "attach", "portforward"):
        answer = await api.get(f"{PODS}/p/{what}", command="ls")
        assert (what, answer.status, answer.message) == (what, 404, 'pods "n" not found')


async def test_the_time_of_a_deletion_stays_whatever_an_update_says(api: Api) -> None:
    await api.post(MAPS, config_map("a", finalizers=["a.b/c"]))
    going = (await api.delete(f"{MAPS}/a")).body["metadata"]["deletionTimestamp"]
    for said in (None, "2030-01-01T00:00:00Z"):
        answer = await api.merge(f"{MAPS}/a", {"metadata": {"deletionTimestamp": said}})
        assert (answer.status, answer.body["metadata"]["deletionTimestamp"]) == (200, going)


async def test_a_token_is_asked_for_in_the_namespace_of_its_account(api: Api) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    await api.post(accounts, {"metadata": {"name": "s"}})
    answer = await api.post(f"{accounts}/s/token", {"metadata": {"namespace": "other"}, "spec": {}})
    assert answer.message == "the namespace of the provided object does not match the namespace sent on the request"
    assert (await api.post(f"{accounts}/s/token", {"spec": {}}, dryRun="No")).status == 422
    assert (await api.post(f"{accounts}/s/token", {"spec": {"expirationSeconds": 0}})).status == 422


async def test_a_budget_may_have_any_name_that_a_path_can_have(api: Api) -> None:
    assert (
        await api.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {"metadata": {"name": "A"}})
    ).status == 201


IMAGES = {
    "a": "Always",
    "a:latest": "Always",
    "reg:5000/a": "Always",
    "a:1": "IfNotPresent",
    "Upper": "IfNotPresent",
    "Bad Value": "IfNotPresent",
    "a:": "IfNotPresent",
    "a//b": "IfNotPresent",
    "A.b/c": "Always",
    f"a@sha256:{'0' * 64}": "IfNotPresent",
    f"reg:5000/a:latest@sha256:{'0' * 64}": "Always",
    "0" * 64: "IfNotPresent",
}


async def test_when_an_image_is_pulled_follows_from_its_name(api: Api) -> None:
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(IMAGES)]
    made = await api.post(PODS, {"metadata": {"name": "p"}, "spec": {"containers": containers}})
    assert {item["image"]: item["imagePullPolicy"] for item in made.body["spec"]["containers"]} == IMAGES
