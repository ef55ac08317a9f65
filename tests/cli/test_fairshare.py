"""`gangline fairshare`: a question in the form of KAI's simulator, answered from a file and over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from cli.test_commands import call
from gangline.cli.fairshare import _serve, application
from gangline.errors import BadInput
from gangline.scheduler.fairness.simulate import simulate


def queue(uid: str, priority: int = 0, **gpu: float) -> dict[str, Any]:
    return {"uid": uid, "priority": priority, "resourceShare": {"gpu": gpu}}


def gpus(total: float, *queues: dict[str, Any]) -> dict[str, float]:
    return {
        uid: share["gpu"]
        for uid, share in simulate({"totalResource": {"GPU": total}, "queues": list(queues)}, 0.0).items()
    }


def test_quota_comes_first_and_the_rest_goes_by_weight() -> None:
    assert gpus(10, queue("a", deserved=4), queue("b", overQuotaWeight=2)) == {"a": 6, "b": 4}


def test_the_rest_goes_to_the_higher_priority_first_and_nobody_gets_more_than_asked_or_allowed() -> None:
    assert gpus(10, queue("a", 2, request=3), queue("b", 1, maxAllowed=4), queue("c", 0)) == {"a": 3, "b": 4, "c": 3}


def test_what_a_queue_does_not_mention_it_deserves() -> None:
    found = simulate({"totalResource": {"GPU": 4, "CPU": 1000, "Memory": 50}, "queues": [queue("a")]}, 0.0)
    assert found == {"a": {"cpu": 1000.0, "memory": 50.0, "gpu": 4.0}}


def test_a_question_that_makes_no_sense_is_refused_with_its_place() -> None:
    with pytest.raises(BadInput, match=r"queues\[a\]\.resourceShare\.gpu\.deserved: 'much' is not a number"):
        gpus(1, {"uid": "a", "resourceShare": {"gpu": {"deserved": "much"}}})
    with pytest.raises(BadInput, match="every queue needs a uid"):
        gpus(1, {"name": "a"})


async def test_the_server_answers_posts_only() -> None:
    async with TestClient(TestServer(application())) as client:
        good = await client.post("/simulate", json={"totalResource": {"GPU": 2}, "queues": [queue("a")]})
        assert (good.status, (await good.json())["a"]["gpu"]) == (200, 2)
        assert ((await client.get("/simulate")).status, (await client.post("/simulate", data="{")).status) == (405, 400)


def test_a_file_is_answered_with_a_line_per_queue(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "question.yaml"
    file.write_text("totalResource: {GPU: 8}\nqueues: [{uid: a}, {uid: b}]\n")
    assert call(monkeypatch, "fairshare", str(file)) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()] == [["a", "gpu", "4"], ["b", "gpu", "4"]]


async def test_the_server_refuses_what_was_meant_for_another_name(capsys: pytest.CaptureFixture[str]) -> None:
    serving = asyncio.create_task(_serve(0))
    told = ""
    while "/simulate" not in told:
        await asyncio.sleep(0)
        told += capsys.readouterr().out
    url = told.split()[1]
    async with aiohttp.ClientSession() as session:
        for host, status in (("attacker.example", 403), ("localhost", 200), ("127.0.0.1:80", 200)):
            answer = await session.post(url, json={"queues": []}, headers={"Host": host})
            assert (host, answer.status) == (host, status)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
