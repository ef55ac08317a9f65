"""The scheduler half in trouble: components die, servers err, watches end, others interfere.

What must hold in all of it: no pod is lost, none is bound twice, no GPU is given away twice, nothing is left behind,
and a gang is completed, retried or given back, and says which.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from embedded import until
from faults.trouble import Trouble
from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, CONFIG_MAP, NODE, POD
from gangline.api.resources import units
from gangline.binder.component import component as binder
from gangline.binder.settings import BinderSettings
from gangline.controllers.component import pod_group_controller, queue_controller
from gangline.runtime import Component, Manager
from gangline.runtime.leading.election import Elected, Election
from gangline.runtime.leading.lease import ElectionSettings
from gangline.scheduler.loop.component import component as scheduler
from gangline.scheduler.thought.options import SchedulerOptions
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

QUICK = BinderSettings(first_delay=0.01, longest_delay=0.05)


def shard() -> Component:
    return scheduler(options=SchedulerOptions(period=0.01))


async def booked(here: SchedulerWorld) -> Counter[str]:
    """GPUs held on each node by pods that are alive."""
    held: Counter[str] = Counter()
    for pod in (await here.client.list(POD, SPACE)).items:
        if pod.spec.node_name and pod.status.phase not in ("Succeeded", "Failed"):
            held[pod.spec.node_name] += units(pod.spec.containers[0].resources.requests.get(names.NVIDIA_GPU, 0))
    return held


async def all_bound(here: SchedulerWorld, number: int, seconds: float = 60) -> None:
    async def done() -> bool:
        return len(await here.placed()) == number

    await until(done, f"{number} pods to be bound", seconds)


async def check(here: SchedulerWorld) -> None:
    """Nothing over-booked, and no request left."""
    assert max((await booked(here)).values(), default=0) <= 8

    async def carried_out() -> bool:
        return not (await here.client.list(BIND_REQUEST)).items

    await until(carried_out, "every request to be carried out and removed")


@pytest.mark.parametrize("seed", range(4))
async def test_gangs_are_completed_though_one_answer_in_five_is_an_error_on_every_verb(seed: int) -> None:
    async with scheduler_world() as here:
        for number in range(3):
            await here.node(f"n{number}")
        lines = [Trouble(here, seed * 10 + number) for number in range(4)]
        parts = (shard(), binder(QUICK), pod_group_controller(), queue_controller())
        for part, line in zip(parts, lines, strict=True):
            await here.start(part, line)
        for number in range(4):
            await here.gang(f"g{number}", 3, gpus=2)
        await all_bound(here, 12)
        for line in lines:
            line.rate = 0.0
        await check(here)
        assert sum(line.troubles for line in lines) > 10


@pytest.mark.parametrize("name", ["scheduler", "binder"])
@pytest.mark.parametrize("wait", range(0, 40, 8))
async def test_a_component_killed_at_any_moment_and_started_again_loses_and_doubles_nothing(
    name: str, wait: int
) -> None:
    async with scheduler_world(shard(), binder(QUICK)) as here:
        for number in range(2):
            await here.node(f"n{number}")
        for number in range(4):
            await here.gang(f"g{number}", 2, gpus=2)
        for _ in range(wait):
            await asyncio.sleep(0)
        await here.kill(name)
        await here.start(shard() if name == "scheduler" else binder(QUICK))
        await all_bound(here, 8)
        await check(here)


async def test_of_two_schedulers_of_one_shard_started_at_once_one_works_and_the_other_takes_over() -> None:
    async with scheduler_world(binder(QUICK)) as here:
        for number in range(2):
            await here.node(f"n{number}")

        def candidate(name: str) -> Elected:
            settings = ElectionSettings(
                "kai-scheduler", names.KAI_NAMESPACE, name, retry=0.05, deadline=60.0, duration=90.0
            )
            return Elected(
                lambda: Manager(shard(), here.client, here.clock), Election(here.client, here.clock, settings)
            )

        both = [candidate("one"), candidate("two")]
        await asyncio.gather(*(item.start() for item in both))
        for number in range(4):
            await here.gang(f"g{number}", 1, gpus=2)
        await all_bound(here, 4)
        assert sorted(item.leads for item in both) == [False, True]
        leader = next(item for item in both if item.leads)
        await leader.stop()
        for number in range(4, 8):
            await here.gang(f"g{number}", 1, gpus=2)
        await all_bound(here, 8)
        await check(here)
        for item in both:
            await item.stop()


async def test_a_node_taken_by_another_scheduler_is_seen_and_the_gang_goes_elsewhere() -> None:
    async with scheduler_world(shard(), binder(QUICK)) as here:
        await here.node("n0")
        await here.pod("foreign", gpus=8, schedulerName="other-scheduler", nodeName="n0")
        await here.run("foreign")
        await here.gang("g", 1, gpus=4)
        await here.settles()
        assert "g-0" not in await here.placed()
        await here.node("n1")
        await here.settles()
        assert (await here.placed())["g-0"] == "n1"


async def test_a_pod_deleted_between_decision_and_bind_leaves_no_request_that_loops() -> None:
    async with scheduler_world(shard()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=1)
        await here.settles()
        await here.client.delete(POD, "g-0", SPACE, grace=0)
        await here.start(binder(QUICK))
        await here.settles()
        assert await here.placed() == {"g-1": "n0"}
        assert (await here.client.list(BIND_REQUEST)).items == []


async def test_a_node_deleted_under_a_bind_gives_the_gang_back_to_the_scheduler() -> None:
    async with scheduler_world(shard()) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=4)
        await here.settles()
        await here.client.delete(NODE, "n0")
        await here.start(binder(QUICK))
        await here.node("n1")
        await all_bound(here, 2)
        assert set((await here.placed()).values()) == {"n1"}


async def test_a_pod_made_again_under_the_same_name_is_not_bound_by_the_old_request() -> None:
    async with scheduler_world(shard()) as here:
        await here.node("n0")
        await here.gang("g", 1, gpus=8)
        await here.settles()
        await here.client.delete(POD, "g-0", SPACE, grace=0)
        again = await here.pod("g-0", group="g", gpus=8)
        await here.start(binder(QUICK))

        async def bound() -> bool:
            pod = await here.get_pod("g-0")
            return pod.uid == again.uid and pod.spec.node_name == "n0"

        await until(bound, "the new pod to be bound")


async def test_a_pod_whose_binds_fail_waits_longer_each_time_and_the_gang_says_so() -> None:
    """Upstream's hot loop: one failure, one new request, every cycle. Here the requests become rare."""
    async with scheduler_world(shard()) as here:
        line = Trouble(here, 1, rate=0.0)
        send = line.send

        async def refuse(request: object) -> object:
            line.rate = 1.0 if getattr(request, "path", "").endswith("/binding") else 0.0
            return await send(request)  # type: ignore[arg-type]

        line.send = refuse  # type: ignore[assignment, method-assign]
        await here.start(binder(BinderSettings(first_delay=0.05, longest_delay=1000)), line)
        await here.node("n0")
        await here.gang("g", 1, gpus=1)

        async def failed() -> bool:
            return int((await here.get_pod("g-0")).annotations.get(names.BIND_FAILURES, "0")) >= 4

        await until(failed, "four failures")
        pod = await here.get_pod("g-0")
        told = {condition.type: condition.message for condition in pod.status.conditions}
        assert "binding is tried again in" in told["PodBound"]
        assert len(await here.messages("BindingError")) >= 2


