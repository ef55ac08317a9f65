"""A list of any length is judged in one walk: what would take hours if each item were compared with all others, or
quoted for each of them, is answered. What would grow without end is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from cluster.server.conftest import Api, in_process
from gangline.client.wire import JSON_PATCH
from gangline.cluster.server.core import OBJECT_LIMIT
from gangline.cluster.server.server import Server, ServerSettings

MANY = 60_000
DEFAULT = "namespaces/default"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ODDS = f"/apis/x.io/v1/{DEFAULT}/odds"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    server = Server(ServerSettings())
    await server.open()
    yield in_process(server)
    await server.close()


def pod(**spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", **spec.pop("container", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container], **spec}}


def definition(spec: dict[str, Any]) -> dict[str, Any]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }
    names = {"plural": "odds", "kind": "Odd", "singular": "odd", "listKind": "OddList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "odds.x.io"},
        "spec": {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def odd(spec: Any) -> dict[str, Any]:
    return {"apiVersion": "x.io/v1", "kind": "Odd", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        (
            f"/api/v1/{DEFAULT}/pods",
            pod(
                topologySpreadConstraints=[
                    {"topologyKey": f"k{at}", "maxSkew": 1, "whenUnsatisfiable": "x"} for at in range(MANY // 2)
                ]
            ),
            "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value",
        ),
        (
            f"/api/v1/{DEFAULT}/pods",
            pod(container={"volumeDevices": [{"name": f"v{at}", "devicePath": "/d"} for at in range(MANY)]}),
            "spec.containers[0].volumeDevices[0].name: Not found",
        ),
        (
            f"/api/v1/{DEFAULT}/resourcequotas",
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "q"},
                "spec": {"scopes": [f"s{at}" for at in range(MANY)]},
            },
            'spec.scopes: Invalid value: ["s0","s1"',
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": {"name": "b"},
                "spec": {"policyName": "p", "validationActions": [f"a{at}" for at in range(MANY)]},
            },
            "spec.validationActions[0]: Unsupported value",
        ),
        (
            CRDS,
            definition(
                {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": [f"k{at}" for at in range(MANY)],
                    "items": {"type": "object", "properties": {"a": {"type": "string"}}},
                }
            ),
            "entries must all be names of item properties",
        ),
    ],
)
async def test_items_are_not_compared_with_all_others(api: Api, path: str, body: Any, told: str) -> None:
    answer = await api.call("POST", path, body)
    assert answer.status == 422 and told in answer.message
    assert len(answer.message) < 20 * 1024 * 1024


async def test_values_of_a_long_list_are_looked_up_in_a_long_enum(api: Api) -> None:
    choices = {"type": "array", "items": {"type": "string", "enum": [f"v{at}" for at in range(MANY)]}}
    assert (await api.call("POST", CRDS, definition(choices))).status == 201
    answer = await api.call("POST", ODDS, odd([f"q{at}" for at in range(MANY)]))
    assert answer.status == 422 and 'spec[0]: Unsupported value: "q0": supported values: "v0", "v1"' in answer.message


async def test_alternatives_are_tried_a_bounded_number_of_times(api: Api) -> None:
    branches = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "anyOf": [{"required": [f"a{at}"]} for at in range(3000)],
    }
    assert (await api.call("POST", CRDS, definition({"type": "array", "items": branches}))).status == 201
    answer = await api.call("POST", ODDS, odd([{"a0": 1}] * 3000))
    assert answer.status == 422
    assert "its schema has alternatives that would have to be tried more than 100000 times" in answer.message
    assert (await api.call("POST", ODDS, odd([{"a0": 1}] * 10))).status == 201


async def test_defaults_add_a_bounded_number_of_values(api: Api) -> None:
    filled = {
        "type": "object",
        "properties": {f"p{at}": {"type": "string", "default": "y" * 1000} for at in range(500)},
    }
    assert (await api.call("POST", CRDS, definition({"type": "array", "items": filled}))).status == 201
    answer = await api.call("POST", ODDS, odd([{}] * 60_000))
    assert answer.status == 400 and "the defaults of its schema add more than 200000 values" in answer.message
    assert (await api.call("POST", ODDS, odd([{}]))).status == 201


async def test_an_object_does_not_grow_beyond_what_one_request_may_have(api: Api) -> None:
    about = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"}, "template": {"spec": pod()["spec"]}}
    path = f"/api/v1/{DEFAULT}/podtemplates"
    assert (await api.call("POST", path, about)).status == 201
    grown = [
        {"op": "add", "path": "/template/spec/containers/0/args", "value": ["x" * 1_000_000] * 2},
        {"op": "copy", "from": "/template/spec/containers/0/args", "path": "/template/spec/containers/0/command"},
    ]
    answer = await api.call("PATCH", f"{path}/t", grown, JSON_PATCH)
    assert answer.status == 413 and answer.message == f"Request entity too large: limit is {OBJECT_LIMIT}"
    assert (await api.call("DELETE", f"{path}/t")).status == 200


async def test_a_service_that_wants_more_ports_than_there_are_is_refused(api: Api) -> None:
    ports = [{"name": f"p{at}", "port": at + 1} for at in range(5000)]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"type": "NodePort", "ports": ports},
    }
    answer = await api.call("POST", f"/api/v1/{DEFAULT}/services", service)
    assert (answer.status, answer.message) == (422, "failed to allocate a nodePort: range is full")


async def test_patterns_are_looked_for_only_as_long_as_all_of_an_object_may_take(api: Api) -> None:
    """Two hundred patterns are more than are kept compiled: each text would have them all compiled again."""
    patterns = [{"pattern": f"^[ab]{{1,{20 + at}}}$"} for at in range(200)]
    texts = {"type": "array", "items": {"type": "string", "allOf": patterns}}
    assert (await api.call("POST", CRDS, definition(texts))).status == 201
    answer = await api.call("POST", ODDS, odd([f"{at:018b}".replace("0", "a").replace("1", "b") for at in range(MANY)]))
    assert answer.status == 422
    assert "its schema has patterns that take too long to look for in so much text" in answer.message
    assert (await api.call("POST", ODDS, odd(["ab", "ba"]))).status == 201
