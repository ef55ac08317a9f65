"""The line through every room: from YAML to a running gang, and back to nothing."""

from __future__ import annotations

from gangline.api import names
from gangline.api.kinds import (
    BIND_REQUEST,
    JOB,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    SERVICE,
    WORKLOAD,
)
from journeys.story import Story


async def test_a_set_for_kai_becomes_a_gang_runs_and_leaves_nothing_behind(story: Story) -> None:
    await story.nodes(2, gpus=8)
    await story.apply("examples/01-gang/llm.yaml")
    await story.running(5, of="llm")

    [gang] = await story.all(POD_GANG)
    assert gang.name == "llm-0"
    assert gang.labels[names.SCHEDULER_BACKEND] == "kai"
    assert {group.name: group.min_replicas for group in gang.spec.podgroups} == {"llm-0-prefill": 2, "llm-0-decode": 2}

    [group] = await story.all(POD_GROUP)
    assert group.name == f"pg-llm-0-{gang.uid}"
    assert [owner.uid for owner in group.metadata.owner_references] == [gang.uid]
    assert (group.spec.min_member, group.spec.queue) == (4, "default-queue")
    assert {sub_group.name: sub_group.min_member for sub_group in group.spec.sub_groups} == {
        "llm-0-prefill": 2,
        "llm-0-decode": 2,
    }
    assert {item.name for item in await story.all(POD_CLIQUE)} == {"llm-0-prefill", "llm-0-decode"}

    async def told() -> bool:
        pcs = await story.client.get(POD_CLIQUE_SET, "llm", "default")
        [now] = await story.all(POD_GANG)
        return pcs.status.available_replicas == 1 and now.status.phase == "Running"

    await story.until(told, "status of PodGang and PodCliqueSet")
    await story.client.delete(POD_CLIQUE_SET, "llm", "default")
    await story.gone(POD_CLIQUE_SET, POD_CLIQUE, POD_GANG, POD_GROUP, POD, BIND_REQUEST, SERVICE)


async def test_a_set_without_a_scheduler_name_is_served_by_the_default_scheduler(story: Story) -> None:
    await story.nodes(2, gpus=8)
    await story.apply("examples/02-default-scheduler/chat.yaml")
    await story.running(5, of="chat")
    [gang] = await story.all(POD_GANG)
    [workload] = await story.all(WORKLOAD)
    assert gang.labels[names.SCHEDULER_BACKEND] == "default"
    assert workload.name == "chat-0"
    assert [owner.uid for owner in workload.metadata.owner_references] == [gang.uid]
    assert await story.all(POD_GROUP) == []
    await story.client.delete(POD_CLIQUE_SET, "chat", "default")
    await story.gone(POD_GANG, WORKLOAD, POD)


async def test_a_job_becomes_a_gang_by_one_annotation_and_completes(story: Story) -> None:
    await story.nodes(1, gpus=4)
    await story.apply("examples/03-job/train.yaml")

    async def complete() -> bool:
        return (await story.client.get(JOB, "train", "default")).status.succeeded == 4

    await story.until(complete, "the Job's completion")
    [group] = await story.all(POD_GROUP)
    assert (group.spec.min_member, group.spec.queue) == (4, "default-queue")


async def test_a_job_that_does_not_fit_whole_does_not_start_at_all(story: Story) -> None:
    await story.nodes(1, gpus=3)
    await story.apply("examples/03-job/train.yaml")
    await story.settles()
    assert len(await story.pods()) == 4
    assert await story.pods(phase="Running") == []


async def test_a_gang_waits_whole_says_why_and_starts_when_the_last_node_arrives(story: Story) -> None:
    await story.nodes(4, gpus=8)
    await story.apply("examples/04-waiting/large.yaml")
    await story.settles()
    assert await story.pods(phase="Running") == []
    first = (await story.explain("large-0")).splitlines()[0]
    assert first.startswith("large-0 waits"), first
    await story.nodes(1, gpus=8)
    await story.running(5, of="large")


async def test_a_queue_takes_its_share_back_a_whole_gang_at_a_time(story: Story) -> None:
    await story.nodes(4, gpus=8)
    await story.apply("examples/05-queues/queues.yaml")
    await story.apply("examples/05-queues/borrow.yaml")
    await story.running(8, of="borrower")
    await story.apply("examples/05-queues/claim.yaml")
    await story.running(2, of="claimant")
    await story.running(6, of="borrower")
    await story.settles()
    running = [pod.labels[names.POD_GANG] for pod in await story.pods("borrower", "Running")]
    assert sorted(running.count(gang) for gang in set(running)) == [2, 2, 2]
