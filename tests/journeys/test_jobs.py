"""A Job whose gang is preempted: with the guide's podFailurePolicy it comes back and completes, and the page says so
meanwhile."""

from __future__ import annotations

from pathlib import Path

from gangline.api.kinds import JOB, POD, POD_GROUP
from gangline.api.meta import Raw
from gangline.dashboard.following.follower import Follower
from gangline.dashboard.model import GangPage
from gangline.dashboard.pages import page
from gangline.scheduler.loop.component import component
from gangline.scheduler.settings import native_settings, shard_settings
from gangline.scheduler.thought.options import SchedulerOptions
from journeys.story import Story, told
from yaml_loading import load_yaml

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "jobs.md"


def printed(*, run_seconds: str, policy: bool = True) -> Raw:
    """The Job that the guide prints."""
    job: Raw = load_yaml(GUIDE.read_text().split("```yaml\n")[1].split("```")[0])
    job["spec"]["template"]["metadata"] = {"annotations": {"gangline.io/run-seconds": run_seconds}}
    if not policy:
        del job["spec"]["podFailurePolicy"]
        job["spec"]["backoffLimit"] = 0
    return job


async def shown(story: Story, name: str) -> GangPage:
    """What the dashboard says of a gang."""
    follower = Follower(story.client, "here", story.clock)
    await follower.start()
    try:

        async def complete() -> bool:
            return follower.complete

        await story.until(complete, "the dashboard having read everything")
        found = page(follower.look(), ["gang", "default", name], {})
        assert isinstance(found, GangPage)
        return found
    finally:
        await follower.stop()


async def preempted(story: Story, job: Raw) -> None:
    """The Job runs on all there is, then something that matters more takes its place."""
    await story.nodes(1, gpus=4)
    await story.apply(job)
    await story.running(4)
    await story.priority("high", 60)
    await story.gang("urgent", 4, gpus=1, priorityClassName="high")
    await story.shares(urgent=4)


async def test_a_preempted_job_that_ignores_disruptions_comes_back_and_completes() -> None:
    async with told(
        component(options=SchedulerOptions(settings=shard_settings(), period=0.0, tell_disruption=True)), moved=True
    ) as story:
        await preempted(story, printed(run_seconds="30"))
        line = (await shown(story, "train")).gang
        assert line.state == "evicted" and line.evicted is not None
        assert line.evicted.by == "preempted by default/urgent, which has a higher priority"
        assert line.evicted.back == "it comes back by itself when there is room for it"
        for pod in await story.pods():
            if pod.name.startswith("urgent"):
                await story.client.delete(POD, pod.name, "default")
        await story.client.delete(POD_GROUP, "urgent", "default")

        async def complete() -> bool:
            story.advance(1)
            await story.settles()
            return (await story.client.get(JOB, "train", "default")).status.succeeded == 4

        await story.until(complete, "the Job's completion")
        assert (await story.client.get(JOB, "train", "default")).status.failed == 0


async def test_a_preempted_job_that_counts_disruptions_fails_and_the_page_says_so() -> None:
    async with told(
        component(options=SchedulerOptions(settings=shard_settings(), period=0.0, tell_disruption=True)), moved=True
    ) as story:
        await preempted(story, printed(run_seconds="30", policy=False))
        line = (await shown(story, "train")).gang
        assert (line.state, line.failure) == (
            "failed",
            "BackoffLimitExceeded: Job has reached the specified backoff limit",
        )
        assert line.evicted is not None and line.evicted.back.startswith(
            "it does not come back: its Job failed (BackoffLimitExceeded)"
        )


async def test_the_last_completion_of_a_gang_starts_although_its_minimum_is_done() -> None:
    async with told(component(options=SchedulerOptions(settings=native_settings(), period=0.0)), moved=True) as story:
        await story.nodes(1, gpus=4)
        job = printed(run_seconds="5")
        job["spec"] |= {"parallelism": 4, "completions": 5}
        await story.apply(job)

        async def complete() -> bool:
            story.advance(1)
            await story.settles()
            return (await story.client.get(JOB, "train", "default")).status.succeeded == 5

        await story.until(complete, "all five pods of the Job having succeeded")
