"""`within`: work has a deadline, by any clock, and leaves nothing behind."""

from __future__ import annotations

import asyncio

import pytest

from gangline.runtime.clock import Clock, ManualClock, SystemClock, within


async def answer() -> str:
    await asyncio.sleep(0)
    return "done"


async def fail() -> str:
    raise KeyError("broken")


def others() -> set[str]:
    return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}


@pytest.mark.parametrize("clock", [SystemClock(), ManualClock()], ids=["real time", "time that a test moves"])
async def test_what_ends_in_time_gives_its_result_and_no_timer_stays(clock: Clock) -> None:
    before = others()
    assert await within(clock, 1000.0, answer()) == "done"
    with pytest.raises(KeyError, match="broken"):
        await within(clock, 1000.0, fail())
    await asyncio.sleep(0)
    assert others() == before


async def test_in_real_time_what_never_ends_is_given_up_and_cancelled() -> None:
    work = asyncio.ensure_future(asyncio.Event().wait())
    with pytest.raises(TimeoutError, match=r"^it did not end within 0\.01 s$"):
        await within(SystemClock(), 0.01, work)
    await asyncio.gather(work, return_exceptions=True)
    assert work.cancelled()


async def test_by_a_clock_that_is_moved_the_deadline_comes_when_it_is_moved() -> None:
    clock = ManualClock()
    waiting = asyncio.ensure_future(within(clock, 300.0, asyncio.Event().wait()))
    for _ in range(3):  # its timer is a task of its own
        await asyncio.sleep(0)
    clock.advance(299.0)
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.advance(1.0)
    with pytest.raises(TimeoutError, match=r"^it did not end within 300 s$"):
        await waiting


async def test_nobody_waits_for_work_that_does_not_give_up() -> None:
    freed = asyncio.Event()

    async def stubborn() -> None:
        while not freed.is_set():
            try:
                await freed.wait()
            except asyncio.CancelledError:
                continue

    work = asyncio.ensure_future(stubborn())
    with pytest.raises(TimeoutError):
        await within(SystemClock(), 0.01, work)
    assert not work.done()
    freed.set()
    await work


async def test_who_is_cancelled_ends_its_work_first() -> None:
    work = asyncio.ensure_future(asyncio.Event().wait())
    waiting = asyncio.ensure_future(within(SystemClock(), 1000.0, work))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.cancelled()
