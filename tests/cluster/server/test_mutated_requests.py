"""What a kube-apiserver 1.35 answers to requests that mutation found (tests/real/mutations.py), on the embedded server
alone; tests/real/corpus/mutated.yaml asks both."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from cluster.server.conftest import MAPS, PODS, Answer, Api, config_map, pod
from gangline.client.wire import APPLY_PATCH, JSON, MERGE_PATCH, STRATEGIC_PATCH, Request, Response
from gangline.cluster.server.wire.response_head import print_head

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/example.com/v1/namespaces/default/things"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
UNREADABLE = "json: cannot unmarshal array into Go value of type struct { APIVersion string "


def told(answer: Answer) -> list[str]:
    """Warnings without the quoting of a header."""
    return [text.replace("\\", "").removeprefix('299 - "').replace('""', '"') for text in answer.warnings]


def definition(**spec: Any) -> dict[str, Any]:
    inner = {
        "s": {"type": "string"},
        "n": {"type": "integer"},
        "l": {"type": "array", "items": {"type": "string"}},
        "e": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    }
    rule = {"rule": "!has(self.s) || self.s != 'no'"}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": inner, "x-kubernetes-validations": [rule]}},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
        **spec,
    }
    names = {"plural": "things", "kind": "Thing"}
    return {
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def thing(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec}


@pytest.mark.parametrize(("method", "path"), [("GET", f"{MAPS}/a%25b"), ("DELETE", f"{ROLES}/a%25b")])
async def test_a_name_that_no_path_can_have_is_a_bad_request(api: Api, method: str, path: str) -> None:
    answer = await api.call(method, path)
    assert (answer.status, answer.message) == (400, "Name parameter invalid: \"a%b\": may not contain '%'")


@pytest.mark.parametrize("path", ["bindings", "pods/b/eviction", "serviceaccounts/b/token"])
async def test_what_is_sent_to_a_subresource_needs_a_namespace_first(api: Api, path: str) -> None:
    body = {"metadata": {"name": "c"}, "target": {"name": "n"}} if path == "bindings" else {}
    answer = await api.post(f"/api/v1/namespaces/nope/{path}", body)
    assert (answer.status, answer.message) == (404, 'namespaces "nope" not found')


async def test_an_empty_dry_run_is_none(api: Api) -> None:
    answer = await api.post(MAPS, config_map("a"), dryRun="")
    told = 'dryRun: Unsupported value: [""]: supported values: "All"'
    assert answer.status == 422 and answer.message.endswith(told)
    await api.post(MAPS, config_map("a"))
    answer = await api.call("DELETE", f"{MAPS}/a", dryRun="")
    assert answer.status == 422 and answer.message.endswith(told)
    await api.post(PODS, pod("p"))
    eviction = {"metadata": {"name": "p"}, "deleteOptions": {"dryRun": ["x"]}}
    assert (await api.post(f"{PODS}/p/eviction", eviction)).status == 422


async def test_a_dry_run_of_a_create_may_name_a_revision(api: Api) -> None:
    given = config_map("a")
    given["metadata"]["resourceVersion"] = "1"
    assert (await api.post(MAPS, given, dryRun="All")).status == 201
    assert (await api.post(MAPS, given)).status == 500


async def test_a_body_that_is_a_list_is_told_with_its_bytes(api: Api) -> None:
    answer = await api.call("POST", MAPS, b"[]")
    assert answer.status == 400 and UNREADABLE in answer.message and answer.message.endswith("(5b5d)")


async def test_a_protobuf_body_that_is_none_is_a_bad_request(api: Api) -> None:
    answer = await api.call("POST", MAPS, b'{"a": "b"}', "application/vnd.kubernetes.protobuf")
    assert answer.status == 400 and "does not appear to be a protobuf message" in answer.message


@pytest.mark.parametrize(
    ("content_type", "status"),
    [("application/json;;", 415), ("application/json;", 201), ('application/json; a="b c"', 201), ("x/y", 415)],
)
async def test_a_content_type_is_read_with_its_parameters(api: Api, content_type: str, status: int) -> None:
    assert (await api.call("POST", MAPS, config_map("a"), content_type)).status == status


async def test_the_form_of_a_new_body_is_looked_at_before_the_query(api: Api) -> None:
    assert (await api.call("POST", MAPS, config_map("a"), "text/plain", dryRun="x")).status == 415
    assert (await api.call("POST", MAPS, config_map("a"), dryRun="x")).status == 422


async def test_what_is_only_asked_and_never_kept_has_no_names(api: Api) -> None:
    answer = await api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/a", {})
    assert (answer.status, answer.message) == (404, "the server could not find the requested resource")


async def test_options_of_a_list_are_read_before_the_form_of_its_answer(api: Api) -> None:
    accept = "application/json;as=Table;v=v2;g=meta.k8s.io"
    assert (await api.call("GET", MAPS, accept=accept, resourceVersionMatch="Exact")).status == 422
    assert (await api.call("GET", MAPS, accept=accept)).status == 406


async def test_the_kind_of_a_body_is_read_in_any_case(api: Api) -> None:
    answer = await api.post(MAPS, {**config_map("a"), "KIND": "Pod"})
    assert answer.status == 400 and answer.message.startswith('Pod in version "v1" cannot be handled as a ConfigMap')


@pytest.mark.parametrize("kind", ["DeleteOptions", "Status", "ConfigMapList", "WatchEvent"])
async def test_kinds_that_are_no_objects_are_known(api: Api, kind: str) -> None:
    answer = await api.post(MAPS, {"apiVersion": "v1", "kind": kind})
    assert answer.status == 400 and f"converting (v1.{kind}) to (core.ConfigMap): unknown conversion" in answer.message


async def test_doubled_and_unknown_fields_are_warned_of_as_they_stand(api: Api) -> None:
    body = b'{"metadata":{"name":"x","bogus":1},"i":1,"metadata":{"name":"y","bogus":2}}'
    answer = await api.call("POST", MAPS, body)
    assert told(answer) == ['unknown field "metadata.bogus"', 'unknown field "i"', 'duplicate field "metadata"']


async def test_a_manager_with_a_control_character_is_told_as_go_quotes_it(api: Api) -> None:
    answer = await api.post(MAPS, config_map("a"), fieldManager="a\ab")
    assert r'Invalid value: "a\ab": invalid character U+0007 (at position 1)' in answer.message


async def test_deletes_take_preconditions_from_the_query_and_null_for_no_options(api: Api) -> None:
    await api.post(MAPS, config_map("a"))
    assert (await api.call("DELETE", f"{MAPS}/a", uid="x")).status == 409
    assert (await api.call("DELETE", f"{MAPS}/a", resourceVersion="x")).status == 409
    assert (await api.call("DELETE", f"{MAPS}/a", b"[]")).status == 400
    assert (await api.call("DELETE", f"{MAPS}/a", b"null")).status == 200


async def test_a_list_that_may_not_be_is_refused_before_the_options_of_its_deletion(api: Api) -> None:
    answer = await api.call("DELETE", MAPS, config_map("a"), sendInitialEvents="true")
    assert answer.status == 422 and "sendInitialEvents is forbidden for list" in answer.message


async def test_a_generated_name_may_not_be_too_long(api: Api) -> None:
    answer = await api.post(MAPS, {"metadata": {"generateName": "x" * 300}}, dryRun="All")
    assert answer.status == 422 and "must be no more than 253 characters" in answer.message
    named = definition()
    named["metadata"]["generateName"] = "g-"
    answer = await api.post(DEFINITIONS, named, dryRun="All")
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == ["metadata.generateName"]


async def test_a_schema_that_cannot_be_structural_is_judged_by_its_keywords_alone(api: Api) -> None:
    schema = {"properties": {"a": {"definitions": {"b": {"type": "string"}}}, "id": {}}}
    answer = await api.post(DEFINITIONS, definition(schema={"openAPIV3Schema": schema}), dryRun="All")
    assert [cause["field"].rpartition(".")[2] for cause in answer.body["details"]["causes"]] == ["definitions"]


async def test_what_stands_where_a_schema_has_a_text_is_unknown(api: Api) -> None:
    await api.post(DEFINITIONS, definition())
    answer = await api.post(THINGS, thing(s={"x": 1}, l=[{"y": 1}]))
    assert answer.status == 422
    assert told(answer) == ['unknown field "spec.l[0].y"', 'unknown field "spec.s.x"']


async def test_a_custom_object_is_told_what_its_scale_could_not_read(api: Api) -> None:
    await api.post(DEFINITIONS, definition())
    answer = await api.post(THINGS, thing(n="many"))
    causes = {cause["field"]: cause["message"] for cause in answer.body["details"]["causes"]}
    assert causes[".spec.n"].endswith(".spec.n accessor error: many is of the type string, expected int64")
    answer = await api.post(THINGS, {**thing(), "spec": [1]})
    causes = {cause["field"]: cause["message"] for cause in answer.body["details"]["causes"]}
    assert causes[".spec.n"].endswith("[1] is of the type []interface {}, expected map[string]interface{}")


async def test_rules_are_not_run_on_an_object_without_a_name(api: Api) -> None:
    await api.post(DEFINITIONS, definition())
    answer = await api.post(THINGS, {**thing(s="no"), "metadata": {}})
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == ["metadata.name", "<nil>"]


async def test_an_embedded_object_has_a_sound_kind_and_version(api: Api) -> None:
    await api.post(DEFINITIONS, definition())
    answer = await api.post(THINGS, thing(e={"apiVersion": "a/b/c", "kind": "0.x"}))
    told = [cause["field"] for cause in answer.body["details"]["causes"]]
    assert told == ["spec.e.apiVersion", "spec.e.kind"]


@pytest.mark.parametrize(
    ("method", "path", "content_type", "status"),
    [
        ("POST", f"{THINGS}/named", JSON, 201),
        ("HEAD", f"{THINGS}/t", JSON, 200),
        ("OPTIONS", THINGS, JSON, 405),
        ("PATCH", THINGS, MERGE_PATCH, 400),
        ("PATCH", THINGS, STRATEGIC_PATCH, 415),
        ("PUT", THINGS, JSON, 400),
        ("DELETE", "/apis/example.com/v1/things", JSON, 404),
        ("POST", f"{THINGS}/t/scale", JSON, 405),
    ],
)
async def test_custom_objects_are_served_by_what_a_method_stands_for(
    api: Api, method: str, path: str, content_type: str, status: int
) -> None:
    await api.post(DEFINITIONS, definition())
    await api.post(THINGS, thing())
    body = {**thing(), "metadata": {"name": "named"}} if method == "POST" else {}
    assert (await api.call(method, path, body, content_type)).status == status


async def test_who_wrote_the_status_of_a_definition_is_told(api: Api) -> None:
    await api.post(DEFINITIONS, definition())
    about = (await api.get(f"{DEFINITIONS}/things.example.com")).body["metadata"]
    entries = {(entry["manager"], entry.get("subresource")) for entry in about["managedFields"]}
    assert ("kube-apiserver", "status") in entries


async def test_one_custom_object_is_no_list_of_metadata(api: Api) -> None:
    await api.post(DEFINITIONS, definition())
    await api.post(THINGS, thing())
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    answer = await api.call("GET", f"{THINGS}/t", accept=accept)
    assert answer.status == 406
    assert answer.message == (
        "you requested PartialObjectMetadataList, but the requested object is not a list (*unstructured.Unstructured)"
    )


async def test_keys_given_twice_in_an_apply_are_told_once_it_is_done(api: Api) -> None:
    kind = b'"kind": "ConfigMap"'
    body = b'{"apiVersion": "v1", %s, %s, "metadata": {"name": "a"}, "data": {"k": "%%s"}}' % (kind, kind)
    done = await api.call("PATCH", f"{MAPS}/a", body % b"v", APPLY_PATCH, fieldManager="m")
    refused = await api.call("PATCH", f"{MAPS}/a", body % b"w", APPLY_PATCH, fieldManager="n")
    assert (refused.status, refused.warnings) == (409, ()) and (done.status, len(done.warnings)) == (201, 1)


async def test_a_volume_takes_its_name_only_where_it_is_sound(api: Api) -> None:
    twice = {"name": "v", "emptyDir": {}, "configMap": {"name": "x"}}
    given = pod("a")
    given["spec"]["volumes"] = [twice, {"name": "v", "emptyDir": {}}]
    answer = await api.post(PODS, given)
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == ["spec.volumes[0].configMap"]


async def test_the_status_of_a_pod_says_nothing_of_its_deletion(api: Api) -> None:
    await api.post(PODS, pod("a"))
    answer = await api.merge(f"{PODS}/a/status", {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}})
    assert answer.status == 200 and "deletionTimestamp" not in answer.body["metadata"]
    leaving = pod("b")
    leaving["metadata"]["finalizers"] = ["example.com/wait"]
    await api.post(PODS, leaving)
    await api.delete(f"{PODS}/b", {"gracePeriodSeconds": 0})
    deleted = (await api.get(f"{PODS}/b")).body
    assert (await api.put(f"{PODS}/b/status", {**deleted, "status": {"phase": "Failed"}})).status == 200
    answer = await api.merge(f"{PODS}/b/status", {"metadata": {"deletionTimestamp": None}, "status": {"message": "m"}})
    assert answer.body["metadata"]["deletionTimestamp"] == deleted["metadata"]["deletionTimestamp"]


async def test_yaml_has_the_quotes_of_a_kube_apiserver(api: Api) -> None:
    await api.post(MAPS, config_map("a", {"k": "1", "n": "a\nb\n", "q": "a: b", "t": "2020-01-01", "w": "="}))
    answer = await api.call("GET", f"{MAPS}/a", accept="application/yaml")
    text = answer.body.decode()
    assert 'data:\n  k: "1"\n  "n": |\n    a\n    b\n  q: \'a: b\'\n  t: "2020-01-01"\n  w: =\n' in text


async def test_kubectl_takes_over_what_it_applied_from_its_own_side(api: Api) -> None:
    last = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}})
    before = config_map("a", {"k": "v"})
    before["metadata"]["annotations"] = {LAST_APPLIED: last}
    await api.post(MAPS, before, fieldManager="kubectl-client-side-apply")
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "w"}}
    assert (await api.call("PATCH", f"{MAPS}/a", wanted, APPLY_PATCH, fieldManager="other")).status == 409
    done = await api.call("PATCH", f"{MAPS}/a", wanted, APPLY_PATCH, fieldManager="kubectl")
    assert done.status == 200
    assert json.loads(done.body["metadata"]["annotations"][LAST_APPLIED]) == wanted
    await api.merge(f"{MAPS}/a", {"data": {"k": "x"}}, fieldManager="editor")
    assert (await api.call("PATCH", f"{MAPS}/a", wanted, APPLY_PATCH, fieldManager="kubectl")).status == 409


@pytest.mark.parametrize("path", ["/apis", "/openapi/v3/api/v1"])
async def test_who_has_a_document_already_is_told_so(api: Api, path: str) -> None:
    accept = AGGREGATED if path == "/apis" else JSON
    asked = Request("GET", path, accept=accept, headers=api.extra)
    first = await api.send(asked)
    assert first.headers["Vary"].startswith("Accept")
    again = await api.send(
        msgspec.structs.replace(asked, headers={**api.extra, "if-none-match": first.headers["ETag"]})
    )
    assert (first.status, again.status, again.body) == (200, 304, b"")


async def test_an_answer_may_be_kept_by_nobody_on_the_way() -> None:
    assert b"\r\nCache-Control: no-cache, private\r\n" in print_head(Response(200, b"{}"), stays=True)
    kept = print_head(Response(200, b"{}", headers={"Cache-Control": "public"}), stays=True)
    assert b"no-cache" not in kept and b"Cache-Control: public" in kept


async def test_openapi_says_what_is_an_amount_and_what_is_a_number_or_a_text(api: Api) -> None:
    schemas = (await api.get("/openapi/v3/api/v1")).body["components"]["schemas"]
    port = schemas["io.k8s.api.core.v1.HTTPGetAction"]["properties"]["port"]
    assert port["allOf"] == [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}]
    assert schemas["io.k8s.apimachinery.pkg.api.resource.Quantity"] == {
        "oneOf": [{"type": "string"}, {"type": "number"}]
    }


async def test_openapi_names_every_path_of_a_version_and_the_issuer_of_tokens(api: Api) -> None:
    index = json.loads((await api.get("/openapi/v3")).body)["paths"]
    assert {".well-known/openid-configuration", "openid/v1/jwks", "apis/apps/v1"} <= set(index)
    paths = (await api.get("/openapi/v3/api/v1")).body["paths"]
    assert {"/api/v1/", "/api/v1/watch/namespaces/{namespace}/pods/{name}", "/api/v1/nodes/{name}/proxy/{path}"} <= set(
        paths
    )
    told = (await api.get("/.well-known/openid-configuration")).body
    assert told["jwks_uri"].endswith("/openid/v1/jwks")
    assert (await api.get("/openid/v1/jwks")).body == {"keys": []}


async def test_a_patch_is_refused_for_its_type_before_its_answer_is_for_its_form(api: Api) -> None:
    answer = await api.call("PATCH", f"{MAPS}/a", {"data": {}}, "text/plain", accept="text/html")
    assert (answer.status, answer.message) == (415, "415: Unsupported Media Type")
    assert (await api.call("PATCH", f"{MAPS}/a", {"data": {}}, MERGE_PATCH, accept="text/html")).status == 406


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/apis/apps/v1", "/version"])
async def test_documents_of_a_route_refuse_a_body_of_another_type(api: Api, path: str) -> None:
    assert (await api.call("GET", path, "{}", "text/plain")).status == 415
    assert (await api.call("GET", path, "{}", "application/json, text/plain")).status == 200
    assert (await api.call("GET", "/apis", "{}", "text/plain")).status == 200


@pytest.mark.parametrize(
    "path", ["/apis//v1/namespaces/default/configmaps", "/apis//v1", "/apis//", "//api/v1", "//api/v1/nodes"]
)
async def test_a_path_without_a_group_leads_nowhere(api: Api, path: str) -> None:
    answer = await api.send(Request("GET", path))
    assert (answer.status, answer.body) == (404, b"404 page not found\n")


async def test_a_version_that_a_custom_group_lacks_is_no_page(api: Api) -> None:
    await api.post(DEFINITIONS, definition())
    assert (await api.send(Request("GET", "/apis/example.com/v9"))).body == b"404 page not found\n"
    assert (await api.call("GET", "/api/v2")).message == "the server could not find the requested resource"


async def test_every_answer_of_a_deprecated_version_says_so(api: Api) -> None:
    await api.post(DEFINITIONS, definition(deprecated=True))
    for method, path in (("OPTIONS", THINGS), ("PUT", THINGS), ("GET", f"{THINGS}/a/status"), ("GET", f"{THINGS}/a")):
        [warning] = (await api.call(method, path, {})).warnings
        assert "example.com/v1 Thing is deprecated" in warning, (method, path)


async def test_parts_are_judged_before_their_number_and_what_is_there_before_what_lacks(api: Api) -> None:
    inner = {
        "l": {"type": "array", "maxItems": 1, "items": {"type": "string", "maxLength": 2}},
        "n": {"type": "integer", "minimum": 3, "multipleOf": 2},
    }
    spec = {"type": "object", "required": ["r"], "properties": {**inner, "r": {"type": "string"}}}
    await api.post(
        DEFINITIONS, definition(schema={"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}})
    )
    answer = await api.post(THINGS, thing(l=["abc", "b"], n=1))
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == [
        "spec.l[0]",
        "spec.l",
        "spec.n",
        "spec.n",
        "spec.r",
    ]
    assert "multiple of 2" in answer.body["details"]["causes"][2]["message"]
