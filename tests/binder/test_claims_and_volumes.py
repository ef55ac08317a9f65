"""Devices and volumes before a bind: what is written, what is waited for, and that a failed bind leaves them as they
were."""

from __future__ import annotations

from typing import Any

from gangline.api.kinds import POD, PV, PVC, RESOURCE_CLAIM, STORAGE_CLASS
from gangline.api.meta import Raw
from gangline.binder.component import component
from gangline.binder.plugins.claims import released, reserved
from gangline.binder.plugins.volumes import SELECTED_NODE
from gangline.client import InProcess, Request, Response, User
from gangline.client.wire import JSON
from gangline.runtime import ManualClock
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

ALLOCATION: Raw = {
    "devices": {"results": [{"request": "r", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}]}
}
DEVICES = {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "count": 1}}]}


async def claim(here: SchedulerWorld, name: str = "c") -> None:
    await here.client.create(
        RESOURCE_CLAIM, {"metadata": {"name": name, "namespace": SPACE}, "spec": {"devices": DEVICES}}
    )


async def status_of(here: SchedulerWorld, name: str = "c") -> Raw:
    found: Raw = (await here.client.get_raw(RESOURCE_CLAIM, name, SPACE)).get("status") or {}
    return found


class NoBinding:
    """A server that refuses every bind."""

    def __init__(self, here: SchedulerWorld) -> None:
        self._inner = InProcess(here.server.handle, User("binder", ("system:masters",)))

    async def send(self, request: Request) -> Response:
        if request.path.endswith("/binding"):
            return Response(500, b'{"kind":"Status","code":500,"message":"no binds today"}', JSON)
        return await self._inner.send(request)

    async def close(self) -> None:
        return None


async def request_with_claim(here: SchedulerWorld, name: str = "p", **spec: Any) -> None:
    pod = await here.pod(name, resourceClaims=[{"name": "x", "resourceClaimName": "c"}])
    await here.request(pod, "n", resourceClaimAllocations=[{"name": "x", "allocation": ALLOCATION}], **spec)


async def test_a_claim_gets_its_devices_and_its_user_before_the_bind() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        await claim(here)
        await request_with_claim(here)
        await here.settles()
        pod, status = await here.get_pod("p"), await status_of(here)
        assert pod.spec.node_name == "n"
        assert status["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
        assert [(item["name"], item["uid"]) for item in status["reservedFor"]] == [("p", pod.uid)]


async def test_a_second_user_of_a_claim_shares_the_allocation_that_is_there() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        await claim(here)
        for name in ("p", "q"):
            await request_with_claim(here, name)
            await here.settles()
        assert [item["name"] for item in (await status_of(here))["reservedFor"]] == ["p", "q"]


async def test_a_failed_bind_gives_the_devices_back() -> None:
    async with scheduler_world() as here:
        await here.start(component(), NoBinding(here))
        await here.node("n")
        await claim(here)
        await request_with_claim(here)
        await here.settles()
        assert (await here.get_request("p")).status.phase == "Failed"
        status = await status_of(here)
        assert not status.get("reservedFor") and not status.get("allocation")


def test_whoever_leaves_a_shared_claim_leaves_it_to_the_others() -> None:
    one, two = {"resource": "pods", "name": "p", "uid": "1"}, {"resource": "pods", "name": "q", "uid": "2"}
    both = reserved(reserved({}, one, ALLOCATION) or {}, two, {"devices": {}})
    assert both is not None and both["allocation"] == ALLOCATION and both["reservedFor"] == [one, two]
    assert reserved(both, one, ALLOCATION) is None
    assert released(both, one) == {"allocation": ALLOCATION, "reservedFor": [two]}
    assert released(released(both, one) or {}, two) == {}
    assert released({}, one) is None


async def test_an_extended_resource_gets_a_claim_of_its_own_and_loses_it_when_the_bind_fails() -> None:
    given = {
        "allocation": ALLOCATION,
        "deviceRequests": DEVICES["requests"],
        "containerMappings": [{"containerName": "main", "resourceName": "example.com/gpu", "requestName": "r"}],
    }
    async with scheduler_world(component()) as here:
        await here.node("n")
        await here.request(await here.pod("p"), "n", extendedResourceClaimAllocation=given)
        await here.settles()
        (made,) = (await here.client.list(RESOURCE_CLAIM, SPACE)).items
        assert made.name.startswith("p-extended-resources-")
        pod = await here.get_pod("p")
        assert pod.status.extended_resource_claim_status == {
            "resourceClaimName": made.name,
            "requestMappings": given["containerMappings"],
        }
        await here.kill("binder")
        await here.start(component(), NoBinding(here))
        await here.request(await here.pod("q"), "n", extendedResourceClaimAllocation=given)
        await here.settles()
        assert [item.name for item in (await here.client.list(RESOURCE_CLAIM, SPACE)).items] == [made.name]
        assert (await here.get_pod("q")).status.extended_resource_claim_status is None


# --- volumes ----------------------------------------------------------------------------------------------------------


async def storage(here: SchedulerWorld, provisioner: str = "disk.example.com") -> None:
    await here.client.create(
        STORAGE_CLASS,
        {"metadata": {"name": "late"}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"},
    )
    await here.client.create(
        PVC,
        {
            "metadata": {"name": "data", "namespace": SPACE},
            "spec": {
                "storageClassName": "late",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "10Gi"}},
            },
        },
    )


