"""Shared GPUs: reservation pods, labels and ConfigMaps, and that neither a crash nor a race leaves one behind or takes
one away."""

from __future__ import annotations

import pytest

from embedded import until
from faults.trouble import Dies
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import BIND_REQUEST, CONFIG_MAP, POD
from gangline.binder import reservation_pods, reservations
from gangline.binder.component import component
from gangline.binder.plugins import build
from gangline.binder.plugins.hami import memory_limit
from gangline.binder.settings import DEFAULTS, BinderPluginSetting, BinderSettings
from gangline.client import Client, InProcess, Request, Response, User
from gangline.errors import ConfigError
from gangline.runtime import Context, ManualClock
from gangline.runtime.writer import Writer
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

HELD = names.RESERVATION_NAMESPACE
SHARE = {names.GPU_FRACTION: "0.5", names.SHARED_GPU_CONFIG_MAP: "p-abc-shared-gpu"}


async def share(here: SchedulerWorld, name: str = "p", group: str = "g1", **spec: object) -> Pod:
    noted = {names.GPU_FRACTION: "0.5", names.SHARED_GPU_CONFIG_MAP: f"{name}-abc-shared-gpu"}
    pod = await here.pod(name, annotations=noted)
    await here.request(
        pod,
        "n",
        receivedResourceType="Fraction",
        selectedGPUGroups=[group],
        receivedGPU={"count": 1, "portion": "0.50"},
        **spec,
    )
    return pod


async def reservations_of(here: SchedulerWorld) -> list[Pod]:
    return (await here.client.list(POD, HELD)).items


async def report(here: SchedulerWorld, device: str = "GPU-1") -> None:
    """What the device plugin of a node does: the reservation pod runs and says which GPU it got."""

    async def there() -> bool:
        return await played_device_plugin(here, device)

    await until(there, "a reservation pod")


async def played_device_plugin(here: SchedulerWorld, device: str = "GPU-1") -> bool:
    held = await reservations_of(here)
    for pod in held:
        if names.RESERVED_GPU not in pod.annotations:
            await here.client.patch(POD, pod.name, HELD, {"metadata": {"annotations": {names.RESERVED_GPU: device}}})
            await here.client.patch(POD, pod.name, HELD, {"status": {"phase": "Running"}}, subresource="status")
    return bool(held)


async def test_a_pod_on_a_part_of_a_gpu_gets_a_reserved_device_and_sees_only_that() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        await share(here)
        await here.settles()
        assert (await here.get_pod("p")).spec.node_name == ""
        await report(here)
        await here.settles()
        pod = await here.get_pod("p")
        assert (pod.spec.node_name, pod.labels[names.GPU_GROUP]) == ("n", "g1")
        capabilities = await here.client.get(CONFIG_MAP, "p-abc-shared-gpu-0", SPACE)
        direct = await here.client.get(CONFIG_MAP, "p-abc-shared-gpu-0-evar", SPACE)
        assert capabilities.data == {"GPU_PORTION": "0.50", "RUNAI_NUM_OF_GPUS": "0.50"}
        assert direct.data == {"NVIDIA_VISIBLE_DEVICES": "GPU-1"}
        assert [owner_reference.uid for owner_reference in direct.metadata.owner_references] == [pod.uid]
        (held,) = await reservations_of(here)
        assert held.name == reservation_pods.pod_name("n", "g1")
        assert held.spec.containers[0].resources.requests[names.NVIDIA_GPU] == "1"


async def test_a_second_sharer_uses_the_same_device_and_the_last_to_leave_gives_it_back() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        await share(here, "p")
        await report(here)
        await share(here, "q")
        await here.settles()
        assert len(await reservations_of(here)) == 1
        for name, left in (("p", 1), ("q", 0)):
            await here.run(name, "Succeeded")
            await here.client.delete(BIND_REQUEST, name, SPACE)
            await here.settles()
            assert len(await reservations_of(here)) == left


