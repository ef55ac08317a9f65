"""Pods on simulated nodes, on a server: starting after others, volumes, devices, loss of a node."""

from __future__ import annotations

from typing import Any

import msgspec

from cluster.world.making import node, pod
from cluster.world.simulated_world import SimulatedWorld, namespace, pod_spec, world
from gangline.api import names
from gangline.api.core import Node
from gangline.api.kinds import EVENT, LEASE, NODE, POD, REPLICA_SET, RESOURCE_SLICE, STATEFUL_SET
from gangline.api.meta import condition
from gangline.cluster.world.nodes.hardware import gpu_uuid, numa_zones
from gangline.cluster.world.nodes.nodes import NodePool, node_object
from gangline.cluster.world.pods.node_room import NodeRoom, PodAddresses, free_device
from gangline.cluster.world.settings import NodePace
from held_objects import held

ONE = NodePool(name="n", count=1, gpus=8)
TWO = NodePool(name="n", count=2, gpus=8)


async def ready(lived: SimulatedWorld, name: str) -> bool:
    found = condition((await lived.client.get(POD, name, "default")).status.conditions, "Ready")
    return found is not None and found.status == "True"


async def test_a_clique_starts_when_the_one_before_it_is_ready() -> None:
    async with world(ONE) as lived:
        gang = {names.POD_GANG: "g"}
        wait = [{"name": names.INIT_CONTAINER, "image": "init", "args": ["--podcliques=first:2"]}]
        await lived.make(POD, "late", pod_spec(initContainers=wait), labels=gang | {names.POD_CLIQUE: "second"})
        await lived.make(POD, "one", pod_spec(), labels=gang | {names.POD_CLIQUE: "first"})
        await lived.settles()
        assert await lived.phases() == {"late": "Pending", "one": "Running"}
        await lived.make(POD, "other-gang", pod_spec(), labels={names.POD_GANG: "h", names.POD_CLIQUE: "first"})
        await lived.settles()
        assert (await lived.phases())["late"] == "Pending"
        await lived.make(POD, "two", pod_spec(), labels=gang | {names.POD_CLIQUE: "first"})
        await lived.settles()
        assert (await lived.phases())["late"] == "Running"


async def test_a_pod_runs_as_long_as_it_says() -> None:
    async with world(ONE) as lived:
        await lived.make(POD, "p", pod_spec(restartPolicy="Never"), annotations={names.RUN_SECONDS: "3600"})
        await lived.settles()
        await lived.after(3500, steps=3500)
        assert await lived.phases() == {"p": "Running"}
        await lived.after(100, steps=100)
        assert await lived.phases() == {"p": "Succeeded"}


async def test_a_deleted_pod_stops_within_its_grace_period() -> None:
    async with world(ONE, pace=NodePace(stop=1000)) as lived:
        await lived.make(POD, "p", pod_spec(terminationGracePeriodSeconds=500))
        await lived.settles()
        await lived.client.delete(POD, "p", "default")
        await lived.after(400, steps=400)
        assert (await lived.client.get(POD, "p", "default")).metadata.deleting
        await lived.after(120, steps=120)
        assert await lived.is_gone(POD, "p")


async def test_each_reservation_pod_learns_its_own_gpu() -> None:
    async with world(ONE) as lived:
        await namespace(lived, names.RESERVATION_NAMESPACE)
        for name in ("a", "b"):
            await lived.make(POD, name, pod_spec(gpus=1, nodeName="n-0"), names.RESERVATION_NAMESPACE)
            await lived.settles()
        told = {item.annotations[names.RESERVED_GPU] for item in await lived.pods(names.RESERVATION_NAMESPACE)}
        assert told == {gpu_uuid("n-0", 0), gpu_uuid("n-0", 1)}


def test_a_freed_device_is_given_again() -> None:
    def reservation(name: str, device: str = "") -> Any:
        return pod(name, spec={"nodeName": "n"}, annotations={names.RESERVED_GPU: device} if device else {})

    taken = [reservation("a", gpu_uuid("n", 0)), reservation("c", gpu_uuid("n", 2))]
    assert free_device(reservation("b"), taken) == gpu_uuid("n", 1)


