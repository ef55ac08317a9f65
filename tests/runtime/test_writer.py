"""The one writer: order per object, retries, what counts as failed, and reports that wait for their turn."""

from __future__ import annotations

import asyncio

import pytest

from embedded import admin, embedded, until
from gangline.api.kinds import CONFIG_MAP
from gangline.client import Lanes
from gangline.client.lanes import SHARE
from gangline.errors import ApiError, Conflict, NotFound, Unavailable
from gangline.rules.objects.writes import CONFLICT, DONE, GONE, TAKEN, Create, Delete, Patch
from gangline.runtime.clock import ManualClock
from gangline.runtime.writer import TRIES, NotInTurn, Writer


def config_map(name: str, **metadata: object) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default", **metadata}}


def crowd(lanes: Lanes) -> None:
    for _ in range(SHARE * 4):
        lanes.begin()


async def test_writes_of_one_object_keep_their_order_and_a_newer_one_replaces_one_that_waits() -> None:
    async with embedded() as server:
        writer, sent, gate = Writer(admin(server), ManualClock()), list[str](), asyncio.Event()

        async def send(text: str) -> None:
            sent.append(text)
            await gate.wait()

        writer.put("a", lambda: send("first"))
        await until(lambda: sent == ["first"])
        writer.put("a", lambda: send("second"))
        writer.put("a", lambda: send("third"))
        writer.put("b", lambda: send("other"))
        await until(lambda: "other" in sent)
        assert writer.busy("a") and not writer.idle
        gate.set()
        await until(lambda: writer.idle)
        assert sent == ["first", "other", "third"]


async def test_a_server_in_trouble_is_asked_again_and_in_the_end_the_write_is_given_up() -> None:
    async with embedded() as server:
        clock = ManualClock()
        writer, tries, failures = Writer(admin(server), clock), list[int](), list[ApiError]()

        async def send() -> None:
            tries.append(len(tries))
            raise Unavailable({"message": "the server is starting"})

        writer.put("a", send, failures.append)
        for number in range(1, TRIES):
            await until(lambda seen=number: len(tries) == seen)  # type: ignore[misc]
            await asyncio.sleep(0)
            clock.advance(60)
        await until(lambda: writer.idle)
        assert len(tries) == TRIES and [str(error) for error in failures] == ["the server is starting"]


async def test_a_conflict_is_not_tried_again_beside_a_cycle() -> None:
    async with embedded() as server:
        writer, failures = Writer(admin(server), ManualClock()), list[ApiError]()

        async def send() -> None:
            raise Conflict({"message": "it changed"})

        writer.put("a", send, failures.append)
        await until(lambda: writer.idle)
        assert [str(error) for error in failures] == ["it changed"]


async def test_each_write_of_a_stage_says_how_it_ended_and_what_is_so_already_is_no_failure() -> None:
    async with embedded() as server:
        client = admin(server)
        writer = Writer(client, ManualClock())
        owner = await client.create(CONFIG_MAP, config_map("owner"))
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner.name, "uid": owner.uid}
        await client.create(CONFIG_MAP, config_map("ours", ownerReferences=[reference]))
        await client.create(CONFIG_MAP, config_map("theirs"))
        late = {"metadata": {"resourceVersion": "1"}, "data": {"x": "1"}}
        outcomes = await writer.write_all(
            [
                Create(CONFIG_MAP, config_map("new")),
                Create(CONFIG_MAP, config_map("ours", ownerReferences=[reference])),
                Create(CONFIG_MAP, config_map("theirs", ownerReferences=[reference])),
                Delete(CONFIG_MAP, "absent", "default"),
                Patch(CONFIG_MAP, "absent", "default", {"data": {"x": "1"}}),
                Patch(CONFIG_MAP, "theirs", "default", late),
            ]
        )
        assert [(outcome.ended, outcome.error is None) for outcome in outcomes] == [
            (DONE, True),
            (TAKEN, True),
            (TAKEN, False),
            (GONE, True),
            (GONE, False),
            (CONFLICT, False),
        ]
        assert outcomes[0].answer is not None and outcomes[0].answer.name == "new"


async def test_in_a_crowd_a_report_ends_the_reconcile_unless_it_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)
    async with embedded() as server:
        client, lanes = admin(server), Lanes(lambda: 0.0)
        writer, data = Writer(client, ManualClock(), lanes), {"data": {"x": "1"}}
        await client.create(CONFIG_MAP, config_map("a"))
        crowd(lanes)
        with pytest.raises(NotInTurn):
            await writer.report(CONFIG_MAP, "a", "default", data, subresource="")
        assert await writer.in_turn().report(CONFIG_MAP, "a", "default", data, subresource="")
        assert (await client.get(CONFIG_MAP, "a", "default")).data == {"x": "1"}
        assert not await writer.in_turn().report(CONFIG_MAP, "absent", "default", data, subresource="")


async def test_a_report_beside_waits_for_its_turn_and_is_tried_until_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)
    async with embedded() as server:
        lanes, clock, reports = Lanes(lambda: 0.0), ManualClock(), list[str]()
        writer = Writer(admin(server), clock, lanes)

        async def work(given: Writer) -> None:
            reports.append("tried")
            if len(reports) < 3:
                raise NotFound({"message": "not yet"})
            given.take_turn()

        crowd(lanes)
        await writer.report_beside("a", work)
        await until(lambda: bool(lanes._waiting))
        assert writer.busy("a") and reports == []
        for _ in range(SHARE):
            lanes.begin()
        for number in (1, 2):
            await until(lambda seen=number: len(reports) == seen)  # type: ignore[misc]
            await asyncio.sleep(0)
            clock.advance(60)
        await until(lambda: writer.idle)
        assert len(reports) == 3


async def test_in_calm_a_report_is_written_at_once() -> None:
    async with embedded() as server:
        writer, reports = Writer(admin(server), ManualClock()), list[bool]()

        async def work(given: Writer) -> None:
            reports.append(given.may_report)

        await writer.report_beside("a", work)
        assert reports == [True] and writer.idle
