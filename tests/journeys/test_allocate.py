"""Pods get what they ask for: elastic gangs, priority, quota, and every resource a pod can name.

Where an order matters, the work is there before the nodes are, so that one decision sees all of it.
"""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api import names
from gangline.api.kinds import CONFIG_MAP, DEVICE_CLASS, NAMESPACE, POD, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from journeys.story import Story, told
from journeys.words import container, numbered, pod

DRA = "gpu.nvidia.com"


def claims(name: str) -> dict[str, Any]:
    """What a pod's spec says to use a claim."""
    return {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": name}],
        "containers": [container() | {"resources": {"claims": [{"name": "gpu"}]}}],
    }


# --- elastic ----------------------------------------------------------------------------------------------------------


async def test_an_elastic_gang_starts_with_what_there_is_room_for(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.gang("a", 4, minimum=1)
    await story.shares(a=2)


async def test_an_elastic_gang_gets_all_its_pods_when_there_is_room(story: Story) -> None:
    await story.nodes(2, gpus=2)
    await story.gang("a", 4, minimum=1)
    await story.shares(a=4)


async def test_an_elastic_gang_grows_when_room_appears(story: Story) -> None:
    await story.nodes(1, gpus=2)
    await story.gang("a", 4, minimum=1)
    await story.shares(a=2)
    await story.nodes(1, gpus=1)
    await story.shares(a=3)


async def test_two_elastic_gangs_share_what_is_above_their_minimum(story: Story) -> None:
    await story.gang("a", 4, minimum=1)
    await story.gang("b", 4, minimum=1)
    await story.nodes(1, gpus=4)
    await story.shares(a=2, b=2)


async def test_an_elastic_gang_of_higher_priority_gets_all_its_pods_first(story: Story) -> None:
    await story.gang("low", 3, minimum=1, priorityClassName="train")
    await story.gang("high", 3, minimum=1, priorityClassName="build-preemptible")
    await story.nodes(1, gpus=4)
    await story.shares(high=3, low=1)


async def test_pods_of_a_gang_start_in_the_order_of_their_label(story: Story) -> None:
    await story.group("a", 1)
    await story.members("a", 2, gpus=1)
    await story.members("a", 2, gpus=1, labels={names.TASK_PRIORITY: "5"}, first=2)
    await story.nodes(1, gpus=2)
    assert await story.running_of("a") == {"a-2", "a-3"}


async def test_pods_without_the_label_start_in_the_order_of_their_age() -> None:
    async with told(moved=True) as story:
        await story.group("a", 1)
        for number in (2, 0, 3, 1):
            await story.members("a", 1, gpus=1, first=number)
            await story.passes(1)
        await story.nodes(1, gpus=2)
        assert await story.running_of("a") == {"a-0", "a-2"}


# --- priority ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["label", "spec"])
async def test_the_pod_of_higher_priority_starts_first(story: Story, where: str) -> None:
    for name, value in (("minor", 20), ("major", 40)):
        await story.priority(name, value)
        said: dict[str, Any] = (
            {"labels": {names.PRIORITY_CLASS: name}} if where == "label" else {"priorityClassName": name}
        )
        await story.pod(name, gpus=1, **said)
    await story.settles()
    await story.nodes(1, gpus=1)
    await story.runs("major")
    await story.waits("minor")


# --- quota ------------------------------------------------------------------------------------------------------------


async def test_what_would_exceed_the_limit_of_its_queue_waits_and_says_so(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.queue("team", limit=1)
    await story.gang("a", 1, queue="team")
    await story.shares(a=1)
    await story.gang("b", 1, queue="team")
    await story.waits("b-0")
    assert [reason["reason"] for reason in await story.reasons("b")] == ["OverLimit"]


async def test_work_that_cannot_be_preempted_stays_within_the_quota(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.queue("team", gpus=1)
    await story.gang("a", 1, queue="team", priorityClassName="build")
    await story.gang("b", 1, queue="team", priorityClassName="build")
    await story.gang("c", 1, queue="team", priorityClassName="train")
    await story.shares(a=1, c=1)
    assert [reason["reason"] for reason in await story.reasons("b")] == ["NonPreemptibleOverQuota"]


async def test_queues_that_deserve_the_same_get_the_same(story: Story) -> None:
    for name in ("a", "b"):
        await story.queue(name)
        await story.gang(name, 4, queue=name, minimum=1)
    await story.nodes(1, gpus=4)
    await story.shares(a=2, b=2)


@pytest.mark.parametrize("depth", [1, 3, 4])
async def test_a_queue_at_any_depth_of_the_tree_gives_what_it_deserves(story: Story, depth: int) -> None:
    await story.nodes(1, gpus=2)
    for level in range(depth):
        await story.queue(f"level-{level}", f"level-{level - 1}" if level else "", gpus=2)
    await story.gang("a", 2, queue=f"level-{depth - 1}", priorityClassName="build")
    await story.shares(a=2)
    top = await story.get_queue("level-0")
    assert top.status.allocated[names.NVIDIA_GPU] == "2"


# --- resources --------------------------------------------------------------------------------------------------------


async def test_a_pod_that_asks_for_nothing_runs(story: Story) -> None:
    await story.nodes(1, gpus=0)
    await story.pod("p")
    await story.runs("p")


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ({"nvidia.com/gpu": 2}, True),
        ({"nvidia.com/gpu": 3}, False),
        ({"cpu": "4"}, True),
        ({"cpu": "4100m"}, False),
        ({"memory": "8Gi"}, True),
        ({"memory": "9Gi"}, False),
        ({"rdma/hca": 1}, True),
        ({"rdma/hca": 2}, False),
        ({"other/thing": 1}, False),
    ],
    ids=str,
)
async def test_a_pod_runs_where_all_it_asks_for_is_free(story: Story, asked: dict[str, str | int], fits: bool) -> None:
    await story.nodes(1, gpus=2, cpu=4, memory="8Gi", resources={"rdma/hca": 1})
    await story.pod("p", asks=asked)
    if fits:
        await story.runs("p")
    else:
        await story.waits("p")
        assert (said := await story.scheduled("p")) is not None and said.reason == "Unschedulable"


async def test_parts_of_gpus_fill_them_and_no_more(story: Story) -> None:
    await story.nodes(1, gpus=2)
    for name in numbered("half", 4):
        await story.part(name, 0.5)
    await story.runs(*numbered("half", 4))
    groups = [(await story.get_pod(name)).labels[names.GPU_GROUP] for name in numbered("half", 4)]
    assert sorted(groups.count(group) for group in set(groups)) == [2, 2]
    await story.part("one-more", 0.5)
    await story.waits("one-more")


@pytest.mark.parametrize(("memory", "fits"), [("40000", True), ("90000", False)])
async def test_a_part_of_a_gpu_may_be_asked_for_as_memory(story: Story, memory: str, fits: bool) -> None:
    await story.nodes(1, gpus=1, gpu_memory="80Gi")
    await story.pod("p", annotations={names.GPU_MEMORY: memory})
    await (story.runs("p") if fits else story.waits("p"))


async def test_a_pod_on_a_part_of_a_gpu_that_says_no_namespace_gets_the_one_it_was_sent_to(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await story.client.create(NAMESPACE, {"metadata": {"name": "lab"}})
    made = pod("p", annotations={names.GPU_FRACTION: "0.5"})
    del made["metadata"]["namespace"]
    await story.client.create(POD, made, "lab")

    async def runs() -> bool:
        return (await story.client.get(POD, "p", "lab")).status.phase == "Running"

    await story.until(runs, "the pod in namespace lab running")
    prefix = (await story.client.get(POD, "p", "lab")).annotations[names.SHARED_GPU_CONFIG_MAP]
    assert (await story.client.get(CONFIG_MAP, f"{prefix}-0", "lab")).data["GPU_PORTION"] == "0.50"


# --- devices that are claimed -----------------------------------------------------------------------------------------

MINE = {names.QUEUE: names.DEFAULT_QUEUE}


async def test_a_claimed_device_is_allocated_and_its_pod_runs(story: Story) -> None:
    await story.nodes(1, gpus=2, dra=True)
    await story.claim("gpus")
    await story.pod("p", **claims("gpus"))
    await story.runs("p")
    claim = await story.client.get_raw(RESOURCE_CLAIM, "gpus", "default")
    assert claim["status"]["reservedFor"][0]["name"] == "p"
    assert claim["status"]["allocation"]["devices"]["results"][0]["driver"] == DRA


async def test_the_last_pod_of_a_claim_gives_its_devices_back(story: Story) -> None:
    await story.nodes(1, gpus=1, dra=True)
    await story.claim("gpus")
    for name in ("p", "q"):
        await story.pod(name, **claims("gpus"))
    await story.runs("p", "q")
    await story.client.delete(POD, "p", "default")
    await story.leaves("p")
    await story.until(lambda: held_by(story, "gpus", "q"), "the claim held by q alone")
    await story.client.delete(POD, "q", "default")

    async def free() -> bool:
        claim = await story.client.get(RESOURCE_CLAIM, "gpus", "default")
        return not claim.status and not claim.metadata.finalizers

    await story.until(free, "the claim free again")


async def test_a_claim_made_for_a_pod_goes_when_that_is_done_and_the_device_is_used_again(story: Story) -> None:
    await story.nodes(1, gpus=1, dra=True)
    asked = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}
    await story.client.create(
        RESOURCE_CLAIM_TEMPLATE,
        {
            "metadata": {"name": "one", "namespace": "default"},
            "spec": {"metadata": {"labels": MINE}, "spec": {"devices": asked}},
        },
    )
    uses: dict[str, Any] = {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}],
        "restartPolicy": "Never",
        "containers": [container() | {"resources": {"claims": [{"name": "gpu"}]}}],
    }
    await story.pod("first", annotations={names.RUN_SECONDS: "1"}, **uses)

    async def over() -> bool:
        return (await story.get_pod("first")).status.phase == "Succeeded" and await story.all(RESOURCE_CLAIM) == []

    await story.until(over, "the pod done and its claim gone")
    await story.pod("second", **uses)
    await story.runs("second")


