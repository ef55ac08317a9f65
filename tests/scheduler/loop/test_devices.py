"""Devices of ResourceClaims: written into the request, and promised to nobody else before the binder has written them
down."""

from __future__ import annotations

from gangline.api import names
from gangline.api.kinds import BIND_REQUEST, DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_SLICE
from gangline.binder.component import component as binder
from gangline.runtime import Component
from gangline.scheduler.loop.component import component as scheduler
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

DRIVER = "gpu.example.com"


def fast() -> Component:
    return scheduler(period=0.01)


async def hardware(here: SchedulerWorld, node: str, devices: int) -> None:
    await here.node(node, gpus=0)
    await here.client.create(DEVICE_CLASS, {"metadata": {"name": DRIVER}, "spec": {}})
    await here.client.create(
        RESOURCE_SLICE,
        {
            "metadata": {"name": f"{node}-gpus"},
            "spec": {
                "driver": DRIVER,
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"gpu-{number}"} for number in range(devices)],
            },
        },
    )


async def user(here: SchedulerWorld, name: str) -> None:
    """A pod with a claim of its own for one device."""
    meta = {"name": name, "namespace": SPACE, "labels": {names.QUEUE: names.DEFAULT_QUEUE}}
    wanted = [{"name": "r", "exactly": {"deviceClassName": DRIVER, "count": 1}}]
    await here.client.create(RESOURCE_CLAIM, {"metadata": meta, "spec": {"devices": {"requests": wanted}}})
    await here.group(name)
    await here.pod(name, group=name, resourceClaims=[{"name": "x", "resourceClaimName": name}])


async def requested(here: SchedulerWorld) -> list[str]:
    return sorted(await here.ordered())


async def test_the_chosen_device_stands_in_the_request_and_then_in_the_claim() -> None:
    async with scheduler_world(fast()) as here:
        await hardware(here, "n0", 2)
        await user(here, "a")
        await here.settles()
        (promised,) = (await here.ordered())["a"].resource_claim_allocations
        given = promised["allocation"]["devices"]["results"][0]
        await here.start(binder())
        await here.settles()
        assert (given["driver"], given["pool"], given["request"]) == (DRIVER, "n0", "r")
        claim = await here.client.get_raw(RESOURCE_CLAIM, "a", SPACE)
        assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == given["device"]
        assert (await here.get_pod("a")).spec.node_name == "n0"


async def test_a_device_on_its_way_to_one_claim_is_not_given_to_another_even_after_a_restart() -> None:
    async with scheduler_world(fast()) as here:
        await hardware(here, "n0", 1)
        await user(here, "a")
        await here.settles()
        assert await requested(here) == ["a"]
        await here.client.patch(RESOURCE_CLAIM, "a", SPACE, {"metadata": {"labels": {"touched": "yes"}}})
        await user(here, "b")
        await here.settles()
        assert await requested(here) == ["a"]
        await here.kill("scheduler")
        await here.start(fast())
        await here.settles()
        assert await requested(here) == ["a"]


async def test_a_withdrawn_request_gives_its_device_back() -> None:
    async with scheduler_world(fast()) as here:
        await hardware(here, "n0", 1)
        await user(here, "a")
        await here.settles()
        status = {"phase": "Failed", "reason": "test", "failedAttempts": 3}
        (first,) = (await here.client.list(BIND_REQUEST, SPACE)).items
        await here.client.patch(BIND_REQUEST, first.name, SPACE, {"status": status}, subresource="status")
        await here.client.patch(RESOURCE_CLAIM, "a", SPACE, {"metadata": {"labels": {"touched": "yes"}}})
        await here.settles()
        (second,) = (await here.client.list(BIND_REQUEST, SPACE)).items
        assert second.uid != first.uid and second.status.phase == ""
