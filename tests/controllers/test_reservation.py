"""Inside a reservation pod: which GPU it is, from the environment or the driver, told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangline.api import names
from gangline.api.kinds import POD
from gangline.controllers.reservation import NotOneGpu, device, driver_texts, report
from gangline.runtime import Context
from gangline.runtime.writer import Writer
from scheduler_world import SPACE, scheduler_world

UUID = "GPU-3a8f9d1c-0000-1111-2222-333344445555"


def test_the_device_plugins_environment_says_which_gpu() -> None:
    assert device({"NVIDIA_VISIBLE_DEVICES": UUID}, []) == UUID
    assert device({"NVIDIA_VISIBLE_DEVICES": f"k8s.device-plugin.nvidia.com/gpu={UUID}"}, []) == UUID


def test_without_it_the_drivers_files_say_it(tmp_path: Path) -> None:
    (tmp_path / "0000:07:00.0").mkdir()
    (tmp_path / "0000:07:00.0" / "information").write_text(f"Model: \t\t X\nGPU UUID: \t {UUID}\n")
    assert device({"NVIDIA_VISIBLE_DEVICES": "all"}, driver_texts(tmp_path)) == UUID


def test_no_gpu_or_several_are_refused() -> None:
    with pytest.raises(NotOneGpu, match="must see exactly one GPU and sees 0: check the device plugin of the node"):
        device({}, [])
    with pytest.raises(NotOneGpu, match="sees 2"):
        device({}, [UUID, UUID])


async def test_it_is_told_once_and_not_changed_by_a_restart() -> None:
    async with scheduler_world() as here:
        await here.pod("r")
        context = Context(here.client, None, here.clock, None, Writer(here.client, here.clock))  # type: ignore[arg-type]
        mine = {"POD_NAME": "r", "POD_NAMESPACE": SPACE, "NVIDIA_VISIBLE_DEVICES": UUID}
        assert await report(context, mine, []) == UUID
        assert await report(context, mine | {"NVIDIA_VISIBLE_DEVICES": UUID.replace("3a", "3b")}, []) == UUID
        assert (await here.client.get(POD, "r", SPACE)).annotations[names.RESERVED_GPU] == UUID