async def test_a_pod_on_several_shared_gpus_is_labelled_for_each_and_frees_them_when_it_ends() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        pod = await here.pod("p", annotations=SHARE | {names.GPU_FRACTION_DEVICES: "2"})
        await here.request(
            pod,
            "n",
            receivedResourceType="Fraction",
            selectedGPUGroups=["g1", "g2"],
            receivedGPU={"count": 2, "portion": "0.50"},
        )
        for device in ("GPU-1", "GPU-2"):
            await report(here, device)
            await here.settles()
        bound = await here.get_pod("p")
        assert dict(bound.labels) == {f"{names.GPU_GROUP}/g1": "g1", f"{names.GPU_GROUP}/g2": "g2"}
        assert (await here.client.get(CONFIG_MAP, "p-abc-shared-gpu-0-evar", SPACE)).data == {
            "NVIDIA_VISIBLE_DEVICES": "GPU-1,GPU-2"
        }
        await here.run("p", "Succeeded")
        await here.settles()
        assert await reservations_of(here) == []


async def test_a_reservation_that_never_reports_its_gpu_is_given_up_and_everything_undone() -> None:
    clock = ManualClock()
    async with scheduler_world(component(), clock=clock) as here:
        await here.node("n")
        await share(here)
        await here.settles()
        clock.advance(41)
        await here.settles()
        status = (await here.get_request("p")).status
        assert status.phase == "Failed"
        assert status.reason.endswith("did not get a GPU of node n in 40 s")
        assert await reservations_of(here) == []
        assert names.GPU_GROUP not in (await here.get_pod("p")).labels