async def pod_with_volume(here: SchedulerWorld) -> None:
    pod = await here.pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    await here.request(pod, "n", backoffLimit=1)


async def bind_claim(here: SchedulerWorld, volume: str) -> None:
    """What the volume controller of a cluster does."""
    await here.client.patch(PVC, "data", SPACE, {"spec": {"volumeName": volume}})
    await here.client.patch(PVC, "data", SPACE, {"status": {"phase": "Bound"}}, subresource="status")


def volume(name: str, size: str, node: str) -> Raw:
    here = {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
        ]
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "storageClassName": "late",
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "local": {"path": "/data"},
            "nodeAffinity": {"required": here},
        },
    }


async def test_a_claim_that_waits_for_its_first_user_is_told_the_node_and_waited_for() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n", kubernetes_io__hostname="n")
        await storage(here)
        await pod_with_volume(here)
        await here.settles()
        assert (await here.get_pod("p")).spec.node_name == ""
        assert (await here.client.get(PVC, "data", SPACE)).annotations[SELECTED_NODE] == "n"
        await here.client.create(PV, volume("made", "10Gi", "n"))
        await bind_claim(here, "made")
        await here.settles()
        assert (await here.get_pod("p")).spec.node_name == "n"


async def test_the_smallest_free_volume_of_the_node_is_reserved_for_the_claim() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n", kubernetes_io__hostname="n")
        await storage(here, "kubernetes.io/no-provisioner")
        for name, size, node in (
            ("large", "99Gi", "n"),
            ("fits", "10Gi", "n"),
            ("small", "9Gi", "n"),
            ("far", "10Gi", "m"),
        ):
            await here.client.create(PV, volume(name, size, node))
            await here.client.patch(PV, name, "", {"status": {"phase": "Available"}}, subresource="status")
        await pod_with_volume(here)
        await here.settles()
        taken = {
            item["metadata"]["name"]: item["spec"].get("claimRef", {}).get("name")
            for item in await here.client.list_raw(PV)
        }
        assert taken == {"large": None, "fits": "data", "small": None, "far": None}
        await bind_claim(here, "fits")
        await here.settles()
        assert (await here.get_pod("p")).spec.node_name == "n"


async def test_a_volume_that_is_the_claims_already_is_not_written_again() -> None:
    """A binder that comes back goes on where the one before it stopped."""
    async with scheduler_world() as here:
        await here.node("n", kubernetes_io__hostname="n")
        await storage(here, "kubernetes.io/no-provisioner")
        await pod_with_volume(here)
        owner = await here.client.get(PVC, "data", SPACE)
        mine = volume("mine", "10Gi", "n")
        mine["spec"]["claimRef"] = {
            "kind": "PersistentVolumeClaim",
            "namespace": SPACE,
            "name": "data",
            "uid": owner.uid,
        }
        before = await here.client.create(PV, mine)
        await here.start(component())
        await here.settles()
        assert (await here.client.get(PV, "mine")).metadata.resource_version == before.metadata.resource_version
        await bind_claim(here, "mine")
        await here.settles()
        assert (await here.get_pod("p")).spec.node_name == "n"


async def test_a_claim_that_is_not_bound_in_time_fails_the_bind_and_forgets_the_node() -> None:
    clock = ManualClock()
    async with scheduler_world(component(), clock=clock) as here:
        await here.node("n", kubernetes_io__hostname="n")
        await storage(here)
        await pod_with_volume(here)
        for _ in range(25):
            await here.settles()
            clock.advance(5.001)
        await here.settles()
        assert (await here.get_request("p")).status.reason == "volume claims data were not bound in 120 s"
        assert SELECTED_NODE not in (await here.client.get(PVC, "data", SPACE)).annotations


async def test_a_node_that_cannot_reach_the_volume_is_refused_for_good() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n", kubernetes_io__hostname="n")
        await storage(here)
        await here.client.create(PV, volume("far", "10Gi", "m"))
        await bind_claim(here, "far")
        await pod_with_volume(here)
        await here.settles()
        assert (await here.get_request("p")).status.reason == "volume far of claim data cannot be reached from node n"
        assert (await here.client.get(POD, "p", SPACE)).spec.node_name == ""