async def held_by(story: Story, claim: str, *pods: str) -> bool:
    status = (await story.client.get_raw(RESOURCE_CLAIM, claim, "default")).get("status") or {}
    return [item["name"] for item in status.get("reservedFor") or ()] == list(pods) and "allocation" in status


async def test_a_claim_of_a_class_nobody_has_keeps_its_pod_waiting(story: Story) -> None:
    await story.nodes(1, gpus=2, dra=True)
    await story.claim("gpus", device_class="gpu.nowhere.com")
    await story.pod("p", **claims("gpus"))
    await story.waits("p")


async def test_claims_fill_a_node_and_the_next_one_waits(story: Story) -> None:
    await story.nodes(1, gpus=2, dra=True)
    for number in range(3):
        await story.claim(f"gpu-{number}")
        await story.pod(f"p-{number}", **claims(f"gpu-{number}"))
    await story.settles()
    assert len(await story.pods(phase="Running")) == 2


async def test_a_claim_gets_only_devices_that_its_selector_means(story: Story) -> None:
    await story.nodes(1, gpus=2, dra=True)
    for name, number in (("fits", 1), ("nobody-has", 7)):
        selector = {"cel": {"expression": f"device.attributes['{DRA}'].index == {number}"}}
        asked = {"name": "gpu", "exactly": {"deviceClassName": DRA, "selectors": [selector]}}
        await story.client.create(
            RESOURCE_CLAIM,
            {
                "metadata": {"name": name, "namespace": "default", "labels": MINE},
                "spec": {"devices": {"requests": [asked]}},
            },
        )
        await story.pod(name, **claims(name))
    await story.runs("fits")
    await story.waits("nobody-has")
    given = (await story.client.get_raw(RESOURCE_CLAIM, "fits", "default"))["status"]["allocation"]["devices"][
        "results"
    ]
    assert [item["device"] for item in given] == ["gpu-1"]


