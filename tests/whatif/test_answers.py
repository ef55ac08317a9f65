"""`gangline whatif` about a cluster that is only looked at: what each change does, told in words and as data."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from cli.test_commands import call
from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.cli.whatif import _whatif, apply_all
from gangline.cli.whatif_text import lines
from gangline.client import Client, User
from gangline.errors import BadInput
from gangline.local import Platform, PlatformSettings, write_kubeconfig
from gangline.rules.values.times import timestamp
from gangline.scheduler.time.learned import LEAST
from gangline.whatif import WhatifChanges, WhatifQuestion, ask
from yaml_loading import load_yaml

FREE = {"quota": -1, "limit": -1, "overQuotaWeight": 1}


def made(kind: str, name: str, version: str = "v1", space: str = "default", **fields: Any) -> Raw:
    about = kinds.known(version, kind)
    assert about is not None
    meta = {
        "name": name,
        "uid": f"{kind}-{name}",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        **fields.pop("meta", {}),
    }
    meta |= {"namespace": space} if about.namespaced else {}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def node(name: str, gpus: int = 4) -> Raw:
    has = {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    ready = [{"type": "Ready", "status": "True"}]
    return made("Node", name, status={"allocatable": has, "capacity": has, "conditions": ready}, spec={})


def queue(name: str, **gpu: float) -> Raw:
    shares = {"cpu": FREE, "memory": FREE, "gpu": FREE | gpu}
    return made("Queue", name, "scheduling.run.ai/v2", spec={"resources": shares})


def gang(name: str, gpus: int, on: str = "", queue: str = "q", pods: int = 1, **spec: Any) -> list[Raw]:
    """A Job's gang, of pods that a controller makes anew."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"Job-{name}", "controller": True}
    group = made(
        "PodGroup",
        f"pg-{name}-uid",
        "scheduling.run.ai/v2alpha2",
        meta={"ownerReferences": [owner]},
        spec={"minMember": pods, "queue": queue, **spec},
    )
    asked = {"requests": {"cpu": "1", "nvidia.com/gpu": str(gpus)}}
    members = [
        made(
            "Pod",
            f"{name}-{number}",
            meta={"annotations": {"pod-group-name": f"pg-{name}-uid"}, "ownerReferences": [owner]},
            spec={
                "schedulerName": "kai-scheduler",
                "containers": [{"name": "c", "resources": asked}],
                **({"nodeName": on} if on else {}),
            },
            status={"phase": "Running" if on else "Pending"},
        )
        for number in range(pods)
    ]
    return [group, *members]


@asynccontextmanager
async def cluster(*objects: Raw) -> AsyncIterator[Platform]:
    """A server that nobody works on."""
    platform = Platform(PlatformSettings(components=()))
    await platform.open()
    try:
        for obj in objects:
            about = kinds.known(obj["apiVersion"], obj["kind"])
            assert about is not None
            platform.server.plant(about.group, about.plural, obj)
        yield platform
    finally:
        await platform.stop()


async def told(platform: Platform, *files: Raw, client: Client | None = None, **changes: tuple[str, ...]) -> list[str]:
    apply = partial(apply_all, objects=list(files), namespace="default")
    question = WhatifQuestion(WhatifChanges(**changes), files, "default", apply)
    _, answer = await ask(client or platform.admin, question, time.time())
    return [click.unstyle(line) for line in lines(answer)]


def job(name: str, gpus: int, queue: str = "q", pods: int = 1, **spec: Any) -> Raw:
    limits = {"nvidia.com/gpu": str(gpus)}
    container = {"name": "c", "image": "registry.example/app:1", "resources": {"limits": limits}}
    pod = {"schedulerName": "kai-scheduler", "restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {"metadata": {"labels": {"kai.scheduler/queue": queue}}, "spec": pod},
            **spec,
        },
    }


async def test_pods_of_a_drained_node_move_where_there_is_room_and_wait_where_there_is_none() -> None:
    async with cluster(node("a"), node("b"), queue("q"), *gang("one", 3, "a"), *gang("two", 1, "a")) as here:
        assert await told(here, drain=("a",)) == [
            "↷ one moves: 1 pod on b (1) by the drain of node a",
            "↷ two moves: 1 pod on b (1) by the drain of node a",
        ]
        lost = await told(here, drain=("a", "b"))
    assert lost[0] == "✗ one loses its place: 1 pod by the drain of node a"
    assert lost[1].strip().startswith("one waits: ")


async def test_new_nodes_start_who_waits() -> None:
    async with cluster(node("a"), queue("q"), *gang("runs", 4, "a"), *gang("large", 4, pods=2)) as here:
        assert await told(here, add_nodes=("a=1",)) == ["nothing would start or stop", "✗ 1 gang still waits: large"]
        assert await told(here, add_nodes=("a=2",)) == ["✓ large starts: 2 pods on new-1 (1), new-2 (1)"]


