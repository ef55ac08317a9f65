"""GPUs of device plugins and GPUs for resource claims are two pools, and so are the GPUs of two makers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from gangline.api.core import Node, Pod
from gangline.rules.requests import GpuRequest
from gangline.scheduler.objects.nodes import node_record
from gangline.scheduler.objects.pods import task_record
from gangline.scheduler.records import (
    ClaimRecord,
    DeviceClassRecord,
    DeviceRecord,
    DeviceRequest,
    ExtendedNeed,
    SliceRecord,
)
from scheduler.scene import Scene

NVIDIA, AMD = "nvidia.com/gpu", "amd.com/gpu"
DRIVER = "gpu.example.com"


def devices(scene: Scene, node: str, number: int, resource: str = "") -> Scene:
    """The node has so many GPUs for claims; `resource`: the extended resource that their class backs."""
    scene.records += [
        DeviceClassRecord(DRIVER, resource),
        SliceRecord(
            f"slice-{node}", node, DRIVER, node, tuple(DeviceRecord(str(item), DRIVER) for item in range(number))
        ),
    ]
    return scene.with_settings(dynamic_resources=True)


def named(scene: Scene, node: str, **resources: int) -> Scene:
    """The node's device plugins offer GPUs under these names."""
    offers = {name.replace("_", ".") + ".com/gpu": float(count) for name, count in resources.items()}
    scene.node(node, gpus=int(sum(offers.values())))
    record: Any = scene.records[-1]
    scene.records[-1] = replace(record, gpu_resources=offers)
    return scene


def asks(resource: str, count: int = 1) -> dict[str, Any]:
    need = ExtendedNeed("main", 0, 0, resource, count)
    return {"gpu_resources": {resource: float(count)}, "extended": (need,)}


def claim(scene: Scene, name: str, count: int) -> dict[str, Any]:
    scene.records.append(ClaimRecord(name, "ns", {"kai.scheduler/queue": "a"}, (DeviceRequest("r", DRIVER, count),)))
    return {"claims": (name,), "gpu": GpuRequest(dra={DRIVER: count})}


def claimant(scene: Scene, name: str, count: int, **more: Any) -> Scene:
    task = claim(scene, f"{name.partition('/')[2]}-claim", count)
    scene.gang(name, 1, gpus=0, **more)
    record: Any = scene.records[-1]
    scene.records[-1] = replace(record, **task)
    return scene


def test_a_pod_that_asks_a_device_plugin_does_not_go_to_a_node_with_devices_only() -> None:
    scene = devices(Scene().node("n0", gpus=0).queue("a", quota=8), "n0", 4)
    after = scene.gang("a/one", 1, task=asks(NVIDIA)).decide()
    assert not after.bound
    assert "1 node(s) offer GPUs to resource claims (DRA) only, not as nvidia.com/gpu" in after.why("one")


def test_explain_says_that_the_gpus_are_of_the_other_pool() -> None:
    scene = devices(Scene().node("n0", gpus=0).queue("a", quota=8), "n0", 4)
    headline = scene.gang("a/one", 1, task=asks(NVIDIA)).explain("one").headline
    assert headline == (
        "one waits: none of 1 node may be used by it "
        "(node(s) offer GPUs to resource claims (DRA) only, not as nvidia.com/gpu)"
    )


def test_the_whole_gang_goes_where_the_plugin_is() -> None:
    scene = devices(named(Scene().node("n0", gpus=0), "n1", nvidia=4).queue("a", quota=8), "n0", 8)
    assert set(scene.gang("a/gang", 4, task=asks(NVIDIA)).decide().bound.values()) == {"n1"}


def test_a_class_that_backs_the_resource_makes_devices_do() -> None:
    scene = devices(Scene().node("n0", gpus=0).queue("a", quota=8), "n0", 4, NVIDIA)
    bind = scene.gang("a/one", 1, gpus=2, task=asks(NVIDIA, 2)).decide().decisions.binds[0]
    assert bind.extended is not None and len(bind.extended.devices) == 2


def test_a_class_that_backs_another_makers_resource_does_not() -> None:
    scene = devices(Scene().node("n0", gpus=0).queue("a", quota=8), "n0", 4, AMD)
    assert not scene.gang("a/one", 1, task=asks(NVIDIA)).decide().bound


