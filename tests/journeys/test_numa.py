"""NUMA zones: a pod goes where the kubelet's topology manager will take it, and what it got there is written on it.

Every node has two zones with 4 GPUs and 8 CPUs each.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gangline.api import names
from gangline.api.kinds import NODE_RESOURCE_TOPOLOGY
from gangline.controllers.component import numa_placement_exporter
from gangline.controllers.numa_zones import OBSERVED, PREDICTED
from gangline.scheduler.plugins.fit.numa import REFUSAL
from journeys.story import Story, told
from journeys.words import scheduler

SINGLE, RESTRICTED, BEST = "single-numa-node", "restricted", "best-effort"


@asynccontextmanager
async def zoned(policy: str = SINGLE, *, nodes: int = 1, exporter: bool = True) -> AsyncIterator[Story]:
    """A platform whose scheduler knows zones, and nodes of this policy."""
    async with told(without=("scheduler", "numa-placement-exporter")) as story:
        await story.kind(
            NODE_RESOURCE_TOPOLOGY.group, NODE_RESOURCE_TOPOLOGY.version, NODE_RESOURCE_TOPOLOGY.kind, namespaced=False
        )
        await story.platform.hire(scheduler("numa"))
        if exporter:
            await story.platform.hire(numa_placement_exporter())
        for node in await story.nodes(nodes, gpus=8, cpu=16, numa=2):
            said = [
                {"name": "topologyManagerPolicy", "value": policy},
                {"name": "topologyManagerScope", "value": "pod"},
            ]
            await story.client.patch(NODE_RESOURCE_TOPOLOGY, node, "", {"attributes": said})
        await story.settles()
        yield story


def container(gpus: int, cpu: str = "1", *, guaranteed: bool = True) -> list[dict[str, object]]:
    asks = {"cpu": cpu, "memory": "1Gi", **({names.NVIDIA_GPU: str(gpus)} if gpus else {})}
    limits = asks if guaranteed else {name: value for name, value in asks.items() if name == names.NVIDIA_GPU}
    return [{"name": "main", "image": "app", "resources": {"requests": asks, "limits": limits}}]


async def pods(story: Story, sizes: dict[str, int], **more: str) -> None:
    """Guaranteed pods of so many GPUs, one after the other."""
    for name, gpus in sizes.items():
        await story.pod(name, containers=container(gpus), labels=more)
        await story.runs(name)


async def refused(story: Story, pod: str) -> None:
    await story.waits(pod)
    said = await story.scheduled(pod)
    assert said is not None and REFUSAL in said.message


@pytest.mark.parametrize(("gpus", "fits"), [(4, True), (5, False)])
async def test_a_pod_for_one_zone_runs_only_if_one_zone_has_it_all(gpus: int, fits: bool) -> None:
    async with zoned() as story:
        await story.pod("p", containers=container(gpus))
        await (story.runs("p") if fits else refused(story, "p"))


async def test_free_gpus_in_two_zones_do_not_make_room_in_one() -> None:
    async with zoned() as story:
        await pods(story, {"a": 3, "b": 3})
        await story.pod("c", containers=container(2))
        await refused(story, "c")
        await story.pod("d", containers=container(1))
        await story.runs("d")


async def test_the_zone_is_foretold_and_then_seen() -> None:
    async with zoned() as story:
        await pods(story, {"a": 3, "b": 3})
        told_zones = [json.loads((await story.get_pod(name)).annotations[PREDICTED])[0]["zone"] for name in ("a", "b")]
        seen = [json.loads((await story.get_pod(name)).annotations[OBSERVED])[0]["zone"] for name in ("a", "b")]
        assert told_zones == seen == ["node-0", "node-1"]


async def test_without_the_exporter_nothing_is_seen() -> None:
    async with zoned(exporter=False) as story:
        await pods(story, {"a": 3})
        assert OBSERVED not in (await story.get_pod("a")).annotations


async def test_restricted_takes_as_few_zones_as_the_pod_could_ever_need() -> None:
    async with zoned(RESTRICTED) as story:
        await story.pod("wide", containers=container(6, guaranteed=False))
        await story.runs("wide")
        zones = json.loads((await story.get_pod("wide")).annotations[PREDICTED])
        assert [zone["amount"] for zone in zones] == [{names.NVIDIA_GPU: "4"}, {names.NVIDIA_GPU: "2"}]


async def test_restricted_does_not_take_more_zones_than_the_pod_could_ever_need() -> None:
    async with zoned(RESTRICTED) as story:
        await pods(story, {"a": 3, "b": 3})
        await story.pod("c", containers=container(2))
        await refused(story, "c")


async def test_best_effort_takes_what_there_is() -> None:
    async with zoned(BEST) as story:
        await pods(story, {"a": 3, "b": 3})
        await story.pod("c", containers=container(2))
        await story.runs("c")


async def test_a_node_that_tells_no_zones_takes_everybody() -> None:
    async with zoned(nodes=0) as story:
        await story.nodes(1, gpus=8, cpu=16)
        await story.pod("p", containers=container(8))
        await story.runs("p")


@pytest.mark.parametrize("guaranteed", [True, False])
async def test_cpus_are_aligned_for_guaranteed_pods_only(guaranteed: bool) -> None:
    async with zoned() as story:
        await story.pod("p", containers=container(0, "12", guaranteed=guaranteed))
        await (refused(story, "p") if guaranteed else story.runs("p"))


async def test_preemption_opens_a_zone() -> None:
    async with zoned() as story:
        await story.priority("low", 30)
        await pods(story, {"a": 3, "b": 3}, **{names.PRIORITY_CLASS: "low"})
        await story.pod("new", containers=container(4))
        await story.runs("new")
        assert len(await story.pods(phase="Running")) == 2


@pytest.mark.parametrize("policy", [SINGLE, RESTRICTED])
@pytest.mark.parametrize("gpus", [2, 3, 4])
async def test_reclaim_opens_a_zone(policy: str, gpus: int) -> None:
    async with zoned(policy) as story:
        await story.queue("mine", gpus=4)
        await story.queue("theirs", gpus=4)
        await pods(story, {"a": 3, "b": 3, "c": 1, "d": 1}, **{names.QUEUE: "theirs"})
        await story.pod("new", containers=container(gpus), queue="mine")
        await story.runs("new")
        [zone] = json.loads((await story.get_pod("new")).annotations[OBSERVED])
        assert zone["amount"][names.NVIDIA_GPU] == str(gpus)
