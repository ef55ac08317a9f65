"""Which node a pod gets, and which it may not have: the order of nodes, and Kubernetes' predicates."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api import names
from gangline.api.kinds import CONFIG_MAP, CSI_DRIVER, CSI_STORAGE_CAPACITY, PV, PVC, RESOURCE_SLICE, STORAGE_CLASS
from gangline.cluster.world.nodes.nodes import NodeTaint
from gangline.scheduler.loop.component import component
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.thought.options import SchedulerOptions
from journeys.story import Story, told
from journeys.words import container, scheduler

HOST = "kubernetes.io/hostname"


def near(app: str, *, away: bool = False, required: bool = False) -> dict[str, Any]:
    """Affinity to pods of an app, or away from them."""
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": app}}}
    said = (
        {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        if required
        else {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}
    )
    return {"affinity": {"podAntiAffinity" if away else "podAffinity": said}}


def on_nodes(key: str, value: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    }


# --- the order of nodes -----------------------------------------------------------------------------------------------


async def test_a_pod_without_gpus_leaves_gpu_nodes_free(story: Story) -> None:
    await story.nodes(2, gpus=8)
    [cpu_only] = await story.nodes(1, gpus=0)
    await story.pod("p", asks={"cpu": "1"})
    assert await story.run_on("p") == [cpu_only]


@pytest.mark.parametrize("away", [False, True], ids=["near", "away"])
async def test_preferred_pod_affinity_decides_between_nodes(away: bool) -> None:
    async with told(scheduler("podaffinity")) as story:
        await story.nodes(2, gpus=4)
        await story.pod("first", gpus=1, labels={"app": "web"})
        await story.runs("first")
        await story.pod("big", gpus=2, **near("web", away=True, required=True))
        await story.runs("big")
        await story.pod("second", gpus=1, **near("web", away=away))
        one, _, two = await story.run_on("first", "big", "second")
        assert (one != two) is away


async def test_pods_are_packed_onto_one_node(story: Story) -> None:
    await story.nodes(3, gpus=2)
    for name in ("a", "b"):
        await story.pod(name, gpus=1)
        await story.runs(name)
    assert len(set(await story.run_on("a", "b"))) == 1


async def test_parts_are_packed_onto_one_gpu(story: Story) -> None:
    await story.nodes(2, gpus=2)
    for name in ("a", "b"):
        await story.part(name, 0.3)
        await story.runs(name)
    groups = {(await story.get_pod(name)).labels[names.GPU_GROUP] for name in ("a", "b")}
    assert len(groups) == 1


async def test_a_shard_that_spreads_uses_different_nodes() -> None:
    async with told(scheduler(placement="spread")) as story:
        await story.nodes(3, gpus=2)
        for name in ("a", "b", "c"):
            await story.pod(name, gpus=1)
            await story.runs(name)
        assert len(set(await story.run_on("a", "b", "c"))) == 3


async def test_a_shard_that_spreads_uses_different_gpus_for_parts() -> None:
    async with told(scheduler(placement="spread")) as story:
        await story.nodes(1, gpus=2)
        for name in ("a", "b"):
            await story.part(name, 0.3)
            await story.runs(name)
        groups = {(await story.get_pod(name)).labels[names.GPU_GROUP] for name in ("a", "b")}
        assert len(groups) == 2


# --- predicates: nodes and neighbours ---------------------------------------------------------------------------------


async def test_node_affinity_chooses_the_node(story: Story) -> None:
    await story.nodes(1, gpus=2, labels={"disk": "slow"})
    [fast] = await story.nodes(1, gpus=2, labels={"disk": "fast"})
    await story.pod("p", gpus=1, **on_nodes("disk", "fast"))
    assert await story.run_on("p") == [fast]


async def test_node_affinity_that_no_node_meets_keeps_the_pod_waiting(story: Story) -> None:
    await story.nodes(1, gpus=2, labels={"disk": "slow"})
    await story.pod("p", gpus=1, **on_nodes("disk", "fast"))
    await story.waits("p")
    said = await story.scheduled("p")
    assert said is not None and "affinity" in said.message


async def test_pod_affinity_to_nobody_keeps_the_pod_waiting_until_somebody_comes(story: Story) -> None:
    await story.nodes(2, gpus=2)
    await story.pod("p", gpus=1, **near("web", required=True))
    await story.waits("p")
    await story.pod("web", gpus=1, labels={"app": "web"})
    one, two = await story.run_on("p", "web")
    assert one == two


@pytest.mark.parametrize("tolerated", [True, False])
async def test_a_tainted_node_takes_only_pods_that_tolerate_it(story: Story, tolerated: bool) -> None:
    await story.nodes(1, gpus=2, taints=(NodeTaint(key="dedicated", value="gpu", effect="NoSchedule"),))
    tolerations = [{"key": "dedicated", "operator": "Exists"}] if tolerated else []
    await story.pod("p", gpus=1, tolerations=tolerations)
    await (story.runs("p") if tolerated else story.waits("p"))


async def test_worker_nodes_may_be_restricted_to_what_they_are_for() -> None:
    restricted = component(
        options=SchedulerOptions(settings=SchedulerSettings(restrict_nodes=True), restrict_nodes=True, period=0.0)
    )
    async with told(restricted) as story:
        await story.nodes(1, gpus=2)
        [gpu] = await story.nodes(1, gpus=2, labels={"node-role.kubernetes.io/gpu-worker": ""})
        [cpu] = await story.nodes(1, gpus=0, labels={"node-role.kubernetes.io/cpu-worker": ""})
        await story.pod("trains", gpus=1)
        await story.pod("serves", asks={"cpu": "1"})
        assert await story.run_on("trains", "serves") == [gpu, cpu]
        await story.pod("too-much", asks={"cpu": "65"})
        await story.waits("too-much")


# --- predicates: what a pod mounts ------------------------------------------------------------------------------------


async def test_a_pod_waits_for_its_config_map(story: Story) -> None:
    await story.nodes(1, gpus=2)
    mounts = container(gpus=1, volumeMounts=[{"name": "settings", "mountPath": "/settings"}])
    await story.pod("p", containers=[mounts], volumes=[{"name": "settings", "configMap": {"name": "settings"}}])
    await story.waits("p")
    said = await story.scheduled("p")
    assert said is not None and "settings" in said.message
    await story.client.create(
        CONFIG_MAP, {"metadata": {"name": "settings", "namespace": "default"}, "data": {"a": "b"}}
    )
    await story.runs("p")


async def test_a_config_map_that_is_optional_is_not_waited_for(story: Story) -> None:
    await story.nodes(1, gpus=2)
    projected = {"sources": [{"configMap": {"name": "settings", "optional": True}}]}
    mounts = container(gpus=1, volumeMounts=[{"name": "settings", "mountPath": "/settings"}])
    await story.pod("p", containers=[mounts], volumes=[{"name": "settings", "projected": projected}])
    await story.runs("p")


async def storage_class(story: Story, name: str, *, late: bool = True, provisioner: str = "csi.example.com") -> None:
    await story.client.create(
        STORAGE_CLASS,
        {
            "metadata": {"name": name},
            "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer" if late else "Immediate",
        },
    )


async def claim(story: Story, name: str, storage: str, size: str = "1Gi") -> dict[str, Any]:
    """A claim, and what a pod says to mount it."""
    await story.client.create(
        PVC,
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "storageClassName": storage,
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": size}},
            },
        },
    )
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}


async def test_a_claim_that_waits_for_its_first_user_is_bound_with_the_pod(story: Story) -> None:
    [node] = await story.nodes(1, gpus=1)
    await storage_class(story, "late")
    await story.pod("p", gpus=1, **await claim(story, "data", "late"))
    assert await story.run_on("p") == [node]
    assert (await story.client.get(PVC, "data", "default")).status.phase == "Bound"


async def test_a_pod_goes_where_its_volume_can_be_reached(story: Story) -> None:
    await story.nodes(2, gpus=1)
    [near_disk] = await story.nodes(1, gpus=1, labels={"disk": "here"})
    await storage_class(story, "local", provisioner="kubernetes.io/no-provisioner")
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["here"]}]}
    await story.client.create(
        PV,
        {
            "metadata": {"name": "disk"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "local": {"path": "/disk"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            },
        },
    )
    await story.pod("p", gpus=1, **await claim(story, "data", "local"))
    assert await story.run_on("p") == [near_disk]


async def test_a_claim_of_a_class_that_is_not_there_keeps_the_pod_waiting(story: Story) -> None:
    await story.nodes(1, gpus=1)
    await story.pod("p", gpus=1, **await claim(story, "data", "nowhere"))
    await story.waits("p")


@pytest.mark.parametrize(("size", "fits"), [("10Gi", True), ("90Gi", False)])
async def test_a_claim_larger_than_what_its_driver_has_left_keeps_the_pod_waiting(size: str, fits: bool) -> None:
    async with told(scheduler(csi_storage=True)) as story:
        await story.nodes(1, gpus=1)
        await storage_class(story, "late")
        await story.client.create(
            CSI_DRIVER, {"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}}
        )
        await story.client.create(
            CSI_STORAGE_CAPACITY,
            {
                "metadata": {"name": "here", "namespace": "default"},
                "storageClassName": "late",
                "capacity": "20Gi",
                "nodeTopology": {"matchLabels": {"kubernetes.io/os": "linux"}},
            },
        )
        await story.pod("p", gpus=1, **await claim(story, "data", "late", size))
        await (story.runs("p") if fits else story.waits("p"))


async def test_a_gang_that_asks_for_a_device_plugins_gpus_stays_away_from_a_node_with_devices_for_claims(
    story: Story,
) -> None:
    await story.nodes(1, gpus=8, name="dra", dra=True)

    async def published() -> bool:
        return bool((await story.client.list(RESOURCE_SLICE)).items)

    await story.until(published, "the node's devices")
    await story.nodes(1, gpus=16, name="plugin")
    await story.apply("examples/01-gang")

    async def whole() -> bool:
        return len(await story.pods(phase="Running")) == 5

    await story.until(whole, "all five pods running")
    assert {pod.spec.node_name.partition("-")[0] for pod in await story.pods()} == {"plugin"}
