"""Trouble at one named step: each verb refused in each way, a component dead after each of its writes, others faster
than we are.

test_faults.py has the same at random; here a failing case says which step it was.
"""

from __future__ import annotations

import pytest

from embedded import until
from faults.test_faults import QUICK, check, shard
from faults.trouble import TIMES_OUT, Dawdles, Dies, Refuses
from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, DEVICE_CLASS, NODE, POD, PRIORITY_CLASS, RESOURCE_CLAIM, RESOURCE_SLICE
from gangline.api.meta import condition
from gangline.binder.component import component as binder
from gangline.cluster.server.features import EXTENDED_RESOURCES
from gangline.controllers.component import pod_group_controller, queue_controller
from gangline.local import Platform
from journeys.story import Story, told
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

VERBS = ("create", "patch", "delete", "bind", "get", "list", "watch")
CODES = (409, 429, 500, 504, TIMES_OUT)


async def low_priority_pods_that_must_go(here: SchedulerWorld) -> None:
    """Two pods on the only node, and a gang of two that matters more: its start needs every verb."""
    await here.node("n0", gpus=2)
    await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "low"}, "value": 30})
    for name in ("old-0", "old-1"):
        await here.group(name, priorityClassName="low")
        await here.pod(name, group=name, gpus=1, nodeName="n0")
        await here.run(name)


async def the_gang_has_their_places(here: SchedulerWorld) -> None:
    async def taken() -> bool:
        for pod in (await here.client.list(POD, SPACE)).items:
            if pod.metadata.deleting:
                await here.client.delete(POD, pod.name, SPACE, grace=0)
        placed = await here.placed()
        return placed.get("new-0") == placed.get("new-1") == "n0"

    await until(taken, "the gang to have both places")
    await here.settles()
    assert sorted(await here.placed()) == ["new-0", "new-1"]
    await check(here)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("code", CODES)
async def test_a_verb_that_fails_a_few_times_delays_a_gang_and_no_more(verb: str, code: int) -> None:
    async with scheduler_world() as here:
        await low_priority_pods_that_must_go(here)
        lines = [Refuses(here, verb, code) for _ in range(4)]
        for part, line in zip((shard(), binder(QUICK), pod_group_controller(), queue_controller()), lines, strict=True):
            await here.start(part, line)
        await here.gang("new", 2, gpus=1)
        await the_gang_has_their_places(here)
        assert verb == "get" or any(line.left < 3 for line in lines)


@pytest.mark.parametrize("writes", range(8))
async def test_a_scheduler_that_dies_after_any_write_is_followed_by_one_that_ends_what_it_began(writes: int) -> None:
    async with scheduler_world(binder(QUICK)) as here:
        await low_priority_pods_that_must_go(here)
        dying = Dies(here, writes)
        await here.start(shard(), dying)
        await here.gang("new", 2, gpus=1)

        async def spent() -> bool:
            return dying.left == 0 or len(await here.placed()) == 2

        if writes < 5:
            await until(spent, "the writes to be used up")
        await here.kill("scheduler")
        await here.start(shard())
        await the_gang_has_their_places(here)


DRIVER = "gpu.example.com"