async def test_a_quota_takes_back_what_was_borrowed() -> None:
    objects = [node("a"), queue("q", quota=0), queue("r", quota=0)]
    objects += [*gang("borrows", 4, "a"), *gang("claims", 4, queue="r")]
    async with cluster(*objects) as here:
        assert await told(here, quota=("r.gpu.quota=4",)) == [
            "↷ borrows makes room: 1 pod by reclaim for claims",
            "✓ claims starts: 1 pod on a (1)",
        ]


async def test_a_gang_that_is_gone_leaves_its_room_to_others() -> None:
    async with cluster(node("a"), queue("q"), *gang("runs", 4, "a"), *gang("waits", 4)) as here:
        assert await told(here, without=("runs",)) == ["✓ waits starts: 1 pod on a (1)"]


async def test_changes_count_together_with_files() -> None:
    async with cluster(node("a"), queue("q"), *gang("runs", 4, "a")) as here:
        assert (await told(here, job("train", 4)))[0] == "✗ train waits: 1 pod"
        assert await told(here, job("train", 4), add_nodes=("gpus:4=1",)) == ["✓ train starts: 1 pod on new-1 (1)"]
        assert await told(here, job("train", 4), drain=("a",), without=("runs",), add_nodes=("a=1",)) == [
            "✓ train starts: 1 pod on new-1 (1)"
        ]


async def test_a_queue_and_a_node_of_a_file_are_there_for_its_gangs() -> None:
    async with cluster() as here:
        fresh = queue("fresh") | {"metadata": {"name": "fresh"}}
        assert await told(here, fresh, node("n9"), job("train", 2, queue="fresh")) == [
            "✓ train starts: 1 pod on n9 (1)"
        ]


async def test_a_start_is_told_from_what_the_running_scheduler_has_learned() -> None:
    runs = {"\n".join(("name", "q", "train-#", "4")): [3600.0] * LEAST}
    kept = made("ConfigMap", "gangline-runtimes", space="kai-scheduler", data={"runtimes.json": json.dumps(runs)})
    running = gang("train-7", 4, "a")
    running[1]["status"]["startTime"] = timestamp(time.time() - 600)
    for known, starts in ((), False), ((kept,), True):
        async with cluster(node("a"), queue("q"), *running, *known) as platform:
            text = "\n".join(await told(platform, job("x", 4)))
            assert ("starts probably at " in text) is starts, text


async def test_pods_of_another_scheduler_are_not_judged() -> None:
    plain = job("plain", 1)
    plain["spec"]["template"]["spec"].pop("schedulerName")
    plain["spec"]["template"]["metadata"] = {}
    async with cluster(node("a"), queue("q")) as here:
        assert await told(here, plain) == ["? plain: 1 pod of default-scheduler, which is not asked here"]


async def test_who_may_not_read_the_cluster_gets_an_error_and_no_answer() -> None:
    async with cluster(node("a"), queue("q")) as here:
        ann = Client(here.server.transport(User("ann", ("system:authenticated",))), manager="ann")
        with pytest.raises(BadInput) as refused:
            await told(here, drain=("a",), client=ann)
        with pytest.raises(BadInput, match="the cluster cannot be read"):
            await told(here, job("train", 1), client=ann)
    text = str(refused.value)
    assert text.startswith("the cluster cannot be read, so the answer is unknown: you may not list bind")
    assert ", nodes, " in text and ", pods, " in text
    assert text.endswith("; ask for the right to list these kinds in all namespaces")


async def test_a_cluster_without_the_scheduler_half_is_named_as_such() -> None:
    async with cluster(node("a")) as here:
        await here.admin.delete(kinds.CRD, "queues.scheduling.run.ai")
        with pytest.raises(BadInput, match=r"serves no queues\.scheduling\.run\.ai: .*\(gangline install\)"):
            await told(here, drain=("a",))


async def test_a_script_learns_from_the_exit_code_that_something_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with cluster(node("a"), queue("q"), *gang("runs", 4, "a")) as here:
        where = str(write_kubeconfig(here, await here.listen(), tmp_path / "kubeconfig"))
        drain = WhatifChanges(drain=("a",))
        with pytest.raises(SystemExit) as ended:
            await _whatif([], drain, True, "json", where, None)
        assert ended.value.code == 3
        found = json.loads(capsys.readouterr().out)
        await _whatif([], drain, False, "yaml", where, None)
        assert load_yaml(capsys.readouterr().out) == found
        await _whatif([], WhatifChanges(without=("runs",)), True, "text", where, None)
        assert capsys.readouterr().out.splitlines()[0].startswith("1 node, 1 pod, 1 podgroup, 3 queues of https://")
    (outcome,) = found["others"]
    assert (found["waits"], outcome["name"], outcome["fate"], outcome["queue"]) == (
        True,
        "runs",
        "loses its place",
        "q",
    )
    assert found["read"] == {"nodes": 1, "pods": 1, "podgroups": 1, "queues": 3}


def test_a_question_without_a_change_is_a_wrong_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "whatif") == 2
    assert "say what would change: -f, --drain, --add-nodes, --quota or --without" in capsys.readouterr().err


def test_help_has_examples(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "whatif", "--help") == 0
    assert "gangline whatif --drain node-7             # who moves, who finds no place?" in capsys.readouterr().out
