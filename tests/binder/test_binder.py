"""BindRequest → bound pod, or settled, or undone and tried again later: on an embedded server, with time moved by
hand."""

from __future__ import annotations

import pytest

from embedded import until
from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, NODE, POD
from gangline.api.meta import condition
from gangline.binder.component import component
from gangline.binder.settings import BinderSettings
from gangline.client import InProcess, Request, Response, User
from gangline.client.lanes import AT_ONCE
from gangline.client.wire import JSON
from gangline.config import KAI, manner
from gangline.runtime import ManualClock
from scheduler_world import SPACE, SchedulerWorld, scheduler_world


class Faulty:
    """A transport that refuses requests as long as `refuse` says so."""

    def __init__(self, here: SchedulerWorld) -> None:
        self._inner = InProcess(
            here.server.handle, User("system:serviceaccount:gangline-system:binder", ("system:masters",))
        )
        self.refusing = ""
        self.refused = 0

    async def send(self, request: Request) -> Response:
        if self.refusing and self.refusing in f"{request.method} {request.path}":
            self.refused += 1
            return Response(500, b'{"kind":"Status","code":500,"message":"the disk is full"}', JSON)
        return await self._inner.send(request)

    async def close(self) -> None:
        return None


async def test_a_pod_is_bound_and_told_what_it_received_in_one_write() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        await here.request(await here.pod("p"), "n")
        await here.settles()
        pod = await here.get_pod("p")
        assert pod.spec.node_name == "n"
        assert pod.annotations[names.RECEIVED_TYPE] == "Regular"
        assert (await here.get_request("p")).status.phase == "Succeeded"
        assert await here.messages("Bound") == []


async def test_in_upstreams_manner_every_bind_is_told() -> None:
    async with scheduler_world(component(BinderSettings(manner=manner([KAI])))) as here:
        await here.node("n")
        await here.request(await here.pod("p"), "n")
        await here.settles()
        assert await here.messages("Bound") == ["Pod bound successfully to node n"]
        told = condition((await here.get_pod("p")).status.conditions, "PodBound")
        assert told is not None and told.status == "True"


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("no pod", "pod work/p does not exist"),
        ("no node", "node gone does not exist"),
        ("another scheduler", "the pod belongs to scheduler default-scheduler, not kai-scheduler or grove-scheduler"),
        ("bound elsewhere", "the pod is already on node other"),
        ("earlier pod", "it was made for an earlier pod named p"),
        ("no group", "it shares a GPU but names no GPU group"),
    ],
)
async def test_a_request_that_cannot_be_carried_out_is_settled_with_its_reason_and_not_looped(
    case: str, reason: str
) -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        pod = await here.pod(
            "p",
            schedulerName="default-scheduler" if case == "another scheduler" else names.KAI_SCHEDULER,
            nodeName="other" if case == "bound elsewhere" else "",
        )
        if case == "earlier pod":
            await here.client.delete(POD, "p", SPACE, grace=0)
            await here.pod("p")
        if case == "no pod":
            await here.client.create(
                BIND_REQUEST,
                {
                    "metadata": {"name": "p", "namespace": SPACE},
                    "spec": {"podName": "p", "selectedNode": "n", "backoffLimit": 3},
                },
            )
            await here.client.delete(POD, "p", SPACE, grace=0)
        else:
            extra = {"receivedResourceType": "Fraction"} if case == "no group" else {}
            await here.request(pod, "gone" if case == "no node" else "n", backoffLimit=3, **extra)
        await here.settles()
        status = (await here.get_request("p")).status
        assert (status.phase, status.reason, status.failed_attempts) == ("Failed", reason, 3)


async def test_a_request_for_a_pod_that_is_there_already_is_fulfilled() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        await here.request(await here.pod("p", nodeName="n"), "n")
        await here.settles()
        assert (await here.get_request("p")).status.phase == "Succeeded"


