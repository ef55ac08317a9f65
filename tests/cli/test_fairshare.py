"""`gangline fairshare`: a question in the form of KAI's simulator, answered from a file and over HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from cli.test_commands import call
from gangline.cli.fairshare import _live, _serve, application
from gangline.errors import BadInput
from gangline.local import write_kubeconfig
from gangline.scheduler.fairness.figures import figures_of
from gangline.scheduler.fairness.simulate import divided, simulate
from whatif.test_answers import FREE, cluster, gang, made, node
from whatif.test_answers import queue as live_queue


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
    with pytest.raises(BadInput, match=r"queues\[a\]\.priority: \[1\] is not a number"):
        gpus(1, {"uid": "a", "priority": [1]})
    with pytest.raises(BadInput, match=r"queues\[a\]\.priority: 1e\+300 is more than 1e\+18"):
        gpus(1, {"uid": "a", "priority": 1e300})


async def test_the_server_answers_posts_only() -> None:
    async with TestClient(TestServer(application())) as client:
        good = await client.post("/simulate", json={"totalResource": {"GPU": 2}, "queues": [queue("a")]})
        assert (good.status, (await good.json())["a"]["gpu"]) == (200, 2)
        assert ((await client.get("/simulate")).status, (await client.post("/simulate", data="{")).status) == (405, 400)
        for odd in (
            {"queues": 5},
            {"queues": {"a": 1}},
            {"totalResource": 5},
            {"queues": [{"uid": "a", "resourceShare": [1]}]},
            {"queues": [{"uid": "a", "resourceShare": {"gpu": 5}}]},
            {"queues": [{"uid": "a", "priority": {"a": 1}}]},
        ):
            assert (await client.post("/simulate", json=odd)).status == 400, odd


def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, *options: str) -> int:
    file = tmp_path / "question.yaml"
    file.write_text(text)
    return call(monkeypatch, "fairshare", str(file), *options)


def test_a_file_is_answered_with_a_line_per_queue_and_resource(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert ask(monkeypatch, tmp_path, "totalResource: {GPU: 8}\nqueues: [{uid: a}, {uid: b}]\n") == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["QUEUE", "RESOURCE", "QUOTA", "LIMIT", "WEIGHT", "ASKED", "USED", "SHARE", "WHY"]
    assert [line.split()[:8] for line in lines] == [
        [name, "gpu", "0", "unlimited", "1", "100000", "0", "4"] for name in ("a", "b")
    ]


@pytest.mark.parametrize(
    ("gpu", "told"),
    [
        (
            "deserved: 4",
            "its quota of 4 and 2 of 6 that quotas leave: weight 1 of 3 among queues of priority 0 that ask",
        ),
        ("deserved: 4, overQuotaWeight: 0", "its quota of 4 only: with weight 0 it borrows nothing"),
        ("deserved: 10", "its quota of 10 only: quotas take all 10"),
        ("maxAllowed: 3, deserved: 1", "its limit of 3, though it asks for more"),
        ("deserved: 4, request: 3", "all it asks for, within its quota"),
        ("deserved: 1, request: 2", "all it asks for, 1 of it beyond its quota"),
        ("request: 0", "it asks for nothing"),
    ],
)
def test_each_share_says_where_it_comes_from(
    gpu: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    other = "{uid: b, resourceShare: {gpu: {overQuotaWeight: 2}}}"
    text = f"totalResource: {{GPU: 10}}\nqueues: [{{uid: a, resourceShare: {{gpu: {{{gpu}}}}}}}, {other}]\n"
    assert ask(monkeypatch, tmp_path, text, "-o", "json") == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert first["queue"] == "a" and first["resources"]["gpu"]["why"].startswith(told)


def test_queues_of_higher_priority_come_first() -> None:
    queues, total = divided({"totalResource": {"GPU": 4}, "queues": [queue("a", 2), queue("b", 1)]}, 0.0)
    last = figures_of({item.uid: item for item in queues}, total)[-1].resources["gpu"]
    assert (last.share, last.why) == (0, "nothing: queues of higher priority take the 4 that quotas leave")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("queuez: [{uid: a}]", "the question has no 'queuez'; did you mean queues? (known: totalResource, queues)"),
        (
            "totalResource: {GPUs: 8}\nqueues: [{uid: a}]",
            "totalResource: totalResource has no 'GPUs'; did you mean GPU?",
        ),
        ("queues: [{uid: a, prio: 1}]", "queues[a]: a queue has no 'prio'; did you mean priority?"),
        (
            "queues: [{uid: a, resourceShare: {gpu: {quota: 1}}}]",
            "queues[a].resourceShare.gpu: a share has no 'quota' (known: deserved, maxAllowed, overQuotaWeight, ",
        ),
        (
            "queues: [{uid: a, resourceShare: {gpus: {}}}]",
            "queues[a].resourceShare: resourceShare has no 'gpus'; did you",
        ),
        ("totalResource: {GPU: 8}", "queues: a list of at least one queue is needed"),
        ("queues: [{uid: a}, {uid: a}]", "queues[a]: there are two queues with this uid"),
    ],
)
def test_a_file_with_words_that_mean_nothing_is_refused(
    text: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert ask(monkeypatch, tmp_path, text) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and f"error: {told}" in captured.err


async def test_a_live_cluster_is_divided_as_its_scheduler_does_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parent = made(
        "Queue", "org", "scheduling.run.ai/v2", spec={"resources": {"gpu": FREE, "cpu": FREE, "memory": FREE}}
    )
    team = live_queue("q", quota=1)
    team["spec"]["parentQueue"] = "org"
    async with cluster(node("a"), parent, team, *gang("runs", 2, "a"), *gang("waits", 4)) as here:
        where = str(write_kubeconfig(here, await here.listen(), tmp_path / "kubeconfig"))
        await _live("json", where, None)
        (pool,) = json.loads(capsys.readouterr().out)
        await _live("text", where, None)
        lines = capsys.readouterr().out.splitlines()
    gpu = {item["queue"]: item["resources"]["gpu"] for item in pool["queues"]}["q"]
    assert (gpu["quota"], gpu["asked"], gpu["used"], gpu["share"], gpu["available"]) == (1, 6, 2, 4, 4)
    assert gpu["why"] == (
        "its quota of 1 and 3 of 3 that quotas leave: weight 1 of 1 among queues of priority 100 that ask for more "
        "than their quota"
    )
    mine = next(line for line in lines if line.startswith("  q ") and "gpu (GPUs)" in line)
    assert mine.split()[:9] == ["q", "gpu", "(GPUs)", "1", "unlimited", "1", "6", "2", "4"]


async def test_what_pods_of_other_schedulers_hold_is_told_and_not_divided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made("Pod", "web", namespace="default", status={"phase": "Running"}, spec={"nodeName": "a"})
    other["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"nvidia.com/gpu": "3"}}}]
    async with cluster(node("a"), live_queue("q"), other) as here:
        where = str(write_kubeconfig(here, await here.listen(), tmp_path / "kubeconfig"))
        await _live("json", where, None)
        (pool,) = json.loads(capsys.readouterr().out)
        await _live("text", where, None)
        text = capsys.readouterr().out
    assert pool["heldByOthers"]["gpu"] == 3
    assert text.endswith("not divided: 3 GPUs of pods of other schedulers\n")


def test_serving_takes_no_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "fairshare", "question.yaml", "--serve") == 2
    assert "--serve takes no FILE" in capsys.readouterr().err


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
