"""HAMi-core's memory limit: what a pod on a part of a GPU may use of its memory."""

from __future__ import annotations

import pytest

from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.binder.component import component as binder
from gangline.binder.settings import BinderPluginSetting, BinderSettings
from journeys.story import Story, told
from journeys.test_gpu_sharing import given

LIMIT = "CUDA_DEVICE_MEMORY_LIMIT"


@pytest.mark.parametrize(("part", "megabytes"), [("0.25", 20480), ("0.5", 40960), ("0.9", 73728)])
async def test_the_memory_a_container_may_use_is_its_part_of_the_gpus(part: str, megabytes: int) -> None:
    limiting = binder(BinderSettings(plugins={"hamicore": BinderPluginSetting(enabled=True)}))
    async with told(limiting, admission=AdmissionSettings(hami_core=True)) as story:
        await story.nodes(1, gpus=1, gpu_memory="80Gi")
        await story.part("p", part)
        await story.runs("p")
        [one] = (await story.get_pod("p")).spec.containers
        assert (
            next(item for item in one.env if item["name"] == LIMIT)["valueFrom"]["configMapKeyRef"]["optional"] is True
        )
        assert (await given(story, "p"))[LIMIT] == f"{megabytes}m"


async def test_without_it_nobody_is_limited(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await story.part("p", 0.5)
    await story.runs("p")
    assert LIMIT not in await given(story, "p")
