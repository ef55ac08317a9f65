"""A gang whose pods are still coming does not wake the scheduler pod by pod; its last pod does."""

from __future__ import annotations

from gangline.api.kinds import POD, POD_GROUP
from gangline.runtime import Cache
from gangline.scheduler.loop.component import component as scheduler
from gangline.scheduler.loop.feed import Feed
from gangline.scheduler.loop.overlay import Overlay
from gangline.scheduler.thought.options import SchedulerOptions
from scheduler_world import SPACE, SchedulerWorld, scheduler_world


async def woken_by(here: SchedulerWorld, *pods: tuple[str, str], gathering: float = 0.5) -> list[str]:
    """How a feed calls for a cycle when these pods (name and group) come one after the other."""
    cache, calls, options = Cache(here.client), list[str](), SchedulerOptions(gathering=gathering)
    Feed.prepare(cache, options)
    await cache.start()
    Feed(cache, options, Overlay(lambda: 0), lambda: calls.append("now"), lambda: calls.append("soon")).start()
    calls.clear()
    for name, group in pods:
        await here.pod(name, group=group, gpus=1)
        await here.until(lambda name=name: cache.get(POD, name, SPACE) is not None)  # type: ignore[misc]
    await cache.stop()
    return calls


async def test_only_the_pod_that_completes_a_gang_calls_for_a_cycle_now() -> None:
    async with scheduler_world() as here:
        await here.group("g", minMember=3)
        assert await woken_by(here, ("g-0", "g"), ("g-1", "g"), ("g-2", "g"), ("g-3", "g")) == [
            "soon",
            "soon",
            "now",
            "now",
        ]


async def test_where_nobody_waits_for_a_gang_to_gather_every_pod_calls_for_a_cycle_now() -> None:
    async with scheduler_world() as here:
        await here.group("g", minMember=3)
        assert await woken_by(here, ("g-0", "g"), ("g-1", "g"), gathering=0.0) == ["now", "now"]


async def test_a_pod_of_a_group_that_nobody_wrote_yet_or_of_none_calls_for_a_cycle_now() -> None:
    async with scheduler_world() as here:
        assert await woken_by(here, ("a", "later"), ("b", "")) == ["now", "now"]
        assert (await here.client.list(POD_GROUP, SPACE)).items == []


async def test_a_gang_that_stays_incomplete_is_looked_at_and_told_so() -> None:
    async with scheduler_world(scheduler(options=SchedulerOptions(period=0.01, gathering=0.01))) as here:
        await here.node("n0")
        await here.group("g", minMember=2)
        await here.pod("g-0", group="g", gpus=1)
        await here.settles()
        assert await here.messages("NotReady") == [
            "Job is not ready for scheduling. Waiting for 1 more pods (1 of 2 are there)"
        ]
