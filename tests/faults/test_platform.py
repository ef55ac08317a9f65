"""The whole platform in trouble: any of its components dies while a mixed load starts, and comes back.

test_faults.py has the scheduler half alone, with errors on every line.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, CONFIG_MAP, NODE, POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, POD_GROUP
from gangline.api.resources import units
from gangline.local import Platform
from journeys.story import Story, told

MORTALS = (
    "operator",
    "grouper",
    "scheduler",
    "binder",
    "podgroup-controller",
    "queue-controller",
    "kubelet",
    "controller-manager",
)
PARTS = ("part-0", "part-1", "part-2")


async def kill(story: Story, name: str) -> None:
    """Stop a component where it stands: what it has in hand is dropped."""
    manager = next(item for item in story.platform.managers if item.component.name == name)
    story.platform.managers.remove(manager)
    await manager.stop()


async def held(story: Story) -> Counter[str]:
    """GPUs that living pods hold on each node, those of reservations included."""
    found: Counter[str] = Counter()
    for pod in (await story.client.list(POD)).items:
        if pod.spec.node_name and pod.status.phase not in ("Succeeded", "Failed"):
            asked = [container.resources.requests.get(names.NVIDIA_GPU, 0) for container in pod.spec.containers]
            found[pod.spec.node_name] += sum(units(item) for item in asked)
    return found


async def nothing_left(story: Story) -> None:
    """Take all of it away again."""
    await story.client.delete(POD_CLIQUE_SET, "llm", "default")
    for name in PARTS:
        await story.client.delete(POD, name, "default")
    await story.gone(POD_CLIQUE_SET, POD_CLIQUE, POD_GANG, POD_GROUP, POD, BIND_REQUEST, CONFIG_MAP)
    await story.settles()
    assert (await story.client.list(POD, names.RESERVATION_NAMESPACE)).items == []


@pytest.mark.parametrize("name", MORTALS)
@pytest.mark.parametrize("turns", [5, 60, 200])
async def test_a_component_that_dies_and_comes_back_loses_doubles_and_leaves_nothing(name: str, turns: int) -> None:
    async with told() as story:
        assert isinstance(story.platform, Platform)
        await story.nodes(2, gpus=8)
        await story.apply("examples/01-gang/llm.yaml")
        for part in PARTS:
            await story.part(part, 0.5)
        for _ in range(turns):
            await asyncio.sleep(0)
        await kill(story, name)
        await story.platform.start_component(name)
        await story.running(5 + len(PARTS))
        await story.settles()
        assert all(gpus <= 8 for gpus in (await held(story)).values())
        shared = Counter([(await story.get_pod(part)).labels[names.GPU_GROUP] for part in PARTS])
        assert max(shared.values()) <= 2
        await nothing_left(story)


async def test_two_that_wait_for_one_reservation_wait_quietly() -> None:
    async with told(without=("kubelet",)) as story:
        await story.nodes(1, gpus=1)
        await story.client.patch(NODE, "node-0", "", {"spec": {"taints": None}})
        for name in ("a", "b"):
            await story.part(name, 0.5)
        await story.settles()
        assert [request.status.phase for request in await story.all(BIND_REQUEST)] == ["", ""]
