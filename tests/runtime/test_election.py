"""Of several candidates one leads; who cannot renew stops before another may start. Time is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from embedded import admin, embedded, until
from gangline.api.kinds import LEASE, NAMESPACE, POD
from gangline.apiserver.server import Server
from gangline.client import Client, InProcess, Request, Response, User
from gangline.client.wire import JSON
from gangline.runtime import Again, Component, Context, Controller, Key, Manager, ManualClock, Watch, itself
from gangline.runtime.election import Elected, Election, ElectionSettings


class Line:
    """A connection that can be cut."""

    def __init__(self, server: Server) -> None:
        self._inner, self.cut = InProcess(server.handle, User("c", ("system:masters",))), False

    async def send(self, request: Request) -> Response:
        if self.cut and "leases" in request.path:
            return Response(503, b'{"kind":"Status","code":503,"message":"cut"}', JSON)
        return await self._inner.send(request)

    async def close(self) -> None:
        return None


def candidate(name: str, line: Line, clock: ManualClock, namespace: str = "default") -> Elected:
    async def reconcile(ctx: Context, key: Key) -> Again | None:
        return None

    client = Client(line, retries=0)
    component = Component(name, (Controller(name, reconcile, (Watch(POD, itself),)),))
    return Elected(lambda: Manager(component, client, clock), Election(client, clock, ElectionSettings("test", namespace, name)))


async def pass_time(clock: ManualClock, seconds: float, check: Callable[[], None] = lambda: None) -> None:
    for _ in range(round(seconds)):
        clock.advance(1.0)
        for _ in range(20):
            await asyncio.sleep(0)
        check()


async def test_one_leads_and_the_next_takes_over_at_once_when_it_leaves() -> None:
    clock = ManualClock()
    async with embedded() as server:
        await ensure_default(server)
        one, two = candidate("one", Line(server), clock), candidate("two", Line(server), clock)
        await one.start()
        await until(lambda: one.leads, "one to lead")
        await two.start()
        await pass_time(clock, 60)
        assert one.leads and not two.leads
        await one.stop()
        await pass_time(clock, 6)
        assert two.leads
        lease = await admin(server).get(LEASE, "test", "default")
        assert (lease.spec.holder_identity, lease.spec.lease_transitions) == ("two", 1)
        await two.stop()


async def test_who_is_cut_off_stops_before_the_other_starts() -> None:
    clock = ManualClock()
    async with embedded() as server:
        await ensure_default(server)
        line = Line(server)
        one, two = candidate("one", line, clock), candidate("two", Line(server), clock)
        await one.start()
        await until(lambda: one.leads, "one to lead")
        await two.start()
        await pass_time(clock, 12)
        line.cut = True

        def never_both() -> None:
            assert not (one.leads and two.leads)

        await pass_time(clock, 40, never_both)
        assert two.leads and not one.leads and one.lost.is_set()
        await one.stop()
        await two.stop()


async def test_two_that_start_at_the_same_moment_do_not_both_win() -> None:
    clock = ManualClock()
    async with embedded() as server:
        await ensure_default(server)
        both = [candidate(name, Line(server), clock) for name in ("one", "two")]
        await asyncio.gather(*(each.start() for each in both))
        await pass_time(clock, 30)
        assert sorted(each.leads for each in both) == [False, True]
        for each in both:
            await each.stop()


async def ensure_default(server: Server) -> None:
    names = [each.name for each in (await admin(server).list(NAMESPACE)).items]
    if "default" not in names:
        await admin(server).create(NAMESPACE, {"metadata": {"name": "default"}})


async def test_without_a_place_for_its_lease_a_candidate_says_so_instead_of_waiting_for_ever() -> None:
    async with embedded() as server:
        one = candidate("one", Line(server), ManualClock(), "nowhere")
        await one.start()
        await asyncio.wait_for(one.lost.wait(), 5)
        assert str(one.refused) == ("lease test cannot be made, there is no namespace nowhere: create it, name another with --namespace, "
                                    "or start without election by --leader-elect=false")
        await one.stop()