@pytest.mark.parametrize("seed", range(2))
async def test_shared_gpus_survive_trouble_and_nothing_is_left_behind(seed: int) -> None:
    async with scheduler_world() as here:
        await here.node("n0")
        lines = [Trouble(here, seed * 10 + number, rate=0.1) for number in range(2)]
        await here.start(shard(), lines[0])
        await here.start(binder(QUICK), lines[1])
        for number in range(4):
            await here.group(f"s{number}")
            await here.pod(
                f"s{number}",
                group=f"s{number}",
                annotations={names.GPU_FRACTION: "0.5", names.SHARED_GPU_CONFIG_MAP: f"s{number}-x-shared-gpu"},
            )

        async def bound() -> bool:
            await play_device_plugin(here)
            return len(await here.placed()) == 4

        await until(bound, "all sharers to be bound")
        for line in lines:
            line.rate = 0.0
        groups = Counter([(await here.get_pod(f"s{number}")).labels[names.GPU_GROUP] for number in range(4)])
        assert max(groups.values()) <= 2
        for number in range(4):
            await here.run(f"s{number}", "Succeeded")

        async def clean() -> bool:
            return not (await here.client.list(POD, names.RESERVATION_NAMESPACE)).items

        await until(clean, "the reservations to go")
        owned = [
            item for item in (await here.client.list(CONFIG_MAP, SPACE)).items if not item.metadata.owner_references
        ]
        assert owned == []


async def play_device_plugin(here: SchedulerWorld) -> None:
    held = (await here.client.list(POD, names.RESERVATION_NAMESPACE)).items
    for number, pod in enumerate(held):
        if names.RESERVED_GPU not in pod.annotations:
            device = f"GPU-{number}-{pod.name[-4:]}"
            await here.client.patch(
                POD, pod.name, pod.namespace, {"metadata": {"annotations": {names.RESERVED_GPU: device}}}
            )
            await here.client.patch(
                POD, pod.name, pod.namespace, {"status": {"phase": "Running"}}, subresource="status"
            )
