"""Evictions have a price: the cheapest victims go, none for more than it is worth, and nobody twice in a row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gangline.errors import ConfigError
from gangline.scheduler.cycle import decide
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import Status
from gangline.scheduler.plugins.evict.disruption import DisruptionLimits, read_limits
from gangline.scheduler.records import BudgetRecord, GangRecord, Requirement, TaskRecord
from gangline.scheduler.settings import PluginSetting, SchedulerSettings, native_settings
from gangline.scheduler.thought.booking import book
from scheduler.scene import NOW, Scene

MINUTE, HOUR = 60.0, 3600.0


def native(**arguments: str) -> SchedulerSettings:
    plugins = [
        PluginSetting("disruption", arguments) if plugin.name == "disruption" else plugin
        for plugin in native_settings().plugins
    ]
    return replace(native_settings(), plugins=tuple(plugins))


def two_borrowers(**of_old: Any) -> Scene:
    """Queue a borrows both nodes: with a gang of ten hours, and with one of ten minutes."""
    scene = Scene(settings=native()).nodes(2).queue("a", quota=0).queue("b", quota=8)
    scene.gang("a/old", 1, gpus=8, on="n0", last_start=NOW - 10 * HOUR, **of_old)
    return scene.gang("a/young", 1, gpus=8, on="n1", last_start=NOW - 10 * MINUTE)


# ── the cheapest victims ──


def test_reclaim_takes_the_gang_that_loses_least() -> None:
    after = two_borrowers().gang("b/mine", 1, gpus=8).decide()
    assert after.evicted == ["young-0"] and after.waiting == {"mine-0": "n1"}


def test_a_gang_that_was_just_saved_loses_less_than_a_younger_one() -> None:
    assert two_borrowers(last_checkpoint=NOW - MINUTE).gang("b/mine", 1, gpus=8).decide().evicted == ["old-0"]
    assert two_borrowers(checkpoint_interval=HOUR).gang("b/mine", 1, gpus=8).decide().evicted == ["old-0"]


def test_a_queue_within_its_quota_gives_nothing_for_what_its_sibling_borrows_however_cheap_that_were() -> None:
    scene = Scene(settings=native()).nodes(3).queue("research", quota=16).queue("serving", quota=8)
    scene.queue("vision", quota=8, parent="research").queue("language", quota=8, parent="research")
    for place in range(2):
        scene.gang(f"vision/sweep{place}", 1, gpus=8, on=f"n{place}", last_start=NOW - HOUR)
    scene.gang("language/young", 1, gpus=8, on="n2", last_start=NOW - MINUTE)
    assert scene.gang("serving/mine", 1, gpus=8).decide().evicted == ["sweep0-0"]


def test_preempt_takes_lower_priority_first_and_then_the_gang_that_loses_least() -> None:
    scene = Scene(settings=native()).nodes(3).queue("a", quota=24)
    scene.gang("a/old", 1, gpus=8, on="n0", last_start=NOW - 10 * HOUR)
    scene.gang("a/young", 1, gpus=8, on="n1", last_start=NOW - MINUTE)
    scene.gang("a/higher", 1, gpus=8, on="n2", last_start=NOW, priority=60)
    assert scene.gang("a/urgent", 1, gpus=8, priority=75).decide().evicted == ["young-0"]


def test_the_price_of_an_eviction_is_told_with_it() -> None:
    (evict,) = two_borrowers().gang("b/mine", 1, gpus=8).decide().decisions.evictions
    assert evict.lost == 8 * 10 * MINUTE


# ── nobody is evicted in vain ──


def one_borrows(*waiting: str) -> Scene:
    """Queue a borrows one GPU, b is short of one; the gangs of b that wait, as name:GPUs, in their order."""
    scene = Scene(settings=native()).nodes(2).queue("a", quota=8).queue("b", quota=8)
    for number in range(9):
        scene.gang(f"a/held{number}", 1, on=f"n{number // 8}", last_start=NOW - MINUTE)
    scene.gang("b/held", 1, gpus=7, on="n1", last_start=NOW - MINUTE)
    for gang in waiting:
        name, _, gpus = gang.partition(":")
        scene.gang(f"b/{name}", 1, gpus=int(gpus))
    return scene


def test_reclaim_tries_no_victim_that_would_have_its_place_back_before_the_gang_that_the_room_is_for() -> None:
    """The large gang stands before the small one and beyond the quota of b, so that a has its turn before both."""
    after = one_borrows("large:8", "small:1").decide()
    assert not after.evicted and not after.decisions.steps


def test_room_that_reclaim_made_goes_to_the_gang_that_it_was_made_for() -> None:
    scene = one_borrows("small:1", "large:8")
    cluster = scene.cluster()
    first = decide(cluster, scene.settings, NOW)
    (victim,) = [evict.task for evict in first.evictions]
    book(cluster, first)
    record = cluster.tasks[victim].record
    cluster.remove(TaskRecord, victim)
    cluster.apply(replace(record, status=Status.PENDING, node=""))
    second = decide(cluster, scene.settings, NOW + 1)
    assert [bind.task for bind in second.binds] == ["small-0"] and not second.evictions


def test_victims_of_which_no_fair_plan_could_take_enough_are_not_tried() -> None:
    """a borrows 2 GPUs and gives one gang of 4 for them at most; the node needs both of its gangs to go."""
    scene = Scene(settings=native()).nodes(3).queue("a", quota=8, weight=0).queue("b", quota=8)
    scene.queue("firm").queue("d", weight=0)
    scene.gang("a/one", 1, gpus=4, on="n0").gang("a/two", 1, gpus=4, on="n0").gang("a/three", 1, gpus=2, on="n1")
    scene.gang("firm/x", 1, gpus=6, on="n1", preemptible=False).gang("firm/y", 1, gpus=6, on="n2", preemptible=False)
    after = scene.gang("d/small", 1, gpus=2, on="n2").gang("b/mine", 1, gpus=8).decide()
    assert not after.evicted and not after.decisions.steps


def test_queues_below_different_parents_give_in_the_same_way() -> None:
    scene = Scene(settings=native()).nodes(2).queue("a", quota=8).queue("b", quota=8)
    scene.queue("a1", quota=8, parent="a").queue("b1", quota=8, parent="b")
    for number in range(9):
        scene.gang(f"a1/held{number}", 1, on=f"n{number // 8}", last_start=NOW - MINUTE)
    scene.gang("b1/held", 1, gpus=7, on="n1", last_start=NOW - MINUTE)
    scene.gang("b1/large", 1, gpus=8).gang("b1/small", 1)
    after = scene.decide()
    assert not after.evicted and not after.decisions.steps


# ── never more than it is worth ──


def test_a_request_for_48_gpus_never_evicts_376() -> None:
    scene = Scene(settings=native()).nodes(47).queue("a", quota=0).queue("b", quota=48)
    scene.gang("a/huge", 47, gpus=8, on=[f"n{place}" for place in range(47)], last_start=NOW)
    after = scene.gang("b/mine", 6, gpus=8).decide()
    assert not after.evicted and (
        "1 workload(s) could make room, but evicting them would cost more work than it is worth yet, or they were "
        "evicted or placed a short time ago"
    ) in after.why("mine")


def test_of_376_borrowed_gpus_a_request_for_48_takes_48() -> None:
    scene = Scene(settings=native()).nodes(47).queue("a", quota=0).queue("b", quota=48)
    for place in range(47):
        scene.gang(f"a/part{place}", 1, gpus=8, on=f"n{place}", last_start=NOW - place * MINUTE - 1)
    after = scene.gang("b/mine", 6, gpus=8).decide()
    assert after.evicted == [f"part{place}-0" for place in range(6)]


def test_twice_the_gpus_asked_for_are_evicted_at_most_unless_the_ratio_says_more() -> None:
    def evicted(gpus: int, **arguments: str) -> list[str]:
        scene = Scene(settings=native(**arguments)).nodes(1).queue("a", quota=8)
        scene.gang("a/low", 1, gpus=8, on="n0", last_start=NOW - MINUTE)
        return scene.gang("a/high", 1, gpus=gpus, priority=75).decide().evicted

    assert evicted(4) == ["low-0"] and not evicted(3) and evicted(3, ratio="3") == ["low-0"]


@pytest.mark.parametrize(("waited", "moved"), [(30 * MINUTE, False), (3 * HOUR, True)])
def test_a_gang_is_moved_when_the_one_that_waits_has_waited_long_enough(waited: float, moved: bool) -> None:
    """Moving an hour of 1 GPU is worth it for 2 GPUs that have waited for more than an hour."""
    scene = Scene(settings=native()).nodes(2, gpus=2).queue("a", quota=4)
    scene.gang("a/left", 1, on="n0", last_start=NOW - HOUR).gang("a/right", 1, on="n1", last_start=NOW - HOUR)
    after = scene.gang("a/wide", 1, gpus=2, last_eviction=NOW - waited).decide()
    assert bool(after.evicted) is moved


def test_a_gang_within_its_quota_waits_for_cheap_victims_no_longer_than_its_patience() -> None:
    def evicted(waited: float, quota: float = 8) -> list[str]:
        scene = Scene(settings=native(patience="2h")).nodes(1).queue("a").queue("b", quota=quota)
        scene.gang("a/old", 1, gpus=8, on="n0", last_start=NOW - 10 * HOUR)
        return scene.gang("b/mine", 1, gpus=8, last_eviction=NOW - waited).decide().evicted

    assert not evicted(HOUR) and evicted(2 * HOUR) == ["old-0"]


def test_a_queue_within_its_quota_does_not_pay_for_what_its_sibling_borrows() -> None:
    def evicted(**of_borrower: Any) -> list[str]:
        scene = Scene(settings=native()).nodes(2).queue("top").queue("serving", quota=8)
        scene.queue("language", quota=4, parent="top").queue("vision", quota=4, parent="top").queue(
            "idle", parent="top"
        )
        scene.gang("language/own", 1, gpus=4, on="n0", last_start=NOW - MINUTE)
        for number, node in enumerate(("n0", "n1", "n1")):
            scene.gang(f"vision/more-{number}", 1, gpus=4, on=node, last_start=NOW - MINUTE, **of_borrower)
        return scene.gang("serving/claim", 1, gpus=8).decide().evicted

    assert sorted(evicted()) == ["more-1-0", "more-2-0"]
    assert not evicted(last_eviction=NOW - 2 * MINUTE), "all that was borrowed is in its grace: nobody else makes room"


def test_a_queue_that_was_promised_more_than_there_is_does_not_pay_for_one_that_borrows_beside_it() -> None:
    """Its fair share is less than its quota, and it holds no more than its quota: vision borrows, idle does not."""
    scene = Scene(settings=native()).nodes(2).queue("top").queue("serving", quota=8)
    scene.queue("language", quota=16, parent="top").queue("vision", parent="top").queue("idle", parent="top")
    scene.gang("language/own", 1, gpus=8, on="n0", last_start=NOW - MINUTE)
    for number in range(2):
        grace = NOW - 2 * MINUTE
        scene.gang(f"vision/more-{number}", 1, gpus=4, on="n1", last_start=NOW - HOUR, last_eviction=grace)
    assert not scene.gang("serving/claim", 1, gpus=8).decide().evicted


def test_what_may_be_evicted_goes_by_all_that_is_asked_for_also_while_a_part_of_it_is_tried() -> None:
    scene = Scene(settings=native()).nodes(1, gpus=4).queue("a", quota=4)
    scene.gang("a/old", 4, needs=3, on="n0", priority=30, last_start=NOW - MINUTE)
    assert len(scene.gang("a/new", 2).decide().evicted) == 4


def test_a_gang_that_is_too_small_to_evict_anybody_does_not_hold_back_a_larger_one() -> None:
    scene = Scene(settings=native()).nodes(1).queue("a", quota=0).queue("b", quota=8)
    scene.gang("a/old", 1, gpus=8, on="n0", last_start=NOW - MINUTE)
    after = scene.gang("b/small", 1, gpus=1).gang("b/large", 1, gpus=7).decide()
    assert after.evicted == ["old-0"] and "large-0" in after.waiting


# ── nobody twice in a row ──


def settle(cluster: ClusterModel, evicted: set[str]) -> None:
    for task in list(cluster.tasks.values()):
        if task.uid in evicted:
            record = replace(task.record, status=Status.PENDING, node="")
            cluster.remove(TaskRecord, task.uid)
            cluster.apply(record)
        elif task.status == Status.BINDING:
            cluster.apply(replace(task.record, status=Status.RUNNING))


def evicted_at(cluster: ClusterModel, settings: SchedulerSettings, now: float) -> list[str]:
    """Whom one cycle evicts; they wait again, and what was bound runs."""
    decisions = decide(cluster, settings, now)
    book(cluster, decisions)
    evicted = [evict.task for evict in decisions.evictions]
    settle(cluster, set(evicted))
    return evicted


def low_then_high(settings: SchedulerSettings) -> ClusterModel:
    scene = Scene(settings=settings).nodes(1).queue("a", quota=8)
    scene.gang("a/low", 1, gpus=8, on="n0", last_start=NOW - 5 * MINUTE)
    return scene.gang("a/high", 1, gpus=8, priority=75).cluster()


def come_and_go(cluster: ClusterModel, settings: SchedulerSettings, now: float) -> None:
    """The gang of higher priority ends, the other one starts again, and then there is more to do for the first."""
    record = cluster.tasks["high-0"].record
    cluster.remove(TaskRecord, "high-0")
    assert not evicted_at(cluster, settings, now) and cluster.tasks["low-0"].status == Status.RUNNING
    cluster.apply(replace(record, status=Status.PENDING, node=""))


def test_a_gang_that_was_evicted_runs_for_its_grace_before_it_is_evicted_for_the_same_reason() -> None:
    settings = native(grace="1h")
    cluster = low_then_high(settings)
    assert evicted_at(cluster, settings, NOW) == ["low-0"]
    come_and_go(cluster, settings, NOW + MINUTE)
    assert not evicted_at(cluster, settings, NOW + 2 * MINUTE)
    assert not evicted_at(cluster, settings, NOW + MINUTE + HOUR - 1)
    assert evicted_at(cluster, settings, NOW + MINUTE + HOUR) == ["low-0"]


def test_after_a_restart_of_the_scheduler_the_time_stamp_of_the_last_eviction_protects() -> None:
    scene = Scene(settings=native(grace="1h")).nodes(1).queue("a", quota=8)
    scene.gang("a/low", 1, gpus=8, on="n0", last_start=NOW - 20 * MINUTE, last_eviction=NOW - 30 * MINUTE)
    assert not scene.gang("a/high", 1, gpus=8, priority=75).decide().evicted


def test_surplus_pods_may_go_one_after_the_other() -> None:
    settings = native(grace="1h")
    scene = Scene(settings=settings).nodes(1, gpus=4).queue("a", quota=0).queue("b", quota=4)
    cluster = scene.gang("a/elastic", 4, needs=1, on="n0", last_start=NOW - MINUTE).gang("b/one", 1).cluster()
    assert len(evicted_at(cluster, settings, NOW)) == 1
    decisions = decide(cluster, settings, NOW + MINUTE)
    book(cluster, decisions)
    cluster.apply(GangRecord("two", "b", "two", "ns", created=NOW))
    cluster.apply(replace(cluster.tasks["one-0"].record, uid="two-0", gang="two", name="two-0", status=Status.PENDING))
    settle(cluster, set())
    assert len(evicted_at(cluster, settings, NOW + 2 * MINUTE)) == 1


# ── budgets ──


def test_a_gang_is_evicted_no_more_often_in_a_day_than_its_queue_or_the_settings_allow() -> None:
    settings = native(grace="0s", evictions="1")
    cluster = low_then_high(settings)
    assert evicted_at(cluster, settings, NOW) == ["low-0"]
    come_and_go(cluster, settings, NOW + MINUTE)
    assert not evicted_at(cluster, settings, NOW + 2 * HOUR)
    queue = cluster.queues["a"].record
    cluster.apply(replace(queue, evictions_per_day=2))
    assert evicted_at(cluster, settings, NOW + 3 * HOUR) == ["low-0"]


def test_a_queue_loses_no_more_gpu_hours_in_an_hour_than_its_budget() -> None:
    """A gang of 10 minutes on 8 GPUs loses 1.33 GPU-hours."""

    def evicted(budget: float | None, **arguments: str) -> list[str]:
        scene = Scene(settings=native(**arguments)).nodes(1).queue("a", quota=0, lost_per_hour=budget)
        scene.queue("b", quota=8).gang("a/young", 1, gpus=8, on="n0", last_start=NOW - 10 * MINUTE)
        return scene.gang("b/mine", 1, gpus=8).decide().evicted

    assert evicted(1.4) == evicted(None) == ["young-0"] and not evicted(1.3) and not evicted(None, lost="1")
    assert evicted(1.4, lost="1") == ["young-0"]


def test_what_was_lost_in_the_last_hour_counts() -> None:
    settings = native()
    scene = Scene(settings=settings).nodes(2).queue("a", quota=0, lost_per_hour=2).queue("b", quota=16)
    scene.gang("a/one", 1, gpus=8, on="n0", last_start=NOW - 10 * MINUTE)
    scene.gang("a/two", 1, gpus=8, on="n1", last_start=NOW - 10 * MINUTE)
    cluster = scene.gang("b/first", 1, gpus=8).gang("b/second", 1, gpus=8).cluster()
    assert len(evicted_at(cluster, settings, NOW)) == 1
    assert not evicted_at(cluster, settings, NOW + MINUTE)


def test_limits_that_make_no_sense_are_refused_with_their_name() -> None:
    assert read_limits({"grace": "30m", "ratio": "3"}) == DisruptionLimits(ratio=3, grace=1800)
    with pytest.raises(ConfigError, match="plugins: disruption: ratio must not be negative"):
        read_limits({"ratio": "-1"})
    with pytest.raises(ConfigError, match="plugins: disruption: grace: 'soon' is not a duration"):
        read_limits({"grace": "soon"})


def kept(allowed: int) -> BudgetRecord:
    """A PodDisruptionBudget over the pods with the label `keep`."""
    return BudgetRecord("keep", "ns", (Requirement("keep", "Exists"),), allowed)


def test_a_pod_whose_disruption_budget_allows_none_is_no_victim_and_another_goes_instead() -> None:
    told = (
        Scene(settings=native())
        .nodes(2)
        .queue("a")
        .gang("a/first", 1, gpus=8, on="n0", priority=40, task={"labels": {"keep": ""}})
    )
    told.gang("a/second", 1, gpus=8, on="n1", priority=45).gang("a/rush", 1, gpus=8, priority=70)
    assert told.decide().evicted == ["first-0"]
    told.records.append(kept(0))
    assert told.decide().evicted == ["second-0"]


def test_a_gang_that_only_a_disruption_budget_keeps_waiting_is_told_so() -> None:
    told = (
        Scene(settings=native())
        .nodes(1)
        .queue("a")
        .gang("a/old", 1, gpus=8, on="n0", priority=40, task={"labels": {"keep": ""}})
    )
    told.records.append(kept(0))
    after = told.gang("a/rush", 1, gpus=8, priority=70).decide()
    assert not after.evicted and "a PodDisruptionBudget keeps them" in after.why("rush")


def test_a_budget_is_not_used_up_twice_in_one_cycle() -> None:
    told = Scene(settings=native()).nodes(2).queue("a")
    for place in (0, 1):
        told.gang(f"a/old-{place}", 1, gpus=8, on=f"n{place}", priority=40, task={"labels": {"keep": ""}})
    told.gang("a/rush-0", 1, gpus=8, priority=70).gang("a/rush-1", 1, gpus=8, priority=70)
    assert len(told.decide().evicted) == 2
    told.records.append(kept(1))
    assert len(told.decide().evicted) == 1
