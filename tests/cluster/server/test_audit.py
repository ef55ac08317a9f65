"""The audit log: who asked for what, and what came of it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from cluster.server.conftest import in_process
from gangline.client.wire import User
from gangline.cluster.server.server import Server, ServerSettings
from gangline.errors import DataFolderError

MAPS = "/api/v1/namespaces/default/configmaps"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_every_request_is_one_line_without_its_body(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    server = Server(ServerSettings(audit_log=file))
    await server.open()
    await in_process(server).post(MAPS, {"metadata": {"name": "a"}, "data": {"k": "hidden"}}, fieldManager="me")
    await in_process(server, User("bob", ("people",))).get(f"{MAPS}/a")
    watch = await in_process(server).watch(MAPS)
    await watch.close()
    await server.close()
    made, refused, watched = lines(file)
    assert made.pop("auditID") and made.pop("requestReceivedTimestamp") <= made.pop("stageTimestamp")
    assert made == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "stage": "ResponseComplete",
        "requestURI": f"{MAPS}?fieldManager=me",
        "verb": "create",
        "user": {"username": "admin", "groups": ["system:masters", "system:authenticated"], "uid": "admin"},
        "userAgent": "tests/1",
        "objectRef": {"resource": "configmaps", "namespace": "default", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 201},
    }
    assert (refused["verb"], refused["user"]["username"], refused["responseStatus"]["code"]) == ("get", "bob", 403)
    assert refused["annotations"] == {"authorization.k8s.io/decision": "forbid"}
    assert (watched["verb"], watched["stage"]) == ("watch", "ResponseStarted")
    assert "hidden" not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_log_that_has_grown_large_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "audit.log"
    monkeypatch.setattr("gangline.cluster.server.audit.log.LARGEST", 2000)
    server = Server(ServerSettings(audit_log=file))
    await server.open()
    for number in range(30):
        await in_process(server).get(f"{MAPS}/m{number}")
    await server.close()
    names = [event["objectRef"]["name"] for event in (*lines(tmp_path / "audit.log.1"), *lines(file))]
    assert names == [f"m{number}" for number in range(30 - len(names), 30)]
    assert (tmp_path / "audit.log.1").stat().st_size < 3000


async def test_a_log_that_cannot_be_written_is_said_at_start(tmp_path: Path) -> None:
    server = Server(ServerSettings(audit_log=tmp_path / "nowhere" / "audit.log"))
    with pytest.raises(DataFolderError, match=r"cannot write the audit log .*nowhere/audit.log: No such file"):
        await server.open()
