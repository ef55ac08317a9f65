"""Fewest fragments: GPU pods go where they leave least that the cluster's usual pods cannot use."""

from __future__ import annotations

from typing import Any

from gangline.rules.requests import GpuRequest
from gangline.scheduler.cycle import decide
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.plugins.score.fewestfragments import THOUSANDTHS, device_fills, usual_shape
from gangline.scheduler.records import NodeRecord
from gangline.scheduler.settings import PluginSetting, SchedulerSettings
from scheduler.scene import Scene


def native() -> Scene:
    plugins = [
        PluginSetting("nodeplacement", {"gpu": "fewest-fragments"}),
        PluginSetting("predicates"),
        PluginSetting("nodeavailability"),
    ]
    return Scene(settings=SchedulerSettings(actions=("allocate",), plugins=tuple(plugins))).queue("a")


def shared(portion: float) -> dict[str, Any]:
    return {"gpu": GpuRequest("Fraction", 1, portion)}


def test_a_pod_takes_the_gpus_that_pods_of_two_cannot_use() -> None:
    scene = native().node("even", gpus=2).node("odd", gpus=3)
    for number in range(4):
        scene.gang(f"a/pair{number}", 1, gpus=2, on="", needs=9)
    assert scene.gang("a/single", 1, priority=90).decide().bound == {"single-0": "odd"}


def test_a_pod_with_little_cpu_takes_the_gpu_that_lacks_cpu_for_the_usual_ones() -> None:
    scene = native().node("rich", gpus=1, cpu=16).node("starved", gpus=1, cpu=2)
    for number in range(4):
        scene.gang(f"a/usual{number}", 1, cpu=8, needs=9)
    assert scene.gang("a/modest", 1, cpu=1, priority=90).decide().bound == {"modest-0": "starved"}


def test_a_pod_without_gpus_takes_cpu_where_no_gpu_misses_it() -> None:
    scene = native().node("busy", gpus=1, cpu=16).gang("a/held", 1, gpus=1, on="busy").node("free", gpus=1, cpu=12)
    for number in range(4):
        scene.gang(f"a/usual{number}", 1, cpu=8, needs=9)
    assert scene.gang("a/plain", 1, gpus=0, cpu=8, priority=90).decide().bound == {"plain-0": "busy"}


def test_a_whole_node_stays_whole_for_those_who_need_it() -> None:
    scene = native().nodes(2).gang("a/held", 1, gpus=4, on="n1")
    for number in range(3):
        scene.gang(f"a/whole{number}", 1, gpus=8, needs=9)
    assert scene.gang("a/half", 1, gpus=4, priority=90).decide().bound == {"half-0": "n1"}


def test_a_sequence_of_pods_uses_at_most_what_is_free() -> None:
    cluster = ClusterModel.build(native().node("n", gpus=4).gang("a/x", 1).records)
    shape = next(iter(cluster.shapes.values()))
    whole = usual_shape(shape, 1.0)
    assert device_fills([(whole, 5)]) is None
    third = usual_shape(shape, 1.0)
    third.share = 320
    fills = device_fills([(whole, 5), (third, 5)])
    assert fills is not None and all(fills[free] <= free for free in range(THOUSANDTHS + 1))
    assert fills[319] == 0 < fills[320] < fills[640] < fills[960]


def test_a_pod_that_needs_more_cpu_than_usual_goes_where_more_is_left_than_the_gpus_need() -> None:
    """On either node one usual pod less would fit; but `scarce` has 6.5 CPUs for each GPU where 8 are usual."""
    scene = native().node("scarce", gpus=4, cpu=26).node("plenty", gpus=8, cpu=128)
    for number in range(10):
        scene.gang(f"a/usual{number}", 1, cpu=8, needs=9)
    assert scene.gang("a/hungry", 1, cpu=10, priority=90).decide().bound == {"hungry-0": "plenty"}


def test_what_nodes_are_worth_follows_their_labels_from_cycle_to_cycle() -> None:
    """The usual pods want the zone. So a pod that may go anywhere takes the other node, also once the zone moved."""
    scene = native().node("n0", gpus=2, labels={"zone": "x"}).node("n1", gpus=2)
    for number in range(4):
        scene.gang(f"a/usual{number}", 1, gpus=2, needs=9, task={"node_selector": {"zone": "x"}})
    cluster = scene.gang("a/single", 1, priority=90).cluster()

    def bound() -> dict[str, str]:
        return {bind.task: bind.node for bind in decide(cluster, scene.settings, scene.now).binds}

    assert bound() == {"single-0": "n1"}
    moved = native().node("n0", gpus=2).node("n1", gpus=2, labels={"zone": "x"})
    for record in moved.records:
        if isinstance(record, NodeRecord):
            cluster.apply(record)
    assert bound() == {"single-0": "n0"}
