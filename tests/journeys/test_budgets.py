"""A PodDisruptionBudget is honoured: a pod that may not go is not evicted, one that may goes by the Eviction API."""

from __future__ import annotations

from gangline.api.kinds import PDB, POD, POD_GROUP, PRIORITY_CLASS
from gangline.api.meta import condition
from journeys.story import Story, told

KEEP = {"app": "keep"}


async def crowded(story: Story, least: int) -> None:
    """A pod of low priority holds all GPUs; its budget wants so many of it; one of high priority comes."""
    await story.nodes(1, gpus=8)
    for name, value in {"low": 30, "high": 70}.items():
        await story.client.create(PRIORITY_CLASS, {"metadata": {"name": name}, "value": value})
    spec = {"minAvailable": least, "selector": {"matchLabels": KEEP}}
    await story.client.create(PDB, {"metadata": {"name": "keep", "namespace": "default"}, "spec": spec})
    await story.pod("old", gpus=8, labels={**KEEP, "priorityClassName": "low"})
    await story.runs("old")
    await story.client.patch(POD, "old", "default", {"metadata": {"finalizers": ["example.com/held"]}})
    await story.settles()
    await story.pod("rush", gpus=8, labels={"priorityClassName": "high"})
    await story.settles()


async def test_a_pod_that_its_budget_keeps_stays_and_the_one_that_waits_is_told() -> None:
    async with told() as story:
        await crowded(story, least=1)
        assert (await story.get_pod("old")).status.phase == "Running"
        waiting = condition((await story.get_pod("rush")).status.conditions, "PodScheduled")
        assert waiting is not None and waiting.status == "False"
        group = next(item for item in await story.all(POD_GROUP) if "rush" in item.name)
        assert "a PodDisruptionBudget keeps them" in group.status.scheduling_conditions[-1].message


async def test_a_pod_that_its_budget_lets_go_goes_by_the_eviction_api_and_makes_room() -> None:
    async with told() as story:
        await crowded(story, least=0)
        marked = condition((await story.get_pod("old")).status.conditions, "DisruptionTarget")
        assert marked is not None and marked.reason == "EvictionByEvictionAPI"
        await story.client.patch(POD, "old", "default", {"metadata": {"finalizers": None}})
        await story.runs("rush")