async def test_a_failed_bind_is_tried_again_later_and_later_and_the_pod_remembers() -> None:
    clock = ManualClock()
    async with scheduler_world(clock=clock) as here:
        faulty = Faulty(here)
        faulty.refusing = "/binding"
        await here.start(component(), faulty)
        await here.node("n")
        await here.request(await here.pod("p"), "n", backoffLimit=3)
        await here.settles()
        for tries, wait in ((1, 1.0), (2, 2.0)):
            status = (await here.get_request("p")).status
            assert (status.phase, status.reason, status.failed_attempts) == ("Failed", "the disk is full", tries)
            clock.advance(wait - 0.01)
            await here.settles()
            assert faulty.refused == tries
            clock.advance(0.02)
            await here.settles()
        assert (await here.get_request("p")).status.failed_attempts == 3
        pod = await here.get_pod("p")
        assert pod.annotations[names.BIND_FAILURES] == "3"
        told = condition(pod.status.conditions, "PodBound")
        assert told is not None and (told.status, told.reason) == ("False", "BindingError")
        assert told.message == "the disk is full; binding is tried again in 4 s"
        clock.advance(1000)
        await here.settles()
        assert faulty.refused == 3


async def test_a_new_request_after_failures_starts_where_the_old_one_ended() -> None:
    clock = ManualClock()
    async with scheduler_world(clock=clock) as here:
        faulty = Faulty(here)
        faulty.refusing = "/binding"
        await here.start(component(), faulty)
        await here.node("n")
        pod = await here.pod("p", annotations={names.BIND_FAILURES: "5"})
        await here.request(pod, "n", backoffLimit=2)
        await here.settles()
        clock.advance(31)
        await here.settles()
        assert faulty.refused == 1
        clock.advance(1.1)
        faulty.refusing = ""
        await here.settles()
        assert (await here.get_pod("p")).spec.node_name == "n"
        assert await here.messages("Bound") == ["Pod bound successfully to node n"]


async def test_a_bind_whose_answer_was_lost_is_found_to_have_happened() -> None:
    class Forgetful(Faulty):
        async def send(self, request: Request) -> Response:
            answer = await self._inner.send(request)
            if "/binding" in request.path:
                self.refused += 1
                return Response(504, b'{"kind":"Status","code":504,"message":"no answer"}', JSON)
            return answer

    async with scheduler_world() as here:
        await here.start(component(), Forgetful(here))
        await here.node("n")
        await here.request(await here.pod("p"), "n")
        await here.settles()
        assert (await here.get_request("p")).status.phase == "Succeeded"
        assert names.BIND_FAILURES not in (await here.get_pod("p")).annotations


async def test_a_pod_deleted_before_its_bind_leaves_a_settled_request() -> None:
    async with scheduler_world() as here:
        await here.node("n")
        pod = await here.pod("p")
        await here.request(pod, "n")
        await here.client.delete(POD, "p", SPACE, grace=0)
        await here.start(component())
        await here.settles()
        assert (await here.get_request("p")).status.reason == "pod work/p does not exist"


async def test_a_node_that_goes_under_a_bind_fails_the_request_for_good() -> None:
    async with scheduler_world() as here:
        await here.node("n")
        await here.request(await here.pod("p"), "n", backoffLimit=3)
        await here.client.delete(NODE, "n")
        await here.start(component())
        await here.settles()
        status = (await here.get_request("p")).status
        assert (status.phase, status.failed_attempts) == ("Failed", 3)


async def _bound(here: SchedulerWorld, pod: str) -> bool:
    return bool((await here.get_pod(pod)).spec.node_name)


async def test_in_a_crowd_a_pod_is_bound_first_and_its_request_says_so_later_if_need_be_by_another_binder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)
    async with scheduler_world(component()) as here:
        await here.node("n")
        lanes = here.managers["binder"].context.writer.lanes
        for _ in range(AT_ONCE):
            lanes.begin()
        await here.request(await here.pod("p"), "n")
        await until(lambda: _bound(here, "p"))
        assert (await here.get_request("p")).status.phase != "Succeeded"
        assert not here.managers["binder"].idle
        await here.kill("binder")
        await here.start(component())
        await here.settles()
        assert (await here.get_request("p")).status.phase == "Succeeded"


async def test_the_report_of_a_bind_has_its_turn() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        lanes = here.managers["binder"].context.writer.lanes
        for _ in range(AT_ONCE):
            lanes.begin()
        await here.request(await here.pod("p"), "n")
        await here.settles()
        assert (await here.get_pod("p")).spec.node_name == "n"
        assert (await here.get_request("p")).status.phase == "Succeeded"
        assert not lanes.calm
