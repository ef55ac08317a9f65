"""A set that serves requests is moved by starting its new place first: no pod of it is missing for a moment."""

from __future__ import annotations

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import EVENT, POD, POD_CLIQUE_SET
from gangline.operator.cliques.moves import PATIENCE
from journeys.sets import NAME, Sets, Size, clique, pod_clique_set
from journeys.story import Story, told

START_FIRST = {names.MOVE: "start-first"}


async def half_full(story: Story) -> None:
    """Two nodes of 8 GPUs, with 4 of each in use: on the one by a pod of a set that serves, on the other by a pod that
    may not be moved."""
    await story.nodes(2, gpus=8)
    for filler in ("left", "right"):
        await story.pod(filler, gpus=4, annotations={names.MOVE: "never"})
    await story.pod("full", gpus=4, annotations={names.MOVE: "never"})
    await story.runs("left", "right", "full")
    main = {"name": "main", "image": "app:1", "resources": {"limits": {"nvidia.com/gpu": "4"}}}
    template = {"cliques": [clique("web", Size(1, 1), containers=[main])]}
    await story.client.create(POD_CLIQUE_SET, pod_clique_set(template, annotations=START_FIRST))
    await story.running(4)
    (web,) = await served(story)
    others = [pod for pod in await story.pods() if pod.uid != web.uid]
    beside = next(pod for pod in others if pod.spec.node_name == web.spec.node_name)
    away = next(pod for pod in others if pod.spec.node_name != web.spec.node_name)
    for pod in (beside, away):
        await story.client.delete(POD, pod.name, "default")
    await story.settles()


async def served(story: Story) -> list[Pod]:
    return [pod for pod in await story.pods() if pod.labels.get(names.PART_OF) == NAME]


async def test_the_replacement_is_ready_before_the_old_pod_goes_and_the_large_pod_gets_the_node() -> None:
    async with told() as story:
        await half_full(story)
        (old,) = await served(story)
        async with Sets(story).diary() as diary:
            await story.pod("large", gpus=8)
            await story.runs("large")
        (new,) = await served(story)
        assert diary.most_pods_away() == 0
        assert new.uid != old.uid and new.spec.node_name != old.spec.node_name
        assert new.spec.hostname == old.spec.hostname and new.annotations[names.REPLACES] == old.name
        notes = [event.message for event in await story.all(EVENT) if event.reason == "Moving"]
        assert notes and notes[0].startswith(f"A replacement starts on node {new.spec.node_name} before this pod goes")


async def test_a_replacement_that_finds_no_place_is_given_up_and_the_old_pod_stays() -> None:
    async with told(moved=True) as story:
        await half_full(story)
        (old,) = await served(story)
        patch = {"metadata": {"annotations": {names.MOVE_TO: "nowhere"}}}
        await story.client.patch(POD, old.name, "default", patch)
        await story.settles()
        assert len(await served(story)) == 2
        await story.passes(PATIENCE + 1)
        await story.settles()
        (left,) = await served(story)
        assert left.uid == old.uid and names.MOVE_TO not in left.annotations
