"""Running work is moved together so that something larger fits."""

from __future__ import annotations

from gangline.api import names
from gangline.api.kinds import POD, REPLICA_SET
from journeys.story import Story
from journeys.words import container


async def service(story: Story, name: str, *, gpus: int = 0, fraction: str = "") -> None:
    """One replica that comes back when it is evicted."""
    notes = {names.GPU_FRACTION: fraction} if fraction else {}
    await story.client.create(
        REPLICA_SET,
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name, "gang": name}, "annotations": notes},
                    "spec": {"schedulerName": names.KAI_SCHEDULER, "containers": [container(gpus=gpus)]},
                },
            },
        },
    )
    await story.settles()


async def test_work_on_half_empty_nodes_is_moved_together_for_a_pod_that_needs_a_whole_node(story: Story) -> None:
    await story.nodes(2, gpus=2)
    await service(story, "a", gpus=1)
    await story.pod("filler", gpus=1)
    await story.runs("filler")
    await service(story, "b", gpus=1)
    await story.client.delete(POD, "filler", "default")
    await story.settles()
    assert len({pod.spec.node_name for pod in await story.pods(phase="Running")}) == 2
    await story.gang("large", 1, gpus=2)
    await story.shares(a=1, b=1, large=1)


async def test_parts_of_gpus_are_moved_together_for_a_pod_that_needs_a_whole_gpu(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await service(story, "a", fraction="0.5")
    await story.part("filler", 0.5)
    await story.runs("filler")
    await service(story, "b", fraction="0.5")
    await story.client.delete(POD, "filler", "default")
    await story.settles()
    assert len({pod.labels[names.GPU_GROUP] for pod in await story.pods(phase="Running")}) == 2
    await story.gang("large", 1, gpus=1)
    await story.shares(a=1, b=1, large=1)


async def test_nothing_moves_for_a_pod_that_would_not_fit_anyway(story: Story) -> None:
    await story.nodes(2, gpus=2)
    for name in ("a", "b"):
        await service(story, name, gpus=1)
    before = {pod.uid for pod in await story.pods(phase="Running")}
    await story.gang("large", 1, gpus=3)
    await story.shares(a=1, b=1)
    assert {pod.uid for pod in await story.pods(phase="Running")} == before
