"""The scheduler's shell on an embedded server, with a real binder beside it: what is written, and what never is."""

from __future__ import annotations

import asyncio
import json

from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, NODE, POD, POD_GROUP, QUEUE
from gangline.api.meta import Raw, condition
from gangline.binder.component import component as binder
from gangline.runtime import Component
from gangline.scheduler.loop.component import component as scheduler
from gangline.scheduler.thought.options import SchedulerOptions
from scheduler_world import SPACE, scheduler_world


def fast(**options: object) -> Component:
    return scheduler(options=SchedulerOptions(period=0.01, **options))  # type: ignore[arg-type]


async def test_a_gang_that_fits_is_bound_whole() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.node("n1")
        await here.gang("g", 4, gpus=4)
        await here.settles()
        assert sorted((await here.placed()).values()) == ["n0", "n0", "n1", "n1"]
        assert await here.messages("Scheduled") == ["assigned 4 pods to 2 nodes: n0, n1"]
        pod = await here.get_pod("g-0")
        assert pod.annotations[names.PLACED] == "by allocate at node-pool default, together with 3 more pods of g"
        assert (await here.client.list(BIND_REQUEST)).items == []


async def test_what_a_cycle_places_of_a_gang_is_one_request_that_says_gang_pods_and_nodes() -> None:
    async with scheduler_world(fast()) as here:
        await here.node("n0")
        await here.node("n1")
        await here.gang("g", 4, gpus=4)
        await here.settles()
        (request,) = await here.client.list_raw(BIND_REQUEST, SPACE)
        assert request["metadata"]["ownerReferences"][0]["name"] == "g"
        spec = request["spec"]
        assert (spec["gang"], spec["podCount"], spec["nodeCount"]) == ("g", 4, 2)
        assert "podName" not in spec and "selectedNode" not in spec
        assert sorted(order["podName"] for order in spec["pods"]) == ["g-0", "g-1", "g-2", "g-3"]


async def test_pods_that_stand_for_themselves_and_need_nothing_prepared_share_a_request() -> None:
    async with scheduler_world() as here:
        await here.node("n0")
        for number in range(3):
            await here.group(f"s{number}")
            await here.pod(f"s{number}", group=f"s{number}", gpus=1)
        await here.start(fast())
        await here.settles()
        (request,) = (await here.client.list(BIND_REQUEST, SPACE)).items
        assert request.spec.gang == "" and sorted(await here.ordered()) == ["s0", "s1", "s2"]
        await here.start(binder())
        await here.settles()
        assert len(await here.placed()) == 3
        assert (await here.get_pod("s0")).annotations[names.PLACED] == "by allocate at node-pool default"
        assert await here.messages("Scheduled") == [] and (await here.client.list(BIND_REQUEST)).items == []


async def test_in_upstreams_form_each_pod_has_a_request_that_stays_and_an_event() -> None:
    async with scheduler_world(fast(request_per_pod=True), binder()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=4)
        await here.settles()
        made = {item.name: item.status.phase for item in (await here.client.list(BIND_REQUEST)).items}
        assert made == {"g-0": "Succeeded", "g-1": "Succeeded"}
        assert sorted(await here.messages("Scheduled")) == [
            f"Successfully assigned pod work/g-{number} to node n0 at node-pool default" for number in range(2)
        ]


async def test_a_request_whose_last_pod_goes_before_its_bind_goes_too() -> None:
    async with scheduler_world(fast()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=1)
        await here.settles()
        for number in range(2):
            assert len((await here.client.list(BIND_REQUEST)).items) == 1
            await here.client.delete(POD, f"g-{number}", SPACE, grace=0)
            await here.settles()
        assert (await here.client.list(BIND_REQUEST)).items == []


async def test_a_gang_that_does_not_fit_waits_whole_and_says_why_in_three_places() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.gang("g", 3, gpus=4)
        await here.settles()
        assert await here.placed() == {}
        group = await here.get_group("g")
        (told,) = group.status.scheduling_conditions
        assert (told.type, told.status, told.node_pool) == ("UnschedulableOnNodePool", "True", "default")
        assert "Resources were found for 2 pods while 3 are required for gang scheduling" in told.message
        pod = condition((await here.get_pod("g-0")).status.conditions, "PodScheduled")
        assert pod is not None and (pod.status, pod.reason) == ("False", "Unschedulable")
        assert await here.messages("Unschedulable")
        verdict = json.loads(group.annotations[names.VERDICT])
        assert verdict["headline"].startswith("g waits: ")
        assert verdict["remedies"]


async def test_a_waiting_gang_starts_when_its_last_node_arrives_and_its_condition_goes() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.gang("g", 3, gpus=4)
        await here.settles()
        await here.node("n1")
        await here.settles()
        assert len(await here.placed()) == 3
        assert (await here.get_group("g")).status.scheduling_conditions == ()
        assert names.VERDICT not in (await here.get_group("g")).annotations


