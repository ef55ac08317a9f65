"""What a waiting pod is told when the reason changes: soon where few pods wait, later where many do."""

from __future__ import annotations

from gangline.api.kinds import NODE
from gangline.api.meta import condition
from gangline.runtime.clock import ManualClock
from gangline.scheduler.loop.component import component as scheduler
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.told_gang import SOON, pause_before_retelling
from scheduler_world import SchedulerWorld, scheduler_world

REASON = "no nodes with enough resources were found: 1 node(s) had untolerated taint {%s: }."


async def reason(here: SchedulerWorld, pod: str) -> str:
    scheduled = condition((await here.get_pod(pod)).status.conditions, "PodScheduled")
    assert scheduled is not None
    return scheduled.message


async def taint(here: SchedulerWorld, key: str) -> None:
    await here.client.patch(NODE, "n0", "", {"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}})
    await here.settles()


async def test_a_pod_gets_the_new_reason_after_two_seconds_though_nothing_else_happens() -> None:
    clock = ManualClock()
    async with scheduler_world(scheduler(options=SchedulerOptions(period=0.0)), clock=clock) as here:
        await here.node("n0", gpus=1)
        await taint(here, "maintenance")
        await here.gang("g", 1, gpus=1)
        await here.settles()
        assert await reason(here, "g-0") == REASON % "maintenance"
        await taint(here, "repair")
        assert await reason(here, "g-0") == REASON % "maintenance"
        clock.advance(SOON + 0.01)
        await here.settles()
        assert await reason(here, "g-0") == REASON % "repair"


def test_the_more_pods_wait_the_later_they_get_a_new_reason() -> None:
    assert [pause_before_retelling(pods, 30.0) for pods in (0, 8, 40, 200, 600, 100_000)] == [2, 2, 2, 10, 30, 30]
