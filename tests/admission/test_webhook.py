"""The hooks as a webhook: a server that asks us over HTTPS gets the same answers as the embedded one in process."""

from __future__ import annotations

import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import msgspec
import pytest

from embedded import admin, embedded, until
from gangline.admission.certificates import GOOD_FOR, self_signed, still_good
from gangline.admission.component import TLS_SECRET, WebhookSettings, component
from gangline.admission.registration import WebhookAddress, configurations, path_of, routes
from gangline.admission.reviews import answer, changes
from gangline.admission.scheduling import kai
from gangline.admission.webhook import WebhookListener
from gangline.api import names
from gangline.api.kinds import MUTATING_WEBHOOK, NAMESPACE, POD, QUEUE, SECRET, VALIDATING_WEBHOOK
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.errors import Forbidden
from gangline.runtime import Manager

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POD_OBJECT: Raw = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "work", "annotations": {"gpu-fraction": "0.5"}},
    "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "img"}]},
}


def asked(path: str, obj: Raw, operation: str = "CREATE", **more: Any) -> Raw:
    request = {"uid": "1", "operation": operation, "object": obj, "namespace": "work", "name": "p", **more}
    response: Raw = answer(path, routes(kai.hooks())[path], {"request": request})["response"]
    return response


def test_paths_are_those_that_upstreams_installer_registers() -> None:
    assert sorted(routes(kai.hooks())) == [
        "/mutate--v1-pod",
        "/validate--v1-pod",
        "/validate-kai-scheduler-v1alpha1-topology",
        "/validate-scheduling-run-ai-v2-queue",
        "/validate-scheduling-run-ai-v2alpha2-podgroup",
    ]


def test_a_completed_pod_comes_back_as_a_patch() -> None:
    response = asked("/mutate--v1-pod", POD_OBJECT)
    patch = msgspec.json.decode(base64.b64decode(response["patch"]))
    assert (response["uid"], response["allowed"], response["patchType"]) == ("1", True, "JSONPatch")
    assert [(item["op"], item["path"]) for item in patch] == [
        ("add", "/metadata/annotations/runai~1shared-gpu-configmap"),
        ("replace", "/spec/containers"),
        ("add", "/spec/volumes"),
    ]


def test_a_pod_that_is_not_ours_is_allowed_untouched() -> None:
    foreign = {**POD_OBJECT, "spec": {**POD_OBJECT["spec"], "schedulerName": "default-scheduler"}}
    assert asked("/mutate--v1-pod", foreign) == {"uid": "1", "allowed": True}
    assert asked("/validate--v1-pod", {**foreign, "metadata": {"annotations": {"gpu-fraction": "9"}}})["allowed"]


def test_a_refusal_carries_its_code_and_its_warnings() -> None:
    response = asked("/validate-scheduling-run-ai-v2-queue", {"metadata": {"name": "q"}, "spec": {}})
    words = "resources must be specified: say spec.resources, even if it is empty"
    assert response == {
        "uid": "1",
        "allowed": False,
        "status": {"message": words, "code": 403, "reason": "Forbidden"},
        "warnings": [words],
    }


def test_a_deletion_is_judged_by_the_old_object() -> None:
    old = {"metadata": {"name": "q"}, "spec": {"resources": {}}, "status": {"childQueues": ["c"]}}
    request = {"uid": "1", "operation": "DELETE", "object": None, "oldObject": old}
    path = "/validate-scheduling-run-ai-v2-queue"
    below = {"metadata": {"name": "c"}, "spec": {"parentQueue": "q"}}
    judges = kai.hooks(find_queue=lambda name: below if name == "c" else None)
    response = answer(path, routes(judges)[path], {"request": request})["response"]
    assert response["status"]["message"] == "queue q still has queues below it: c; delete or move those first"


def test_a_patch_names_only_what_changed() -> None:
    assert list(changes({"a": 1, "b": {"c": [1], "d": 2}}, {"b": {"c": [1, 2], "e/f": 3}})) == [
        {"op": "remove", "path": "/a"},
        {"op": "replace", "path": "/b/c", "value": [1, 2]},
        {"op": "remove", "path": "/b/d"},
        {"op": "add", "path": "/b/e~1f", "value": 3},
    ]


