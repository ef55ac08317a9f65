"""Containers see only the GPUs they asked for, where the admission is told to see to that."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.errors import ApiError
from journeys.story import Story, told
from journeys.words import container

NAME = "NVIDIA_VISIBLE_DEVICES"
BLOCKING = AdmissionSettings(block_visible_devices=True)


def sees(value: str, **more: Any) -> dict[str, Any]:
    return container(env=[{"name": NAME, "value": value}], **more)


async def shown(story: Story, pod: str) -> list[str | None]:
    """What each container of a pod is told to see."""
    containers = (await story.get_pod(pod)).spec.containers
    return [next((item.get("value") for item in one.env if item["name"] == NAME), None) for one in containers]


async def test_without_the_check_a_pod_may_see_everything(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await story.pod("p", containers=[sees("all", gpus=1)])
    await story.runs("p")
    assert await shown(story, "p") == ["all"]


@pytest.mark.parametrize("value", ["1", "1,2", "all"])
async def test_with_the_check_a_gpu_container_may_not_choose_its_devices(value: str) -> None:
    async with told(admission=BLOCKING) as story:
        with pytest.raises(ApiError, match=f"container main sets {NAME} itself, which the device plugin must do"):
            await story.pod("p", containers=[sees(value, gpus=1)])


@pytest.mark.parametrize("value", ["void", "none"])
async def test_with_the_check_a_container_may_say_that_it_sees_nothing(value: str) -> None:
    async with told(admission=BLOCKING) as story:
        await story.nodes(1, gpus=1)
        await story.pod("p", containers=[sees(value, gpus=1)])
        await story.runs("p")


async def test_only_containers_without_a_gpu_are_blinded() -> None:
    async with told(admission=BLOCKING) as story:
        await story.nodes(1, gpus=1)
        await story.pod("p", containers=[container("gpu", gpus=1), container("side")])
        await story.runs("p")
        assert await shown(story, "p") == [None, "void"]
