"""How NUMA zones weigh when a node is chosen, and when a running pod is looked at again."""

from __future__ import annotations

from typing import Any

from gangline.scheduler.records import ContainerRecord, NumaRecord, ZoneRecord
from gangline.scheduler.settings import DEFAULT_PLUGINS, PluginSetting
from scheduler.scene import Outcome, Scene

PLUGINS = (*DEFAULT_PLUGINS, PluginSetting("numa"))
GPU = "nvidia.com/gpu"


def zoned(policy: str, *zones: dict[str, float]) -> NumaRecord:
    return NumaRecord(
        policy,
        "pod",
        tuple(sorted({name for zone in zones for name in zone})),
        tuple(ZoneRecord(place, zone, zone) for place, zone in enumerate(zones)),
    )


def cores(*each: int) -> list[dict[str, float]]:
    return [{"cpu": number * 1000} for number in each]


def pod(scene: Scene, name: str, cpu: float = 1, qos: str = "Burstable", gpus: int = 0, **more: Any) -> Scene:
    requests = {"cpu": cpu * 1000, **({GPU: gpus} if gpus else {})}
    recorded = more.pop("recorded", {})
    return scene.gang(
        name, 1, gpus=gpus, cpu=cpu, task={"qos": qos, "containers": (ContainerRecord(requests),), **recorded}, **more
    )


def chosen(scene: Scene, **asked: Any) -> str:
    return pod(scene.with_settings(plugins=PLUGINS), "a/pod", **asked).decide().bound["pod-0"]


# ── which node ──


def one_zone_beside_four() -> Scene:
    """The node with four zones has less room left, so it is the one to fill first."""
    few, many = zoned("best-effort", *cores(8)), zoned("single-numa-node", *cores(2, 2, 2, 2))
    return Scene().node("few", gpus=0, cpu=64, numa=few).node("many", gpus=0, cpu=16, numa=many).queue("a")


def test_zones_do_not_weigh_for_a_pod_that_no_node_would_align() -> None:
    assert chosen(one_zone_beside_four()) == "many"


def test_a_pod_with_a_part_of_a_core_counts_as_standing_in_one_zone() -> None:
    scene = (
        Scene()
        .node("plain", gpus=0, cpu=16)
        .node("zones", gpus=0, cpu=64, numa=zoned("best-effort", *cores(4, 4, 4)))
        .queue("a")
    )
    assert chosen(scene, cpu=0.5, qos="Guaranteed") == "zones"


def test_a_guaranteed_pod_prefers_the_node_where_it_spans_fewer_zones() -> None:
    wide, narrow = zoned("best-effort", *cores(2, 2)), zoned("best-effort", *cores(8, 8))
    scene = Scene().node("a", gpus=0, cpu=16, numa=wide).node("b", gpus=0, cpu=64, numa=narrow).queue("a")
    assert chosen(scene, cpu=4, qos="Guaranteed") == "b"


def test_best_effort_takes_the_zone_that_covers_most_of_all_that_is_asked() -> None:
    zones = zoned("best-effort", {"cpu": 2000, GPU: 4}, {"cpu": 4000, GPU: 1})
    after = pod(
        Scene().node("n0", gpus=5, numa=zones).queue("a").with_settings(plugins=PLUGINS),
        "a/pod",
        4,
        "Guaranteed",
        gpus=2,
    ).decide()
    assert after.decisions.binds[0].numa_zones == (0, 1)
    assert after.decisions.binds[0].numa_amounts == ({"gpu": 1}, {"cpu": 4000, "gpu": 1})


def test_what_best_effort_cannot_cover_is_bound_without_zones() -> None:
    after = pod(
        Scene().node("n0", gpus=0, numa=zoned("best-effort", *cores(2, 2))).queue("a").with_settings(plugins=PLUGINS),
        "a/pod",
        6,
        "Guaranteed",
    ).decide()
    assert after.decisions.binds[0].numa_zones == ()


# ── looked at again ──


def reclaimed(scene: Scene) -> Outcome:
    """A pod of another queue asks for a place while only reclaiming goes on: everybody running is tried again."""
    return pod(scene.queue("b").with_settings(plugins=PLUGINS, actions=("reclaim",)), "b/asks").decide()


def test_a_running_pod_that_is_not_aligned_is_not_moved_for_the_sake_of_zones() -> None:
    scene = pod(Scene().node("n0", gpus=0, numa=zoned("best-effort", *cores(2, 2))).queue("a"), "a/runs", on="n0")
    after = reclaimed(scene)
    assert not after.evicted and after.waiting == {"asks-0": "n0"}


def test_a_running_pod_whose_devices_would_stay_in_their_zone_stays() -> None:
    where = {"numa_zones": (0,), "numa_amounts": ({GPU: 1},)}
    scene = Scene().node("n0", gpus=4, numa=zoned("restricted", {GPU: 2}, {GPU: 2})).queue("a")
    after = reclaimed(pod(scene, "a/runs", gpus=1, on="n0", recorded=where))
    assert not after.evicted and after.waiting == {"asks-0": "n0"}


# ── container by container ──


def by_container(*zones: int) -> Scene:
    record = zoned("single-numa-node", *cores(*zones))
    numa = NumaRecord(record.policy, "container", record.resources, record.zones)
    return Scene().node("n0", gpus=0, cpu=sum(zones), numa=numa).queue("a").with_settings(plugins=PLUGINS)


def pod_of(scene: Scene, *containers: ContainerRecord, cpu: float) -> Outcome:
    return scene.gang("a/pod", 1, gpus=0, cpu=cpu, task={"qos": "Guaranteed", "containers": containers}).decide()


def container(cpu: int, *, init: bool = False, sidecar: bool = False) -> ContainerRecord:
    return ContainerRecord({"cpu": cpu * 1000}, init, sidecar)


def test_with_the_scope_of_containers_each_stands_in_a_zone_of_its_own() -> None:
    after = pod_of(by_container(2, 2), container(2), container(2), cpu=4)
    assert after.decisions.binds[0].numa_zones == (0, 1)
    assert after.decisions.binds[0].numa_amounts == ({"cpu": 2000}, {"cpu": 2000})


def test_containers_of_one_zone_are_summed_up() -> None:
    after = pod_of(by_container(4, 2), container(2), container(2), cpu=4)
    assert after.decisions.binds[0].numa_amounts == ({"cpu": 4000},)


def test_a_container_that_fits_into_no_single_zone_keeps_the_pod_away() -> None:
    assert pod_of(by_container(2, 2), container(2), container(2), cpu=4).bound
    assert not pod_of(by_container(2, 2), container(3), cpu=3).bound


def test_an_init_container_that_ends_leaves_its_zone_and_a_sidecar_keeps_it() -> None:
    ending, staying = container(2, init=True), container(2, init=True, sidecar=True)
    after = pod_of(by_container(2, 2), ending, container(2), container(2), cpu=4)
    assert after.decisions.binds[0].numa_amounts == ({"cpu": 2000}, {"cpu": 2000})
    assert not pod_of(by_container(2, 2), staying, container(2), container(2), cpu=4).bound
    assert not pod_of(by_container(2, 2), container(3, init=True), container(1), cpu=3).bound, "it must fit, too"
