"""Every idle GPU has exactly one cause, and what is in use and idle is the capacity."""

from __future__ import annotations

from prometheus_client import REGISTRY

from gangline.scheduler.cycle import decide
from gangline.scheduler.loop.metrics import IdleFigures
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import TaintRecord, TopologyRule
from gangline.scheduler.settings import native_settings
from gangline.scheduler.thought.booking import book
from gangline.scheduler.time.idle import IdlePart, IdleReport, idle_gpus
from scheduler.scene import NOW, Scene

HOUR = 3600.0


def scene() -> Scene:
    return Scene(settings=native_settings()).queue("a", quota=-1)


def idle(told: Scene) -> IdleReport:
    cluster = told.cluster()
    decisions = decide(cluster, told.settings, told.now)
    book(cluster, decisions)
    report = idle_gpus(cluster, decisions)
    assert abs(report.in_use + sum(part.gpus for part in report.parts) - report.capacity) < 1e-6
    return report


def causes(told: Scene) -> dict[str, float]:
    return {cause: gpus for cause, gpus in idle(told).by_cause.items() if gpus}


def test_gpus_that_nobody_asks_for_have_no_demand() -> None:
    assert causes(scene().nodes(2).gang("a/train", 1, gpus=3, on="n0")) == {"no demand": 13}


def test_pods_on_their_way_are_starting() -> None:
    assert causes(scene().nodes(1).gang("a/train", 1, gpus=3)) == {"starting": 3, "no demand": 5}


def test_pieces_that_are_too_small_are_fragments_only_as_far_as_somebody_waits_for_them() -> None:
    told = scene().nodes(3).gang("a/low", 3, gpus=6, on=("n0", "n1", "n2"))
    assert causes(told.gang("a/big", 1, gpus=4)) == {"fragments": 4, "no demand": 2}


def test_gpus_are_short_where_who_waits_asks_for_more_than_all_that_are_free() -> None:
    told = scene().nodes(3).gang("a/low", 3, gpus=6, on=("n0", "n1", "n2"))
    assert causes(told.gang("a/big", 2, gpus=4)) == {"shortage": 6}


def test_a_queue_at_its_limit_leaves_gpus_idle_by_quota() -> None:
    told = Scene(settings=native_settings()).queue("a", quota=4, limit=4).nodes(1).gang("a/old", 4, on="n0")
    assert causes(told.gang("a/more", 2)) == {"quota": 2, "no demand": 2}


def test_a_gang_that_must_be_in_one_rack_leaves_the_others_idle_by_topology() -> None:
    told = scene().topology("t", "rack").node("n0", labels={"rack": "x"}).node("n1", labels={"rack": "y"})
    assert causes(told.gang("a/both", 2, gpus=8, rule=TopologyRule("t", "rack"))) == {"topology": 16}


def test_what_is_kept_for_a_gang_is_reserved_for_it_until_it_can_start() -> None:
    told = scene().nodes(2).gang("a/old", 1, gpus=8, on="n0", last_start=NOW - HOUR, expected_runtime=2 * HOUR)
    (part,) = idle(told.gang("a/big", 2, gpus=8)).parts
    assert (part.node, part.cause, part.gpus, part.gang, part.until) == ("n1", "reserved", 8, "ns/big", NOW + HOUR)


def test_a_gang_whose_pods_are_gated_or_not_all_there_leaves_gpus_idle_for_that() -> None:
    assert causes(scene().nodes(1).gang("a/held", 2, status=Status.GATED)) == {
        "gate or missing pods": 2,
        "no demand": 6,
    }
    assert causes(scene().nodes(1).gang("a/half", 2, needs=4)) == {"gate or missing pods": 2, "no demand": 6}


def test_a_cordoned_node_a_failed_one_and_one_with_a_taint_say_so() -> None:
    told = scene().node("n0", ready=False, ready_reason="node is unschedulable")
    told.node("n1", ready=False, ready_reason="node has NotReady condition")
    told.node("n2", taints=(TaintRecord("dedicated", effect="NoSchedule"),))
    assert causes(told) == {"taint or cordon": 8, "failed": 8, "no demand": 8}
    assert causes(told.gang("a/waits", 1, gpus=8)) == {"taint or cordon": 16, "failed": 8}


def test_work_on_a_cordoned_node_is_still_in_use() -> None:
    told = scene().node("n0", ready=False, ready_reason="node is unschedulable").gang("a/old", 1, gpus=3, on="n0")
    assert idle(told).in_use == 3 and causes(told) == {"taint or cordon": 5}


def test_metrics_have_each_cause_by_pool_and_add_up_over_time() -> None:
    figures, report = IdleFigures("a-pool"), IdleReport(8, 3, (IdlePart("n0", "quota", 5),))
    figures.show(report, 100.0)
    assert not figures.due(10_000, 110.0) and figures.due(10_000, 120.0) and figures.due(4, 101.0)
    figures.show(IdleReport(8, 8), 110.0)
    assert REGISTRY.get_sample_value("gangline_idle_gpu_seconds_total", {"nodepool": "a-pool", "cause": "quota"}) == 50
    assert REGISTRY.get_sample_value("gangline_idle_gpus", {"nodepool": "a-pool", "cause": "quota"}) == 0
    assert REGISTRY.get_sample_value("gangline_gpus_in_use", {"nodepool": "a-pool"}) == 8
