"""Shards on one machine: a SchedulingShard that is applied schedules its own nodes, with its own settings, until it is
deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gangline.api import names
from gangline.api.kinds import CONFIG, NODE, POD, POD_GROUP, QUEUE, SCHEDULING_SHARD
from gangline.components.options import ComponentOptions
from gangline.local import ELSEWHERE, Platform, PlatformSettings
from installer.installer_story import InstallerStory

NODES = "nodes: [{name: gpu, count: 2, gpus: 8}]"
COMPONENTS = tuple(name for name in PlatformSettings().components if name not in ELSEWHERE)


@pytest.fixture
async def here() -> AsyncIterator[InstallerStory]:
    platform = Platform(
        PlatformSettings(components=COMPONENTS, options=ComponentOptions(period=0.0, nodes=NODES), shards=True)
    )
    await platform.start()
    try:
        yield InstallerStory(platform)
    finally:
        await platform.stop()


async def pooled(here: InstallerStory, kind: Any, name: str, namespace: str = "") -> None:
    await here.client.patch(kind, name, namespace, {"metadata": {"labels": {names.NODE_POOL: "blue"}}})


async def gang(here: InstallerStory, name: str, queue: str) -> None:
    """One pod for a whole node, in a group of its own."""
    labels = {names.NODE_POOL: "blue"} if queue == "blue" else {}
    await here.client.create(
        POD_GROUP,
        {
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "spec": {"queue": queue, "minMember": 1},
        },
    )
    asked = {"requests": {names.NVIDIA_GPU: "8"}, "limits": {names.NVIDIA_GPU: "8"}}
    spec = {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "image": "i", "resources": asked}]}
    noted = {names.POD_GROUP_NAME: name}
    await here.client.create(
        POD, {"metadata": {"name": name, "namespace": "default", "annotations": noted}, "spec": spec}
    )


async def node_of(here: InstallerStory, name: str) -> str:
    return (await here.client.get(POD, name, "default")).spec.node_name


async def blue_ground(here: InstallerStory) -> str:
    """One of the two nodes, and a queue, belong to the pool."""
    first = sorted(item.name for item in (await here.client.list(NODE)).items)[0]
    await pooled(here, NODE, first)
    everything = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    await here.client.create(
        QUEUE,
        {
            "metadata": {"name": "blue", "labels": {names.NODE_POOL: "blue"}},
            "spec": {"resources": dict.fromkeys(("cpu", "gpu", "memory"), everything)},
        },
    )
    return first


async def test_a_shard_that_is_applied_places_what_belongs_to_its_pool(here: InstallerStory) -> None:
    node = await blue_ground(here)
    await gang(here, "work", "blue")
    await here.platform.settles()
    assert await node_of(here, "work") == ""
    await here.shard("blue", partitionLabelValue="blue")
    await here.ready(SCHEDULING_SHARD, "blue")

    async def placed() -> bool:
        return await node_of(here, "work") == node

    await here.until(placed, "the pod on the node of its pool")
    await here.client.delete(SCHEDULING_SHARD, "blue")
    await here.platform.settles()
    await here.client.delete(POD, "work", "default", grace=0)
    await gang(here, "more", "blue")
    await here.platform.settles()
    assert await node_of(here, "more") == ""


async def test_a_shard_without_a_pool_takes_the_place_of_the_usual_scheduler_and_gives_it_back(
    here: InstallerStory,
) -> None:
    def schedulers() -> int:
        return sum(manager.component.name == "scheduler" for manager in here.platform.managers)

    await here.shard("default", placementStrategy={"gpu": "spread"})
    await here.ready(SCHEDULING_SHARD, "default")
    assert schedulers() == 1
    await gang(here, "one", names.DEFAULT_QUEUE)

    async def placed() -> bool:
        return bool(await node_of(here, "one"))

    await here.until(placed, "a place from the shard's scheduler")
    await here.client.delete(SCHEDULING_SHARD, "default")
    await here.platform.settles()
    assert schedulers() == 1
    await gang(here, "two", names.DEFAULT_QUEUE)

    async def placed_too() -> bool:
        return bool(await node_of(here, "two"))

    await here.until(placed_too, "a place from the usual scheduler")


async def test_a_shard_that_cannot_start_is_told_so_and_a_config_what_counts_here(here: InstallerStory) -> None:
    await here.shard("blue", partitionLabelValue="blue", args={"schedule-period": "soon"})
    await here.tells(SCHEDULING_SHARD, "blue", "Deployed", "--schedule-period=soon: 'soon' is not a duration")
    assert (await here.said(SCHEDULING_SHARD, "blue", "Deployed"))[0] == "False"
    await here.config()
    await here.tells(CONFIG, "kai-config", "Ready", "on one machine all components run in one process")