def test_the_cluster_asks_us_only_about_what_is_ours() -> None:
    mutating, validating = configurations(kai.hooks(), WebhookAddress("adm", "sys"), b"ca")
    pods, queued = mutating["webhooks"]
    ours = "object.spec.schedulerName in ['kai-scheduler', 'grove-scheduler']"
    assert pods["matchConditions"] == [{"name": "ours", "expression": ours}]
    assert queued["namespaceSelector"]["matchExpressions"][1] == {
        "key": "gangline.io/schedule-queued-pods",
        "operator": "In",
        "values": ["true"],
    }
    assert pods["namespaceSelector"]["matchExpressions"][0]["values"] == [
        "kube-system",
        "kai-scheduler",
        "gangline-system",
    ]
    assert pods["clientConfig"]["service"] == {
        "name": "adm",
        "namespace": "sys",
        "port": 443,
        "path": "/mutate--v1-pod",
    }
    assert [
        (webhook["rules"][0]["resources"], webhook["rules"][0]["operations"]) for webhook in validating["webhooks"]
    ] == [
        (["pods"], ["CREATE", "UPDATE"]),
        (["podgroups"], ["CREATE", "UPDATE"]),
        (["queues"], ["CREATE", "UPDATE", "DELETE"]),
        (["topologies"], ["CREATE", "UPDATE"]),
    ]


def test_a_hook_on_a_kind_that_is_not_in_our_table_has_a_path_too() -> None:
    hook = kai.hooks()[0]
    assert (
        path_of("validate", type(hook)("x", "example.com", "things", versions=("v1",)))
        == "/validate-example-com-v1-things"
    )


def test_a_certificate_is_kept_while_it_names_the_host_and_has_not_run_out() -> None:
    pair = self_signed(["adm.sys.svc", "127.0.0.1"], NOW)
    assert still_good(pair, ["adm.sys.svc"], NOW)
    assert not still_good(pair, ["other.sys.svc"], NOW)
    assert not still_good(pair, ["127.0.0.1"], NOW + GOOD_FOR - timedelta(days=1))


async def test_what_is_no_review_is_a_bad_request() -> None:
    pair = self_signed(["127.0.0.1"], datetime.now(UTC))
    listener = WebhookListener(kai.hooks(), pair, "127.0.0.1", 0)
    await listener.start()
    trust = ssl.create_default_context(cadata=pair.certificate.decode())
    try:
        async with aiohttp.ClientSession() as session:
            async with session.post(
                f"https://127.0.0.1:{listener.port}/mutate--v1-pod", data=b"{}", ssl=trust
            ) as response:
                assert (response.status, await response.text()) == (400, "not an AdmissionReview: 'request'")
            async with session.get(f"https://127.0.0.1:{listener.port}/healthz", ssl=trust) as response:
                assert await response.text() == "ok"
    finally:
        await listener.stop()


@asynccontextmanager
async def asked_over_https(port: int) -> AsyncIterator[Client]:
    """An embedded server that knows our hooks only as a webhook."""
    async with embedded(kinds=True) as server:
        client = admin(server)
        for name in ("work", names.SYSTEM_NAMESPACE):
            await client.create(NAMESPACE, {"metadata": {"name": name}})
        settings = WebhookSettings(WebhookAddress(url=f"https://127.0.0.1:{port}"), "127.0.0.1", port)
        manager = Manager(component(lambda read: kai.hooks(), settings), client)
        await manager.start()
        try:
            await until(lambda: _registered(client), "registration")
            yield client
        finally:
            await manager.stop()


async def _registered(client: Client) -> bool:
    listed = [await client.list(kind) for kind in (MUTATING_WEBHOOK, VALIDATING_WEBHOOK)]
    return all(item.items for item in listed)


async def test_a_server_that_asks_over_https_completes_and_refuses_alike(unused_tcp_port: int) -> None:
    async with asked_over_https(unused_tcp_port) as client:
        made = await client.create(POD, POD_OBJECT)
        assert "runai/shared-gpu-configmap" in made.annotations
        assert (await client.get_raw(SECRET, TLS_SECRET, names.SYSTEM_NAMESPACE))["type"] == "kubernetes.io/tls"
        with pytest.raises(Forbidden, match="resources must be specified"):
            await client.create(QUEUE, {"metadata": {"name": "q"}, "spec": {}})
        foreign = {
            "metadata": {"name": "f", "namespace": "work", "annotations": {"gpu-fraction": "9"}},
            "spec": {"containers": [{"name": "main", "image": "img"}]},
        }
        assert (await client.create(POD, foreign)).name == "f"
