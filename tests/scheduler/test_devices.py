"""Shared GPUs, MIG instances, devices by claim, and NUMA zones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import (
    ClaimRecord,
    ContainerRecord,
    DeviceClassRecord,
    DeviceId,
    DeviceRecord,
    DeviceRequest,
    NumaRecord,
    SliceRecord,
    ZoneRecord,
)
from gangline.scheduler.settings import DEFAULT_PLUGINS, PluginSetting
from scheduler.scene import Scene


def fraction(portion: float, devices: int = 1, **more: Any) -> dict[str, Any]:
    return {"gpu": GpuRequest("Fraction", devices, portion), **more}


def memory(mib: int) -> dict[str, Any]:
    return {"gpu": GpuRequest("GpuMemory", 1, 0, mib)}


def share(scene: Scene, name: str, task: dict[str, Any], **more: Any) -> Scene:
    """A gang of one pod with an own GPU request."""
    scene.gang(name, 1, gpus=0, **more)
    record: Any = scene.records[-1]
    scene.records[-1] = replace(record, **task)
    return scene


# ── shared GPUs ──


def test_two_halves_share_one_gpu_and_the_third_opens_another() -> None:
    scene = Scene().nodes(1, gpus=2).queue("a", quota=2)
    for number in range(3):
        share(scene, f"a/half{number}", fraction(0.5))
    binds = scene.decide().decisions.binds
    groups = [bind.gpu_groups for bind in binds]
    assert groups[0] == groups[1] != groups[2]
    assert [(bind.received, bind.gpu_count, bind.gpu_portion) for bind in binds] == [("Fraction", 1, 0.5)] * 3


def test_a_gpu_opened_for_sharing_is_no_whole_gpu_any_more() -> None:
    scene = share(Scene().nodes(1, gpus=1).queue("a", quota=2), "a/small", fraction(0.1))
    assert set(scene.gang("a/whole", 1).decide().bound) == {"small-0"}


def test_a_share_joins_the_fullest_gpu_that_has_room() -> None:
    scene = Scene().nodes(1, gpus=3).queue("a", quota=3)
    share(scene, "a/x", fraction(0.3, gpu_groups=("g0",)), on="n0")
    share(scene, "a/y", fraction(0.6, gpu_groups=("g1",)), on="n0")
    share(scene, "a/next", fraction(0.4))
    assert scene.decide().decisions.binds[0].gpu_groups == ("g1",)


def test_a_node_with_a_shared_gpu_that_has_room_is_preferred() -> None:
    scene = Scene().nodes(2, gpus=2).queue("a", quota=3)
    share(scene, "a/x", fraction(0.5, gpu_groups=("g0",)), on="n1")
    share(scene, "a/next", fraction(0.5))
    assert scene.decide().bound == {"next-0": "n1"}


def test_a_share_of_several_gpus_gets_as_many_different_ones() -> None:
    scene = share(Scene().nodes(1, gpus=2).queue("a", quota=2), "a/pair", fraction(0.5, devices=2))
    groups = scene.decide().decisions.binds[0].gpu_groups
    assert len(set(groups)) == 2


def test_gpu_memory_becomes_a_portion_of_the_node_it_lands_on() -> None:
    scene = Scene().node("n0", gpus=1, gpu_memory=2000, gpu_memory_synced=True).queue("a", quota=2)
    bind = share(scene, "a/mem", memory(510)).decide().decisions.binds[0]
    assert (bind.gpu_portion, bind.gpu_memory) == (0.26, 510)


def test_gpu_memory_needs_a_node_that_says_how_much_it_has() -> None:
    scene = Scene().node("n0", gpus=1, gpu_memory=2000, gpu_memory_synced=False).queue("a", quota=2)
    after = share(scene, "a/mem", memory(500)).decide()
    assert not after.bound and "was not synced yet" in after.why("mem")


def test_a_share_waits_for_a_gpu_whose_users_are_leaving() -> None:
    scene = Scene().nodes(1, gpus=1).queue("a", quota=2)
    share(scene, "a/old", fraction(0.8, gpu_groups=("g0",)), on="n0", status=Status.RELEASING)
    after = share(scene, "a/new", fraction(0.5)).decide()
    assert not after.bound and after.waiting == {"new-0": "n0"}


def test_opening_a_gpu_for_sharing_needs_a_second_pod_slot() -> None:
    scene = Scene().queue("a", quota=2)
    scene.node("n0", gpus=1)
    record: Any = scene.records[-1]
    scene.records[-1] = replace(record, allocatable={**record.allocatable, "pods": 1})
    after = share(scene, "a/half", fraction(0.5)).decide()
    assert not after.bound and "pod number exceeded" in after.why("half")


# ── MIG ──


def mig(amount: int = 1) -> dict[str, Any]:
    return {"gpu": GpuRequest("MigInstance", mig={"nvidia.com/mig-1g.5gb": amount})}


def mig_node(scene: Scene, name: str = "m0", **more: Any) -> Scene:
    scene.node(name, gpus=0, mig_enabled=True, mig_strategy="mixed", **more)
    record: Any = scene.records[-1]
    scene.records[-1] = replace(record, allocatable={**record.allocatable, "nvidia.com/mig-1g.5gb": 2})
    return scene


def test_mig_tasks_go_to_mig_nodes_and_count_their_instances() -> None:
    scene = mig_node(Scene().nodes(1).queue("a", quota=4))
    for number in range(3):
        share(scene, f"a/mig{number}", mig())
    assert sorted(scene.decide().bound.values()) == ["m0", "m0"]


def test_whole_gpu_tasks_stay_away_from_a_mixed_mig_node() -> None:
    after = mig_node(Scene().queue("a", quota=4)).gang("a/cpu", 1, gpus=0).gang("a/gpu", 1).decide()
    assert after.bound == {"cpu-0": "m0"}


# ── places for pods ──


def slots(pods: int) -> Scene:
    scene = Scene().nodes(1, gpus=2).queue("a", quota=2)
    record: Any = scene.records[0]
    scene.records[0] = replace(record, allocatable={**record.allocatable, "pods": pods})
    return scene


def test_opening_a_gpu_takes_a_second_place_for_its_reservation_pod() -> None:
    assert not share(slots(1), "a/first", fraction(0.5)).decide().bound
    scene = share(slots(2), "a/first", fraction(0.5)).gang("a/other", 1, gpus=0)
    assert list(scene.decide().bound) == ["first-0"]


def test_joining_an_open_gpu_takes_no_place_but_its_own() -> None:
    scene = share(slots(3), "a/first", fraction(0.5) | {"gpu_groups": ("6f1d-open",)}, on="n0")
    scene.gang("a/reservation", 1, gpus=0, on="n0")
    assert list(share(scene, "a/second", fraction(0.5)).decide().bound) == ["second-0"]


def test_a_part_that_opens_a_gpu_takes_both_places_from_what_matters_less() -> None:
    scene = slots(2).gang("a/old", 1, on="n0")
    after = share(scene, "a/new", fraction(0.5), priority=75).decide()
    assert after.evicted == ["old-0"] and after.waiting == {"new-0": "n0"}


# ── devices by claim ──


def claims(scene: Scene, *records: Any, devices: int = 2) -> Scene:
    scene.records += [
        DeviceClassRecord("gpu.example.com"),
        SliceRecord(
            "s0",
            "n0",
            "gpu.example.com",
            "n0",
            tuple(DeviceRecord(str(number), "gpu.example.com") for number in range(devices)),
        ),
    ]
    scene.records += records
    return scene.with_settings(dynamic_resources=True)


def claim(name: str, count: int = 1, queue: str = "a", **more: Any) -> ClaimRecord:
    return ClaimRecord(
        name, "ns", {"kai.scheduler/queue": queue}, (DeviceRequest("r", "gpu.example.com", count),), **more
    )


def asks(name: str, count: int = 1) -> dict[str, Any]:
    return {"claims": (name,), "gpu": GpuRequest(dra={"gpu.example.com": count})}


def test_a_claim_gets_free_devices_of_the_node() -> None:
    scene = claims(Scene().nodes(1, gpus=0).queue("a", quota=2), claim("c", 2))
    bind = share(scene, "a/one", asks("c", 2)).decide().decisions.binds[0]
    assert [device.device for device in bind.claims["c"]] == ["0", "1"]


def test_devices_are_not_given_twice() -> None:
    scene = claims(Scene().nodes(1, gpus=0).queue("a", quota=4), claim("c", 2), claim("d", 1))
    share(scene, "a/one", asks("c", 2))
    assert set(share(scene, "a/two", asks("d")).decide().bound) == {"one-0"}


def test_a_shared_gpu_claim_belongs_to_one_queue() -> None:
    scene = claims(Scene().nodes(1, gpus=0).queue("a", quota=4), claim("c", queue="other"))
    after = share(scene, "a/one", asks("c")).decide()
    assert not after.bound and "wrong queue label (expected queue: a, claim queue label: other)" in after.why("one")


def test_a_claim_that_is_missing_or_full_keeps_its_pod_waiting() -> None:
    scene = claims(
        Scene().nodes(1, gpus=0).queue("a", quota=4), claim("full", reserved_for=tuple(f"p{i}" for i in range(256)))
    )
    share(scene, "a/lost", asks("absent"))
    after = share(scene, "a/late", asks("full")).decide()
    assert (
        not after.bound
        and "not found" in after.why("lost")
        and "maximum number of consumers (256)" in after.why("late")
    )


def test_an_evicted_pod_gives_its_devices_to_the_one_that_took_its_place() -> None:
    held = (DeviceId("gpu.example.com", "n0", "0", "r"),)
    scene = claims(
        Scene().nodes(1, gpus=0).queue("a", quota=1),
        claim("c", allocated=held, reserved_for=("low-0",)),
        claim("d"),
        devices=1,
    )
    share(scene, "a/low", asks("c"), on="n0")
    after = share(scene, "a/high", asks("d"), priority=75).decide()
    assert after.evicted == ["low-0"] and after.waiting == {"high-0": "n0"}


# ── NUMA ──


def numa(policy: str, *free: int) -> NumaRecord:
    zones = tuple(ZoneRecord(place, {"cpu": cores * 1000}, {"cpu": cores * 1000}) for place, cores in enumerate(free))
    return NumaRecord(policy, "pod", ("cpu",), zones)


def aligned(policy: str, cores: int, *free: int, qos: str = "Guaranteed") -> Any:
    plugins = (*DEFAULT_PLUGINS, PluginSetting("numa"))
    scene = Scene().node("n0", gpus=0, numa=numa(policy, *free)).queue("a").with_settings(plugins=plugins)
    task = {"qos": qos, "containers": (ContainerRecord({"cpu": cores * 1000}),)}
    return scene.gang("a/pod", 1, gpus=0, cpu=cores, task=task).decide()


def test_a_guaranteed_pod_goes_to_the_lowest_zone_that_holds_it_whole() -> None:
    assert aligned("single-numa-node", 3, 2, 4).decisions.binds[0].numa_zones == (1,)


def test_it_is_refused_where_no_single_zone_holds_it() -> None:
    after = aligned("single-numa-node", 6, 4, 4)
    assert not after.bound and "node cannot NUMA-align the pod's resources" in after.why("pod")


def test_restricted_takes_as_few_zones_as_could_ever_do() -> None:
    bind = aligned("restricted", 6, 4, 4).decisions.binds[0]
    assert bind.numa_zones == (0, 1) and bind.numa_amounts == ({"cpu": 4000}, {"cpu": 2000})


def test_a_burstable_pod_is_not_aligned() -> None:
    assert aligned("single-numa-node", 6, 4, 4, qos="Burstable").decisions.binds[0].numa_zones == ()


def test_best_effort_never_refuses() -> None:
    assert aligned("best-effort", 6, 4, 4).decisions.binds[0].numa_zones == (0, 1)
