"""Where two changes would start a workload, both are told, and the second one works as printed too."""

from __future__ import annotations

from gangline.why.words.printed import printed_fix
from truth.causes.builders import deployment
from truth.causes.common import ONE
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