async def test_a_claim_for_all_devices_of_a_node_waits_until_none_is_in_use(story: Story) -> None:
    await story.nodes(1, gpus=2, dra=True)
    await story.claim("one")
    await story.pod("p", **claims("one"))
    await story.runs("p")
    asked = {"name": "gpu", "exactly": {"deviceClassName": DRA, "allocationMode": "All"}}
    await story.client.create(
        RESOURCE_CLAIM,
        {
            "metadata": {"name": "all", "namespace": "default", "labels": MINE},
            "spec": {"devices": {"requests": [asked]}},
        },
    )
    await story.pod("q", **claims("all"))
    await story.waits("q")
    await story.client.delete(POD, "p", "default")
    await story.runs("q")
    given = (await story.client.get_raw(RESOURCE_CLAIM, "all", "default"))["status"]["allocation"]["devices"]["results"]
    assert len({item["device"] for item in given}) == 2


async def test_claimed_gpus_are_booked_on_the_queue(story: Story) -> None:
    await story.nodes(1, gpus=4, dra=True)
    await story.queue("team", limit=2)
    await story.claim("two", count=2, queue="team")
    await story.pod("p", queue="team", **claims("two"))
    await story.runs("p")
    assert (await story.get_queue("team")).status.allocated[DRA] == "2"
    await story.claim("third", queue="team")
    await story.pod("q", queue="team", **claims("third"))
    await story.waits("q")


