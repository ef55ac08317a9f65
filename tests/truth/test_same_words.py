"""The same words everywhere: what `gangline explain` says of a gang stands on its PodGroup, in its condition, in an
event, and on the page; and a verdict says of which revision and settings it speaks."""

from __future__ import annotations

import json
from functools import partial

from gangline.api import names
from gangline.api.kai import PodGroup
from gangline.api.kinds import EVENT, NODE, POD_GROUP
from gangline.cli.whatif import apply_all
from gangline.rules.verdicts import of_group, owner
from gangline.scheduler.settings import native_settings
from gangline.scheduler.thought.settings_note import noted_settings
from gangline.whatif import WhatifQuestion, ask
from gangline.why.explainer.answer_note import TOLD_PODS
from gangline.why.explainer.component import component
from journeys.story import Story, told
from truth.objects import clique, job, pod_clique_set
from truth.player import asked


async def group_of(story: Story) -> PodGroup:
    (group,) = (await story.client.list(POD_GROUP, "default")).items
    return group


async def test_condition_event_and_page_say_what_explain_says() -> None:
    async with told(component()) as story:
        (node,) = await story.nodes(1, unschedulable=True)
        await story.apply(job("train", gpus=4))
        await story.settles()
        text, [(answer, remedies)] = await asked(story, "train")
        group = await group_of(story)
        headline = text.splitlines()[0]
        assert headline == f"train waits: node {node}, the only one, is cordoned (spec.unschedulable: true)"
        assert of_group(group, owner(group)).text == answer.text
        assert group.status.scheduling_conditions[-1].message == headline
        told_events = [event.message for event in (await story.client.list(EVENT, "default")).items]
        way_out = f"; would start if Node/{node} had spec.unschedulable: false (now true)"
        assert f"{headline}{way_out}" in told_events
        assert remedies and headline in told_events


async def test_the_answer_goes_when_the_gang_runs() -> None:
    async with told(component()) as story:
        (node,) = await story.nodes(1, unschedulable=True)
        await story.apply(job("train", gpus=4))
        await story.settles()
        assert names.ANSWER in (await group_of(story)).annotations
        await story.client.patch(NODE, node, "", {"spec": {"unschedulable": False}})
        await story.settles()
        group = await group_of(story)
        assert names.ANSWER not in group.annotations and names.VERDICT_REVISION not in group.annotations


async def test_an_answer_is_worked_out_anew_when_what_it_names_has_changed() -> None:
    async with told(component(fresh=0.1)) as story:
        await story.nodes(1, gpus=8)
        await story.gang("train", 2, gpus=8)
        await story.settles()
        before = (await group_of(story)).annotations[names.ANSWER]
        assert "node-0-more-1" in before
        await story.nodes(1, gpus=8, name="node-0-more", unschedulable=True)

        async def told_anew() -> bool:
            return (await group_of(story)).annotations[names.ANSWER] != before

        await story.until(told_anew, "an answer that knows the new node")
        text, _ = await asked(story, "train")
        assert of_group(await group_of(story), "train").text == text


async def test_an_answer_counts_only_beside_the_verdict_that_it_refines() -> None:
    async with told() as story:
        await story.nodes(1)
        await story.apply(job("train", gpus=16))
        await story.settles()
        group = await group_of(story)
        note = {"refines": "another headline", "headline": "train waits: old", "text": "train waits: old"}
        await story.client.patch(
            POD_GROUP, group.name, "default", {"metadata": {"annotations": {names.ANSWER: json.dumps(note)}}}
        )
        assert "old" not in of_group(await group_of(story), "train").text


async def test_a_verdict_says_of_which_revision_and_settings_it_speaks() -> None:
    async with told() as story:
        (node,) = await story.nodes(1)
        await story.apply(job("train", gpus=16))
        await story.settles()
        group = await group_of(story)
        verdict = json.loads(group.annotations[names.VERDICT])
        assert noted_settings(verdict["settings"]) == native_settings()
        pod = (await story.pods())[0]
        assert int(group.annotations[names.VERDICT_REVISION]) >= int(
            (await story.client.get(NODE, node)).metadata.resource_version or 0
        )
        assert int(group.annotations[names.VERDICT_REVISION]) < int(group.metadata.resource_version or 0)
        assert pod.name.startswith("train-")


async def test_an_answer_is_of_the_newest_revision_that_was_read() -> None:
    """Whatever the scheduler wrote before: explain computes anew, and says up to which revision it read."""
    async with told() as story:
        await story.nodes(1)
        await story.apply(job("train", gpus=16))
        await story.settles()
        _, [(answer, _)] = await asked(story, "train")
        group = await group_of(story)
        assert answer.data["revision"] >= int(group.metadata.resource_version or 0)
        assert answer.data["revision"] > int(group.annotations[names.VERDICT_REVISION])


async def test_the_place_in_the_queue_is_counted_for_all_that_wait() -> None:
    async with told() as story:
        await story.nodes(1)
        for number in range(3):
            await story.apply(job(f"train-{number}", gpus=16))
        await story.settles()
        texts = [(await asked(story, f"job/train-{number}"))[0] for number in range(3)]
        assert [text.splitlines()[-1].partition("; ")[2] for text in texts] == [
            "1st of 3 in queue default-queue",
            "2nd of 3 in queue default-queue",
            "3rd of 3 in queue default-queue",
        ]
        _, [(answer, _)] = await asked(story, "job/train-1")
        assert (answer.data["position"], answer.data["waiting"], answer.data["queue"]) == (2, 3, "default-queue")


async def test_whatif_says_of_a_gang_that_would_wait_what_explain_says_once_it_waits() -> None:
    async with told() as story:
        await story.nodes(1)
        await story.apply(job("old", gpus=6))
        await story.settles()
        question = WhatifQuestion(
            given=(job("x", gpus=8),), apply=partial(apply_all, objects=[job("x", gpus=8)], namespace="default")
        )
        _, answer = await ask(story.client, question, story.clock.now())
        (would,) = answer.new
        await story.apply(job("x", gpus=8))
        await story.settles()
        says = (await asked(story, "job/x"))[0].splitlines()
        assert would.why.splitlines() == [line for line in says if not line.lstrip().startswith("next try")]
        assert says[0] == "x waits: 6 GPUs short" and any("old (queue" in line for line in says)
        assert any(line.endswith("Job/old had spec.suspend: true (now false)") for line in says)


async def test_an_event_on_the_set_and_on_its_pods_tells_the_first_remedy() -> None:
    """`kubectl describe` of what a person made, or of a pod of it, names a way out."""
    async with told(component()) as story:
        (node,) = await story.nodes(1, unschedulable=True)
        await story.apply(pod_clique_set("llm", clique("w", 6, gpus=1)))
        await story.settles()
        way_out = f"; would start if Node/{node} had spec.unschedulable: false (now true)"
        told_of = [
            event.involved_object["kind"]
            for event in (await story.client.list(EVENT, "default")).items
            if event.message.endswith(way_out)
        ]
        assert sorted(told_of) == ["Pod"] * TOLD_PODS + ["PodCliqueSet", "PodGroup"]
