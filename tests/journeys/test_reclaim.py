"""Between queues, each gets back what it deserves, and no more than its share."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api import names
from journeys.story import Story, told
from journeys.test_allocate import claims
from journeys.words import scheduler


async def two_queues(story: Story, mine: float = 0, theirs: float = 0, **spec: Any) -> None:
    """Queues of one parent, with their quotas."""
    await story.queue("org", gpus=mine + theirs)
    await story.queue("mine", "org", gpus=mine, **spec)
    await story.queue("theirs", "org", gpus=theirs, **spec)


# --- quota and fair share ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "theirs", "held", "asked", "taken"),
    [
        (2, 2, 4, 2, True),  # under quota, from one over quota
        (2, 2, 2, 3, False),  # over quota, from one within its quota
        (1, 1, 4, 2, True),  # over quota but within the fair share, from one over its fair share
        (0, 0, 4, 2, True),  # nobody has a quota: the fair share decides
        (0, 0, 4, 3, False),  # more than the fair share is not taken back
        (4, 0, 4, 4, True),  # all of it is deserved
    ],
    ids=["deserved", "within-quota", "fair-share", "no-quota", "too-much", "everything"],
)
async def test_a_queue_takes_back_its_share(
    story: Story, mine: int, theirs: int, held: int, asked: int, taken: bool
) -> None:
    await story.nodes(1, gpus=4)
    await two_queues(story, mine, theirs)
    for number in range(held):
        await story.gang(f"old{number}", 1, queue="theirs")
    await story.settles()
    await story.gang("new", asked, queue="mine")
    await story.settles()
    assert len(await story.running_of("new")) == (asked if taken else 0)
    assert len(await story.pods(phase="Running")) == (4 if taken else held)


async def test_what_cannot_be_preempted_is_not_taken_back(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await two_queues(story, 1, 2)
    await story.gang("old", 2, queue="theirs", priorityClassName="build")
    await story.shares(old=2)
    await story.gang("new", 1, queue="mine")
    await story.shares(old=2)


async def test_work_of_low_priority_goes_first(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await two_queues(story, 1, 1)
    await story.priority("low", 30)
    await story.gang("minor", 1, queue="theirs", priorityClassName="low")
    await story.gang("major", 1, queue="theirs")
    await story.shares(minor=1, major=1)
    await story.gang("new", 1, queue="mine")
    await story.shares(major=1, new=1)


async def test_a_queue_of_higher_priority_gets_the_surplus_back(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.queue("first", priority=200)
    await story.queue("second", priority=100)
    for number in range(2):
        await story.gang(f"old{number}", 1, queue="second")
    await story.shares(old0=1, old1=1)
    await story.gang("new", 2, queue="first")
    await story.shares(new=2)


async def test_surplus_is_shared_by_weight(story: Story) -> None:
    await story.queue("heavy", weight=3)
    await story.queue("light", weight=1)
    for number in range(8):
        await story.gang(f"light{number}", 1, queue="light", labels={"gang": "light"})
    await story.nodes(1, gpus=8)
    await story.shares(light=8)
    for number in range(8):
        await story.gang(f"heavy{number}", 1, queue="heavy", labels={"gang": "heavy"})
    await story.shares(heavy=6, light=2)


async def test_what_runs_for_less_than_its_queue_guarantees_is_not_taken_back() -> None:
    async with told(moved=True) as story:
        await story.nodes(1, gpus=2)
        await two_queues(story, 1, 1, reclaimMinRuntime="10m")
        for number in range(2):
            await story.gang(f"old{number}", 1, queue="theirs", labels={"gang": "old"})
        await story.shares(old=2)
        await story.gang("new", 1, queue="mine")
        await story.shares(old=2)
        story.advance(601)
        await story.shares(old=1, new=1)


# --- elastic victims --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("minimum", "left"), [(1, {"old": 2, "new": 2}), (3, {"new": 2})], ids=["partly", "entirely"])
async def test_an_elastic_gang_gives_back_what_it_can_spare_or_goes(
    story: Story, minimum: int, left: dict[str, int]
) -> None:
    await story.nodes(1, gpus=4)
    await two_queues(story, 2, 2)
    await story.gang("old", 4, minimum=minimum, queue="theirs")
    await story.shares(old=4)
    await story.gang("new", 2, queue="mine")
    await story.shares(**left)


async def test_room_is_taken_from_elastic_gangs_on_several_nodes(story: Story) -> None:
    await story.nodes(2, gpus=2)
    await two_queues(story, 2, 2)
    for name in ("a", "b"):
        await story.gang(name, 2, minimum=1, queue="theirs")
    await story.shares(a=2, b=2)
    await story.gang("new", 2, queue="mine")
    await story.settles()
    assert len(await story.running_of("new")) == 2
    assert len(await story.running_of("a")) + len(await story.running_of("b")) == 2


async def test_sub_groups_above_the_minimum_are_given_back(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await two_queues(story, 2, 1)
    await story.tree("old", {"x": (1, 1), "y": (1, 1), "z": (1, 1)}, minSubGroup=1, queue="theirs")
    await story.shares(old=3)
    await story.gang("new", 2, queue="mine")
    await story.shares(old=1, new=2)


# --- claimed devices and trees of queues ------------------------------------------------------------------------------


async def test_claimed_devices_are_taken_back(story: Story) -> None:
    await story.nodes(1, gpus=2, dra=True)
    await two_queues(story, 1, 1)
    for number in range(2):
        await story.claim(f"theirs-{number}", queue="theirs")
        await story.pod(f"theirs-{number}", queue="theirs", **claims(f"theirs-{number}"))
    await story.runs("theirs-0", "theirs-1")
    await story.claim("mine", queue="mine")
    await story.pod("mine", queue="mine", **claims("mine"))
    await story.runs("mine")
    assert len(await story.pods(phase="Running")) == 2


async def departments(story: Story) -> None:
    """Two departments with a GPU each; the second one has two queues, of which one borrows all."""
    await story.nodes(1, gpus=2)
    for department in ("one", "two"):
        await story.queue(department, gpus=1)
    await story.queue("one-a", "one", gpus=1)
    await story.queue("two-a", "two", gpus=0)
    for number in range(2):
        await story.gang(f"old{number}", 1, queue="two-a", labels={"gang": "old"})
    await story.shares(old=2)


async def test_a_department_takes_back_its_share_from_another(story: Story) -> None:
    await departments(story)
    await story.gang("new", 1, queue="one-a")
    await story.shares(old=1, new=1)


@pytest.mark.parametrize("full", [True, False])
async def test_the_upper_level_of_the_tree_counts_only_if_it_is_said_to(full: bool) -> None:
    async with told(scheduler(full_hierarchy=full)) as story:
        await story.nodes(1, gpus=4)
        await story.queue("one", gpus=4, limit=1)
        await story.queue("one-a", "one", gpus=1)
        await story.gang("a", 2, queue="one-a")
        await story.shares(**({} if full else {"a": 2}))


async def test_what_was_evicted_is_told_and_comes_back_when_there_is_room(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await two_queues(story, 1, 0)
    await story.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web", "gang": "web", names.QUEUE: "theirs"}},
                    "spec": {
                        "schedulerName": names.KAI_SCHEDULER,
                        "containers": [
                            {"name": "main", "image": "app", "resources": {"limits": {names.NVIDIA_GPU: "1"}}}
                        ],
                    },
                },
            },
        }
    )
    await story.shares(web=1)
    await story.gang("new", 1, queue="mine")
    await story.shares(new=1)
    assert [item.annotations["evictor-action-type"] for item in await story.events("Evict")] == ["reclaim"]
    await story.nodes(1, gpus=1)
    await story.shares(new=1, web=1)
