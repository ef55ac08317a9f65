"""Where two changes would start a workload, both are told, and the second one works as printed too."""

from __future__ import annotations

import pytest

from gangline.why.words.printed import printed_fix
from truth.causes.builders import deployment
from truth.causes.builders import queued as in_queue
from truth.causes.common import ONE, TWO
from truth.objects import clique, job, pod_clique_set, queue
from truth.player import TruthCase, apply_printed, asked, at_rest, runs


async def test_a_deployment_beyond_the_quota_starts_with_quota_or_as_preemptible_work() -> None:
    case = TruthCase("a fresh platform", "deployment/web", (), (deployment("web", 1, gpus=1),), ONE, runs=1)
    async with at_rest(case) as story:
        (pod,) = await story.pods()
        (message,) = [item.message for item in pod.status.conditions if item.type == "PodScheduled"]
        assert message.endswith("to go over quota.") and ".." not in message
        text, found = await asked(story, case.ask)
        assert "Queue/default-queue had spec.resources.gpu.quota: 1" in text
        assert "Deployment/web had metadata.labels[kai.scheduler/preemptibility]: preemptible" in text
        fix = printed_fix(found, 2, "yaml")
        assert "kai.scheduler/preemptibility: preemptible" in fix
        await apply_printed(story, fix)
        await runs(story, case, f"{text}\n{fix}")


FULL_OF_A_SET = TruthCase(
    "a set behind a set",
    "set/x",
    (),
    (pod_clique_set("x", clique("a", 2, gpus=8)),),
    TWO,
    (pod_clique_set("old", clique("a", 2, gpus=8)),),
    runs=2,
)
FULL_OF_A_DEPLOYMENT = TruthCase(
    "a Job behind a Deployment",
    "job/x",
    (),
    (job("x", gpus=8),),
    ONE,
    (queue("org"), queue("q", "org"), in_queue(deployment("old", 2, gpus=4), "q")),
    runs=1,
)
PART_OF_A_SET = TruthCase(
    "a Job behind the second replica of a set",
    "job/x",
    (),
    (job("x", gpus=8),),
    TWO,
    (pod_clique_set("old", clique("a", 1, gpus=8), replicas=2),),
    runs=1,
)


@pytest.mark.parametrize(
    ("case", "number", "change"),
    [
        (FULL_OF_A_SET, 2, "PodCliqueSet/x had spec.template.priorityClassName: build-preemptible"),
        (FULL_OF_A_SET, 3, "PodCliqueSet/old had spec.replicas: 0 (now 1)"),
        (FULL_OF_A_DEPLOYMENT, 2, "Deployment/old had spec.replicas: 0 (now 2)"),
        (PART_OF_A_SET, 3, "PodCliqueSet/old had spec.replicas: 1 (now 2)"),
    ],
    ids=["priority of a set", "a set paused", "a Deployment paused", "one replica fewer"],
)
async def test_room_that_others_hold_may_be_taken_by_priority_or_by_pausing_them(
    case: TruthCase, number: int, change: str
) -> None:
    async with at_rest(case) as story:
        text, found = await asked(story, case.ask)
        fix = printed_fix(found, number, "yaml")
        assert change in fix, text
        await apply_printed(story, fix)
        await runs(story, case, f"{text}\n{fix}")
