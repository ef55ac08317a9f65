"""A controller loop: every change leads to a reconcile, failures come back later and later, no key is worked on twice
at once."""

from __future__ import annotations

import asyncio

import pytest

from embedded import admin, embedded, until
from gangline.api.kinds import CONFIG_MAP, EVENT, POD
from gangline.client import Lanes
from gangline.client.lanes import HOT_APART, SHARE
from gangline.errors import BadInput
from gangline.runtime import (
    Again,
    BackgroundService,
    Cache,
    Component,
    Context,
    Controller,
    Key,
    Manager,
    ManualClock,
    Watch,
    itself,
    owner,
    stop_all,
)
from gangline.runtime.clock import timestamp
from gangline.runtime.queue import LONGEST_PUT_OFF, WorkQueue


async def test_a_key_waits_once_however_often_it_is_added() -> None:
    queue = WorkQueue(ManualClock())
    for _ in range(3):
        queue.add(Key("ns", "a"))
    key = queue.take()
    assert key is not None and queue.take() is None
    queue.add(key)
    assert not queue.idle
    queue.done(key)
    assert queue.take() == key
    queue.done(key)
    assert queue.idle


async def test_failures_wait_longer_and_longer() -> None:
    queue = WorkQueue(ManualClock())
    key = Key("ns", "a")
    assert [queue.retry(key) for _ in range(4)] == [0.005, 0.01, 0.02, 0.04]
    for _ in range(30):
        longest = queue.retry(key)
    assert longest == 60
    queue.forget(key)
    assert queue.retry(key) == 0.005
    queue.close()


async def test_changes_of_owned_objects_lead_to_their_owner() -> None:
    seen: list[Key] = []

    async def reconcile(context: Context, key: Key) -> None:
        seen.append(key)

    async with embedded() as server:
        client = admin(server)
        controller = Controller("test", reconcile, [Watch(CONFIG_MAP, owner(POD))])
        manager = Manager(Component("test", [controller]), client)
        await manager.start()
        await client.create(
            CONFIG_MAP,
            {
                "metadata": {
                    "name": "a",
                    "namespace": "default",
                    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "mother", "uid": "u"}],
                }
            },
        )
        await until(lambda: seen == [Key("default", "mother")])
        await manager.stop()


async def test_again_is_asked_of_the_clock_and_an_error_is_tried_again() -> None:
    clock = ManualClock()
    calls: list[float] = []

    async def reconcile(context: Context, key: Key) -> Again | None:
        calls.append(clock.now())
        if len(calls) == 1:
            raise BadInput("not yet")
        return Again(3600) if len(calls) == 2 else None

    async with embedded() as server:
        client = admin(server)
        manager = Manager(
            Component("test", [Controller("test", reconcile, [Watch(CONFIG_MAP, itself)])]), client, clock
        )
        await manager.start()
        await client.create(CONFIG_MAP, {"metadata": {"name": "a", "namespace": "default"}})
        await until(lambda: len(calls) == 1 and manager.idle)
        clock.advance(0.005)
        await until(lambda: len(calls) == 2 and manager.idle)
        clock.advance(3599)
        await asyncio.sleep(0)
        assert len(calls) == 2
        clock.advance(1)
        await until(lambda: len(calls) == 3)
        await manager.stop()


async def test_one_object_that_fails_does_not_stop_the_others() -> None:
    done: list[str] = []

    async def reconcile(context: Context, key: Key) -> None:
        if key.name == "bad":
            raise RuntimeError("broken")
        done.append(key.name)

    async with embedded() as server:
        client = admin(server)
        manager = Manager(
            Component("test", [Controller("test", reconcile, [Watch(CONFIG_MAP, itself)], workers=1)]), client
        )
        await manager.start()
        for name in ("bad", "good"):
            await client.create(CONFIG_MAP, {"metadata": {"name": name, "namespace": "default"}})
        await until(lambda: done == ["good"])
        await manager.stop()


async def test_a_service_that_fails_is_started_again() -> None:
    clock = ManualClock()
    starts: list[float] = []

    async def run(context: Context, cache: Cache) -> None:
        starts.append(clock.now())
        if len(starts) == 1:
            raise RuntimeError("broken")
        await asyncio.Event().wait()

    async with embedded() as server:
        manager = Manager(Component("test", services=[BackgroundService("test", run)]), admin(server), clock)
        await manager.start()
        await until(lambda: len(starts) == 1)
        await asyncio.sleep(0)
        clock.advance(1)
        await until(lambda: len(starts) == 2)
        await manager.stop()


