"""A set for the default scheduler on the whole platform, as `gangline up --workload-api` starts it: it waits whole,
runs, says so, and leaves nothing behind, in every generation of kube-scheduler's Workload API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gangline.api.kinds import (
    COMPOSITE_POD_GROUP,
    KUBE_POD_GROUP,
    KUBE_POD_GROUP_V1ALPHA2,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    TOPOLOGY_BINDING,
    WORKLOAD,
    WORKLOAD_V1BETA1,
    Kind,
)
from gangline.api.meta import Raw, condition
from gangline.components.options import ComponentOptions
from gangline.local import Platform, PlatformSettings
from journeys.story import Story
from operator_world import clique, pod_clique_set

TREE = ("TopologyAwareWorkloadScheduling", "CompositePodGroup")
BLOCK, RACK = "example.com/block", "example.com/rack"
GENERATIONS: dict[str, tuple[str, tuple[str, ...], tuple[Kind[Any], ...], str]] = {
    "1.35": ("1.35", (), (WORKLOAD,), ""),
    "1.36": ("1.36", (), (KUBE_POD_GROUP_V1ALPHA2,), "PodGroupScheduled"),
    "1.37": ("1.37", (), (KUBE_POD_GROUP,), "PodGroupInitiallyScheduled"),
    "1.37-tree": ("1.37", TREE, (KUBE_POD_GROUP, COMPOSITE_POD_GROUP, WORKLOAD_V1BETA1), "PodGroupInitiallyScheduled"),
}
"""What it is called here → the release, gates that are on, what a gang becomes, and the condition of its groups."""


@asynccontextmanager
async def up(release: str, *gates: str) -> AsyncIterator[Story]:
    plain = PlatformSettings()
    platform = Platform(
        PlatformSettings(
            workload_api=release,
            feature_gates=(*plain.feature_gates, *gates),
            options=ComponentOptions(period=0.0, nodes="nodes: []"),
        )
    )
    await platform.start()
    try:
        yield Story(platform)
    finally:
        await platform.stop()


def asking(name: str, replicas: int, minimum: int | None = None, gpus: int = 4) -> Raw:
    made = clique(name, replicas, minimum, scheduler="")
    made["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return made


async def why(story: Story, gang: str) -> str:
    found = condition((await story.client.get(POD_GANG, gang, "default")).status.conditions, "Scheduled")
    return found.message if found is not None and found.status == "False" else ""


@pytest.mark.parametrize("generation", GENERATIONS)
async def test_a_set_waits_whole_runs_and_leaves_nothing_behind(generation: str) -> None:
    release, gates, kinds, type = GENERATIONS[generation]
    async with up(release, *gates) as story:
        await story.nodes(1, gpus=8)
        await story.apply(
            pod_clique_set("llm", asking("prefill", 3, 2), asking("decode", 1))
            | {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet"}
        )
        if type:
            await story.until(lambda: _waits(story), "the reason why the gang waits")
        await story.settles()
        assert await story.pods("llm", "Running") == []
        await story.nodes(1, gpus=4)
        await story.running(3, of="llm")
        await story.nodes(1, gpus=4)
        await story.running(4, of="llm")
        await story.settles()
        for group in await story.all(kinds[0]) if type else ():
            assert [(item["type"], item["status"], item["reason"]) for item in group.status["conditions"]] == [
                (type, "True", "Scheduled")
            ]
        assert all([await story.all(kind) for kind in kinds])
        await story.client.delete(POD_CLIQUE_SET, "llm", "default")
        await story.gone(POD_CLIQUE_SET, POD_CLIQUE, POD_GANG, POD, *kinds)


async def _waits(story: Story) -> bool:
    return bool(await story.all(POD_GANG)) and "Insufficient nvidia.com/gpu" in await why(story, "llm-0")


@pytest.mark.parametrize("generation", ["1.36", "1.37-tree"])
async def test_a_set_that_must_be_in_one_block_is_placed_there(generation: str) -> None:
    release = GENERATIONS[generation][0]
    gates = TREE if release == "1.37" else TREE[:1]
    async with up(release, *gates) as story:
        await story.apply(
            {
                "apiVersion": "grove.io/v1alpha1",
                "kind": TOPOLOGY_BINDING.kind,
                "metadata": {"name": "t"},
                "spec": {"levels": [{"domain": "block", "key": BLOCK}, {"domain": "rack", "key": RACK}]},
            }
        )
        for block, rack in (("1", "a"), ("2", "b"), ("2", "c")):
            await story.nodes(1, gpus=8, name=f"{block}{rack}", labels={BLOCK: block, RACK: rack})
        await story.apply(
            pod_clique_set(
                "llm",
                asking("prefill", 2),
                asking("decode", 2),
                topologyConstraint={"topologyName": "t", "pack": {"required": "block"}},
            )
            | {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet"}
        )
        await story.running(4, of="llm")
        assert {pod.spec.node_name[:1] for pod in await story.pods("llm")} == {"2"}