async def test_a_gang_with_too_few_pods_is_told_what_it_waits_for_and_nothing_else() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=1, minimum=3)
        await here.settles()
        assert await here.placed() == {}
        assert await here.messages("NotReady") == [
            "Job is not ready for scheduling. Waiting for 1 more pods (2 of 3 are there)"
        ]
        assert (await here.get_group("g")).status.scheduling_conditions == ()


async def test_a_gang_that_is_nested_too_deep_waits_and_others_start() -> None:
    nested: list[Raw] = [
        {"name": f"g{place}", **({"parent": f"g{place - 1}"} if place else {})} for place in range(500)
    ]
    nested[-1]["minMember"] = 1
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.group("deep", subGroups=nested)
        await here.pod("deep-0", group="deep", gpus=1)
        await here.gang("g", 2, gpus=1)
        await here.settles()
        assert set(await here.placed()) == {"g-0", "g-1"}
        told = (await here.get_group("deep")).status.scheduling_conditions
        assert [item.message for item in told] == [
            "PodSchedulingErrors: sub-groups are nested more than 64 levels deep."
        ]


async def test_nothing_runs_while_nothing_changes() -> None:
    async with scheduler_world(fast()) as here:
        await here.node("n0")
        await here.gang("g", 3, gpus=4)
        await here.settles()
        before = here.server.revision
        for _ in range(20):
            await asyncio.sleep(0)
        await here.settles()
        assert here.server.revision == before


async def test_without_a_binder_a_pod_is_requested_once_and_its_room_stays_booked() -> None:
    async with scheduler_world(fast()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=4)
        await here.settles()
        await here.gang("h", 1, gpus=4)
        await here.settles()
        assert sorted(await here.ordered()) == ["g-0", "g-1"]


async def test_a_restarted_scheduler_sees_what_was_requested_before() -> None:
    async with scheduler_world(fast()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=4)
        await here.settles()
        await here.kill("scheduler")
        await here.gang("h", 1, gpus=4)
        await here.start(fast())
        await here.settles()
        assert sorted(await here.ordered()) == ["g-0", "g-1"]


async def test_a_queue_takes_back_its_share_and_the_evicted_gang_says_for_whom() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.queue("top", gpus=8)
        await here.queue("a", "top", gpus=4)
        await here.queue("b", "top", gpus=4)
        for number in range(2):
            await here.gang(f"a{number}", 1, gpus=4, queue="a")
        await here.settles()
        for name in await here.placed():
            await here.run(name)
        await here.gang("b0", 1, gpus=4, queue="b")
        await here.settles()
        leaving = [pod.name for pod in (await here.client.list(POD, SPACE)).items if pod.metadata.deleting]
        gone = {"a0-0", "a1-0", "b0-0"} - {pod.name for pod in (await here.client.list(POD, SPACE)).items}
        assert len(leaving) + len(gone) == 1
        assert len(await here.messages("Evict")) == 1


async def test_a_request_whose_node_vanished_is_withdrawn_and_the_pod_placed_elsewhere() -> None:
    async with scheduler_world(fast()) as here:
        await here.node("n0")
        await here.gang("g", 1, gpus=8)
        await here.settles()
        await here.client.delete(NODE, "n0")
        await here.node("n1")
        await here.settles()
        assert (await here.ordered())["g-0"].selected_node == "n1"


async def test_only_the_nodes_queues_and_groups_of_its_own_pool_are_used() -> None:
    async with scheduler_world(fast(node_pool="blue"), binder()) as here:
        await here.node("n0")
        await here.gang("g", 1)
        await here.settles()
        assert await here.placed() == {}


async def test_when_a_gang_started_is_written_only_where_it_matters() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.gang("g", 1)
        await here.settles()
        assert names.LAST_START not in (await here.get_group("g")).annotations
        await here.client.patch(QUEUE, names.DEFAULT_QUEUE, "", {"spec": {"reclaimMinRuntime": "10m"}})
        await here.settles()
        assert names.LAST_START in (await here.get_group("g")).annotations


async def test_in_upstreams_manner_every_start_is_written() -> None:
    async with scheduler_world(fast(stamp_every_start=True), binder()) as here:
        await here.node("n0")
        await here.gang("g", 1)
        await here.settles()
        assert names.LAST_START in (await here.get_group("g")).annotations


async def test_a_pod_that_is_not_marked_yet_is_placed_with_the_group_made_for_it_and_marked_by_its_bind() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        pod = await here.pod("alone", gpus=1)
        await here.pod("stranger", gpus=1)
        await here.settles()
        assert await here.placed() == {}
        group = names.kai_pod_group(pod.name, pod.uid)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
        await here.client.create(
            POD_GROUP,
            {
                "metadata": {"name": group, "namespace": SPACE, "ownerReferences": [owner]},
                "spec": {"queue": names.DEFAULT_QUEUE, "minMember": 1},
            },
        )
        await here.settles()
        assert await here.placed() == {"alone": "n0"}
        assert (await here.get_pod("alone")).annotations[names.POD_GROUP_NAME] == group
