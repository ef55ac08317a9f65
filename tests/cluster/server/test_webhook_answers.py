"""What a webhook answers reaches its caller, and the store, only as far as it is in order."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.server.conftest import MAPS, config_map, in_process
from cluster.server.test_admission import HOOKS, Obj, configuration, packed, webhook
from gangline.client.wire import APPLY_PATCH, JSON
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.codec import PROTOBUF, YAML

ODD_STATUSES: list[Obj] = [
    {"details": {"causes": 5}},
    {"details": {"causes": [5]}},
    {"details": {"causes": [{"field": 5}]}},
    {"details": {"retryAfterSeconds": "x"}},
    {"details": {"retryAfterSeconds": 10**18}},
    {"details": {"name": 5}},
]


@pytest.mark.parametrize("accept", [JSON, YAML, PROTOBUF])
async def test_a_refusal_that_is_no_status_is_no_answer_in_any_form(
    server: Server, accept: str, caplog: pytest.LogCaptureFixture
) -> None:
    api, status = in_process(server), dict[str, Any]()
    async with webhook(lambda asked: {"allowed": False, "status": status}) as (url, bundle, _):
        await api.post(f"{HOOKS}/validatingwebhookconfigurations", configuration(url, bundle))
        for odd in ODD_STATUSES:
            status.clear()
            status.update(odd)
            answer = await api.call("POST", MAPS, config_map("a"), accept=accept)
            assert answer.status == 500 and "received invalid webhook" in str(answer.body), odd
    assert not caplog.records


async def test_a_refusal_is_a_status_whatever_a_webhook_calls_it(server: Server) -> None:
    api = in_process(server)
    named = {"kind": "Pod", "apiVersion": ["v1"], "metadata": 5, "status": "Success", "more": {}}
    told = {"code": 409, "reason": "Conflict", "details": {"name": "x", "causes": [{"field": "data", "message": "no"}]}}
    async with webhook(lambda asked: {"allowed": False, "status": named | told}) as (url, bundle, _):
        await api.post(f"{HOOKS}/validatingwebhookconfigurations", configuration(url, bundle))
        answer = await api.post(MAPS, config_map("a"))
    message = 'admission webhook "check.example.com" denied the request: Conflict'
    assert answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        **told,
    }


ODD_ACCOUNTS: list[list[Obj]] = [
    [{}],
    [{"manager": "x", "operation": "Other", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}],
    [{"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": 5}}],
]


@pytest.mark.parametrize("odd", ODD_ACCOUNTS)
async def test_accounts_that_a_webhook_spoils_stay_as_they_were(server: Server, odd: list[Obj]) -> None:
    api = in_process(server)
    patch = packed([{"op": "add", "path": "/metadata/managedFields", "value": odd}])
    plain = (await api.post(MAPS, config_map("plain"))).body
    async with webhook(lambda asked: {"allowed": True, "patchType": "JSONPatch", "patch": patch}) as (url, bundle, _):
        hooks = configuration(url, bundle)
        hooks["webhooks"][0]["rules"][0]["operations"] = ["*"]
        await api.post(f"{HOOKS}/mutatingwebhookconfigurations", hooks)
        made = await api.post(MAPS, config_map("a"))
        changed = await api.merge(f"{MAPS}/a", {"data": {"k": "new"}})
        again = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"more": "v"}}
        applied = await api.call("PATCH", f"{MAPS}/a", again, APPLY_PATCH, fieldManager="me")
    assert made.body["metadata"].get("managedFields") == plain["metadata"].get("managedFields")
    assert "metadata.managedFields was in an invalid state after admission" in made.warnings[0]
    assert (changed.status, applied.status) == (200, 200)
    assert applied.body["data"].items() >= {"k": "new", "more": "v"}.items()
