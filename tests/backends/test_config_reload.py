"""Backends and their settings are configuration, and configuration may change while the operator runs."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import yaml

from backends.crds import install
from backends.test_journeys import BACKEND, llm
from embedded import until
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import COSCHEDULING_POD_GROUP, POD_GROUP
from gangline.api.meta import Raw
from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.operator.checks import backend_check
from gangline.operator.config_reload import ConfigFile
from gangline.operator.settings import read
from gangline.runtime import ManualClock
from operator_world import OperatorWorld, operator_world


def write(path: Path, scheduler: Raw) -> None:
    path.write_text(yaml.safe_dump({"scheduler": scheduler}))


@asynccontextmanager
async def operator(path: Path) -> AsyncIterator[OperatorWorld]:
    """An operator whose configuration is this file, on a server with coscheduling's kinds."""
    clock = ManualClock()
    async with operator_world(clock=clock) as here:
        await install(here.client, COSCHEDULING_POD_GROUP)
        file = ConfigFile(path, read)
        options = ComponentOptions(operator=file.current(), reread=file.current)
        await here.start(build("operator", options))
        yield here


async def passes(here: OperatorWorld, seconds: float = 6) -> None:
    assert isinstance(here.clock, ManualClock)
    here.clock.advance(seconds)
    await here.settles()


async def _translated(here: OperatorWorld) -> bool:
    await passes(here, 2)
    return [item.spec["minMember"] for item in await here.every(COSCHEDULING_POD_GROUP)] == [6]


async def test_a_backend_that_is_switched_on_while_the_operator_runs_serves_the_sets_that_wait_for_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.yaml"
    write(path, {"backends": ["default", "kai"]})
    async with operator(path) as here:
        await here.apply(llm("coscheduling"))
        [error] = (await here.the_set("llm")).status.last_errors
        assert error.description == (
            "backend 'coscheduling' is switched off; add it to scheduler.backends in the operator's "
            "configuration, or use one of: default, kai"
        )
        write(path, {"backends": ["default", "kai", "coscheduling"]})
        await until(lambda: _translated(here), "the backend to be switched on")
        assert (await here.gang("llm-0")).labels[BACKEND] == "coscheduling"
        assert len(await here.pods()) == 7


async def test_a_profiles_settings_hold_from_the_next_look_on(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    profile = {"name": "scheduler-plugins-scheduler", "backend": "coscheduling"}
    write(path, {"profiles": [profile]})
    async with operator(path) as here:
        await here.apply(llm("coscheduling"))
        await until(lambda: _translated(here), "the first translation")
        write(path, {"profiles": [profile | {"config": {"scheduleTimeoutSeconds": 77}}]})
        await passes(here)
        await until(lambda: _patience(here, 77), "the new setting")


async def _patience(here: OperatorWorld, wanted: int) -> bool:
    return [item.spec["scheduleTimeoutSeconds"] for item in await here.every(COSCHEDULING_POD_GROUP)] == [wanted]


async def test_a_configuration_that_cannot_be_used_leaves_the_former_one_in_force(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "config.yaml"
    write(path, {"defaultProfileName": "kai-scheduler", "profiles": [{"name": "kai-scheduler"}]})
    async with operator(path) as here:
        with caplog.at_level(logging.ERROR):
            write(path, {"backends": ["slurm"]})
            told = (
                "the new configuration cannot be used, so the former one stays: no backend is called 'slurm'; "
                "there are: "
            )
            await until(lambda: _logged(here, caplog, told), "the complaint")
            path.write_text("scheduler: [")
            await until(
                lambda: _logged(here, caplog, "has changed and cannot be used, so the former settings stay"),
                "the complaint",
            )
        await here.apply(llm())
        assert len(await here.every(POD_GROUP)) == 1, "the default profile is still KAI's"


async def _logged(here: OperatorWorld, caplog: pytest.LogCaptureFixture, text: str) -> bool:
    await passes(here, 2)
    return text in caplog.text


def test_admission_goes_by_the_configuration_that_holds_now(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    write(path, {"backends": ["default"]})
    check = backend_check(ConfigFile(path, read).current)
    pcs = msgspec.convert(llm("volcano"), PodCliqueSet, strict=False)
    assert [problem.message for problem in check(pcs, None)] == [
        "backend 'volcano' is switched off; add it to scheduler.backends in the operator's configuration, or use one "
        "of: default"
    ]
    write(path, {"backends": ["default", "volcano"]})
    assert list(check(pcs, None)) == []
