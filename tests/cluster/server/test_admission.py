"""What may change or refuse a write: our own functions, webhooks, policies, priorities."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from cluster.server.conftest import MAPS, PODS, Answer, Api, config_map, in_process, pod
from gangline.cluster.server.access.identity import CertificateAuthority, server_context
from gangline.cluster.server.admit.chain import CREATE, UPDATE, WriteReview
from gangline.cluster.server.server import Server
from gangline.errors import Problem

HOOKS = "/apis/admissionregistration.k8s.io/v1"
Obj = dict[str, Any]


async def test_a_registered_function_may_change_an_object(server: Server) -> None:
    def stamp(review: WriteReview) -> Obj:
        assert review.object is not None
        return {**review.object, "data": {"stamped": review.operation}}

    server.admission.add("", "configmaps", (CREATE,), mutate=stamp)
    made = await in_process(server).post(MAPS, config_map("a"))
    assert made.body["data"] == {"stamped": "CREATE"}


async def test_a_registered_function_may_refuse_with_all_its_problems(server: Server) -> None:
    def check(review: WriteReview) -> Iterable[Problem]:
        yield Problem("data.a", "Required value", "FieldValueRequired")
        yield Problem("data.b", 'Invalid value: "x": must be y')

    server.admission.add("", "configmaps", (CREATE, UPDATE), validate=check)
    answer = await in_process(server).post(MAPS, config_map("a"))
    assert answer.status == 422
    assert answer.message == 'ConfigMap "a" is invalid: [data.a: Required value, data.b: Invalid value: "x": must be y]'
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == ["data.a", "data.b"]


REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}


@asynccontextmanager
async def webhook(answer: Any) -> AsyncIterator[tuple[str, str, list[Obj]]]:
    """A webhook server: its address, its CA bundle, and the reviews it was sent."""
    seen: list[Obj] = []

    async def respond(request: web.BaseRequest) -> web.Response:
        review = json.loads(await request.read())
        seen.append(review["request"])
        return web.json_response(REVIEW | {"response": {"uid": review["request"]["uid"], **answer(review["request"])}})

    authority = CertificateAuthority.make("webhooks")
    runner = web.ServerRunner(web.Server(respond))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server_context(authority, ["127.0.0.1"])).start()
    bundle = base64.b64encode(authority.pair.certificate).decode()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}/check", bundle, seen
    await runner.cleanup()


def configuration(url: str, bundle: str, **more: Any) -> Obj:
    return {
        "metadata": {"name": "hooks"},
        "webhooks": [
            {
                "name": "check.example.com",
                "clientConfig": {"url": url, "caBundle": bundle},
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 5,
                "rules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
                ],
                **more,
            }
        ],
    }


async def test_a_validating_webhook_may_refuse(server: Server) -> None:
    api = in_process(server)
    async with webhook(lambda asked: {"allowed": False, "status": {"code": 403, "message": "not today"}}) as (
        url,
        bundle,
        seen,
    ):
        await api.post(f"{HOOKS}/validatingwebhookconfigurations", configuration(url, bundle))
        answer = await api.post(MAPS, config_map("a"))
    assert (answer.status, answer.message) == (
        403,
        'admission webhook "check.example.com" denied the request: not today',
    )
    assert (seen[0]["operation"], seen[0]["object"]["metadata"]["name"], seen[0]["userInfo"]["username"]) == (
        "CREATE",
        "a",
        "admin",
    )


async def test_a_mutating_webhook_patches_the_object(server: Server) -> None:
    patch = base64.b64encode(json.dumps([{"op": "add", "path": "/data", "value": {"k": "patched"}}]).encode()).decode()
    api = in_process(server)
    async with webhook(
        lambda asked: {"allowed": True, "patchType": "JSONPatch", "patch": patch, "warnings": ["hello"]}
    ) as (url, ca, _):
        await api.post(f"{HOOKS}/mutatingwebhookconfigurations", configuration(url, ca))
        made = await api.post(MAPS, config_map("a"))
    assert made.body["data"] == {"k": "patched"}
    assert made.warnings == ("hello",)


async def test_match_conditions_keep_a_webhook_from_being_asked(server: Server) -> None:
    api = in_process(server)
    only = [{"name": "marked", "expression": "has(object.metadata.labels) && 'mark' in object.metadata.labels"}]
    async with webhook(lambda asked: {"allowed": False}) as (url, bundle, seen):
        await api.post(f"{HOOKS}/validatingwebhookconfigurations", configuration(url, bundle, matchConditions=only))
        assert (await api.post(MAPS, config_map("plain"))).status == 201
        assert (await api.post(MAPS, config_map("marked", labels={"mark": "1"}))).status == 400
    assert [asked["name"] for asked in seen] == ["marked"]


@asynccontextmanager
async def answering(respond: Any) -> AsyncIterator[tuple[str, str]]:
    """A webhook server that answers as it likes: its address and its CA bundle."""
    authority = CertificateAuthority.make("webhooks")
    runner = web.ServerRunner(web.Server(respond))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server_context(authority, ["127.0.0.1"])).start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}/check", base64.b64encode(authority.pair.certificate).decode()
    await runner.cleanup()


async def asked(server: Server, respond: Any, **more: Any) -> str:
    """What somebody is told whose write is put to such a webhook."""
    api = in_process(server)
    async with answering(respond) as (url, bundle):
        await api.post(f"{HOOKS}/validatingwebhookconfigurations", configuration(url, bundle, **more))
        answer = await api.post(MAPS, config_map("a"))
    assert answer.status == 500, answer.body
    return answer.message.removeprefix('Internal error occurred: failed calling webhook "check.example.com": ')


async def test_a_webhooks_redirect_is_not_followed(server: Server) -> None:
    led = []

    async def respond(request: web.BaseRequest) -> web.Response:
        led.append(request.path)
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    assert (
        await asked(server, respond)
        == "failed to call webhook: it answered with a redirect (307), which is not followed"
    )
    assert led == ["/check"]


@pytest.mark.parametrize(("status", "packed"), [(200, False), (500, False), (200, True)])
async def test_a_webhook_that_never_stops_answering_is_not_listened_to(
    server: Server, status: int, packed: bool
) -> None:
    async def respond(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(status=status, headers={"Content-Encoding": "gzip"} if packed else {})
        await answer.prepare(request)
        with suppress(ConnectionError):
            while True:
                await answer.write(b"x" * 100_000)
        return answer

    assert await asked(server, respond) == "failed to call webhook: its answer is longer than 3145728 bytes"


async def test_a_webhook_that_answers_byte_by_byte_has_its_deadline(server: Server) -> None:
    async def respond(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        with suppress(ConnectionError):
            while True:
                await answer.write(b" ")
                await asyncio.sleep(0.01)
        return answer

    assert (await asked(server, respond, timeoutSeconds=1)).endswith("context deadline exceeded")


@pytest.mark.parametrize(
    "part",
    [
        {"allowed": "yes"},
        {"warnings": [5]},
        {"warnings": "a"},
        {"status": []},
        {"patch": 5},
        {"allowed": False, "status": {"code": "many"}},
        {"allowed": False, "status": {"code": 99999}},
        {"allowed": False, "status": {"message": 5}},
        {"allowed": False, "status": {"details": 7}},
    ],
)
async def test_a_webhook_that_answers_nonsense_has_not_answered(server: Server, part: Obj) -> None:
    async def respond(request: web.BaseRequest) -> web.Response:
        uid = json.loads(await request.read())["request"]["uid"]
        return web.json_response(REVIEW | {"response": {"uid": uid, "allowed": True, **part}})

    assert (await asked(server, respond)).startswith("received invalid webhook response: Expected `")


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"apiVersion": "admission.k8s.io/v1beta1"}, "admission.k8s.io/v1beta1, Kind=AdmissionReview"),
        ({"kind": "Pod"}, "admission.k8s.io/v1, Kind=Pod"),
        ({"kind": None, "apiVersion": None}, "/, Kind="),
    ],
)
async def test_an_answer_that_is_no_admission_review_is_none(server: Server, part: Obj, shown: str) -> None:
    async def respond(request: web.BaseRequest) -> web.Response:
        uid = json.loads(await request.read())["request"]["uid"]
        return web.json_response(REVIEW | {"response": {"uid": uid, "allowed": True}} | part)

    assert await asked(server, respond) == (
        "received invalid webhook response: expected webhook response of admission.k8s.io/v1, "
        f"Kind=AdmissionReview, got {shown}"
    )


def packed(patch: Any) -> str:
    return base64.b64encode(json.dumps(patch).encode()).decode()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (
            {"patch": packed([])},
            "received invalid webhook response: webhook returned response.patch but not response.patchType",
        ),
        ({"patch": packed([]), "patchType": "MergePatch"}, 'unsupported patch type "MergePatch"'),
        (
            {"patch": packed({}), "patchType": "JSONPatch"},
            "received undecodable patch in webhook response: a JSON patch is a list of operations",
        ),
    ],
)
async def test_a_patch_that_is_none_fails_as_the_failure_policy_says(server: Server, part: Obj, said: str) -> None:
    api = in_process(server)
    async with webhook(lambda asked: {"allowed": True, **part}) as (url, ca, _):
        await api.post(f"{HOOKS}/mutatingwebhookconfigurations", configuration(url, ca))
        answer = await api.post(MAPS, config_map("a"))
        assert (answer.status, answer.message) == (
            500,
            f'Internal error occurred: failed calling webhook "check.example.com": {said}',
        )
        await api.delete(f"{HOOKS}/mutatingwebhookconfigurations/hooks")
        await api.post(f"{HOOKS}/mutatingwebhookconfigurations", configuration(url, ca, failurePolicy="Ignore"))
        assert (await api.post(MAPS, config_map("a"))).status == 201


async def patched(server: Server, *operations: Any) -> Answer:
    """The answer to a create that a webhook changes so."""
    api, answer = in_process(server), {"allowed": True, "patchType": "JSONPatch", "patch": packed(operations)}
    async with webhook(lambda asked: answer) as (url, ca, _):
        await api.post(f"{HOOKS}/mutatingwebhookconfigurations", configuration(url, ca))
        return await api.post(MAPS, config_map("a"))


@pytest.mark.parametrize(
    ("path", "value", "left"),
    [
        ("", [], "no object with metadata"),
        ("/metadata", [], "no object with metadata"),
        ("/kind", "Pod", "an object of another kind: v1, Kind=Pod"),
        ("/kind", 5, "an object of another kind: v1, Kind=5"),
        (
            "/data",
            5,
            "what cannot be read: json: cannot unmarshal number into Go struct field ConfigMap.data of type "
            "map[string]string",
        ),
        (
            "/metadata/labels",
            {"a": 5},
            "what cannot be read: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels "
            "of type string",
        ),
    ],
)
async def test_a_patch_that_leaves_no_object_of_that_kind_is_refused(
    server: Server, path: str, value: Any, left: str
) -> None:
    answer = await patched(server, {"op": "add" if path else "replace", "path": path, "value": value})
    assert (answer.status, answer.message) == (
        500,
        f'Internal error occurred: the patch of webhook "check.example.com" leaves {left}',
    )


async def test_a_webhook_that_gives_another_name_has_the_object_stored_under_it(server: Server) -> None:
    answer = await patched(
        server,
        {"op": "replace", "path": "/metadata/name", "value": "b"},
        {"op": "replace", "path": "/metadata/uid", "value": "made-up"},
    )
    assert (answer.status, answer.body["metadata"]["name"]) == (201, "b")
    assert answer.body["metadata"]["uid"] != "made-up"
    api = in_process(server)
    assert (await api.get(f"{MAPS}/b")).status == 200
    assert (await api.get(f"{MAPS}/a")).status == 404


async def test_a_webhook_moves_nothing_into_another_namespace(server: Server) -> None:
    answer = await patched(server, {"op": "replace", "path": "/metadata/namespace", "value": "kube-system"})
    assert (answer.status, answer.message) == (
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    )


async def test_a_url_that_cannot_be_read_is_refused(api: Api) -> None:
    answer = await api.post(f"{HOOKS}/mutatingwebhookconfigurations", configuration("https://[::1/", ""))
    assert answer.status == 422
    assert 'webhooks[0].clientConfig.url: Invalid value: "https://[::1/": url must be a valid URL: ' in answer.message


@pytest.mark.parametrize("approval", ["https://[::1", "no address"])
async def test_an_approval_that_is_no_address_is_refused(api: Api, approval: str) -> None:
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]
    answer = await api.post(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
            "metadata": {"name": "things.x.k8s.io", "annotations": {"api-approved.kubernetes.io": approval}},
            "spec": {
                "group": "x.k8s.io",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": versions,
            },
        },
    )
    assert answer.status == 422
    assert 'with either a URL or a reason starting with "unapproved"' in answer.message


async def test_a_webhook_that_cannot_be_reached_counts_as_its_failure_policy_says(server: Server) -> None:
    api = in_process(server)
    unreachable = configuration("https://127.0.0.1:1/x", "", failurePolicy="Fail")
    await api.post(f"{HOOKS}/validatingwebhookconfigurations", unreachable)
    answer = await api.post(MAPS, config_map("a"))
    assert answer.status == 500
    assert 'failed calling webhook "check.example.com": failed to call webhook: ' in answer.message
    await api.merge(
        f"{HOOKS}/validatingwebhookconfigurations/hooks",
        {"webhooks": [{**unreachable["webhooks"][0], "failurePolicy": "Ignore"}]},
    )
    assert (await api.post(MAPS, config_map("a"))).status == 201


async def test_an_admission_policy_denies_what_its_expression_does_not_allow(api: Api) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
    await api.post(
        f"{HOOKS}/validatingadmissionpolicies",
        {
            "metadata": {"name": "names"},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": rules},
                "validations": [
                    {"expression": "object.metadata.name.startsWith('ok-')", "message": "names begin with ok-"}
                ],
            },
        },
    )
    await api.post(
        f"{HOOKS}/validatingadmissionpolicybindings",
        {"metadata": {"name": "names"}, "spec": {"policyName": "names", "validationActions": ["Deny"]}},
    )
    assert (await api.post(MAPS, config_map("ok-a"))).status == 201
    answer = await api.post(MAPS, config_map("a"))
    assert answer.status == 422
    assert answer.message == (
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'names' with binding 'names' denied request: "
        "names begin with ok-"
    )


async def test_a_pod_gets_the_priority_of_its_class(api: Api) -> None:
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    await api.post(classes, {"metadata": {"name": "high"}, "value": 1000})
    await api.post(classes, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    assert (await api.post(PODS, pod("a", priorityClassName="high"))).body["spec"]["priority"] == 1000
    assert (await api.post(PODS, pod("b"))).body["spec"]["priorityClassName"] == "usual"
    missing = await api.post(PODS, pod("c", priorityClassName="none"))
    assert missing.message == 'pods "c" is forbidden: no PriorityClass with name none was found'


async def test_nothing_new_comes_into_a_namespace_that_is_going(api: Api) -> None:
    await api.post("/api/v1/namespaces", {"metadata": {"name": "old"}})
    await api.delete("/api/v1/namespaces/old")
    answer = await api.post("/api/v1/namespaces/old/configmaps", config_map("a"))
    assert answer.status == 403
    assert answer.message.endswith("unable to create new content in namespace old because it is being terminated")


async def test_an_eviction_honours_the_disruption_budget(api: Api) -> None:
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    await api.post(PODS, {**pod("p", nodeName="n"), "metadata": {"name": "p", "labels": {"app": "x"}}})
    await api.merge(
        f"{PODS}/p/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    )
    await api.post(
        budgets, {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}}
    )
    await api.merge(
        f"{budgets}/b/status",
        {
            "status": {
                "observedGeneration": 1,
                "disruptionsAllowed": 0,
                "currentHealthy": 1,
                "desiredHealthy": 1,
                "expectedPods": 1,
            }
        },
    )
    refused = await api.post(f"{PODS}/p/eviction", {"metadata": {"name": "p"}})
    assert (refused.status, refused.message) == (
        429,
        "Cannot evict pod as it would violate the pod's disruption budget.",
    )
    await api.merge(f"{budgets}/b/status", {"status": {"disruptionsAllowed": 1}})
    assert (await api.post(f"{PODS}/p/eviction", {"metadata": {"name": "p"}})).status == 201
    assert (await api.get(f"{PODS}/p")).body["metadata"]["deletionTimestamp"]
    assert (await api.get(f"{budgets}/b")).body["status"]["disruptionsAllowed"] == 0
