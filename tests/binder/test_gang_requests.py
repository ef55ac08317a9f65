"""One BindRequest for the pods of a gang: carried out pod by pod, told once, left to the scheduler to remove."""

from __future__ import annotations

from gangline.api import names
from gangline.api.kinds import NODE, POD
from gangline.binder.component import component
from gangline.client import InProcess, Request, Response, User
from gangline.client.wire import JSON
from gangline.runtime import ManualClock
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

ACCOUNT = User("system:serviceaccount:gangline-system:binder", ("system:masters",))


class Picky:
    """A transport that refuses to bind some pods, and notes the writes of the rest."""

    def __init__(self, here: SchedulerWorld, *refused: str) -> None:
        self._inner = InProcess(here.server.handle, ACCOUNT)
        self.refused = set(refused)
        self.writes: list[str] = []

    async def send(self, request: Request) -> Response:
        if request.method != "GET":
            self.writes.append(f"{request.method} {request.path.partition(f'/{SPACE}/')[2]}")
        if any(f"/pods/{pod}/binding" in request.path for pod in self.refused):
            return Response(500, b'{"kind":"Status","code":500,"message":"the disk is full"}', JSON)
        return await self._inner.send(request)

    async def close(self) -> None:
        return None


async def gang(here: SchedulerWorld, size: int) -> dict[str, str]:
    await here.node("n")
    return {(await here.pod(f"g-{number}")).name: "n" for number in range(size)}


async def test_where_nothing_has_to_be_prepared_the_bind_is_the_only_write_per_pod() -> None:
    async with scheduler_world() as here:
        line = Picky(here)
        await here.start(component(), line)
        await here.request_all("g", await gang(here, 3), annotations={"why": "allocate"})
        await here.settles()
        assert sorted(line.writes) == [f"POST pods/g-{number}/binding" for number in range(3)]
        pod = await here.get_pod("g-0")
        assert (pod.spec.node_name, pod.annotations["why"]) == ("n", "allocate")
        assert pod.annotations[names.RECEIVED_TYPE] == "Regular"
        assert (await here.get_request("g")).status.phase == ""


async def test_a_pod_that_fails_is_tried_again_by_itself_and_the_request_says_so_once_per_try() -> None:
    clock = ManualClock()
    async with scheduler_world(clock=clock) as here:
        line = Picky(here, "g-1")
        await here.start(component(), line)
        await here.request_all("g", await gang(here, 3))
        await here.settles()
        assert await here.placed() == {"g-0": "n", "g-2": "n"}
        status = (await here.get_request("g")).status
        assert (status.phase, status.failed_attempts) == ("Failed", 1)
        assert status.reason == "1 of 3 pods not bound: g-1: the disk is full"
        assert line.writes.count("PATCH bindrequests/g/status") == 1
        line.refused.clear()
        clock.advance(1.1)
        await here.settles()
        assert len(await here.placed()) == 3
        assert line.writes.count("POST pods/g-0/binding") == 1
        assert await here.messages("Bound") == ["Pod bound successfully to node n"]


async def test_a_request_is_given_up_when_every_pod_is_bound_or_failed_as_often_as_it_may() -> None:
    clock = ManualClock()
    async with scheduler_world(clock=clock) as here:
        line = Picky(here, "g-0", "g-1")
        await here.start(component(), line)
        await here.request_all("g", await gang(here, 3), limit=2)
        await here.settles()
        line.refused.remove("g-1")
        clock.advance(1.1)
        await here.settles()
        status = (await here.get_request("g")).status
        assert (status.phase, status.failed_attempts) == ("Failed", 2)
        assert sorted(await here.placed()) == ["g-1", "g-2"]
        clock.advance(1000)
        await here.settles()
        assert line.writes.count("POST pods/g-0/binding") == 2


async def test_pods_that_are_gone_need_nothing_and_a_node_that_is_gone_ends_the_request() -> None:
    async with scheduler_world() as here:
        places = await gang(here, 3)
        await here.node("m")
        await here.request_all("g", places | {"g-2": "m"})
        await here.client.delete(POD, "g-0", SPACE, grace=0)
        await here.start(component())
        await here.settles()
        assert (await here.get_request("g")).status.phase == ""
        await here.pod("late")
        await here.client.delete(NODE, "m")
        await here.request_all("h", {"late": "m"})
        await here.settles()
        status = (await here.get_request("h")).status
        assert (status.phase, status.failed_attempts) == ("Failed", 3)
        assert status.reason == "1 of 1 pods not bound: late: node m does not exist"


async def test_an_order_for_an_earlier_pod_of_that_name_binds_nobody() -> None:
    async with scheduler_world() as here:
        await here.request_all("g", await gang(here, 1))
        await here.client.delete(POD, "g-0", SPACE, grace=0)
        await here.pod("g-0")
        await here.start(component())
        await here.settles()
        assert await here.placed() == {}


async def test_another_binder_goes_on_with_what_is_left_of_a_request() -> None:
    async with scheduler_world() as here:
        await here.request_all("g", await gang(here, 4))
        line = Picky(here, "g-2", "g-3")
        await here.start(component(), line)
        await here.settles()
        await here.kill("binder")
        again = Picky(here)
        await here.start(component(), again)
        await here.settles()
        assert len(await here.placed()) == 4
        assert [write for write in again.writes if write.endswith("binding")] == [
            "POST pods/g-2/binding",
            "POST pods/g-3/binding",
        ]