async def test_a_claim_of_another_queue_is_not_for_this_pod(story: Story) -> None:
    await story.nodes(1, gpus=4, dra=True)
    await story.queue("theirs")
    await story.claim("gpus", queue="theirs")
    await story.pod("p", **claims("gpus"))
    await story.waits("p")


# --- devices asked for as an extended resource ------------------------------------------------------------------------


EXTENDED = "example.com/gpu"


async def devices_behind_a_resource(story: Story, gpus: int) -> None:
    await story.nodes(1, gpus=gpus, dra=True)
    await story.client.patch(DEVICE_CLASS, DRA, "", {"spec": {"extendedResourceName": EXTENDED}})


async def test_an_extended_resource_is_served_by_devices(story: Story) -> None:
    await devices_behind_a_resource(story, 2)
    await story.pod("p", asks={EXTENDED: 1})
    await story.runs("p")
    claim = (await story.get_pod("p")).status.extended_resource_claim_status
    assert claim is not None and claim["resourceClaimName"].startswith("p-extended-resources-")


async def test_an_extended_resource_fills_the_devices_and_then_blocks(story: Story) -> None:
    await devices_behind_a_resource(story, 2)
    await story.gang("a", 2, gpus=0, asks={EXTENDED: 1})
    await story.shares(a=2)
    await story.pod("p", asks={EXTENDED: 1})
    await story.waits("p")


async def test_a_gang_on_an_extended_resource_starts_whole_or_not_at_all(story: Story) -> None:
    await devices_behind_a_resource(story, 2)
    await story.gang("a", 3, gpus=0, asks={EXTENDED: 1})
    await story.shares()
    await story.gang("b", 2, gpus=0, asks={EXTENDED: 1})
    await story.shares(b=2)


async def test_init_containers_share_devices_with_the_containers_after_them(story: Story) -> None:
    await devices_behind_a_resource(story, 2)
    await story.pod("p", asks={EXTENDED: 1}, initContainers=[container("prepare", asks={EXTENDED: 2})])
    await story.runs("p")


async def test_a_resource_of_both_kinds_of_nodes_is_taken_from_either(story: Story) -> None:
    await devices_behind_a_resource(story, 1)
    await story.nodes(1, gpus=0, resources={EXTENDED: 1})
    await story.gang("a", 2, gpus=0, asks={EXTENDED: 1})
    assert set((await story.nodes_of("a")).values()) == {1}
