"""Background work that fails says so and begins again; nothing dies without a word."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

import gangline
from embedded import admin, embedded, until
from gangline.api.kinds import CONFIG_MAP, EVENT
from gangline.runtime import Again, Component, Context, Controller, Key, Manager, ManualClock, Watch, background, itself

SOURCE = Path(gangline.__file__).parent
WATCHED_OVER = {
    "runtime/background.py": "starts it again, or tells",
    "client/exec_credentials.py": "both readers are waited for, and cancelled with their plug-in",
    "runtime/clock.py": "`within` takes what comes of it",
    "runtime/leading/election.py": "whatever ends it sets `lost`, and the process ends",
    "runtime/writer.py": "told by `noticed`",
    "cli/deploy/component_process.py": "waited for by name",
    "whatif/ask.py": "waited for before it answers, cancelled with it",
    "local.py": "`while_it_can` waits for both",
    "cluster/server/convert/converted_shelf.py": "a failure is logged, and watchers get it",
    "cluster/server/wire/connection.py": "one answer; its connection is hung up when it fails",
    "cluster/server/wire/http.py": "a sweep that only looks and hangs up",
}
"""Where a task is started by hand, and who notices when it dies."""


def test_a_task_is_started_only_where_somebody_notices_its_death() -> None:
    starters = re.compile(r"\b(create_task|ensure_future)\(")
    found = {str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py") if starters.search(file.read_text())}
    assert found == set(WATCHED_OVER), "start it with runtime/background.py, or say here who notices when it dies"


async def test_work_that_fails_is_told_counted_and_begun_again_until_it_returns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun: list[int] = []

    async def work() -> None:
        begun.append(len(begun))
        if len(begun) == 1:
            raise RuntimeError("broken")
        if len(begun) == 2:
            raise asyncio.CancelledError

    clock = ManualClock()
    task = background.start("some work", work, clock)
    await until(
        lambda: "some work failed; it starts again in" in caplog.text and "RuntimeError: broken" in caplog.text,
        "the failure",
    )
    clock.advance(1)
    await until(lambda: caplog.text.count("some work failed") == 2, "what it waited for being given up")
    clock.advance(2)
    await task
    assert begun == [0, 1, 2]
    assert REGISTRY.get_sample_value("gangline_background_restarts_total", {"task": "some work"}) == 2


async def test_work_that_is_cancelled_is_over() -> None:
    async def work() -> None:
        await asyncio.get_running_loop().create_future()

    task = background.start("some work", work, ManualClock())
    await asyncio.sleep(0)
    task.cancel()
    assert await asyncio.gather(task, return_exceptions=True) and task.cancelled()


async def test_a_wait_doubles_up_to_a_limit_and_no_two_need_be_alike() -> None:
    for failures, longest in ((1, 1.0), (2, 2.0), (5, 16.0), (100, 60.0)):
        waits = [background.pause(failures) for _ in range(50)]
        assert longest / 2 <= min(waits) <= max(waits) <= longest and len(set(waits)) > 1


async def test_workers_come_with_the_work_up_to_their_number_and_go_when_nothing_is_left() -> None:
    to_do, at_work, most_at_once = 0, 0, 0
    go_on = asyncio.Event()

    async def work() -> None:
        nonlocal to_do, at_work, most_at_once
        while to_do:
            to_do -= 1
            at_work += 1
            most_at_once = max(most_at_once, at_work)
            await go_on.wait()
            at_work -= 1

    before = len(asyncio.all_tasks())
    pool = background.WorkerPool("some work", work, 3, ManualClock())
    assert len(asyncio.all_tasks()) == before
    for _ in range(5):
        to_do += 1
        pool.call()
    await until(lambda: at_work == 3)
    assert len(asyncio.all_tasks()) == before + 3 and to_do == 2
    go_on.set()
    await until(lambda: len(asyncio.all_tasks()) == before, "the workers gone")
    assert (to_do, most_at_once) == (0, 3)


async def test_work_that_comes_when_the_last_worker_has_just_looked_is_done() -> None:
    done = 0
    to_do = 1

    async def work() -> None:
        nonlocal to_do, done
        while to_do:
            to_do, done = to_do - 1, done + 1
        asyncio.get_running_loop().call_soon(one_more)  # before anybody can hear that this task is over

    def one_more() -> None:
        nonlocal to_do
        if done < 10:
            to_do += 1
            pool.call()

    pool = background.WorkerPool("some work", work, 1, ManualClock())
    pool.call()
    await until(lambda: done == 10)


async def test_a_worker_that_fails_is_told_and_keeps_its_place(caplog: pytest.LogCaptureFixture) -> None:
    begun = 0

    async def work() -> None:
        nonlocal begun
        begun += 1
        if begun == 1:
            raise RuntimeError("broken")

    clock = ManualClock()
    pool = background.WorkerPool("some work", work, 1, clock)
    pool.call()
    await until(lambda: "some work failed" in caplog.text)
    pool.call()
    await asyncio.sleep(0)
    assert begun == 1, "the one that failed waits; there is no room for another"
    clock.advance(1)
    await until(lambda: begun == 2)
    await asyncio.sleep(0)
    pool.call()
    await until(lambda: begun == 3)


async def test_after_the_end_nobody_begins() -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("begun")
        await asyncio.get_running_loop().create_future()

    pool = background.WorkerPool("some work", work, 2, ManualClock())
    pool.call()
    await until(lambda: begun == ["begun"])
    await pool.stop()
    pool.call()
    await asyncio.sleep(0)
    assert begun == ["begun"]


async def test_what_is_done_once_and_fails_is_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    async def once() -> None:
        raise RuntimeError("broken")

    task = background.noticed(asyncio.create_task(once(), name="a write"))
    await until(lambda: "a write failed" in caplog.text and "RuntimeError: broken" in caplog.text, "the failure")
    assert task.done()


async def test_a_reconcile_that_is_given_up_by_what_it_waited_for_is_tried_again() -> None:
    seen: list[str] = []

    async def reconcile(ctx: Context, key: Key) -> Again | None:
        seen.append(key.name)
        if seen.count(key.name) <= 3:
            raise asyncio.CancelledError
        return None

    async with embedded() as server:
        clock = ManualClock()
        watch = Watch(CONFIG_MAP, itself, lambda before, after: after is not None and after.name == "a")
        manager = Manager(
            Component("test", (Controller("test", reconcile, (watch,), workers=2),)), admin(server), clock
        )
        await manager.start()
        await admin(server).create(CONFIG_MAP, {"metadata": {"name": "a", "namespace": "default"}})

        def done() -> bool:
            clock.advance(1)
            return seen == ["a"] * 4

        await until(done, "the fourth try")
        await manager.stop()


async def test_an_event_that_cannot_be_written_keeps_no_other_from_being_told(caplog: pytest.LogCaptureFixture) -> None:
    async with embedded() as server:
        client = admin(server)
        told = await client.create(CONFIG_MAP, {"metadata": {"name": "a", "namespace": "default"}})
        manager = Manager(Component("test"), client, ManualClock())
        await manager.start()
        manager.events.tell(CONFIG_MAP, told, "Odd", "half a character: \ud800")
        manager.events.tell(CONFIG_MAP, told, "Good", "whole")
        await until(lambda: manager.events.idle, "the events")
        assert [item.reason for item in (await client.list(EVENT)).items] == ["Good"]
        assert "a not written" in caplog.text and "UnicodeEncodeError" in caplog.text
        await manager.stop()


async def test_what_is_to_be_done_later_is_done_once_when_its_time_has_come() -> None:
    done: list[str] = []
    clock = ManualClock()
    background.later(5, lambda: done.append("in time"), clock)
    background.later(5, lambda: done.append("never"), clock).cancel()
    await asyncio.sleep(0)
    clock.advance(4.9)
    await asyncio.sleep(0)
    assert done == []
    clock.advance(0.1)
    await until(lambda: done == ["in time"])
    clock.advance(60)
    await asyncio.sleep(0)
    assert done == ["in time"]