async def test_no_gpu_is_reserved_while_the_cluster_grows() -> None:
    async with scheduler_world(component()) as here:
        await here.node("n")
        waiting = {
            "metadata": {"name": "work-x", "namespace": names.SCALE_NAMESPACE},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        await here.client.create(POD, waiting)
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        await here.client.patch(
            POD, "work-x", names.SCALE_NAMESPACE, {"status": {"conditions": [condition]}}, subresource="status"
        )
        await here.settles()
        await share(here)
        await here.settles()
        assert "the cluster is growing (scaling pod work-x waits)" in (await here.get_request("p")).status.reason


@pytest.mark.parametrize("writes", range(9))
async def test_a_binder_that_dies_after_any_write_loses_nothing_and_books_nothing_twice(writes: int) -> None:
    async with scheduler_world() as here:
        await here.node("n")
        dying = Dies(here, writes)
        await here.start(component(), dying)
        await share(here, backoffLimit=99)

        async def spent() -> bool:
            await played_device_plugin(here)
            return dying.left == 0 or (await here.get_request("p")).status.phase == "Succeeded"

        await until(spent, "the writes to be used up")
        await here.kill("binder")
        await here.start(component(BinderSettings(first_delay=0.01)))

        async def bound() -> bool:
            await played_device_plugin(here)
            return (await here.get_pod("p")).spec.node_name == "n"

        await until(bound, "the pod to be bound")
        await here.settles()
        assert (await here.get_request("p")).status.phase == "Succeeded"
        assert len(await reservations_of(here)) == 1
        assert len((await here.client.list(CONFIG_MAP, SPACE)).items) == 2
        await here.run("p", "Succeeded")
        await here.settles()
        assert await reservations_of(here) == []


async def test_a_leaving_sharer_cannot_take_the_gpu_from_one_that_arrives() -> None:
    """The clean-up looked and saw nobody; before it deletes, somebody touches the reservation."""
    async with scheduler_world() as here:
        await here.node("n")
        inner = InProcess(here.server.handle, User("binder", ("system:masters",)))

        class Arrives:
            async def send(self, request: Request) -> Response:
                if request.method == "DELETE":
                    touch = {"metadata": {"annotations": {reservation_pods.TOUCHED: "somebody"}}}
                    await here.client.patch(POD, "r", HELD, touch)
                return await inner.send(request)

            async def close(self) -> None:
                return None

        await here.client.create(
            POD,
            {
                "metadata": {"name": "r", "namespace": HELD, "labels": {names.GPU_GROUP: "g1"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        )
        client = Client(Arrives())
        context = Context(client, None, here.clock, None, Writer(client, here.clock))  # type: ignore[arg-type]
        await reservations.settle(context, "g1", DEFAULTS)
        assert len(await reservations_of(here)) == 1


async def test_a_pod_that_shares_a_gpu_nobody_holds_is_stopped() -> None:
    async with scheduler_world() as here:
        await here.node("n")
        await here.pod("p", labels={names.GPU_GROUP: "g1"}, nodeName="n")
        await here.run("p")
        await here.start(component())
        await here.settles()
        assert await here.messages("SharedGpuLost") == [
            "nothing holds the GPU of group g1 any more, so the pod must stop"
        ]


async def test_reservations_left_over_from_before_are_cleaned_up_at_start() -> None:
    async with scheduler_world() as here:
        await here.client.create(
            POD,
            {
                "metadata": {"name": "r", "namespace": HELD, "labels": {names.GPU_GROUP: "g1"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        )
        await here.start(component())
        await here.settles()
        assert await reservations_of(here) == []


def test_hami_limits_memory_to_the_pods_part_and_needs_gpu_sharing_before_it() -> None:
    assert memory_limit("8192", "0.25") == "2048m"
    assert memory_limit("", "0.25") is None and memory_limit("8192", "x") is None
    on = BinderPluginSetting(enabled=True)
    assert [item.name for item in build(BinderSettings(plugins={"hamicore": on}))][-2:] == ["gpusharing", "hamicore"]
    with pytest.raises(ConfigError, match="hamicore needs gpusharing, switched on and with a higher priority"):
        build(BinderSettings(plugins={"hamicore": on, "gpusharing": BinderPluginSetting(enabled=False)}))
    with pytest.raises(ConfigError, match="there is no nonsense; known are reservation, volumebinding"):
        build(BinderSettings(plugins={"nonsense": on}))


async def test_hami_tells_the_container_its_memory() -> None:
    async with scheduler_world(
        component(BinderSettings(plugins={"hamicore": BinderPluginSetting(enabled=True)}))
    ) as here:
        await here.node("n", nvidia_com__gpu_memory="8192")
        await share(here)
        await report(here)
        await here.settles()
        assert (await here.client.get(CONFIG_MAP, "p-abc-shared-gpu-0", SPACE)).data[
            "CUDA_DEVICE_MEMORY_LIMIT"
        ] == "4096m"


async def test_a_pod_for_a_whole_gpu_waits_for_a_reservation_that_nobody_uses_to_end() -> None:
    async with scheduler_world() as here:
        await here.node("n", gpus=1)
        held = {
            "name": "left",
            "namespace": HELD,
            "labels": {names.GPU_GROUP: "g1"},
            "finalizers": ["example.com/hold"],
        }
        await here.client.create(
            POD, {"metadata": held, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
        )
        await here.request(await here.pod("whole", gpus=1), "n")
        await here.start(component())
        await until(lambda: _leaving(here), "the reservation to be deleted")
        assert (await here.get_pod("whole")).spec.node_name == ""
        await here.client.patch(POD, "left", HELD, {"metadata": {"finalizers": None}})

        async def bound() -> bool:
            return (await here.get_pod("whole")).spec.node_name == "n"

        await until(bound, "the pod to be bound")


async def _leaving(here: SchedulerWorld) -> bool:
    return all(pod.metadata.deleting for pod in await reservations_of(here))


async def test_a_server_whose_clock_is_behind_ends_no_reservation_early() -> None:
    async with scheduler_world() as here:
        ahead = ManualClock(here.clock.now() + 120)
        here.clock = ahead
        await here.start(component())
        await here.node("n")
        await share(here)
        await here.settles()
        assert (await here.get_request("p")).status.reason == ""
        assert len(await reservations_of(here)) == 1
