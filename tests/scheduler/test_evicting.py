"""Reclaim, preempt, consolidation and stale gangs: who has to go for whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.plugins.capacity.proportion import ProportionPlugin
from gangline.scheduler.records import GangRecord, GroupRecord, PodSetRecord
from gangline.scheduler.session import Session
from gangline.scheduler.settings import Budgets, PluginSetting, SchedulerSettings
from scheduler.scene import NOW, Scene


def lent() -> Scene:
    """Queue a holds 8 of 8 GPUs, half of them borrowed from b."""
    scene = Scene().nodes(2, gpus=4).queue("a", quota=4).queue("b", quota=4)
    for number in range(8):
        scene.gang(f"a/run{number}", 1, on=f"n{number % 2}")
    return scene


# ── reclaim ──


def test_a_queue_takes_back_its_share_from_the_one_that_borrowed() -> None:
    after = lent().gang("b/small", 2).decide()
    assert len(after.evicted) == 2 and set(after.waiting) == {"small-0", "small-1"}


def test_the_newest_borrowers_go_first_and_only_as_many_as_needed() -> None:
    assert lent().gang("b/small", 1).decide().evicted == ["run7-0"]


def test_nobody_is_taken_below_its_quota() -> None:
    after = lent().gang("b/big", 5).decide()
    assert not after.evicted and not after.waiting


def test_a_gang_beyond_its_fair_share_may_not_reclaim() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=4).queue("b", quota=0, weight=0).gang("a/run", 4, on="n0")
    assert not scene.gang("b/more", 1).decide().evicted


def test_work_that_cannot_be_preempted_is_never_a_victim() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=0).queue("b", quota=4).gang("a/firm", 4, on="n0", priority=125)
    assert not scene.gang("b/mine", 4).decide().evicted


def test_a_victim_is_told_who_takes_its_place_and_what_both_queues_hold() -> None:
    message = lent().gang("b/small", 1).decide().decisions.evictions[0].message
    assert message == (
        "Pod ns/run7-0 was preempted by workload ns/small.\n"
        "a uses <GPU: 8, CPU: 8 (cores), memory: 8 (GB)> with a quota of <GPU: 4, CPU: unlimited (cores), memory: "
        "unlimited (GB)>, "
        "fair-share of <GPU: 7, CPU: 8 (cores), memory: 8 (GB)> and queue priority of <100>.\n"
        "b uses <GPU: 0, CPU: 0 (cores), memory: 0 (GB)> with a quota of <GPU: 4, CPU: unlimited (cores), memory: "
        "unlimited (GB)>, "
        "fair-share of <GPU: 1, CPU: 1 (cores), memory: 1 (GB)> and queue priority of <100>."
    )


def test_a_gang_loses_its_surplus_before_anything_else() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=2).queue("b", quota=2).gang("a/elastic", 4, needs=2, on="n0")
    assert scene.gang("b/mine", 2).decide().evicted == ["elastic-2", "elastic-3"]


def test_without_surplus_a_gang_goes_whole() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=0).queue("b", quota=4).gang("a/tight", 4, on="n0")
    assert len(scene.gang("b/mine", 1).decide().evicted) == 4


def test_a_large_gang_reclaims_several_nodes_at_once() -> None:
    scene = Scene().nodes(4, gpus=4).queue("a", quota=0, weight=0).queue("b", quota=16)
    for number in range(16):
        scene.gang(f"a/run{number}", 1, on=f"n{number % 4}")
    after = scene.gang("b/wide", 3, gpus=4).decide()
    assert len(after.evicted) == 12 and len(after.waiting) == 3


def test_a_search_that_cannot_be_legal_ends_without_a_single_try() -> None:
    scene = Scene().nodes(3, gpus=4).queue("a", quota=9).queue("b", quota=4).with_settings(actions=("reclaim",))
    for number in range(12):
        scene.gang(f"a/run{number}", 1, on=f"n{number % 3}")
    after = scene.gang("b/wide", 1, gpus=4).decide()
    assert not after.evicted and not after.decisions.steps


# ── preempt ──


def test_a_higher_priority_takes_the_place_of_a_lower_one_in_the_same_queue() -> None:
    scene = (
        Scene().nodes(1, gpus=2).queue("a", quota=2).gang("a/low", 1, on="n0").gang("a/mid", 1, on="n0", priority=75)
    )
    after = scene.gang("a/high", 1, priority=100).decide()
    assert after.evicted == ["low-0"] and after.waiting == {"high-0": "n0"}
    assert after.decisions.evictions[0].message == "Pod ns/low-0 was preempted by higher priority workload ns/high"


def test_equal_priority_pushes_nobody_out() -> None:
    scene = Scene().nodes(1, gpus=1).queue("a", quota=1).gang("a/old", 1, on="n0").gang("a/new", 1)
    assert not scene.decide().evicted


def test_a_gang_that_asked_for_patience_may_not_push_others_out_before_its_time() -> None:
    scene = Scene().nodes(1, gpus=1).queue("a", quota=1).gang("a/low", 1, on="n0")
    scene.gang("a/high", 1, priority=75, preemption_delay=NOW)
    assert not scene.decide().evicted
    assert "Preemption delay has not elapsed" in scene.decide().why("high")
    scene.now = 3 * NOW
    assert scene.decide().evicted == ["low-0"]


def test_a_pod_that_can_run_nowhere_triggers_no_search() -> None:
    scene = Scene().nodes(1, gpus=1).queue("a", quota=1).gang("a/low", 1, on="n0")
    after = scene.gang("a/high", 1, priority=75, task={"volumes": ("absent",)}).decide()
    assert not after.evicted and not after.decisions.steps
    assert 'persistentvolumeclaim "absent" not found' in after.why("high")


def test_gangs_no_easier_than_one_that_failed_are_skipped_with_signatures() -> None:
    def steps(signatures: bool) -> int:
        scene = Scene().nodes(2, gpus=2).queue("a", quota=4).gang("a/firm", 1, gpus=2, on="n0", priority=125)
        scene.gang("a/low", 1, on="n1").gang("a/keeps", 1, on="n1", priority=125).with_settings(signatures=signatures)
        for number in range(3):
            scene.gang(f"a/high{number}", 2, priority=75)
        return sum(scene.decide().decisions.steps.values())

    assert steps(True) <= steps(False)


# ── consolidation ──


def test_a_running_gang_is_moved_to_make_room_and_nobody_loses_a_place() -> None:
    scene = Scene().nodes(2, gpus=2).queue("a", quota=4).gang("a/left", 1, on="n0").gang("a/right", 1, on="n1")
    after = scene.gang("a/wide", 1, gpus=2).decide()
    assert len(after.evicted) == 1 and set(after.waiting) == {"wide-0", after.evicted[0]}
    assert "resource consolidation" in after.decisions.evictions[0].message


def scattered(nodes: int) -> Scene:
    """Three one-GPU pods on every node of eight, of a queue that owns the cluster together with b."""
    scene = Scene().nodes(nodes).queue("a", quota=nodes * 4).queue("b", quota=nodes * 4)
    for number in range(nodes * 3):
        scene.gang(f"a/loose{number}", 1, on=f"n{number % nodes}")
    return scene


def test_a_gang_of_large_pods_moves_one_small_pod_on_each_node_it_takes() -> None:
    after = scattered(12).gang("b/tight", 6, gpus=6).with_settings(max_consolidation_victims=-1).decide()
    assert len(after.evicted) == 6 and after.decisions.steps == {"consolidation": 1}
    assert len({after.waiting[f"tight-{number}"] for number in range(6)}) == 6


def test_as_many_gangs_as_there_are_gpus_for_find_their_nodes_in_one_cycle() -> None:
    scene = scattered(60).with_settings(max_consolidation_victims=-1)
    for number in range(5):
        scene.gang(f"b/tight{number}", 10, gpus=6)
    after = scene.decide()
    assert len(after.evicted) == 50 and sum(name.startswith("tight") for name in after.waiting) == 50


def test_a_gang_whose_cheapest_moves_concern_too_many_others_moves_nobody() -> None:
    after = scattered(12).gang("b/tight", 6, gpus=6).with_settings(max_consolidation_victims=4).decide()
    assert not after.evicted


def test_pods_of_different_sizes_find_their_nodes_together() -> None:
    after = (
        scattered(6)
        .gang("b/large", 2, gpus=7)
        .gang("b/small", 1, gpus=6)
        .with_settings(max_consolidation_victims=-1)
        .decide()
    )
    assert len(after.evicted) == 5


def test_consolidation_can_be_switched_off() -> None:
    scene = Scene().nodes(2, gpus=2).queue("a", quota=4).gang("a/left", 1, on="n0").gang("a/right", 1, on="n1")
    assert not scene.gang("a/wide", 1, gpus=2).with_settings(max_consolidation_victims=0).decide().evicted


# ── stale gangs ──


def test_a_gang_below_its_minimum_gives_back_what_it_holds_after_its_grace() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=4).gang("a/broken", 2, needs=4, on="n0", stale_since=NOW - 61)
    after = scene.decide()
    assert after.evicted == ["broken-0", "broken-1"]
    assert after.decisions.evictions[0].message == (
        "Workload doesn't meet the minimum required number of pods (4), evicting remaining pod: ns/broken-0"
    )


def test_within_its_grace_it_is_only_stamped() -> None:
    after = Scene().nodes(1, gpus=4).queue("a", quota=4).gang("a/broken", 2, needs=4, on="n0").decide()
    assert not after.evicted and [(update.gang, update.stale_since) for update in after.decisions.updates] == [
        ("broken", NOW)
    ]


def test_a_negative_grace_means_never_and_a_recovered_gang_loses_its_stamp() -> None:
    never = (
        Scene().nodes(1).queue("a", quota=4).gang("a/broken", 2, needs=4, on="n0", stale_since=0.0, staleness_grace=-1)
    )
    assert not never.decide().evicted
    well = Scene().nodes(1).queue("a", quota=4).gang("a/well", 2, on="n0", stale_since=NOW - 5).decide()
    assert [(update.gang, update.stale_since, update.stale) for update in well.decisions.updates] == [
        ("well", None, False)
    ]


def test_a_surplus_sub_group_goes_before_the_whole_gang() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=2).queue("b", quota=2)
    scene.gang("a/two", 4, on="n0", groups={"first": (2, None), "second": (2, None)})
    tree = GroupRecord(min_groups=1, pod_sets=(PodSetRecord("first", 2), PodSetRecord("second", 2)))
    scene.records = [
        replace(record, tree=tree) if isinstance(record, GangRecord) else record for record in scene.records
    ]
    assert scene.gang("b/mine", 1).decide().evicted == ["two-2", "two-3"]


# ── budgets ──


def test_a_search_ends_when_its_steps_are_used_up() -> None:
    scene = lent().with_settings(actions=("reclaim",), budgets=Budgets(action={"default": 1}))
    scene.gang("b/first", 1).gang("b/second", 1)
    after = scene.decide()
    assert len(after.evicted) == 1 and after.decisions.steps == {"reclaim": 1}


def test_a_generator_that_used_up_its_steps_leaves_the_rest_to_the_next() -> None:
    budgets = Budgets(generator={"NodeLocalGreedy": 1, "MultiNodeGang": 0})
    scene = Scene().nodes(4, gpus=4).queue("a", quota=0, weight=0).queue("b", quota=16).with_settings(budgets=budgets)
    for number in range(16):
        scene.gang(f"a/run{number}", 1, on=f"n{number % 4}")
    assert len(scene.gang("b/wide", 3, gpus=4).decide().waiting) == 3


@pytest.mark.parametrize("name", ["relcaimerSaturationMultiplier", "reclaimerUtilizationMultiplier"])
def test_how_far_a_reclaimer_stays_below_others_is_heard_under_the_name_of_upstreams_code_and_of_its_documentation(
    name: str,
) -> None:
    settings = SchedulerSettings(plugins=(PluginSetting("proportion", {name: "1.5"}),))
    assert ProportionPlugin(Session(ClusterModel(), settings, 0), settings.arguments("proportion")).multiplier == 1.5


@pytest.mark.parametrize("parent", ["nobody", "lost"], ids=["a parent that is not there", "itself"])
def test_a_queue_without_a_place_in_the_tree_keeps_no_other_from_reclaiming(parent: str) -> None:
    scene = Scene().nodes(2).queue("top", quota=8).queue("b", quota=8, parent="top").queue("c", parent="top")
    scene.queue("lost", parent=parent).gang("lost/old", 1, gpus=8, on="n0").gang("c/borrowed", 1, gpus=8, on="n1")
    assert scene.gang("b/new", 1, gpus=8).decide().evicted == ["borrowed-0"]
