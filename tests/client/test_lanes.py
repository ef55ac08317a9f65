"""Decide first, report later: reports never wait in calm, get a share in a crowd, and go on when it is over."""

from __future__ import annotations

import asyncio

import pytest

from embedded import admin, embedded
from gangline.api.kinds import CONFIG_MAP
from gangline.client import Lanes
from gangline.client.lanes import AT_ONCE, BREATH, HALF_LIFE, HOT, HOT_APART, SHARE

MANY = int(HOT) + 1


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def urgent(lanes: Lanes, writes: int) -> None:
    for _ in range(writes):
        lanes.begin()
        lanes.end()


async def turns(lanes: Lanes, number: int) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(lanes.turn()) for _ in range(number)]
    await asyncio.sleep(0)
    return tasks


async def had(tasks: list[asyncio.Task[None]]) -> list[bool]:
    await asyncio.sleep(0)
    return [task.done() for task in tasks]


@pytest.fixture
def no_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)


async def test_in_calm_a_report_has_its_turn_at_once() -> None:
    lanes = Lanes(Time())
    urgent(lanes, int(HOT) - 1)
    assert lanes.calm
    assert await had(await turns(lanes, 3)) == [True, True, True]


@pytest.mark.usefixtures("no_ticks")
async def test_in_a_crowd_one_report_has_its_turn_for_so_many_urgent_writes_in_the_order_they_came() -> None:
    lanes = Lanes(Time())
    urgent(lanes, SHARE * (int(HOT) // SHARE + 1))
    waiting = await turns(lanes, 3)
    urgent(lanes, SHARE - 1)
    assert await had(waiting) == [False, False, False]
    urgent(lanes, 1)
    assert await had(waiting) == [True, False, False]
    urgent(lanes, SHARE)
    assert await had(waiting) == [True, True, False]
    waiting[2].cancel()


@pytest.mark.usefixtures("no_ticks")
async def test_a_report_that_was_given_up_takes_nobodys_turn() -> None:
    lanes = Lanes(Time())
    urgent(lanes, SHARE * (int(HOT) // SHARE + 1))
    waiting = await turns(lanes, 2)
    waiting[0].cancel()
    await asyncio.sleep(0)
    urgent(lanes, SHARE)
    assert await had(waiting[1:]) == [True]


async def test_however_long_a_crowd_lasts_reports_are_not_starved() -> None:
    lanes = Lanes(Time())
    urgent(lanes, MANY)
    await asyncio.gather(*(lanes.turn() for _ in range(3)))
    assert not lanes.calm


async def test_a_crowd_that_is_over_holds_nobody_up() -> None:
    time = Time()
    lanes = Lanes(time)
    urgent(lanes, 100_000)
    assert not lanes.calm
    time.now += 2.1 * HALF_LIFE
    assert lanes.calm
    assert await had(await turns(lanes, 1)) == [True]


async def test_a_server_that_does_not_answer_makes_a_crowd_of_few_writes() -> None:
    lanes = Lanes(Time())
    for _ in range(AT_ONCE):
        lanes.begin()
    assert not lanes.calm
    lanes.end()
    assert lanes.calm


async def test_pods_that_are_seen_to_come_make_a_crowd_where_components_run_apart() -> None:
    time = Time()
    lanes = Lanes(time, apart=True)
    for _ in range(int(HOT_APART)):
        lanes.seen()
    assert not lanes.calm
    time.now += 0.1
    assert lanes.calm


async def test_urgent_writes_are_noted_and_neither_reads_nor_reports_are() -> None:
    async with embedded() as server:
        lanes = Lanes(Time())
        reports = admin(server)
        client = reports.urgent(lanes)
        for number in range(MANY):
            await reports.create(CONFIG_MAP, {"metadata": {"name": f"a-{number}", "namespace": "default"}})
            await client.get(CONFIG_MAP, f"a-{number}", "default")
        assert lanes.calm
        for number in range(MANY):
            await client.patch_only(CONFIG_MAP, f"a-{number}", "default", {"data": {"x": "1"}})
        assert not lanes.calm


async def test_a_late_answer_makes_reports_of_a_process_apart_wait_until_the_server_has_had_a_breath() -> None:
    time = Time()
    lanes = Lanes(time, apart=True)
    for _ in range(3):
        lanes.answered(0.01)
    assert lanes.calm
    lanes.answered(0.2)
    assert not lanes.calm
    time.now += 0.2 * BREATH
    assert lanes.calm


async def test_a_server_that_is_always_far_away_is_not_late() -> None:
    lanes = Lanes(Time(), apart=True)
    for _ in range(20):
        lanes.answered(0.15)
    assert lanes.calm


async def test_components_of_one_process_know_each_others_writes_and_need_no_late_answer() -> None:
    lanes = Lanes(Time())
    lanes.answered(0.01)
    lanes.answered(0.9)
    assert lanes.calm


async def test_a_server_that_refuses_a_report_is_left_alone_for_as_long_as_it_asks() -> None:
    time = Time()
    lanes = Lanes(time, apart=True)
    lanes.refused(2.0)
    assert not lanes.calm
    time.now += 2.0
    assert lanes.calm
