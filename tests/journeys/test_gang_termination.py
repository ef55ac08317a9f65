"""Gang termination (GT1–GT6): what falls below its minimum for the whole delay starts again as a gang, and nothing else
does.

The delay is the four hours of the default; the test moves the clock. A lost pod's node is cordoned, so its successor
finds no room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from journeys.sets import WL1, WL2, WL5, Sets, Size, Workload, sets_in_time
from journeys.story import REAL

DELAY = 4 * 3600


async def start(sets: Sets, workload: Workload) -> None:
    """Runs in full, and has done so for a minute."""
    await sets.runs(workload)
    await wait(sets, 60)


async def wait(sets: Sets, seconds: float) -> None:
    sets.story.advance(seconds)
    await sets.story.settles()


async def test_GT1_a_standalone_clique_below_its_minimum_restarts_the_whole_replica_after_the_delay() -> None:
    async with sets_in_time() as sets:
        await start(sets, WL1)
        before = await sets.uids()
        await sets.lose((await sets.pods("0-pc-a"))[0])
        await wait(sets, DELAY - 60)
        assert len(before & await sets.uids()) == 9
        await wait(sets, 120)
        assert not before & await sets.uids()
        await sets.running(0, of=10)
        await sets.uncordon()
        await sets.running(10)
        [event] = await sets.story.events("PodCliqueSetReplicaDeleteSuccessful", "w")
        assert event.message == "replica 0 was below its minimum for longer than 4h0m0s; its cliques start again"


async def test_GT2_a_clique_of_a_group_without_spare_replicas_restarts_the_whole_replica() -> None:
    async with sets_in_time() as sets:
        await start(sets, WL1)
        before = await sets.uids()
        await sets.lose((await sets.pods("0-sg-x-0-pc-c"))[0])
        await wait(sets, DELAY - 60)
        assert len(before & await sets.uids()) == 9
        await wait(sets, 120)
        assert not before & await sets.uids()
        await sets.uncordon()
        await sets.running(10)


async def test_GT3_a_clique_above_its_minimum_may_lose_a_pod_but_not_the_last_one() -> None:
    async with sets_in_time() as sets:
        await start(sets, WL2)
        before = await sets.uids()
        one, other = await sets.pods("0-pc-a")
        await sets.lose(one)
        await wait(sets, 2 * DELAY)
        assert before - await sets.uids() == {one.uid}
        await sets.lose(other)
        await wait(sets, DELAY + 60)
        assert not before & await sets.uids()
        await sets.uncordon()
        await sets.running(10)


async def test_GT4_a_replica_of_the_group_restarts_alone_until_the_group_falls_below_its_minimum() -> None:
    async with sets_in_time() as sets:
        await start(sets, WL2)
        before = await sets.uids()
        first, *rest = await sets.pods("0-sg-x-0-pc-c")
        await sets.lose(first)
        await wait(sets, 2 * DELAY)
        assert before - await sets.uids() == {first.uid}

        replica_0 = {pod.uid for pod in await sets.pods("0-sg-x-0")}
        await sets.lose(*rest)
        await wait(sets, DELAY + 60)
        assert not replica_0 & await sets.uids()
        kept = await sets.uids("0-pc-a") | await sets.uids("0-sg-x-1")
        assert kept <= before and len(kept) == 6

        first, *rest = await sets.pods("0-sg-x-1-pc-c")
        await sets.lose(first)
        await wait(sets, 2 * DELAY)
        assert before & await sets.uids() == kept - {first.uid}

        await sets.lose(*rest)
        await wait(sets, DELAY + 60)
        assert not before & await sets.uids()
        await sets.uncordon()
        await sets.running(10)


async def test_GT5_a_group_with_a_replica_to_spare_restarts_only_the_one_in_breach() -> None:
    async with sets_in_time() as sets:
        await start(sets, replace(WL5, a=Size(2, 1), group=Size(2, 1)))
        others = await sets.uids("0-pc-a") | await sets.uids("0-sg-x-1")
        lost = await sets.uids("0-sg-x-0")
        await sets.lose(*await sets.pods("0-sg-x-0-pc-c"))
        await wait(sets, DELAY + 60)
        assert others <= await sets.uids() and not lost & await sets.uids()
        await sets.uncordon()
        await sets.running(10)


async def test_GT6_a_pod_of_a_scaled_gang_that_finds_a_node_again_is_only_replaced() -> None:
    async with sets_in_time() as sets:
        await start(sets, WL2)
        before = await sets.uids()
        gone = (await sets.pods("0-sg-x-1-pc-c"))[0]
        await sets.kill(gone)
        await sets.running(10)
        await wait(sets, 2 * DELAY)
        assert before - await sets.uids() == {gone.uid}
        await sets.running(10)


@pytest.mark.skipif(
    REAL, reason="on the embedded server only: compares our time with the server's, which the test cannot move there"
)
async def test_a_replica_that_cannot_start_again_is_ended_once_not_every_delay() -> None:
    async with sets_in_time() as sets:
        await start(sets, WL1)
        await sets.lose((await sets.pods("0-pc-a"))[0])
        await wait(sets, DELAY + 60)
        await sets.running(0, of=10)
        fresh = await sets.uids()
        for _ in range(5):
            await wait(sets, DELAY + 60)
        assert await sets.uids() == fresh