def test_addresses_go_on_after_those_in_use() -> None:
    addresses = PodAddresses()
    assert addresses.take("a", [pod(status={"podIP": "10.0.1.255"}), pod("q")]) == "10.0.2.0"
    assert addresses.take("b", []) == "10.0.2.1"
    assert addresses.take("a", []) == "10.0.2.0"


def test_the_room_of_a_pod_that_is_gone_is_free_before_anybody_looked_at_the_pod() -> None:
    room, here = NodeRoom(), node(gpus=1)
    old, new = (pod(name, spec={"nodeName": "n", "containers": [gpu_container(1)]}) for name in ("old", "new"))
    assert room.enter(old, here, held((POD, old), (POD, new))) is None
    refused = room.enter(new, here, held((POD, old), (POD, new)))
    assert refused is not None and refused.reason == f"OutOf{names.NVIDIA_GPU}"
    assert room.enter(new, here, held((POD, new))) is None


def gpu_container(gpus: int) -> dict[str, Any]:
    asked = {names.NVIDIA_GPU: str(gpus)}
    return {"name": "main", "image": "app", "resources": {"requests": asked, "limits": asked}}


async def test_a_pod_that_nobody_else_plays_is_left_alone() -> None:
    async with world() as lived:
        await lived.make(NODE, "real", {"status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10"}}})
        await lived.make(POD, "p", pod_spec())
        await lived.settles()
        found = await lived.client.get(POD, "p", "default")
        assert (found.spec.node_name, found.status.phase) == ("real", "Pending")


async def test_a_simulated_node_says_how_many_pods_it_plays_whatever_is_claimed_for_it() -> None:
    async with world() as lived:
        claimed = {"pods": str(2**31), "cpu": "1M", "memory": "1Pi"}
        status = {"status": {"capacity": claimed, "allocatable": claimed}}
        await lived.make(NODE, "huge", {"metadata": {"name": "huge", "labels": {names.SIMULATED: "true"}}, **status})
        await lived.settles()
        found = (await lived.client.get(NODE, "huge")).status
        assert (found.capacity, found.allocatable) == (claimed | {"pods": "10k"}, claimed | {"pods": "10k"})


async def test_a_node_renews_its_lease() -> None:
    async with world(ONE) as lived:
        first = (await lived.client.get(LEASE, "n-0", "kube-node-lease")).spec.renew_time
        await lived.after(10)
        lease = await lived.client.get(LEASE, "n-0", "kube-node-lease")
        assert lease.spec.renew_time != first and lease.spec.holder_identity == "n-0"


async def test_a_lost_node_is_tainted_and_emptied_and_comes_back() -> None:
    async with world(TWO) as lived:
        stays = [
            {
                "key": "node.kubernetes.io/unreachable",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 60,
            }
        ]
        await lived.make(POD, "p", pod_spec(tolerations=stays))
        await lived.settles()
        await lived.client.patch(NODE, "n-0", "", {"metadata": {"annotations": {names.HEALTH: "lost"}}})
        await lived.after(45)
        node = await lived.client.get(NODE, "n-0")
        said = condition(node.status.conditions, "Ready")
        assert said is not None and said.status == "Unknown"
        assert {(taint.key, taint.effect) for taint in node.spec.taints} == {
            ("node.kubernetes.io/unreachable", "NoSchedule"),
            ("node.kubernetes.io/unreachable", "NoExecute"),
        }
        assert not await ready(lived, "p")
        await lived.after(70)
        leaving = await lived.client.get(POD, "p", "default")
        assert leaving.metadata.deleting
        await lived.client.patch(NODE, "n-0", "", {"metadata": {"annotations": {names.HEALTH: None}}})
        await lived.settles()
        assert await lived.is_gone(POD, "p")
        back = await lived.client.get(NODE, "n-0")
        said = condition(back.status.conditions, "Ready")
        assert said is not None and said.status == "True" and not back.spec.taints


async def test_a_long_sleep_of_the_whole_world_loses_no_node() -> None:
    async with world(TWO) as lived:
        lived.clock.advance(86400)
        await lived.settles()
        await lived.after(20)
        for node in (await lived.client.list(NODE)).items:
            said = condition(node.status.conditions, "Ready")
            assert said is not None and said.status == "True"


async def test_pods_of_a_removed_node_are_given_up() -> None:
    async with world(ONE) as lived:
        await lived.make(POD, "p", pod_spec())
        await lived.settles()
        await lived.client.delete(NODE, "n-0")
        await lived.after(30)
        assert await lived.is_gone(POD, "p")


