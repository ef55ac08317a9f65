"""A backend that the operator leaves to another process: where none runs, its gangs say so, by its lease."""

from __future__ import annotations

from dataclasses import replace

from backends.test_journeys import llm
from gangline.api import names
from gangline.api.kinds import EVENT, LEASE, POD_GROUP
from gangline.api.kinds import NAMESPACE as NAMESPACE_KIND
from gangline.api.meta import condition
from gangline.client import Client
from gangline.components import BACKEND, lease
from gangline.components.options import ComponentOptions
from gangline.operator.component import backend_component
from gangline.operator.memory.outside_backends import lease_of
from gangline.rules import verdicts
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Manager, ManualClock
from gangline.runtime.leading.election import Elected, Election
from gangline.runtime.leading.lease import ElectionSettings
from operator_world import OPERATOR, OperatorWorld, operator_world

OUTSIDE = replace(OperatorSettings(), outside=("kai",))
WHY = (
    "backend kai is left to a process of its own, and none runs: nobody holds lease gangline-backend-kai in namespace "
    "gangline-system; "
    "start one (gangline run backend kai), or take kai out of scheduler.outside"
)


async def passes(here: OperatorWorld, seconds: int) -> None:
    assert isinstance(here.clock, ManualClock)
    for _ in range(seconds):
        here.clock.advance(1)
        await here.settles()


async def whole(here: OperatorWorld) -> tuple[str, str, str]:
    found = condition((await here.gang("llm-0")).status.conditions, "Initialized")
    return (found.status, found.reason or "", found.message or "") if found is not None else ("", "", "")


async def process(here: OperatorWorld) -> Elected:
    """`gangline run backend kai`."""
    client = Client(here.server.transport(OPERATOR), manager="gangline-backend-kai")
    election = Election(client, here.clock, ElectionSettings(lease_of("kai"), names.SYSTEM_NAMESPACE))
    running = Elected(lambda: Manager(backend_component(OUTSIDE, "kai"), client, here.clock), election)
    await running.start()
    return running


def test_the_lease_is_the_one_that_the_process_holds() -> None:
    assert lease_of("kai") == lease(f"{BACKEND}kai", ComponentOptions())


async def test_a_gang_whose_backend_does_not_run_says_so_within_half_a_minute_and_forgets_it_when_one_comes() -> None:
    async with operator_world(OUTSIDE, ManualClock()) as here:
        await here.client.create(NAMESPACE_KIND, {"metadata": {"name": names.SYSTEM_NAMESPACE}})
        await here.apply(llm("kai"))
        await passes(here, 20)
        assert await whole(here) == ("False", "BackendNotRunning", WHY)
        assert verdicts.of_gang(await here.gang("llm-0"), None).text == f"llm-0 is Pending: {WHY}"
        assert WHY in str((await here.the_set("llm")).status.pod_gang_statuses)
        assert [event.message for event in await here.every(EVENT) if event.reason == "BackendNotRunning"] == [WHY]
        running = await process(here)
        await passes(here, 5)
        assert (await whole(here))[0] == "True" and len(await here.every(POD_GROUP)) == 1
        await running.stop()


async def test_a_backend_whose_process_died_is_missed_by_the_gangs_that_wait_for_it() -> None:
    async with operator_world(OUTSIDE, ManualClock()) as here:
        await here.client.create(NAMESPACE_KIND, {"metadata": {"name": names.SYSTEM_NAMESPACE}})
        await here.client.create(
            LEASE,
            {
                "metadata": {"name": lease_of("kai"), "namespace": names.SYSTEM_NAMESPACE},
                "spec": {
                    "holderIdentity": "gone",
                    "leaseDurationSeconds": 15,
                    "renewTime": "2020-01-01T00:00:00.000000Z",
                },
            },
        )
        await here.apply(llm("kai"))
        await passes(here, 10)
        assert (await whole(here))[1] != "BackendNotRunning", (
            "whose clock is right is not known: the lease is watched for a while"
        )
        await passes(here, 18)
        assert await whole(here) == ("False", "BackendNotRunning", WHY)
