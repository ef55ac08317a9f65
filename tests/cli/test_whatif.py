"""`gangline whatif`: what it says is what then happens, and the cluster it asks about is left as it was."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import click
import pytest

from cli.test_commands import call
from gangline import whatif
from gangline.api.kinds import POD
from gangline.cli import manifests
from gangline.cli.connection import ClusterConnection
from gangline.cli.objects.apply import apply_one, kind_of
from gangline.cli.quiet import quiet
from gangline.cli.whatif import apply_all
from gangline.cli.whatif_text import lines
from gangline.errors import BadInput
from gangline.local import Platform, PlatformSettings
from gangline.whatif import WhatifAnswer, WhatifChanges, WhatifQuestion

EXAMPLES = Path(__file__).parents[2] / "examples"


@asynccontextmanager
async def cluster(*files: str) -> AsyncIterator[ClusterConnection]:
    """A platform on which examples run."""
    platform = Platform(PlatformSettings())
    await platform.start()
    try:
        connection = ClusterConnection(platform.admin, "default", "here")
        await give(connection, *files)
        await platform.settles()
        yield connection
    finally:
        await platform.stop()


async def give(connection: ClusterConnection, *files: str) -> None:
    for obj in manifests.read(str(EXAMPLES / file) for file in files):
        await apply_one(connection, await kind_of(connection, obj), obj)


async def ask(connection: ClusterConnection, *files: str, **changes: tuple[str, ...]) -> WhatifAnswer:
    objects = manifests.read(str(EXAMPLES / file) for file in files)
    apply = partial(apply_all, objects=objects, namespace="default")
    question = WhatifQuestion(WhatifChanges(**changes), objects, "default", apply)
    return (await whatif.ask(connection.client, question, time.time()))[1]


async def test_a_gang_that_would_start_is_told_with_those_who_make_room_for_it() -> None:
    async with cluster("06-company/queues.yaml", "06-company/load.yaml") as here:
        before = {pod.name: pod.metadata.resource_version for pod in (await here.client.list(POD)).items}
        answer = await ask(here, "06-company/claim.yaml")
        assert [(gang.name, gang.fate, gang.pods, sum(gang.nodes.values())) for gang in answer.new] == [
            ("serve-0", "starts", 2, 2),
            ("serve-1", "starts", 2, 2),
        ]
        assert {gang.fate for gang in answer.others} <= {"makes room", "moves"}
        assert {gang.why for gang in answer.others} == {"reclaim for serve-0", "reclaim for serve-1"}
        assert {pod.name: pod.metadata.resource_version for pod in (await here.client.list(POD)).items} == before


async def test_a_gang_that_would_wait_is_told_with_its_verdict() -> None:
    async with cluster() as here:
        shown = [click.unstyle(line) for line in lines(await ask(here, "04-waiting"))]
    assert shown[0] == "✗ large-0 waits: 5 pods"
    assert shown[1].strip() == "large-0 waits: 8 GPUs short" and any("would start if" in line for line in shown)


async def test_what_is_there_already_changes_nothing() -> None:
    async with cluster("01-gang") as here:
        assert lines(await ask(here, "01-gang")) == ["nothing would start or stop"]


def test_what_components_log_on_a_copy_is_not_printed(caplog: pytest.LogCaptureFixture) -> None:
    operator = logging.getLogger("gangline.operator.act")
    with quiet():
        operator.warning("on the copy")
    operator.warning("elsewhere")
    assert [record.message for record in caplog.records] == ["elsewhere"]


def test_a_missing_file_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "whatif", "-f", "nowhere.yaml") == 1
    assert "error: there is no file nowhere.yaml" in capsys.readouterr().err


async def test_what_would_be_refused_is_told_in_the_words_of_the_refusal() -> None:
    bad = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "bad"},
        "spec": {"replicas": 1, "template": {"cliques": []}},
    }
    async with cluster() as here:
        with pytest.raises(
            BadInput, match=r"^PodCliqueSet bad would be refused: .*: at least one clique must be given$"
        ):
            await apply_all(here.client, [bad], "default")


async def test_kinds_are_found_in_whichever_version_of_their_group_has_them() -> None:
    async with cluster() as here:
        found = [(await here.kind(name)).version for name in ("queues", "podgroups", "bindrequests")]
    assert found == ["v2", "v2alpha2", "v1alpha2"]
