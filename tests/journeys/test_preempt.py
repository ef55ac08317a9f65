"""Within a queue, what matters more takes the place of what matters less.

Evicted pods here are bare, so they are gone; pods of a controller would come back and wait.
"""

from __future__ import annotations

import pytest

from gangline.api import names
from gangline.api.kinds import DEVICE_CLASS, POD
from journeys.story import Story, told
from journeys.test_allocate import EXTENDED, claims

FIRM, LOOSE = "non-preemptible", "preemptible"


async def room_for_two(story: Story) -> None:
    """Two GPUs, and a queue that deserves them."""
    await story.nodes(1, gpus=2)
    await story.queue("team", gpus=2)
    await story.priority("low", 30)
    await story.priority("high", 60)


@pytest.mark.parametrize("newcomer", [LOOSE, FIRM])
@pytest.mark.parametrize("resident", [LOOSE, FIRM])
@pytest.mark.parametrize("higher", [True, False], ids=["higher", "same"])
async def test_only_higher_priority_takes_the_place_of_what_may_be_preempted(
    story: Story, newcomer: str, resident: str, higher: bool
) -> None:
    await room_for_two(story)
    await story.gang("old", 2, queue="team", priorityClassName="low", preemptibility=resident)
    await story.shares(old=2)
    await story.gang("new", 2, queue="team", priorityClassName="high" if higher else "low", preemptibility=newcomer)
    await story.shares(**({"new": 2} if higher and resident == LOOSE else {"old": 2}))


async def test_an_evicted_gang_is_told_for_whom_it_went(story: Story) -> None:
    await room_for_two(story)
    await story.gang("old", 2, queue="team", priorityClassName="low")
    await story.shares(old=2)
    await story.gang("new", 2, queue="team", priorityClassName="high")
    await story.shares(new=2)
    [told_once] = await story.events("Evict", "old")
    assert told_once.annotations["evictor-pod-group-name"] == "new"
    assert told_once.annotations["evictor-action-type"] == "preempt"


@pytest.mark.parametrize(("explicit", "evicted"), [(LOOSE, True), (FIRM, False)])
async def test_preemptibility_is_separate_from_priority(story: Story, explicit: str, evicted: bool) -> None:
    await room_for_two(story)
    await story.priority("very-high", 200)
    await story.gang(
        "old", 2, queue="team", preemptibility=explicit, priorityClassName="build" if explicit == LOOSE else "low"
    )
    await story.shares(old=2)
    await story.gang("new", 2, queue="team", priorityClassName="very-high", preemptibility=LOOSE)
    await story.shares(**({"new": 2} if evicted else {"old": 2}))