async def test_what_was_put_off_is_overdue_after_a_while() -> None:
    clock = ManualClock()
    queue = WorkQueue(clock)
    assert not queue.overdue
    queue.put_off(Key("a", "first"))
    clock.advance(LONGEST_PUT_OFF - 1)
    queue.put_off(Key("a", "second"))
    assert not queue.overdue
    clock.advance(1)
    assert queue.overdue
    assert queue.take_put_off() == Key("a", "first")
    assert not queue.overdue


async def test_what_was_put_off_waits_once_and_a_change_brings_it_to_the_front() -> None:
    queue = WorkQueue(ManualClock())
    key, other = Key("ns", "a"), Key("ns", "b")
    for item in (key, other, key):
        queue.put_off(item)
    assert not queue.idle
    queue.add(key)
    assert queue.take() == key
    queue.put_off(key)
    queue.done(key)
    assert queue.has_put_off
    assert [queue.take_put_off(), queue.take_put_off(), queue.take_put_off()] == [other, key, None]
    queue.done(other)
    queue.done(key)
    assert queue.idle


async def test_in_a_crowd_a_report_waits_for_its_turn_and_tells_everything_that_changed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)
    looks: list[str] = []
    told: list[str] = []

    async def reconcile(context: Context, key: Key) -> Again | None:
        config_map = context.read.get(CONFIG_MAP, key.name, key.namespace)
        text = config_map.data["x"] if config_map is not None else "gone"
        looks.append(text)
        context.writer.take_turn()
        told.append(text)
        return None

    async with embedded() as server:
        client, lanes = admin(server), Lanes(lambda: 0.0)
        manager = Manager(
            Component("test", [Controller("test", reconcile, [Watch(CONFIG_MAP, itself)])]), client, lanes=lanes
        )
        await manager.start()
        for _ in range(SHARE * 4):
            lanes.begin()
        await client.create(CONFIG_MAP, {"metadata": {"name": "a", "namespace": "default"}, "data": {"x": "1"}})
        for number in "234":
            await client.patch(CONFIG_MAP, "a", "default", {"data": {"x": number}})
            await until(lambda seen=number: looks[-1:] == [seen])  # type: ignore[misc]
        assert told == [] and not manager.idle
        for _ in range(SHARE):
            lanes.begin()
        await until(lambda: manager.idle)
        assert told == ["4"]
        await manager.stop()


async def test_a_component_apart_sees_a_crowd_by_the_pods_that_come_and_one_beside_others_by_their_writes() -> None:
    async def reconcile(context: Context, key: Key) -> None:
        return None

    async with embedded() as server:
        client = admin(server)
        apart, beside = Lanes(lambda: 0.0, apart=True), Lanes(lambda: 0.0)
        watching = Component("test", [Controller("test", reconcile, [Watch(POD, itself)])])
        managers = [Manager(watching, client, lanes=lanes) for lanes in (apart, beside)]
        for manager in managers:
            await manager.start()
        spec = {"containers": [{"name": "main", "image": "img"}]}
        for number in range(int(HOT_APART)):
            assert apart.calm
            await client.create(POD, {"metadata": {"name": f"p-{number}", "namespace": "default"}, "spec": spec})
        await until(lambda: not apart.calm)
        assert beside.calm
        for manager in managers:
            await manager.stop()


async def test_events_that_wait_are_written_before_a_component_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)
    async with embedded() as server:
        client, lanes, clock = admin(server), Lanes(lambda: 0.0), ManualClock()
        manager = Manager(Component("test"), client, clock, lanes)
        await manager.start()
        about = await client.create(CONFIG_MAP, {"metadata": {"name": "a", "namespace": "default"}})
        for _ in range(SHARE * 4):
            lanes.begin()
        for number in range(3):
            manager.events.tell(CONFIG_MAP, about, f"Reason{number}", "text")
        began = timestamp(clock.now())
        clock.advance(60)
        await manager.stop()
        written = await client.list_raw(EVENT, "default")
        assert sorted(event["reason"] for event in written) == ["Reason0", "Reason1", "Reason2"]
        assert {event["firstTimestamp"] for event in written} == {began}


async def test_while_a_component_says_its_last_words_no_other_of_its_process_works_on() -> None:
    said, stopped = asyncio.Event(), list[str]()

    def component(name: str, ends: asyncio.Event | None) -> Component:
        async def run(ctx: Context, cache: Cache) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.append(name)
                if ends:
                    await ends.wait()

        return Component(name, services=[BackgroundService(name, run)])

    async with embedded() as server:
        wordy = [component("slow", said), component("other", None), component("slow too", said)]
        managers = [Manager(item, admin(server)) for item in wordy]
        for manager in managers:
            await manager.start()
        stopping = asyncio.create_task(stop_all(managers))
        await until(lambda: sorted(stopped) == ["other", "slow", "slow too"])
        assert not stopping.done()
        said.set()
        await stopping
