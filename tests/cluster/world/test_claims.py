"""Who holds a claim's devices, and when they are free again: by the finalizer under which a scheduler allocated
them."""

from __future__ import annotations

from typing import Any

from cluster.world.simulated_world import SimulatedWorld, pod_spec, world
from cluster.world.test_controllers import TWO
from gangline.api.builtin import Untyped
from gangline.api.kinds import POD, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from gangline.api.meta import Raw
from gangline.cluster.world.scheduling.claim_rules import PROTECTION

ASKED: Raw = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}
GIVEN: Raw = {"devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}]}}


async def held(lived: SimulatedWorld, *pods: str, finalizers: tuple[str, ...] = (PROTECTION,)) -> None:
    """A claim as a scheduler leaves it: protected, allocated, reserved for pods that run."""
    await lived.make(RESOURCE_CLAIM, "c", {"spec": ASKED}, finalizers=list(finalizers))
    uids = {}
    for name in pods:
        uids[name] = (
            await lived.make(POD, name, pod_spec(resourceClaims=[{"name": "g", "resourceClaimName": "c"}]))
        ).uid
    reserved = [{"resource": "pods", "name": name, "uid": uid} for name, uid in uids.items()]
    await lived.client.patch(
        RESOURCE_CLAIM,
        "c",
        "default",
        {"status": {"allocation": GIVEN, "reservedFor": reserved or None}},
        subresource="status",
    )
    await lived.settles()


async def claim(lived: SimulatedWorld, name: str = "c") -> Untyped:
    return await lived.client.get(RESOURCE_CLAIM, name, "default")


async def status(lived: SimulatedWorld) -> dict[str, Any]:
    return (await claim(lived)).status or {}


async def test_the_last_pod_frees_the_devices_and_lifts_the_protection() -> None:
    async with world(TWO) as lived:
        await held(lived, "a", "b", finalizers=(PROTECTION, "example.com/mine"))
        await lived.client.delete(POD, "a", "default")
        await lived.settles()
        assert [item["name"] for item in (await status(lived))["reservedFor"]] == ["b"]
        assert (await status(lived))["allocation"] == GIVEN
        assert PROTECTION in (await claim(lived)).metadata.finalizers
        await lived.client.delete(POD, "b", "default")
        await lived.settles()
        assert await status(lived) == {}
        assert (await claim(lived)).metadata.finalizers == ("example.com/mine",)


async def test_what_no_scheduler_allocated_is_not_freed() -> None:
    async with world(TWO) as lived:
        await held(lived, "a", finalizers=())
        await lived.client.delete(POD, "a", "default")
        await lived.settles()
        assert await status(lived) == {"allocation": GIVEN}


async def test_a_claim_that_nobody_reserved_yet_keeps_its_devices() -> None:
    async with world(TWO) as lived:
        await held(lived)
        assert await status(lived) == {"allocation": GIVEN}
        assert PROTECTION in (await claim(lived)).metadata.finalizers


async def test_a_deleted_claim_stays_as_long_as_a_pod_holds_it() -> None:
    async with world(TWO) as lived:
        await held(lived, "a")
        await lived.client.delete(RESOURCE_CLAIM, "c", "default")
        await lived.settles()
        assert (await claim(lived)).metadata.deleting and (await status(lived))["allocation"] == GIVEN
        await lived.client.delete(POD, "a", "default")
        await lived.settles()
        assert await lived.is_gone(RESOURCE_CLAIM, "c")


async def test_a_deleted_claim_that_nobody_holds_goes_with_its_allocation() -> None:
    async with world(TWO) as lived:
        await held(lived)
        await lived.client.delete(RESOURCE_CLAIM, "c", "default")
        await lived.settles()
        assert await lived.is_gone(RESOURCE_CLAIM, "c")


async def test_a_pod_that_succeeded_gives_its_claim_back_and_one_made_for_it_goes() -> None:
    async with world(TWO) as lived:
        await lived.make(RESOURCE_CLAIM_TEMPLATE, "gpu", {"spec": {"spec": ASKED}})
        await lived.make(
            POD,
            "p",
            pod_spec(restartPolicy="Never", resourceClaims=[{"name": "g", "resourceClaimTemplateName": "gpu"}]),
            annotations={"gangline.io/run-seconds": "5"},
        )
        await lived.settles()
        assert len((await lived.client.list(RESOURCE_CLAIM, "default")).items) == 1
        await lived.after(6)
        assert await lived.phases() == {"p": "Succeeded"}
        assert (await lived.client.list(RESOURCE_CLAIM, "default")).items == []


async def test_a_pod_deleted_before_it_had_a_node_gives_its_claim_back() -> None:
    async with world(TWO, off=("scheduler",)) as lived:
        await held(lived, "a")
        assert (await status(lived))["reservedFor"]
        await lived.client.patch(POD, "a", "default", {"metadata": {"finalizers": ["example.com/hold"]}})
        await lived.client.delete(POD, "a", "default")
        await lived.settles()
        assert await status(lived) == {} and (await claim(lived)).metadata.finalizers == ()