async def test_an_elastic_gang_gives_up_only_what_is_needed(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.priority("low", 30)
    await story.gang("old", 4, minimum=1, priorityClassName="low")
    await story.shares(old=4)
    await story.gang("new", 2, priorityClassName="train")
    await story.shares(old=2, new=2)


async def test_an_elastic_gang_goes_whole_when_even_its_minimum_is_needed(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await story.priority("low", 30)
    await story.gang("old", 3, minimum=2, priorityClassName="low")
    await story.shares(old=3)
    await story.gang("new", 2, priorityClassName="train")
    await story.shares(new=2)


async def test_the_pods_that_matter_least_go_first(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.priority("low", 30)
    await story.group("old", 1, priorityClassName="low")
    await story.members("old", 2, gpus=1)
    await story.members("old", 2, gpus=1, labels={names.TASK_PRIORITY: "5"}, first=2)
    await story.shares(old=4)
    await story.gang("new", 2, priorityClassName="train")
    await story.shares(old=2, new=2)
    assert await story.running_of("old") == {"old-2", "old-3"}


async def test_sub_groups_above_the_minimum_go_and_the_gang_stays(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await story.priority("low", 30)
    await story.tree("old", {"x": (1, 1), "y": (1, 1), "z": (1, 1)}, minSubGroup=1, priorityClassName="low")
    await story.shares(old=3)
    await story.gang("new", 2, priorityClassName="train")
    await story.shares(old=1, new=2)


async def test_a_gang_over_several_nodes_takes_room_on_each(story: Story) -> None:
    await story.nodes(2, gpus=2)
    await story.priority("low", 30)
    for name in ("a", "b", "c", "d"):
        await story.gang(name, 1, priorityClassName="low")
    await story.shares(a=1, b=1, c=1, d=1)
    await story.gang("new", 2, gpus=2, priorityClassName="train")
    await story.shares(new=2)
    assert len(await story.nodes_of("new")) == 2


async def test_a_gang_over_several_nodes_takes_claimed_devices_on_each(story: Story) -> None:
    await story.nodes(2, gpus=1, dra=True)
    await story.priority("low", 30)
    for name in ("a", "b"):
        await story.claim(name)
        await story.pod(name, labels={names.PRIORITY_CLASS: "low"}, **claims(name))
    await story.runs("a", "b")
    await story.group("new", 2, priorityClassName="train")
    for number in range(2):
        await story.claim(f"new-{number}")
        await story.members("new", 1, first=number, **claims(f"new-{number}"))
    await story.runs("new-0", "new-1")
    await story.leaves("a")
    await story.leaves("b")
    assert len(await story.nodes_of("new")) == 2


async def test_claimed_devices_are_taken_from_what_matters_less(story: Story) -> None:
    await story.nodes(1, gpus=1, dra=True)
    await story.priority("low", 30)
    for name, priority in (("old", "low"), ("new", "train")):
        await story.claim(name)
        await story.pod(name, labels={names.PRIORITY_CLASS: priority}, **claims(name))
        await story.runs(name)
    await story.leaves("old")


async def test_devices_behind_an_extended_resource_are_taken_from_what_matters_less(story: Story) -> None:
    await story.nodes(1, gpus=1, dra=True)
    await story.client.patch(DEVICE_CLASS, "gpu.nvidia.com", "", {"spec": {"extendedResourceName": EXTENDED}})
    await story.priority("low", 30)
    await story.gang("old", 1, gpus=0, asks={EXTENDED: 1}, priorityClassName="low")
    await story.shares(old=1)
    await story.gang("new", 1, gpus=0, asks={EXTENDED: 1}, priorityClassName="train")
    await story.shares(new=1)


async def test_nobody_goes_before_the_preemption_delay_has_passed() -> None:
    async with told(moved=True) as story:
        await story.nodes(1, gpus=1)
        await story.priority("low", 30)
        await story.gang("old", 1, priorityClassName="low")
        await story.shares(old=1)
        await story.gang("new", 1, priorityClassName="train", preemptionDelay="10m")
        await story.shares(old=1)
        assert "PreemptionDelayNotElapsed" in [item["reason"] for item in await story.reasons("new")]
        story.advance(601)
        await story.shares(new=1)


async def test_the_place_of_a_pod_is_taken_where_a_node_may_hold_no_more_pods(story: Story) -> None:
    await story.nodes(1, gpus=4, pods=1)
    await story.priority("low", 30)
    await story.gang("old", 1, priorityClassName="low")
    await story.shares(old=1)
    await story.gang("new", 1, priorityClassName="train")
    await story.shares(new=1)


async def test_a_part_of_a_gpu_needs_two_places_for_pods_when_it_opens_the_gpu(story: Story) -> None:
    await story.nodes(1, gpus=4, pods=2)
    await story.priority("low", 30)
    await story.gang("old", 1, priorityClassName="low")
    await story.shares(old=1)
    await story.part("new", 0.5, labels={names.PRIORITY_CLASS: "train"})
    await story.runs("new")
    await story.leaves("old-0")


async def test_what_is_running_for_less_than_its_queue_guarantees_is_not_preempted() -> None:
    async with told(moved=True) as story:
        await story.nodes(1, gpus=1)
        await story.queue("team", gpus=1, preemptMinRuntime="10m")
        await story.priority("low", 30)
        await story.gang("old", 1, queue="team", priorityClassName="low")
        await story.shares(old=1)
        await story.gang("new", 1, queue="team", priorityClassName="train")
        await story.shares(old=1)
        story.advance(601)
        await story.shares(new=1)


async def test_a_gang_that_fell_below_its_minimum_is_evicted_after_its_grace() -> None:
    async with told(moved=True) as story:
        await story.nodes(2, gpus=1)
        await story.gang("a", 2, stalenessGracePeriod="10m")
        await story.shares(a=2)
        await story.client.delete(POD, "a-0", "default")
        await story.shares(a=1)
        story.advance(601)
        await story.shares()
