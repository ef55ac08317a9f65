"""A gang that waits is told when it starts, where people look, from whatever says how long the work before it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from gangline.api import names
from gangline.api.kai import PodGroup
from gangline.api.kinds import CONFIG_MAP, JOB, POD_CLIQUE_SET, POD_GANG, POD_GROUP
from gangline.api.meta import Raw
from gangline.cli.explain import explain
from gangline.rules.values.times import seconds
from gangline.scheduler.time.learned import LEAST
from gangline.why.words.printed import printed
from journeys.story import Story, told

HOUR = 3600.0
CONTAINERS = [{"name": "c", "image": "trainer", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]
POD_SPEC = {"schedulerName": "kai-scheduler", "containers": CONTAINERS, "restartPolicy": "Never"}


def job(name: str, notes: Raw, pod_notes: Raw) -> Raw:
    template = {"metadata": {"annotations": pod_notes}, "spec": POD_SPEC}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "annotations": notes},
        "spec": {"template": template},
    }


def clique_set(name: str, notes: Raw, pods: int = 1) -> Raw:
    clique = {"name": "w", "spec": {"roleName": "w", "replicas": pods, "minAvailable": pods, "podSpec": POD_SPEC}}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": "default", "annotations": notes},
        "spec": {"replicas": 1, "template": {"cliques": [clique]}},
    }


async def on_job(story: Story, notes: Raw) -> None:
    await story.apply(job("train", notes, {}))


async def on_template(story: Story, notes: Raw) -> None:
    await story.apply(job("train", {}, notes))


async def on_set(story: Story, notes: Raw) -> None:
    await story.apply(clique_set("train", notes))


async def on_pod(story: Story, notes: Raw) -> None:
    await story.pod("train", gpus=8, annotations=notes)


async def on_group(story: Story, notes: Raw) -> None:
    await story.gang("train", 1, gpus=8)
    await story.settles()
    await story.client.patch(POD_GROUP, "train", "default", {"metadata": {"annotations": notes}})


async def on_deadline(story: Story, notes: Raw) -> None:
    await story.pod("train", gpus=8, activeDeadlineSeconds=int(2 * HOUR))


WAYS = [on_job, on_template, on_set, on_pod, on_group, on_deadline]


async def group_of(story: Story, name: str) -> PodGroup:
    groups: list[PodGroup] = await story.all(POD_GROUP)
    return next(group for group in groups if group.name == name or group.name.startswith(f"pg-{name}"))


@pytest.mark.parametrize("way", WAYS, ids=[way.__name__ for way in WAYS])
async def test_a_runtime_is_read_wherever_it_may_be_said(way: Callable[[Story, Raw], Awaitable[None]]) -> None:
    async with told(moved=True) as story:
        await story.nodes(2, gpus=8)
        await way(story, {names.EXPECTED_RUNTIME: "2h"})
        await story.settles()
        began = story.clock.now()
        await story.gang("big", 2, gpus=8)
        await story.settles()
        start = (await group_of(story, "big")).status.start
        assert start is not None and start.waits_for.startswith("default/") and "train" in start.waits_for
        assert abs((seconds(start.latest) or 0) - began - 2 * HOUR) < 300


async def test_a_gang_of_a_set_says_on_group_gang_and_to_explain_when_it_starts_and_no_longer_when_it_runs() -> None:
    async with told(moved=True) as story:
        await story.nodes(2, gpus=8)
        await story.apply(job("train-9", {names.EXPECTED_RUNTIME: "1h"}, {}))
        await story.settles()
        await story.apply(clique_set("big", {}, pods=2))
        await story.settles()
        group, gang = await group_of(story, "big"), await story.client.get(POD_GANG, "big-0", "default")
        assert group.status.start is not None and gang.status.start == group.status.start
        (answer,) = await explain(story.client, "big", "default")
        assert answer.starts.strip().startswith("starts by ") and "at the latest (when train-9 ends)" in answer.starts
        assert (
            answer.starts in printed([answer], "text") and answer.data["start"]["latest"] == group.status.start.latest
        )
        await story.client.delete(JOB, "train-9", "default", propagation="Background")
        await story.running(2, of="big")
        await story.settles()
        group, gang = await group_of(story, "big"), await story.client.get(POD_GANG, "big-0", "default")
        assert group.status.start is None and gang.status.start is None


async def test_a_promise_is_written_once_however_much_happens_beside_it() -> None:
    async with told(moved=True) as story:
        await story.nodes(2, gpus=8)
        await story.pod("train", gpus=8, annotations={names.EXPECTED_RUNTIME: "1h"})
        await story.settles()
        await story.gang("big", 2, gpus=8)
        await story.settles()
        before = (await group_of(story, "big")).metadata.resource_version
        for number in range(5):
            story.advance(60)
            await story.pod(f"small-{number}", asks={"cpu": 1})
            await story.settles()
        assert (await group_of(story, "big")).metadata.resource_version == before


async def test_a_checkpoint_of_a_set_reaches_its_group_when_it_is_noted_later() -> None:
    note = {"metadata": {"annotations": {names.LAST_CHECKPOINT: "2026-01-01T00:00:00Z"}}}
    async with told(moved=True) as story:
        await story.nodes(1, gpus=8)
        await story.apply(clique_set("llm", {}))
        await story.settles()
        await story.client.patch(POD_CLIQUE_SET, "llm", "default", note)
        await story.settles()
        assert (await group_of(story, "llm")).annotations.get(names.LAST_CHECKPOINT) == "2026-01-01T00:00:00Z"


async def restarted(story: Story) -> None:
    """The scheduler goes, and another one comes."""
    manager = next(item for item in story.platform.managers if item.component.name == "scheduler")
    story.platform.managers.remove(manager)
    await manager.stop()
    await story.platform.start_component("scheduler")
    await story.settles()


async def test_a_runtime_that_was_seen_often_enough_is_expected_also_by_a_scheduler_that_was_started_anew() -> None:
    async with told(moved=True) as story:
        await story.nodes(2, gpus=8)
        for number in range(LEAST):
            await story.apply(job(f"train-{number}", {}, {names.RUN_SECONDS: "200"}))
            await story.running(1)
            story.advance(201)
            await story.running(0)
            await story.settles()
        story.advance(61)
        await story.settles()
        kept = await story.client.get(CONFIG_MAP, "gangline-runtimes", names.KAI_NAMESPACE)
        assert "train-#" in kept.data["runtimes.json"]
        await restarted(story)
        await story.apply(job("train-99", {}, {}))
        await story.settles()
        began = story.clock.now()
        await story.gang("big", 2, gpus=8)
        await story.settles()
        start = (await group_of(story, "big")).status.start
        assert start is not None and start.latest is None
        assert abs((seconds(start.expected) or 0) - began - 200) < 120
