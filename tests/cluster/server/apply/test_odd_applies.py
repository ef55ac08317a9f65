"""Server-side apply of what is written oddly: which check comes first, and how a kube-apiserver 1.35 tells it."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.server.conftest import MAPS, PODS, Api
from gangline.client.wire import APPLY_PATCH

SCALE = "/apis/apps/v1/namespaces/default/deployments/d/scale"
UNTYPED = "failed to create typed patch object"


def a_map(**rest: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", **rest}


async def apply(api: Api, path: str, body: Any, **query: str) -> tuple[int, Any]:
    answer = await api.call("PATCH", path, body, APPLY_PATCH, fieldManager="me", **query)
    return answer.status, answer.body


REFUSED: tuple[tuple[Any, int, str], ...] = (
    (a_map(metadata=5), 500, f"{UNTYPED} (/; /v1, Kind=ConfigMap): .metadata: expected map, got 5"),
    (a_map(metadata={"name": "b", "namespace": "other"}), 400, "the namespace of the provided object does not match"),
    (a_map(metadata={"name": "b"}), 400, "the name of the object (b) does not match the name on the URL (a)"),
    (a_map(metadata={"name": "b", "namespace": "o"}, x=1), 500, f"{UNTYPED} (o/b; /v1, Kind=ConfigMap): .x: field"),
    (a_map(metadata={"name": "a", "managedFields": []}), 400, "metadata.managedFields must be nil"),
    (
        a_map(metadata={"name": "a", "managedFields": [{"manager": "x"}]}, x=1),
        400,
        "metadata.managedFields must be nil",
    ),
    (a_map(metadata={"name": "a", "resourceVersion": "x"}), 500, 'strconv.ParseUint: parsing "x": invalid syntax'),
    (a_map(), 400, "the name of the object (a based on URL) was undeterminable: name must be provided"),
    (
        [],
        400,
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go",
    ),
    (b"null", 400, "invalid object type: /, Kind="),
    ({"apiVersion": "a/b/c", "kind": "ConfigMap"}, 400, "invalid object type: /, Kind="),
)


@pytest.mark.parametrize(("body", "code", "told"), REFUSED)
async def test_an_odd_apply_is_refused_in_a_kube_apiservers_order(api: Api, body: Any, code: int, told: str) -> None:
    status, answer = await apply(api, f"{MAPS}/a", body)
    assert status == code
    assert answer["message"].startswith(told)


async def test_a_name_that_the_stored_object_has_need_not_be_applied(api: Api) -> None:
    assert (await apply(api, f"{MAPS}/a", a_map(metadata={"name": "a"}, data={"k": "v"})))[0] == 201
    given: tuple[Any, ...] = ({}, None)
    for metadata in given:
        status, answer = await apply(api, f"{MAPS}/a", a_map(metadata=metadata, data={"k": str(metadata)}))
        assert (status, answer["data"]) == (200, {"k": str(metadata)})


async def test_an_amount_that_cannot_be_read_is_told_once_everything_is_merged(api: Api) -> None:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "x"}}}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}
    status, answer = await apply(api, f"{PODS}/p", pod)
    assert status == 500
    assert answer["message"] == (
        "failed to convert new object (/p; /v1, Kind=Pod) to proper version: unable to convert unstructured object to "
        "/v1, Kind=Pod: quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )


async def test_an_empty_list_of_managed_fields_clears_them_and_an_unreadable_one_is_passed_over(api: Api) -> None:
    entry = {"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}
    made = await api.post(MAPS, a_map(metadata={"name": "a"}, data={"k": "v"}))
    kept = made.body["metadata"]["managedFields"]
    for odd in ({**entry, "apiVersion": ""}, {**entry, "fieldsType": ""}, {**entry, "operation": "Nope"}):
        answer = await api.put(f"{MAPS}/a", a_map(metadata={"name": "a", "managedFields": [odd]}, data={"k": "v"}))
        assert answer.body["metadata"]["managedFields"] == kept
    unknown = {**entry, "fieldsV1": {"x:data": {}}}
    answer = await api.put(f"{MAPS}/a", a_map(metadata={"name": "a", "managedFields": [unknown]}, data={"k": "v"}))
    assert "managedFields" not in answer.body["metadata"]
    answer = await api.put(f"{MAPS}/a", a_map(metadata={"name": "a"}, data={"k": "w"}))
    assert "managedFields" not in answer.body["metadata"]
    await api.post(MAPS, a_map(metadata={"name": "b"}, data={"k": "v"}))
    answer = await api.put(f"{MAPS}/b", a_map(metadata={"name": "b", "managedFields": []}, data={"k": "v"}))
    assert "managedFields" not in answer.body["metadata"]


SCALES = (
    (
        {"spec": {"replicas": 2}},
        400,
        "the name of the object (d based on URL) was undeterminable: name must be provided",
    ),
    ({"metadata": {"name": "e"}}, 400, "the name of the object (e) does not match the name on the URL (d)"),
    ({"metadata": {"name": "d", "namespace": "o"}}, 400, "the namespace of the provided object does not match the"),
    (
        {"metadata": {"name": "d", "uid": "x"}},
        409,
        'Operation cannot be fulfilled on deployments.apps "d": StorageError',
    ),
)


@pytest.mark.parametrize(("body", "code", "told"), SCALES)
async def test_a_put_scale_names_the_object_it_is_about(api: Api, body: Any, code: int, told: str) -> None:
    pods = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": pods}
    await api.post("/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec})
    answer = await api.put(SCALE, body)
    assert answer.status == code
    assert answer.message.startswith(told)


async def test_an_annotation_of_null_beside_kubectls_own_note_is_an_empty_one(api: Api) -> None:
    note = {"kubectl.kubernetes.io/last-applied-configuration": '{"kind":"ConfigMap"}'}
    await api.call("POST", MAPS, a_map(metadata={"name": "a", "annotations": note}))
    sent = a_map(metadata={"name": "a", "annotations": {"b": None}})
    answer = await api.call("PATCH", f"{MAPS}/a", sent, APPLY_PATCH, fieldManager="kubectl")
    status, body = answer.status, answer.body
    assert status == 200 and body["metadata"]["annotations"]["b"] == ""
    assert '"b":null' in body["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
