"""Pods on parts of GPUs: a reserved device, what its container is told, and nothing left behind."""

from __future__ import annotations

import pytest

from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, CONFIG_MAP, NODE, POD
from gangline.binder.component import component as binder
from gangline.binder.settings import BinderPluginSetting, BinderSettings
from gangline.errors import ApiError
from journeys.growing import come, grows
from journeys.story import Story, told
from journeys.words import container

SHARED = names.SHARED_GPU_CONFIG_MAP


async def reserved(story: Story) -> list[str]:
    """GPU groups that reservation pods hold."""
    return sorted(
        pod.labels[names.GPU_GROUP] for pod in (await story.client.list(POD, names.RESERVATION_NAMESPACE)).items
    )


async def given(story: Story, pod: str, suffix: str = "0") -> dict[str, str]:
    """What the container of a pod on a part of a GPU is told."""
    prefix = (await story.get_pod(pod)).annotations[SHARED]
    return (await story.client.get(CONFIG_MAP, f"{prefix}-{suffix}", "default")).data


async def test_a_part_of_a_gpu_is_a_reserved_device_that_the_container_sees(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.part("p", 0.5)
    await story.runs("p")
    told_device = await given(story, "p")
    [holder] = (await story.client.list(POD, names.RESERVATION_NAMESPACE)).items
    assert told_device["NVIDIA_VISIBLE_DEVICES"] == holder.annotations[names.RESERVED_GPU]
    assert told_device["GPU_PORTION"] == "0.50"
    assert (await story.get_pod("p")).annotations[names.RECEIVED_TYPE] == "Fraction"


async def test_when_the_last_sharer_leaves_device_and_config_maps_are_given_back(story: Story) -> None:
    await story.nodes(1, gpus=1)
    for name in ("a", "b"):
        await story.part(name, 0.5)
    await story.runs("a", "b")
    await story.client.delete(POD, "a", "default")
    await story.settles()
    assert len(await reserved(story)) == 1
    await story.client.delete(POD, "b", "default")
    await story.gone(POD, CONFIG_MAP, BIND_REQUEST)
    await story.settles()
    assert await reserved(story) == []
    await story.pod("whole", gpus=1)
    await story.runs("whole")


async def test_a_shared_gpu_is_not_given_to_somebody_who_wants_it_whole(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.part("p", 0.2)
    await story.runs("p")
    await story.pod("both", gpus=2)
    await story.waits("both")
    await story.pod("one", gpus=1)
    await story.runs("one")


async def test_the_same_part_of_several_gpus(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.part("p", 0.5, devices=2)
    await story.runs("p")
    assert len(await reserved(story)) == 2
    assert len((await given(story, "p"))["NVIDIA_VISIBLE_DEVICES"].split(",")) == 2
    await story.client.delete(POD, "p", "default")
    await story.leaves("p")
    await story.settles()
    assert await reserved(story) == []


async def test_the_part_may_be_for_a_container_by_name(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await story.part(
        "p",
        0.5,
        annotations={names.GPU_FRACTION_CONTAINER: "model"},
        containers=[container("proxy"), container("model")],
    )
    await story.runs("p")
    assert "NVIDIA_VISIBLE_DEVICES" in await given(story, "p", "1")
    proxy, model = (await story.get_pod("p")).spec.containers
    assert not proxy.env and {item["name"] for item in model.env} >= {"NVIDIA_VISIBLE_DEVICES", "GPU_PORTION"}


@pytest.mark.parametrize(
    ("annotations", "gpus", "words"),
    [
        ({names.GPU_FRACTION: "1.5"}, 0, "must be a number between 0 and 1"),
        ({names.GPU_FRACTION: "0.5"}, 1, "exclude each other"),
        ({names.GPU_MEMORY: "-1"}, 0, "must be a whole number of MiB"),
        ({names.GPU_FRACTION: "0.5", names.GPU_MEMORY: "5"}, 0, "choose one"),
        ({names.GPU_FRACTION_DEVICES: "2"}, 0, "needs gpu-fraction or gpu-memory"),
        ({"mps": "true"}, 0, "needs a part of a GPU"),
    ],
    ids=["too-much", "and-whole", "negative", "both", "devices-only", "mps-only"],
)
async def test_a_part_that_makes_no_sense_is_refused(
    story: Story, annotations: dict[str, str], gpus: int, words: str
) -> None:
    with pytest.raises(ApiError, match=words):
        await story.pod("p", gpus=gpus, annotations=annotations)


async def test_where_sharing_is_switched_off_parts_are_refused() -> None:
    async with told(admission=AdmissionSettings(gpu_sharing=False)) as story:
        with pytest.raises(ApiError, match="GPU sharing is switched off here"):
            await story.part("p", 0.5)


async def test_parts_get_the_runtime_class_they_need_and_whole_gpus_keep_theirs() -> None:
    async with told(admission=AdmissionSettings(runtime_class="nvidia")) as story:
        await story.apply(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "nvidia"},
                "handler": "nvidia",
            }
        )
        await story.part("part", 0.5)
        await story.pod("whole", gpus=1)
        assert [(await story.get_pod(name)).spec.runtime_class_name for name in ("part", "whole")] == ["nvidia", ""]


async def test_devices_are_named_for_cdi_where_the_binder_is_told_so() -> None:
    settings = BinderSettings(plugins={"gpusharing": BinderPluginSetting(arguments={"cdiEnabled": "true"})})
    async with told(binder(settings)) as story:
        await story.nodes(1, gpus=1)
        await story.part("p", 0.5)
        await story.runs("p")
        assert (await given(story, "p"))["NVIDIA_VISIBLE_DEVICES"].startswith("k8s.device-plugin.nvidia.com/gpu=")


async def test_a_cluster_that_grows_by_whole_gpus_makes_room_for_two_halves() -> None:
    async with told(grows("nodes: [{name: grown, gpus: 1, grow: {most: 3, delay: 30}}]"), moved=True) as story:
        for name in ("a", "b"):
            await story.part(name, 0.5)
        await come(story, "grown-0", within=60)
        assert await story.run_on("a", "b") == ["grown-0", "grown-0"]
        assert [node.name for node in await story.all(NODE)] == ["grown-0"]
        assert (await story.client.list(POD, names.SCALE_NAMESPACE)).items == []


async def test_two_billion_parts_of_a_node_that_says_it_has_as_many_devices_take_no_memory(story: Story) -> None:
    await story.nodes(1, gpus=2**31 - 1)
    await story.part("p", 0.5, devices=2**31 - 1)
    await story.part("q", 0.5)
    await story.runs("q")
    assert not (await story.get_pod("p")).spec.node_name
