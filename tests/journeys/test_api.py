"""What a user reads and is refused: conditions and their reasons, events, and the checks of what comes in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gangline.api import names
from gangline.api.kinds import POD, POD_GROUP, QUEUE
from gangline.client import Request
from gangline.errors import ApiError
from gangline.runtime.clock import seconds_of
from journeys.story import Story, told

LEAF = {"name": "leaf", "minMember": 1}

# --- why a group waits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("priority", "spec", "reason"),
    [
        ("build", {"gpus": 1}, "NonPreemptibleOverQuota"),
        ("build", {"gpus": 4, "limit": 1}, "OverLimit"),
        ("train", {"limit": 1}, "OverLimit"),
    ],
    ids=["over-quota", "over-limit-firm", "over-limit"],
)
async def test_a_group_beyond_its_queue_is_told_which_bound_it_meets(
    story: Story, priority: str, spec: dict[str, Any], reason: str
) -> None:
    await story.nodes(1, gpus=8)
    await story.queue("team", **spec)
    await story.gang("a", 2, queue="team", priorityClassName=priority)
    [said] = await story.reasons("a")
    assert said["reason"] == reason and "team" in said["message"]
    [condition] = (await story.get_group("a")).status.scheduling_conditions
    assert (condition.type, condition.status) == ("UnschedulableOnNodePool", "True")
    assert (condition.node_pool, condition.transition_id) == ("default", "1")


async def test_the_reason_carries_the_figures_of_the_queue(story: Story) -> None:
    await story.nodes(1, gpus=8)
    await story.queue("team", limit=1)
    await story.gang("a", 2, queue="team")
    [said] = await story.reasons("a")
    assert said["details"]["queueDetails"]["name"] == "team"
    assert said["details"]["queueDetails"]["queueResourceLimits"][names.NVIDIA_GPU] == "1"


async def test_a_group_of_a_queue_that_does_not_exist_is_told_so(story: Story) -> None:
    await story.nodes(1, gpus=8)
    await story.gang("a", 1, queue="nowhere")
    assert [said["reason"] for said in await story.reasons("a")] == ["QueueDoesNotExist"]
    await story.queue("nowhere")
    await story.shares(a=1)


async def test_the_condition_goes_when_the_group_starts(story: Story) -> None:
    await story.gang("a", 1)
    await story.settles()
    assert (await story.get_group("a")).status.scheduling_conditions
    await story.nodes(1, gpus=1)
    await story.shares(a=1)
    assert not (await story.get_group("a")).status.scheduling_conditions


async def test_a_group_may_ask_that_its_pods_are_not_marked(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await story.gang("quiet", 1, gpus=2, markUnschedulable=False)
    await story.gang("loud", 1, gpus=2)
    await story.waits("quiet-0", "loud-0")
    assert await story.scheduled("quiet-0") is None
    said = await story.scheduled("loud-0")
    assert said is not None and (said.status, said.reason) == ("False", "Unschedulable")


async def test_an_incomplete_gang_is_told_how_many_pods_it_waits_for(story: Story) -> None:
    await story.nodes(1, gpus=8)
    await story.group("a", 3)
    await story.members("a", 2, gpus=1)
    await story.waits("a-0", "a-1")
    assert any("3" in event.message for event in await story.events("NotReady", "a"))
    assert not await story.reasons("a")


async def test_a_gated_pod_is_not_counted_until_its_gate_is_lifted(story: Story) -> None:
    await story.nodes(1, gpus=8)
    await story.group("a", 2)
    await story.members("a", 1, gpus=1)
    await story.members("a", 1, gpus=1, first=1, schedulingGates=[{"name": "example.com/later"}])
    await story.waits("a-0", "a-1")
    await story.client.patch(POD, "a-1", "default", {"spec": {"schedulingGates": None}})
    await story.shares(a=2)


async def test_a_gang_hears_once_where_it_went_and_each_pod_says_why_it_is_there(story: Story) -> None:
    await story.nodes(1, gpus=8)
    await story.gang("a", 2)
    await story.shares(a=2)
    assert [event.message for event in await story.events("Scheduled")] == ["assigned 2 pods to 1 node: node-0"]
    placed = {pod.annotations[names.PLACED] for pod in await story.pods()}
    assert placed == {"by allocate at node-pool default, together with 1 more pod of a"}


async def test_the_group_remembers_when_it_started_and_the_queue_what_it_holds() -> None:
    async with told(moved=True) as story:
        await story.nodes(1, gpus=8)
        await story.queue("team", "top", preemptMinRuntime="1m")
        await story.queue("top")
        story.advance(3600)
        begun = int(story.clock.now())
        await story.gang("a", 2, queue="team")
        await story.shares(a=2)
        group = await story.get_group("a")
        assert begun <= seconds_of(group.annotations[names.LAST_START]) <= story.clock.now()
        assert group.status.resources_status.allocated[names.NVIDIA_GPU] == "2"
        for queue in ("team", "top"):
            assert (await story.get_queue(queue)).status.allocated[names.NVIDIA_GPU] == "2"


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"minMember": 1, "minSubGroup": 1}, "exclude each other"),
        ({"subGroups": [{"name": "leaf", "minSubGroup": 1}]}, "leaf"),
        ({"subGroups": [{"name": "leaf"}]}, "leaf"),
        ({"subGroups": [{**LEAF, "minSubGroup": 1}]}, "exclude each other"),
        ({"subGroups": [{"name": "mid", "minMember": 1}, {**LEAF, "parent": "mid"}]}, "mid"),
        ({"subGroups": [LEAF, LEAF]}, "unique"),
        ({"subGroups": [{**LEAF, "parent": "nobody"}]}, "parent"),
        ({"minSubGroup": 0, "subGroups": [LEAF]}, "at least 1, not 0"),
    ],
    ids=[
        "both-minima",
        "leaf-counts-groups",
        "leaf-counts-nothing",
        "both-in-a-leaf",
        "middle-counts-pods",
        "twice",
        "orphan",
        "no-groups",
    ],
)
async def test_a_group_that_makes_no_sense_is_refused(story: Story, spec: dict[str, Any], words: str) -> None:
    with pytest.raises(ApiError, match=words):
        await story.group("a", **spec)


@pytest.mark.parametrize(
    "spec",
    [{"minMember": 0}, {"minSubGroup": 1, "subGroups": [{"name": "mid", "minSubGroup": 1}, {**LEAF, "parent": "mid"}]}],
    ids=["no-pods", "tree"],
)
async def test_a_group_that_makes_sense_is_accepted(story: Story, spec: dict[str, Any]) -> None:
    assert (await story.group("a", **spec)).name == "a"


async def test_asking_for_more_sub_groups_than_there_are_warns(story: Story) -> None:
    body = json.dumps(
        {
            "apiVersion": POD_GROUP.api_version,
            "kind": "PodGroup",
            "metadata": {"name": "a"},
            "spec": {"minSubGroup": 2, "subGroups": [LEAF]},
        }
    ).encode()
    path = f"/apis/{POD_GROUP.group}/{POD_GROUP.version}/namespaces/default/{POD_GROUP.plural}"
    answer = await story.client.transport.send(Request("POST", path, body=body))
    assert answer.status == 201 and any("2" in warning for warning in answer.warnings)


async def test_a_queue_without_resources_is_refused(story: Story) -> None:
    with pytest.raises(ApiError, match="resources must be specified"):
        await story.client.create(QUEUE, {"metadata": {"name": "q"}, "spec": {}})


async def test_a_queue_with_children_is_not_deleted(story: Story) -> None:
    await story.queue("top")
    await story.queue("child", "top")
    await story.settles()
    with pytest.raises(ApiError, match="child"):
        await story.client.delete(QUEUE, "top")
