"""A pod that its node refuses: its successor makes the gang whole, or the gang gives back its place. It never stands in
part for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gangline.api.kinds import POD
from gangline.binder.component import component as binder
from gangline.cli.explain import explain
from gangline.runtime.clock import ManualClock
from gangline.scheduler.loop.component import component as scheduler
from gangline.scheduler.settings import shard_settings
from gangline.scheduler.thought.options import SchedulerOptions
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

REASON, MESSAGE = "OutOfnvidia.com/gpu", "Node didn't have enough resource: nvidia.com/gpu"


@asynccontextmanager
async def refused() -> AsyncIterator[tuple[SchedulerWorld, ManualClock]]:
    """A gang of two of which one runs and the other was refused by its node."""
    clock = ManualClock()
    async with scheduler_world(scheduler(options=SchedulerOptions(period=0.0)), binder(), clock=clock) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=1)
        await here.settles()
        await here.run("g-0")
        await here.run("g-1", "Failed", reason=REASON, message=MESSAGE)
        await here.settles()
        yield here, clock


async def leaving(here: SchedulerWorld) -> list[str]:
    return [pod.name for pod in (await here.client.list(POD, SPACE)).items if pod.metadata.deleting]


async def test_what_is_left_gives_back_its_place_after_the_grace() -> None:
    async with refused() as (here, clock):
        assert await leaving(here) == []
        clock.advance(shard_settings().staleness_grace + 1)
        await here.settles()
        assert await leaving(here) == ["g-0"]


async def test_a_successor_makes_the_gang_whole_and_nobody_is_evicted() -> None:
    async with refused() as (here, clock):
        await here.pod("g-2", group="g", gpus=1)
        await here.settles()
        assert (await here.placed())["g-2"] == "n0"
        await here.run("g-2")
        clock.advance(shard_settings().staleness_grace + 1)
        await here.settles()
        assert await leaving(here) == []


async def test_a_successor_of_the_same_name_is_bound_though_the_old_request_is_still_there() -> None:
    async with refused() as (here, _):
        old = await here.get_pod("g-1")
        await here.client.delete(POD, "g-1", SPACE)
        await here.settles()
        new = await here.pod("g-1", group="g", gpus=1)
        await here.settles()
        assert new.uid != old.uid and (await here.placed())["g-1"] == "n0"


async def test_explain_says_which_pod_failed_where_and_why() -> None:
    async with refused() as (here, _):
        (answer,) = await explain(here.client, "g", SPACE)
        assert answer.failed == (f"pod g-1 failed on n0: {REASON}: {MESSAGE}",)
        assert answer.data["failed"] == [f"pod g-1 failed on n0: {REASON}: {MESSAGE}"]