async def test_a_pod_bound_to_a_node_it_does_not_select_is_turned_away() -> None:
    async with world(ONE) as lived:
        await lived.make(POD, "p", pod_spec(nodeName="n-0", nodeSelector={"disk": "ssd"}))
        await lived.settles()
        refused = (await lived.client.get(POD, "p", "default")).status
        assert (refused.phase, refused.reason) == ("Failed", "NodeAffinity")
        assert (
            refused.message
            == "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
        )


async def test_pods_that_fail_on_their_node_again_and_again_are_replaced_more_and_more_slowly() -> None:
    async with world(ONE) as lived:
        await lived.make(
            REPLICA_SET,
            "r",
            {
                "spec": {
                    "replicas": 1,
                    "selector": {"matchLabels": {"app": "r"}},
                    "template": {"metadata": {"labels": {"app": "r"}}, **pod_spec(gpus=99, nodeName="n-0")},
                }
            },
        )
        await lived.make(
            STATEFUL_SET,
            "s",
            {
                "spec": {
                    "replicas": 1,
                    "selector": {"matchLabels": {"app": "s"}},
                    "template": {"metadata": {"labels": {"app": "s"}}, **pod_spec(gpus=99, nodeName="n-0")},
                }
            },
        )
        await lived.settles()
        assert [pod.status.reason for pod in await lived.pods() if pod.name.startswith("r-")] == [
            "OutOfnvidia.com/gpu"
        ] * 2
        first = await lived.client.get(POD, "s-0", "default")
        assert first.status.reason == "OutOfnvidia.com/gpu"
        await lived.after(7)
        assert sum(pod.name.startswith("r-") for pod in await lived.pods()) == 5
        assert (await lived.client.get(POD, "s-0", "default")).uid != first.uid


async def test_a_pod_bound_to_a_full_node_is_turned_away_until_there_is_room() -> None:
    async with world(ONE) as lived:
        await lived.make(POD, "a", pod_spec(gpus=8, nodeName="n-0"))
        await lived.make(POD, "b", pod_spec(gpus=1, nodeName="n-0"))
        await lived.settles()
        refused = await lived.client.get(POD, "b", "default")
        assert (refused.status.phase, refused.status.reason) == ("Failed", "OutOfnvidia.com/gpu")
        why = "Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 8, capacity: 8"
        assert refused.status.message == f"Pod was rejected: {why}"
        assert [
            item.message
            for item in (await lived.client.list(EVENT, "default")).items
            if item.reason == "OutOfnvidia.com/gpu"
        ] == [why]
        await lived.client.delete(POD, "a", "default")
        await lived.settles()
        await lived.make(POD, "c", pod_spec(gpus=8, nodeName="n-0"))
        await lived.settles()
        assert (await lived.phases())["c"] == "Running"


async def test_a_node_with_devices_to_claim_publishes_them() -> None:
    async with world(NodePool(name="d", gpus=2, dra=True)) as lived:
        (published,) = (await lived.client.list(RESOURCE_SLICE)).items
        devices = published.spec["devices"]
        assert [device["attributes"]["uuid"]["string"] for device in devices] == [gpu_uuid("d", 0), gpu_uuid("d", 1)]
        assert names.NVIDIA_GPU not in (await lived.client.get(NODE, "d")).status.allocatable
        await lived.client.delete(NODE, "d")
        await lived.settles()
        assert (await lived.client.list(RESOURCE_SLICE)).items == []


def test_numa_zones_share_a_nodes_resources_and_lose_nothing() -> None:
    pool = NodePool(name="n", gpus=3, cpu="5", memory="3Gi", numa=2)
    node = msgspec.convert(node_object(pool, 0, "n", ""), Node)
    zones = numa_zones(pool, node)["zones"]
    assert [zone["name"] for zone in zones] == ["node-0", "node-1"]
    parts = [{resource["name"]: resource["available"] for resource in zone["resources"]} for zone in zones]
    assert parts == [
        {"cpu": "2500m", "memory": "1536Mi", "nvidia.com/gpu": "2"},
        {"cpu": "2500m", "memory": "1536Mi", "nvidia.com/gpu": "1"},
    ]
