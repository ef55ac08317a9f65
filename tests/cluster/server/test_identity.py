"""What names an object and what becomes of it, in the words of a kube-apiserver. tests/real/corpus/identity.yaml asks
both servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cluster.server.conftest import Api, in_process
from gangline.client.wire import APPLY_PATCH, Request

MAPS = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
PODS = "/api/v1/namespaces/default/pods"


def applied(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


@pytest.mark.parametrize(
    ("metadata", "status", "told"),
    [
        ({}, 400, "the name of the object (a based on URL) was undeterminable: name must be provided"),
        ({"name": "a", "managedFields": []}, 400, "metadata.managedFields must be nil"),
        (
            {"name": "a", "uid": "u"},
            409,
            'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid u, and '
            "no existing object was found",
        ),
    ],
)
async def test_what_is_applied_says_its_name_and_nothing_of_the_server(
    api: Api, metadata: dict[str, Any], status: int, told: str
) -> None:
    answer = await api.call("PATCH", f"{MAPS}/a", applied(**metadata), APPLY_PATCH, fieldManager="m")
    assert (answer.status, answer.message) == (status, told)


async def test_an_object_that_is_being_deleted_is_not_made_again(api: Api) -> None:
    await api.post(MAPS, {"metadata": {"name": "a", "finalizers": ["x.io/f"]}})
    await api.delete(f"{MAPS}/a")
    again = await api.post(MAPS, {"metadata": {"name": "a"}})
    assert (again.status, again.message) == (409, 'object is being deleted: configmaps "a" already exists')
    longer = await api.merge(f"{MAPS}/a", {"metadata": {"deletionGracePeriodSeconds": 5}})
    assert longer.status == 422
    assert longer.message.endswith("metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable")


async def test_a_put_names_the_object_that_is_there(api: Api) -> None:
    await api.post(LEASES, {"metadata": {"name": "a"}, "spec": {}})
    for name in ("a", "none"):
        answer = await api.put(f"{LEASES}/{name}", {"metadata": {"name": name, "uid": "u"}, "spec": {}})
        assert answer.status == 409
        assert "Precondition failed: UID in precondition: u, UID in object meta: " in answer.message


async def test_an_object_of_the_cluster_loses_its_namespace(api: Api) -> None:
    made = await api.post("/api/v1/nodes", {"metadata": {"name": "n", "namespace": "default"}})
    assert (made.status, "namespace" in made.body["metadata"]) == (201, False)


async def test_a_body_has_a_largest_size_in_process_too(api: Api) -> None:
    answer = await in_process(api.server).post(MAPS, {"metadata": {"name": "a"}, "data": {"k": "x" * 3 * 1024 * 1024}})
    assert (answer.status, answer.message) == (413, "Request entity too large: limit is 3145728")


async def test_amounts_finer_than_a_thousandth_are_rounded_up(api: Api) -> None:
    resources = {"requests": {"cpu": "0.1m", "memory": "1500m"}, "limits": {"cpu": "1.0005", "memory": "2"}}
    made = await api.post(
        PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}
    )
    told = made.body["spec"]["containers"][0]["resources"]
    assert told == {"requests": {"cpu": "1m", "memory": "1500m"}, "limits": {"cpu": "1001m", "memory": "2"}}


async def test_only_a_runtime_class_gives_overhead(api: Api) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "overhead": {"cpu": "100m"}}
    refused = await api.post(PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert refused.status == 403
    assert refused.message.endswith("Pod Overhead set without corresponding RuntimeClass defined Overhead")
    classes = "/apis/node.k8s.io/v1/runtimeclasses"
    overhead = {"podFixed": {"cpu": "100m"}}
    await api.post(classes, {"metadata": {"name": "r"}, "handler": "h", "overhead": overhead})
    made = await api.post(PODS, {"metadata": {"name": "p"}, "spec": {**spec, "runtimeClassName": "r"}})
    assert (made.status, made.body["spec"]["overhead"]) == (201, {"cpu": "100m"})


async def test_a_log_is_asked_for_by_container(api: Api) -> None:
    containers = [{"name": name, "image": "i"} for name in "ab"]
    spec = {"containers": containers, "initContainers": [{"name": "z", "image": "i"}]}
    await api.post(PODS, {"metadata": {"name": "p"}, "spec": spec})
    unnamed = await api.get(f"{PODS}/p/log")
    assert unnamed.message == "a container name must be specified for pod p, choose one of: [z a b]"
    assert (await api.get(f"{PODS}/p/log", container="a")).status == 204
    few = await api.get(f"{PODS}/p/log", container="a", tailLines="-1")
    assert (
        few.message == 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'
    )
    command = await api.get(f"{PODS}/p/exec", container="q", command="ls")
    assert command.message == "container q is not valid for pod p"


async def test_groups_are_told_as_far_as_a_caller_can_read_them(api: Api) -> None:
    aggregated = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
    new = await api.call("GET", "/apis", accept=aggregated.format("v2"))
    assert new.body["kind"] == "APIGroupDiscoveryList"
    assert (await api.call("GET", "/apis", accept=aggregated.format("v2beta1"))).status == 406
    old = await api.call("GET", "/apis", accept=f"{aggregated.format('v2beta1')},application/json")
    assert old.body["kind"] == "APIGroupList"


async def test_the_index_of_openapi_names_documents_that_are_there(api: Api) -> None:
    paths = json.loads((await api.get("/openapi/v3")).body)["paths"]
    assert list(paths) == sorted(paths)
    assert {"api", "api/v1", "apis", "apis/policy", "apis/policy/v1", "version"} <= paths.keys()
    for address in paths.values():
        document = await api.get(address["serverRelativeURL"].partition("?")[0])
        assert (document.status, document.body["openapi"]) == (200, "3.0.0")


async def test_a_document_of_openapi_that_a_client_has_already_is_not_sent_again(api: Api) -> None:
    first = await api.send(Request("GET", "/openapi/v3/api/v1"))
    known = {"if-none-match": first.headers["ETag"]}
    again = await api.send(Request("GET", "/openapi/v3/api/v1", headers=known))
    other = await api.send(Request("GET", "/openapi/v3/apis/policy/v1", headers=known))
    assert (again.status, again.body) == (304, b"")
    assert (first.status, other.status) == (200, 200)
