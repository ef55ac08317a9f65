"""Time-based fair share: who used little in the past gets more of the surplus now."""

from __future__ import annotations

import pytest

from gangline.scheduler.loop.component import component
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.usage.windows import STORE, UsageSettings
from journeys.story import Story, told


@pytest.mark.parametrize("remembers", [True, False])
async def test_a_queue_that_was_starved_gains_from_history(remembers: bool) -> None:
    usage = UsageSettings(source=STORE, window=3600, fetch=60) if remembers else UsageSettings()
    async with told(component(SchedulerSettings(usage_k=1.0), period=0.0, usage=usage), moved=True) as story:
        for queue in ("greedy", "modest"):
            await story.queue(queue)
        await singles(story, "greedy")
        await story.nodes(1, gpus=8)
        await story.shares(greedy=8)
        for _ in range(30):
            story.advance(60)
            await story.settles()
        await singles(story, "modest")
        taken = {queue: len(await story.running_of(queue)) for queue in ("greedy", "modest")}
        assert sum(taken.values()) == 8
        assert taken["modest"] > taken["greedy"] if remembers else taken["modest"] == taken["greedy"]


async def singles(story: Story, queue: str) -> None:
    """As many gangs of one as the cluster has GPUs."""
    for number in range(8):
        await story.gang(f"{queue}{number}", 1, queue=queue, labels={"gang": queue})