@pytest.mark.parametrize("writes", range(7))
async def test_a_binder_that_dies_after_any_write_makes_one_claim_for_extended_resources_and_gives_it_back(
    writes: int,
) -> None:
    async with scheduler_world(shard()) as here:
        here.server.settings.features = frozenset((EXTENDED_RESOURCES,))
        await here.node("n0", gpus=0)
        await here.client.create(
            DEVICE_CLASS, {"metadata": {"name": DRIVER}, "spec": {"extendedResourceName": "example.com/gpu"}}
        )
        await here.client.create(
            RESOURCE_SLICE,
            {
                "metadata": {"name": "n0-gpus"},
                "spec": {
                    "driver": DRIVER,
                    "nodeName": "n0",
                    "pool": {"name": "n0", "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}],
                },
            },
        )
        dying = Dies(here, writes)
        await here.start(binder(QUICK), dying)
        await here.group("p")
        asked = {"resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}}
        await here.pod("p", group="p", containers=[{"name": "main", "image": "i", **asked}])

        async def spent() -> bool:
            return dying.left == 0 or bool(await here.placed())

        await until(spent, "the writes to be used up")
        await here.kill("binder")
        await here.start(binder(QUICK))

        async def bound() -> bool:
            return bool(await here.placed())

        await until(bound, "the pod to be bound")
        await here.settles()
        (claim,) = (await here.client.list(RESOURCE_CLAIM, SPACE)).items
        pod = await here.get_pod("p")
        assert pod.status.extended_resource_claim_status is not None
        assert pod.status.extended_resource_claim_status["resourceClaimName"] == claim.name
        assert [item["uid"] for item in (claim.status or {})["reservedFor"]] == [pod.uid]


async def test_a_third_party_that_takes_the_node_between_decision_and_bind_costs_a_try_and_not_the_gang() -> None:
    """The kubelet turns our pods away; their Job makes new ones, which go where there is room."""
    async with told(moved=True, without=("binder",)) as story:
        assert isinstance(story.platform, Platform)
        await story.nodes(1, gpus=4)
        await story.apply("examples/03-job/train.yaml")
        await story.settles()
        assert {order.selected_node for item in await story.all(BIND_REQUEST) for order in item.spec.pods} == {"node-0"}
        await foreign(story, "node-0", gpus=4)
        await add_node(story)
        await story.platform.start_component("binder")
        await story.settles()

        async def elsewhere() -> bool:
            story.advance(10)
            pods = [pod for pod in await story.pods() if pod.name.startswith("train-") and pod.status.phase != "Failed"]
            return len(pods) == 4 and {pod.spec.node_name for pod in pods} == {"node-1"}

        await story.until(elsewhere, "four pods of the Job on the other node")
        turned_away = [pod for pod in await story.pods() if pod.status.phase == "Failed"]
        assert turned_away and all(pod.status.reason == "OutOfnvidia.com/gpu" for pod in turned_away)
        assert (await story.get_pod("intruder")).status.phase == "Running"


async def foreign(story: Story, node: str, gpus: int) -> None:
    wants = {"requests": {names.NVIDIA_GPU: str(gpus)}, "limits": {names.NVIDIA_GPU: str(gpus)}}
    await story.client.create(
        POD,
        {
            "metadata": {"name": "intruder", "namespace": "default"},
            "spec": {
                "schedulerName": "other-scheduler",
                "nodeName": node,
                "containers": [{"name": "c", "image": "i", "resources": wants}],
            },
        },
    )

    async def runs() -> bool:
        story.advance(1)
        return (await story.get_pod("intruder")).status.phase == "Running"

    await story.until(runs, "the other scheduler's pod to run")


async def add_node(story: Story) -> None:
    template = await story.client.get_raw(NODE, "node-0")
    meta = {"name": "node-1", "labels": template["metadata"]["labels"] | {"kubernetes.io/hostname": "node-1"}}
    await story.client.create(NODE, {"metadata": meta, "spec": {}, "status": template["status"]})
    await story.client.patch(NODE, "node-1", "", {"status": template["status"]}, subresource="status")


async def a_refusal_on_its_way(here: SchedulerWorld) -> Dawdles:
    """The scheduler has decided that pod g-0 does not fit, and what it writes of that has not arrived."""
    slow = Dawdles(here)
    await here.start(shard(), slow)
    await here.node("n0", gpus=1)
    await here.gang("g", 1, gpus=2)
    await until(slow.held.is_set, "the write to be held")
    return slow


async def test_a_refusal_that_arrives_late_does_not_say_of_a_placed_pod_that_it_has_no_place() -> None:
    async with scheduler_world(binder()) as here:
        slow = await a_refusal_on_its_way(here)
        await here.node("n1", gpus=2)
        await until(lambda: _has_node(here, "g-0"), "the pod to be placed")
        slow.go.set()
        await here.settles()
        found = condition((await here.get_pod("g-0")).status.conditions, "PodScheduled")
        assert found is not None and found.status == "True"


async def test_a_pod_that_changed_meanwhile_is_told_why_it_waits_all_the_same() -> None:
    async with scheduler_world(binder()) as here:
        slow = await a_refusal_on_its_way(here)
        await here.client.patch(POD, "g-0", SPACE, {"metadata": {"annotations": {"example.com/note": "new"}}})
        slow.go.set()
        await here.settles()
        found = condition((await here.get_pod("g-0")).status.conditions, "PodScheduled")
        assert found is not None and (found.status, found.reason) == ("False", "Unschedulable")


async def _has_node(here: SchedulerWorld, name: str) -> bool:
    return bool((await here.get_pod(name)).spec.node_name)
