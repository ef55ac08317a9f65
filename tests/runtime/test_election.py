"""Of several candidates one leads; who cannot renew stops before another may start, whatever hangs and whatever the
date says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from embedded import admin, embedded, until
from gangline.api.kinds import CONFIG_MAP, LEASE, NAMESPACE, POD
from gangline.client import Client, InProcess, Request, Response, User
from gangline.client.wire import JSON
from gangline.cluster.server.server import Server
from gangline.errors import ConfigError, Unavailable
from gangline.runtime import Again, Component, Context, Controller, Key, Manager, ManualClock, Watch, itself
from gangline.runtime.leading.election import Elected, Election
from gangline.runtime.leading.lease import ElectionSettings


class Line:
    """A connection that can be cut, hang, be slow, or carry nonsense. `only`: what of a path is concerned."""

    def __init__(self, server: Server, clock: ManualClock, only: str = "leases") -> None:
        self._inner, self._clock = InProcess(server.handle, User("c", ("system:masters",))), clock
        self.only = only
        self.cut = self.hangs = self.babbles = False
        self.delay = 0.0

    async def send(self, request: Request) -> Response:
        if self.only in request.path:
            if self.hangs:
                await asyncio.get_running_loop().create_future()
            if self.cut:
                return Response(503, b'{"kind":"Status","code":503,"message":"cut"}', JSON)
            if self.babbles:
                return Response(200, b"<html>")
            await self._clock.sleep(self.delay)
        return await self._inner.send(request)

    async def close(self) -> None:
        return None


class Candidate(Elected):
    """With a line and a clock of its own."""

    def __init__(self, name: str, server: Server, clock: ManualClock | None = None, namespace: str = "default") -> None:
        async def reconcile(ctx: Context, key: Key) -> Again | None:
            return None

        self.clock = clock or ManualClock()
        self.told: list[str] = []
        self.line = Line(server, self.clock)
        client = Client(self.line, retries=0)
        component = Component(name, (Controller(name, reconcile, (Watch(POD, itself),)),))
        super().__init__(
            lambda: Manager(component, client, self.clock),
            Election(client, self.clock, ElectionSettings("test", namespace, name)),
            self.told.append,
        )


async def pass_time(seconds: float, *candidates: Candidate, check: Callable[[], None] = lambda: None) -> None:
    for _ in range(round(seconds * 2)):
        for clock in {id(candidate.clock): candidate.clock for candidate in candidates}.values():
            clock.advance(0.5)
        for _ in range(60):
            await asyncio.sleep(0)
        check()


@asynccontextmanager
async def candidates(*names: str, dates: float = 0.0) -> AsyncIterator[list[Candidate]]:
    """The first leads, the others stand by. Their dates differ by so many seconds."""
    async with embedded() as server:
        await ensure_default(server)
        found = [
            Candidate(name, server, ManualClock(1_700_000_000.0 + number * dates)) for number, name in enumerate(names)
        ]
        for item in found:
            await item.start()
            await until(lambda: found[0].leads, "the first to lead")
        await pass_time(12, *found)
        assert [item.leads for item in found] == [True] + [False] * (len(found) - 1)
        try:
            yield found
        finally:
            for item in found:
                item.line.hangs, item.line.delay = False, 0.0
                await item.stop()


def never_two(found: list[Candidate]) -> Callable[[], None]:
    def check() -> None:
        assert sum(item.leads for item in found) <= 1

    return check


async def ensure_default(server: Server) -> None:
    names = [item.name for item in (await admin(server).list(NAMESPACE)).items]
    if "default" not in names:
        await admin(server).create(NAMESPACE, {"metadata": {"name": "default"}})


async def test_one_leads_and_the_next_takes_over_at_once_when_it_leaves() -> None:
    async with embedded() as server:
        await ensure_default(server)
        one, two = Candidate("one", server), Candidate("two", server)
        await one.start()
        await until(lambda: one.leads, "one to lead")
        await two.start()
        await pass_time(60, one, two)
        assert one.leads and not two.leads
        await one.stop()
        await pass_time(3, two)
        assert two.leads
        assert one.told == ["ready"]
        assert two.told == ["stands by: lease default/test is held by one", "ready"]
        lease = await admin(server).get(LEASE, "test", "default")
        assert (lease.spec.holder_identity, lease.spec.lease_transitions) == ("two", 1)
        await two.stop()


@pytest.mark.parametrize("fault", ["cut", "hangs", "babbles"])
async def test_who_cannot_renew_stops_before_another_starts(fault: str) -> None:
    async with candidates("one", "two", "three") as found:
        one = found[0]
        setattr(one.line, fault, True)
        await pass_time(10, *found, check=never_two(found))
        assert not one.leads and one.lost.is_set() and one.refused is None
        await pass_time(20, *found, check=never_two(found))
        assert sorted(item.leads for item in found) == [False, False, True]


async def test_a_leader_whose_lease_ran_out_writes_nothing_more_even_where_it_has_not_noticed_yet() -> None:
    async with candidates("one") as [one]:
        assert one.manager is not None
        client = one.manager.context.client
        await client.create(CONFIG_MAP, {"metadata": {"name": "a", "namespace": "default"}})
        one.clock.advance(11)
        assert not one.leads
        with pytest.raises(Unavailable) as refused:
            await client.create(CONFIG_MAP, {"metadata": {"name": "b", "namespace": "default"}})
        assert str(refused.value) == (
            "not sent: lease default/test was not renewed for 10 s; it may belong to somebody else now"
        )
        assert [item.name for item in (await client.list(CONFIG_MAP)).items if item.name in ("a", "b")] == ["a"]


@pytest.mark.parametrize("seconds", [20.0, -20.0, 86400.0, -86400.0])
@pytest.mark.parametrize("whose", [0, 1])
async def test_a_date_that_is_set_changes_nothing(whose: int, seconds: float) -> None:
    async with candidates("one", "two") as found:
        for _ in range(8):
            found[whose].clock.step(seconds)
            await pass_time(2.5, *found, check=never_two(found))
        assert found[0].leads and not found[0].lost.is_set()


async def test_dates_need_not_agree() -> None:
    async with candidates("one", "two", dates=-3600.0) as found:
        await pass_time(40, *found, check=never_two(found))
        assert found[0].leads
        found[0].line.hangs = True
        await pass_time(30, *found, check=never_two(found))
        assert found[1].leads


async def test_a_standby_that_was_asleep_looks_before_it_takes_the_lease() -> None:
    async with candidates("one", "two") as found:
        await pass_time(60, found[0])
        found[1].clock.advance(60)
        await pass_time(5, *found, check=never_two(found))
        assert found[0].leads


@pytest.mark.parametrize("seconds", [20.0, 3600.0])
async def test_a_standby_whose_time_runs_ahead_for_once_does_not_take_the_lease(seconds: float) -> None:
    async with candidates("one", "two") as found:
        for _ in range(4):
            found[1].clock.advance(seconds)
            await pass_time(4, *found, check=never_two(found))
        assert found[0].leads and not found[1].leads


async def test_two_jumps_of_a_standbys_time_between_two_renewals_do_not_run_the_lease_out() -> None:
    async with candidates("one", "two") as found:
        for _ in range(2):
            found[1].clock.advance(20)
            await pass_time(0.5, found[1])
        assert not found[1].leads
        await pass_time(4, *found, check=never_two(found))
        assert found[0].leads


async def test_after_a_leader_was_killed_exactly_one_of_two_takes_over_once_its_lease_ran_out() -> None:
    async with embedded() as server:
        await ensure_default(server)
        await Election(admin(server), ManualClock(), ElectionSettings("test", "default", "killed")).win()
        two, three = both = [Candidate(name, server) for name in ("two", "three")]
        for item in both:
            await item.start()
        await pass_time(15, *both)
        assert not two.leads and not three.leads
        await pass_time(5, *both, check=never_two(both))
        assert sorted(item.leads for item in both) == [False, True]
        for item in both:
            await item.stop()


@pytest.mark.parametrize("seconds", [3.0, 4.5])
async def test_answers_that_take_almost_half_the_deadline_are_soon_enough(seconds: float) -> None:
    async with candidates("one", "two") as found:
        for item in found:
            item.line.delay = seconds
        await pass_time(60, *found, check=never_two(found))
        assert found[0].leads
        found[0].line.delay = 6.0
        await pass_time(40, *found, check=never_two(found))
        assert found[1].leads and found[0].lost.is_set()


async def test_the_lease_is_renewed_while_the_component_starts() -> None:
    async with embedded() as server:
        await ensure_default(server)
        slow, two = Candidate("slow", server), Candidate("two", server)
        slow.line.only, slow.line.hangs = "pods", True
        await slow.start()
        await pass_time(1, slow)
        await two.start()
        await pass_time(60, slow, two)
        assert not two.leads and (await admin(server).get(LEASE, "test", "default")).spec.holder_identity == "slow"
        await slow.stop()
        await pass_time(3, two)
        assert two.leads
        await two.stop()


async def test_who_finds_another_name_in_its_lease_stops_at_once(caplog: pytest.LogCaptureFixture) -> None:
    async with candidates("one") as [one]:
        assert one.manager is not None
        client = one.manager.context.client
        await client.patch(LEASE, "test", "default", {"spec": {"holderIdentity": "stranger"}})
        await pass_time(3, one)
        assert not one.leads and one.lost.is_set()
        assert "lease default/test belongs to stranger now" in caplog.text
        with pytest.raises(Unavailable):
            await client.create(CONFIG_MAP, {"metadata": {"name": "a", "namespace": "default"}})


async def test_a_server_that_hangs_does_not_keep_a_leader_from_leaving() -> None:
    async with candidates("one") as [one]:
        one.line.hangs = True
        leaving = asyncio.create_task(one.stop())
        await pass_time(6, one)
        assert leaving.done()


async def test_two_that_start_at_the_same_moment_do_not_both_win() -> None:
    async with embedded() as server:
        await ensure_default(server)
        both = [Candidate(name, server) for name in ("one", "two")]
        await asyncio.gather(*(item.start() for item in both))
        await pass_time(30, *both, check=never_two(both))
        assert sorted(item.leads for item in both) == [False, True]
        for item in both:
            await item.stop()


async def test_without_a_place_for_its_lease_a_candidate_says_so_instead_of_waiting_for_ever() -> None:
    async with embedded() as server:
        one = Candidate("one", server, namespace="nowhere")
        await one.start()
        await until(one.lost.is_set, "the refusal")
        assert str(one.refused) == (
            "lease test cannot be made, there is no namespace nowhere: create it, name another with --namespace, "
            "or start without election by --leader-elect=false"
        )
        await one.stop()


async def test_a_component_that_cannot_be_started_ends_the_election_and_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> Manager:
        raise RuntimeError("no such thing")

    async with embedded() as server:
        await ensure_default(server)
        one = Elected(broken, Election(admin(server), ManualClock(), ElectionSettings("test", "default", "one")))
        await one.start()
        await until(one.lost.is_set, "the end")
        assert str(one.refused) == "RuntimeError: no such thing; the log says where"
        assert "lease default/test failed" in caplog.text
        await one.stop()
        assert (await admin(server).get(LEASE, "test", "default")).spec.holder_identity == ""


def test_a_leader_must_have_to_stop_before_its_lease_can_be_taken() -> None:
    with pytest.raises(ConfigError) as refused:
        ElectionSettings("test", duration=10.0, deadline=10.0)
    assert str(refused.value) == (
        "lease test: a lease of 10 s must be longer than the deadline for renewing it (10 s), and that longer "
        "than the wait between two tries (2 s)"
    )
