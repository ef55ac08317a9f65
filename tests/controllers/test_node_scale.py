"""Scaling pods: whole-GPU pods that stand for parts of GPUs, made when needed, gone when not. With a small autoscaler
beside it."""

from __future__ import annotations

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import NODE, POD
from gangline.client import Client
from gangline.controllers.component import node_scale_adjuster
from gangline.controllers.scaling_pods import NodeScaleSettings, plan
from gangline.runtime import Again, Component, Context, Controller, Key, ManualClock, Watch, itself
from gangline.scheduler.loop.component import component as scheduler
from scheduler_world import SPACE, SchedulerWorld, scheduler_world

SCALE = names.SCALE_NAMESPACE


async def waiting(here: SchedulerWorld, name: str, **annotations: str) -> None:
    noted = {key.replace("_", "-"): value for key, value in annotations.items()}
    await here.pod(name, annotations=noted)
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    await here.client.patch(POD, name, SPACE, {"status": {"conditions": [said]}}, subresource="status")


async def scaling(here: SchedulerWorld) -> dict[str, str]:
    """Scaling pods by name, with the GPUs they ask for."""
    return {
        pod.name: str(pod.spec.containers[0].resources.requests[names.NVIDIA_GPU])
        for pod in (await here.client.list(POD, SCALE)).items
    }


async def test_two_halves_need_one_gpu_and_a_third_another() -> None:
    async with scheduler_world(node_scale_adjuster()) as here:
        for name in ("a", "b", "c"):
            await waiting(here, name, gpu_fraction="0.5")
            await here.settles()
        assert sorted(await scaling(here)) == ["work-a", "work-b"]
        (pod, *_) = (await here.client.list(POD, SCALE)).items
        said = pod.status.conditions[0]
        assert (said.reason, said.message) == (
            "Unschedulable",
            "stands for pod work/a, which waits for a part of a GPU",
        )


async def test_a_pod_on_several_gpus_needs_one_node_that_has_them_all() -> None:
    async with scheduler_world(node_scale_adjuster()) as here:
        await waiting(here, "a", gpu_fraction="0.5")
        await waiting(here, "b", gpu_fraction="0.5")
        await here.settles()
        await waiting(here, "wide", gpu_fraction="0.1", gpu_fraction_num_devices="4")
        await here.settles()
        assert (await scaling(here))["work-wide"] == "4"


async def test_a_scaling_pod_goes_when_its_pod_was_placed_and_none_comes_while_the_node_settles() -> None:
    clock = ManualClock()
    async with scheduler_world(node_scale_adjuster(), clock=clock) as here:
        await waiting(here, "a", gpu_fraction="0.5")
        await here.settles()
        done = {"type": "PodScheduled", "status": "True"}
        await here.client.patch(POD, "a", SPACE, {"status": {"conditions": [done]}}, subresource="status")
        await here.settles()
        assert await scaling(here) == {}
        await waiting(here, "b", gpu_fraction="0.5")
        await here.settles()
        assert await scaling(here) == {}
        clock.advance(61)
        await here.settles()
        assert sorted(await scaling(here)) == ["work-b"]


async def test_a_scaling_pod_goes_with_the_pod_it_stands_for() -> None:
    async with scheduler_world(node_scale_adjuster()) as here:
        await waiting(here, "a", gpu_memory="2000")
        await here.settles()
        assert sorted(await scaling(here)) == ["work-a"]
        await here.client.delete(POD, "a", SPACE, grace=0)
        await here.settles()
        assert await scaling(here) == {}


def test_pods_of_others_and_pods_without_a_part_of_a_gpu_are_left_alone() -> None:
    assert plan([], NodeScaleSettings(), cooling=False).create == []


def autoscaler() -> Component:
    """Adds a node for every pod that was said to fit nowhere and asks for whole GPUs: all that a cluster autoscaler
    sees."""

    async def reconcile(ctx: Context, key: Key) -> Again | None:
        pod = ctx.read.get(POD, key.name, key.namespace)
        if pod is not None and _starves(pod) and ctx.read.get(NODE, f"for-{pod.name}") is None:
            await grow(ctx.client, f"for-{pod.name}")
        return None

    return Component(
        "autoscaler", (Controller("autoscaler", reconcile, (Watch(POD, itself),), reads=(NODE,), workers=1),)
    )


def _starves(pod: Pod) -> bool:
    asks = pod.spec.containers[0].resources.requests.get(names.NVIDIA_GPU)
    return bool(asks) and any(condition.reason == "Unschedulable" for condition in pod.status.conditions)


async def grow(client: Client, name: str) -> None:
    has = {"cpu": "64", "memory": "256Gi", "pods": "110", names.NVIDIA_GPU: "1"}
    await client.create(NODE, {"metadata": {"name": name}})
    status = {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]}
    await client.patch(NODE, name, "", {"status": status}, subresource="status")
    await client.patch(NODE, name, "", {"spec": {"taints": None}})


async def test_an_autoscaler_that_knows_only_whole_gpus_makes_room_for_two_halves() -> None:
    async with scheduler_world(scheduler(period=0.01), node_scale_adjuster(), autoscaler()) as here:
        for name in ("a", "b"):
            await here.group(name)
            await here.pod(
                name,
                group=name,
                annotations={names.GPU_FRACTION: "0.5", names.SHARED_GPU_CONFIG_MAP: f"{name}-x-shared-gpu"},
            )
        await here.settles()
        assert [node.name for node in (await here.client.list(NODE)).items] == ["for-work-a"]
        ordered = [(await here.ordered())[name] for name in ("a", "b")]
        assert {order.selected_node for order in ordered} == {"for-work-a"}
        assert len({order.selected_gpu_groups for order in ordered}) == 1
