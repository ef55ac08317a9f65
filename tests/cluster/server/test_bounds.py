"""One request can neither hang nor fill the server: what is too much is refused, and nothing is read for those who may
not ask."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cluster.server.conftest import Api, config_map, in_process
from gangline.client.wire import APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH, User
from gangline.cluster.server.server import Server, ServerSettings

MAPS = "/api/v1/namespaces/default/configmaps"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
YAML = "application/yaml"
MERGES = "\n".join(
    ["a0: &a0 {k: v}"] + [f"a{at}: &a{at} {{<<: [{', '.join([f'*a{at - 1}'] * 9)}]}}" for at in range(1, 12)]
).encode()
POD = "/api/v1/namespaces/default/pods"


@pytest.mark.parametrize(
    ("body", "told"), [(MERGES, "document contains excessive aliasing"), (b"[" * 100_000, "exceeded max depth of 100")]
)
async def test_yaml_beyond_the_bounds_is_a_bad_request(api: Api, body: bytes, told: str) -> None:
    for path, form in ((REVIEWS, YAML), (MAPS, YAML)):
        answer = await api.call("POST", path, body, form)
        assert answer.status == 400 and told in answer.message
    answer = await api.call("PATCH", f"{MAPS}/a", body, APPLY_PATCH, fieldManager="me")
    assert answer.status == 400 and told in answer.message


async def test_three_megabytes_of_plain_yaml_are_read_no_further_than_the_bound() -> None:
    server = Server(ServerSettings())
    await server.open()
    answer = await in_process(server).call("POST", REVIEWS, b"- a\n" * 700_000, YAML)
    assert answer.status == 400 and "yaml: line 200000: document holds more than 200000 values" in answer.message
    await server.close()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (MAPS, b"[" * 100_000),
        (MAPS, b'{"data":' * 5000 + b"1" + b"}" * 5000),
        (MAPS, b'{"data":' + b"9" * 5000 + b"}"),
        (MAPS, b'{"metadata":3}'),
        (MAPS, b'{"metadata":[]}'),
        (MAPS, b'{"apiVersion":1}'),
        (MAPS, b'{"metadata":{"name":"a","labels":' + b"[" * 150 + b"]" * 150 + b"}}"),
    ],
)
async def test_json_that_is_no_object_of_its_kind_is_a_bad_request(api: Api, path: str, body: bytes) -> None:
    assert (await api.call("POST", path, body)).status == 400


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"apiVersion": 1, "kind": "ConfigMap"}, "invalid object type: /, Kind=ConfigMap"),
        ({"apiVersion": "v1", "kind": 2}, "invalid object type: /v1, Kind="),
        ({"apiVersion": ["v1"], "kind": "ConfigMap"}, "invalid object type: /, Kind=ConfigMap"),
    ],
)
async def test_an_apply_of_an_odd_kind_is_a_bad_request(api: Api, body: Any, told: str) -> None:
    answer = await api.call("PATCH", f"{MAPS}/a", body, APPLY_PATCH, fieldManager="me")
    assert (answer.status, answer.message) == (400, told)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"limit": "1" + "0" * 26}, 'strconv.ParseInt: parsing "1' + "0" * 26 + '": value out of range'),
        ({"limit": "9" * 5000}, f'strconv.ParseInt: parsing "{"9" * 5000}": value out of range'),
        ({"timeoutSeconds": "9" * 30}, f'strconv.ParseInt: parsing "{"9" * 30}": value out of range'),
        (
            {"resourceVersion": "9" * 30},
            f'invalid resource version: resourceVersion: Invalid value: "{"9" * 30}": strconv.ParseUint: parsing '
            f'"{"9" * 30}": value out of range',
        ),
    ],
)
async def test_a_number_that_does_not_fit_is_a_bad_request(api: Api, query: dict[str, str], told: str) -> None:
    answer = await api.call("GET", MAPS, **query)
    assert (answer.status, answer.message) == (400, told)


async def test_the_largest_limit_means_all(api: Api) -> None:
    assert (await api.get(MAPS, limit=str(2**63 - 1))).status == 200


@pytest.mark.parametrize(
    "body", [{"preconditions": True}, {"dryRun": 3}, {"gracePeriodSeconds": "x"}, {"gracePeriodSeconds": 10**26}]
)
async def test_odd_options_of_a_delete_are_a_bad_request(api: Api, body: Any) -> None:
    answer = await api.call("DELETE", f"{MAPS}/a", body)
    assert answer.status == 400 and "cannot be handled as a DeleteOptions: json: cannot unmarshal" in answer.message


@pytest.mark.parametrize("body", [{"metadata": 0.5}, {"metadata": {"name": 1}}, {"target": "x"}])
async def test_an_odd_binding_is_a_bad_request(api: Api, body: Any) -> None:
    answer = await api.post(f"{POD}/p/binding", body)
    assert answer.status == 400 and 'Binding in version "v1" cannot be handled as a Binding' in answer.message


async def test_no_body_is_read_before_its_sender_is_allowed() -> None:
    server = Server(ServerSettings())
    await server.open()
    api = in_process(server, User("nobody", ("system:authenticated",)))
    bad = b"{ this is neither JSON nor YAML"
    for method, path, form in (
        ("POST", MAPS, YAML),
        ("PUT", f"{MAPS}/a", YAML),
        ("PATCH", f"{MAPS}/a", APPLY_PATCH),
        ("PATCH", f"{MAPS}/a", MERGE_PATCH),
        ("DELETE", f"{MAPS}/a", YAML),
        ("POST", f"{POD}/p/binding", YAML),
    ):
        answer = await api.call(method, path, bad, form, fieldManager="me")
        assert (method, answer.status) == (method, 403)
    await server.close()


async def test_who_may_patch_but_not_create_is_refused_before_the_body_is_read() -> None:
    server = Server(ServerSettings())
    await server.open()
    admin, user = in_process(server), User("patcher", ("system:authenticated",))
    rules = [
        {"apiGroups": ["", "coordination.k8s.io"], "resources": ["configmaps", "leases"], "verbs": ["patch", "update"]}
    ]
    about = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "patcher"}
    await admin.post(
        "/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "patcher"}, "rules": rules}
    )
    await admin.post(
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {"metadata": {"name": "patcher"}, "roleRef": about, "subjects": [{"kind": "User", "name": user.name}]},
    )
    api = in_process(server, user)
    answer = await api.call("PATCH", f"{MAPS}/a", MERGES, APPLY_PATCH, fieldManager="me")
    assert answer.status == 403 and 'cannot create resource "configmaps"' in answer.message
    answer = await api.call("PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/a", MERGES, YAML)
    assert answer.status == 403 and 'cannot create resource "leases"' in answer.message
    await server.close()


async def test_others_are_answered_while_long_yaml_is_read(api: Api) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: long}\ndata:\n" + b"".join(
        b"  k%d: v\n" % at for at in range(20_000)
    )
    reading = asyncio.create_task(api.call("POST", MAPS, body, YAML))
    answered = 0
    while not reading.done():
        assert (await api.get("/version")).status == 200
        answered += 1
        await asyncio.sleep(0)
    assert (await reading).status == 201 and answered > 1


async def test_others_are_answered_while_long_yaml_is_printed(api: Api) -> None:
    await api.post(MAPS, {"metadata": {"name": "long"}, "data": {f"k{at}": "v" for at in range(20_000)}})
    printing = asyncio.create_task(api.call("GET", f"{MAPS}/long", accept=YAML))
    answered = 0
    while not printing.done():
        assert (await api.get("/version")).status == 200
        answered += 1
        await asyncio.sleep(0)
    found = await printing
    assert found.body.startswith(b"apiVersion: v1\ndata:\n  k0: v\n") and answered > 1


@pytest.mark.parametrize("pattern", ["^(a|b|ab){1,60}c$", r"^(a+)+\\b$", "(?i)(a+)+$", "(?s)(a+)+$", r"\\b(a+)+$"])
async def test_no_pattern_of_a_definition_hangs_the_server(api: Api, pattern: str) -> None:
    rule = f"self.matches('{pattern}')"
    pattern = pattern.replace("\\\\", "\\")
    schema = {
        "type": "object",
        "properties": {
            "p": {"type": "string", "pattern": pattern},
            "r": {"type": "string", "maxLength": 1000, "x-kubernetes-validations": [{"rule": rule}]},
        },
    }
    await api.post(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
            "metadata": {"name": "things.x.io"},
            "spec": {
                "group": "x.io",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
            },
        },
    )
    answer = await api.post(
        "/apis/x.io/v1/namespaces/default/things",
        {
            "apiVersion": "x.io/v1",
            "kind": "Thing",
            "metadata": {"name": "a"},
            "p": "a" * 100_000 + "!",
            "r": "a" * 900 + "!",
        },
    )
    assert (
        answer.status == 422
        and f"should match '{pattern}'" in answer.message
        and f"failed rule: {rule}" in answer.message
    )


async def test_a_revision_of_four_thousand_digits_is_a_bad_request(api: Api) -> None:
    long, made = "9" * 4_000, {"metadata": {"name": "a"}}
    told = f'strconv.ParseUint: parsing "{long}": value out of range'
    await api.post(MAPS, made)
    for path, query in ((MAPS, {"watch": "1"}), (MAPS, {}), (f"{MAPS}/a", {})):
        answer = await api.call("GET", path, resourceVersion=long, **query)
        assert answer.status == 400 and answer.message.endswith(f'resourceVersion: Invalid value: "{long}": {told}')
    answer = await api.put(f"{MAPS}/a", {"metadata": {"name": "a", "resourceVersion": long}})
    assert (answer.status, answer.message) == (400, told)


STRANGE_PATCHES = (
    (
        {"spec": {"tolerations": [{"key": "a"}], "$setElementOrder/containers": "c"}},
        "expected a []interface {}, but received a string",
    ),
    ({"spec": {"$setElementOrder/containers": ["c"]}}, "value for key 0 is not a map"),
    (
        {"spec": {"$setElementOrder/containers": [{"image": "c"}]}},
        "map: map[image:c] does not contain declared merge key: name",
    ),
    (
        {"spec": {"$setElementOrder/nope": ["c"]}},
        'unable to find api field in struct PodSpec for the json field "nope"',
    ),
    (
        {"metadata": {"ownerReferences": ["x"]}},
        "list element types are not identical: [[map[apiVersion:v1 kind:A name:n uid:u]] [x]]",
    ),
    (
        {"metadata": {"$setElementOrder/finalizers": ["a.b/c"], "finalizers": ["a.b/d"]}},
        "The order in patch list:\n[a.b/d]\n doesn't match $setElementOrder list:\n[a.b/c]\n",
    ),
    (
        {"spec": {"containers": [{"name": "c", "$patch": "merge"}]}},
        "merging lists cannot yet be specified in the patch",
    ),
    ({"metadata": {"labels": {"$patch": "merge"}}}, "unknown patch type: merge in map: map[$patch:merge]"),
)


@pytest.mark.parametrize(("patch", "told"), STRANGE_PATCHES)
async def test_a_strategic_patch_that_is_not_written_as_one_is_told_as_a_kube_apiserver_does(
    api: Api, patch: Any, told: str
) -> None:
    owner = {"apiVersion": "v1", "kind": "A", "name": "n", "uid": "u"}
    about = {"name": "p", "labels": {"a": "b"}, "finalizers": ["a.b/c"], "ownerReferences": [owner]}
    await api.post(POD, {"metadata": about, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    answer = await api.call("PATCH", f"{POD}/p", patch, STRATEGIC_PATCH)
    assert (answer.status, answer.message) == (500, told)


async def test_a_binding_to_something_that_is_no_node_is_refused(api: Api) -> None:
    await api.post(POD, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    answer = await api.post(f"{POD}/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Pod", "name": "n"}})
    assert (answer.status, answer.message) == (
        500,
        'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
    )


async def test_a_server_keeps_so_many_bytes_of_objects_and_no_more() -> None:
    server = Server(ServerSettings(space=400_000))
    await server.open()
    api = in_process(server)
    try:
        answers = [await api.post(MAPS, config_map(f"a{at}", {"big": "x" * 90_000})) for at in range(6)]
        assert [answer.status for answer in answers] == [201, 201, 201, 201, 403, 403]
        assert answers[-1].message == (
            'configmaps "a5" is forbidden: this server keeps 0.38147 MiB of objects and has them; delete some first'
        )
        grown = await api.call("PATCH", f"{MAPS}/a0", {"data": {"more": "x" * 90_000}}, MERGE_PATCH)
        assert grown.status == 403
        small = await api.call("PATCH", f"{MAPS}/a0", {"metadata": {"finalizers": ["a.io/b"]}}, MERGE_PATCH)
        assert small.status == 200
        assert (await api.delete(f"{MAPS}/a0")).status == 200
        ended = await api.call("PATCH", f"{MAPS}/a0", {"metadata": {"finalizers": None}}, MERGE_PATCH)
        assert ended.status == 200
        assert (await api.post(MAPS, config_map("a5", {"big": "x" * 90_000}))).status == 201
    finally:
        await server.close()