def test_on_a_node_with_both_each_pool_is_counted_by_itself() -> None:
    scene = devices(named(Scene(), "n0", nvidia=2).queue("a", quota=8), "n0", 4)
    after = (
        scene.gang("a/big", 1, gpus=3, task=asks(NVIDIA, 3)).gang("a/fits", 1, gpus=2, task=asks(NVIDIA, 2)).decide()
    )
    assert set(after.bound) == {"fits-0"}
    assert "node(s) didn't have enough resources: GPUs" in after.why("big")


def test_claims_do_not_take_from_the_device_plugin_nor_it_from_them() -> None:
    scene = devices(named(Scene(), "n0", nvidia=2).queue("a", quota=8), "n0", 4)
    after = (
        claimant(scene, "a/claims", 4)
        .gang("a/plugin", 2, task=asks(NVIDIA))
        .gang("a/late", 1, task=asks(NVIDIA))
        .decide()
    )
    assert set(after.bound) == {"claims-0", "plugin-0", "plugin-1"}


def test_evicting_who_holds_devices_makes_no_room_in_the_device_plugin() -> None:
    scene = devices(named(Scene(), "n0", nvidia=1).queue("a", quota=8), "n0", 4)
    scene.gang("a/firm", 1, on="n0", priority=100, preemptible=False, task=asks(NVIDIA))
    scene.gang("a/claims", 1, gpus=0, on="n0")
    record: Any = scene.records[-1]
    scene.records[-1] = replace(record, gpu=GpuRequest(dra={DRIVER: 4}))
    after = scene.gang("a/high", 1, priority=90, task=asks(NVIDIA)).decide()
    assert not after.evicted and not after.bound


def test_room_that_is_being_freed_in_the_device_plugin_is_waited_for() -> None:
    scene = devices(named(Scene(), "n0", nvidia=1).queue("a", quota=8), "n0", 4)
    after = (
        scene.gang("a/low", 1, on="n0", task=asks(NVIDIA)).gang("a/high", 1, priority=75, task=asks(NVIDIA)).decide()
    )
    assert after.evicted == ["low-0"] and after.waiting == {"high-0": "n0"}


def test_gpus_of_another_maker_do_not_do() -> None:
    scene = named(named(Scene(), "n0", amd=8), "n1", nvidia=1).queue("a", quota=8)
    after = scene.gang("a/one", 1, task=asks(NVIDIA)).gang("a/two", 1, task=asks(NVIDIA)).decide()
    assert list(after.bound.values()) == ["n1"]
    assert "node(s) offer no nvidia.com/gpu" in after.why("two")


def test_on_a_node_of_two_makers_each_is_counted_by_itself() -> None:
    scene = named(Scene(), "n0", amd=2, nvidia=1).queue("a", quota=8)
    after = (
        scene.gang("a/green", 1, task=asks(NVIDIA))
        .gang("a/more", 1, task=asks(NVIDIA))
        .gang("a/red", 2, task=asks(AMD))
        .decide()
    )
    assert set(after.bound) == {"green-0", "red-0", "red-1"}


def test_quotas_count_all_gpus_alike() -> None:
    scene = devices(named(Scene(), "n0", nvidia=2).queue("a", quota=8, limit=3), "n0", 4)
    after = claimant(scene, "a/claims", 2).gang("a/plugin", 2, task=asks(NVIDIA)).decide()
    assert set(after.bound) == {"claims-0"} and "limit" in after.why("plugin")


def test_names_are_read_from_pods_and_nodes() -> None:
    asked = [
        {"name": "a", "resources": {"requests": {NVIDIA: "1"}}},
        {"name": "b", "resources": {"requests": {NVIDIA: "1", AMD: "2"}}},
    ]
    pod = msgspec.convert({"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": asked}}, Pod)
    node = msgspec.convert(
        {"metadata": {"name": "n"}, "status": {"allocatable": {NVIDIA: "8", AMD: "0", "cpu": "1"}}}, Node
    )
    assert task_record(pod).gpu_resources == {NVIDIA: 2, AMD: 2}
    assert node_record(node).gpu_resources == {NVIDIA: 8}
