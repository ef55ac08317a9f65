"""NUMA placement: what the kubelet assigned, as an annotation; on simulated nodes, what a topology manager would have
assigned."""

from __future__ import annotations

import contextlib
import json

import pytest

from gangline.api import names
from gangline.api.kinds import CRD, NODE_RESOURCE_TOPOLOGY, POD
from gangline.controllers.component import numa_placement_exporter
from gangline.controllers.numa_zones import OBSERVED, PREDICTED, ZoneAssignment, cpu_list, placement, zones_of_cpus
from gangline.errors import AlreadyExists
from gangline.runtime import Key
from scheduler_world import SPACE, SchedulerWorld, scheduler_world


def test_devices_cpus_and_memory_are_told_by_zone() -> None:
    assigned = ZoneAssignment(
        Key("ns", "p"),
        ((names.NVIDIA_GPU, (0,)), (names.NVIDIA_GPU, (1,)), ("nic", (0, 1))),
        (0, 5),
        (("memory", 2**30, (0,)), ("other", 1, (0,))),
    )
    assert placement(assigned, zones_of_cpus({0: "0-3", 1: "4-7"})) == json.dumps(
        [
            {"zone": "node-0", "amount": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}},
            {"zone": "node-1", "amount": {"cpu": "1", "nvidia.com/gpu": "1"}},
        ],
        separators=(",", ":"),
    )


def test_a_pod_of_which_nothing_can_be_told_is_left_alone() -> None:
    assert placement(ZoneAssignment(Key("ns", "p"), (("nic", (0, 1)),)), {}) is None


def test_the_kernels_cpu_lists_are_read() -> None:
    assert cpu_list("0-2,8\n") == [0, 1, 2, 8]


async def topology(here: SchedulerWorld, node: str) -> None:
    kind = NODE_RESOURCE_TOPOLOGY
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    with contextlib.suppress(AlreadyExists):
        approved = {"api-approved.kubernetes.io": "unapproved, only told in a test"}
        await here.client.create(
            CRD,
            {
                "metadata": {"name": kind.resource, "annotations": approved},
                "spec": {
                    "group": kind.group,
                    "scope": "Cluster",
                    "names": {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()},
                    "versions": [{"name": kind.version, "served": True, "storage": True, "schema": schema}],
                },
            },
        )
    zones = [
        {
            "name": f"node-{number}",
            "type": "Node",
            "resources": [{"name": names.NVIDIA_GPU, "capacity": "4", "allocatable": "4", "available": "4"}],
        }
        for number in (0, 1)
    ]
    await here.client.create(kind, {"metadata": {"name": node}, "zones": zones})


async def zones_of(here: SchedulerWorld, pod: str) -> dict[str, str]:
    text = (await here.client.get(POD, pod, SPACE)).annotations.get(OBSERVED, "[]")
    return {load["zone"]: load["amount"][names.NVIDIA_GPU] for load in json.loads(text)}


async def test_on_a_simulated_node_pods_stand_in_one_zone_if_one_has_room() -> None:
    async with scheduler_world() as here:
        await topology(here, "n")
        await here.start(numa_placement_exporter())
        await here.node("n", gangline_io__simulated="true")
        for name, gpus, wish in (("a", 3, "node-1"), ("b", 3, ""), ("c", 2, "")):
            noted = {PREDICTED: json.dumps([{"zone": wish, "amount": {}}])} if wish else {}
            await here.pod(name, gpus=gpus, nodeName="n", annotations=noted)
            await here.run(name)
            await here.settles()
        assert await zones_of(here, "a") == {"node-1": "3"}
        assert await zones_of(here, "b") == {"node-0": "3"}
        assert await zones_of(here, "c") == {"node-0": "1", "node-1": "1"}


async def test_pods_of_real_nodes_are_left_to_the_exporter_of_that_node() -> None:
    async with scheduler_world() as here:
        await topology(here, "n")
        await here.start(numa_placement_exporter())
        await here.node("n")
        await here.pod("a", gpus=1, nodeName="n")
        await here.run("a")
        await here.settles()
        assert await zones_of(here, "a") == {}


async def test_zones_of_a_node_that_is_gone_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    async with scheduler_world() as here:
        await topology(here, "n")
        await here.start(numa_placement_exporter())
        await here.pod("a", gpus=1, nodeName="n")
        await here.run("a")
        await here.settles()
        assert await zones_of(here, "a") == {} and not caplog.records
        await here.node("n", gangline_io__simulated="true")
        await here.client.patch(POD, "a", SPACE, {"metadata": {"labels": {"touched": ""}}})
        await here.settles()
        assert await zones_of(here, "a") == {"node-0": "1"}
