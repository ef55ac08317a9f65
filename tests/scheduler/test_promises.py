"""Promised starts: the first latest start stands, and is revised only with a reason; small changes are not told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gangline.rules.gangs.starts import StartTimes, start_text
from gangline.scheduler.cycle import decide
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.records import GangRecord, NodeRecord, TaskRecord
from gangline.scheduler.settings import native_settings
from gangline.scheduler.thought.booking import book
from gangline.scheduler.time.learned import LearnedRuntimes
from gangline.scheduler.time.promises import PromiseNews, StartPromises
from scheduler.scene import NOW, Scene

HOUR, MINUTE = 3600.0, 60.0
TRAIN: dict[str, Any] = {"last_start": NOW - HOUR, "expected_runtime": 2 * HOUR}


def crowded(**train: Any) -> Scene:
    """One node of 8 GPUs is free, the other is held by train-9, for another hour if it says so; big needs both."""
    scene = Scene(settings=native_settings()).nodes(2).queue("a")
    return scene.gang("a/train-9", 1, gpus=8, on="n0", **train).gang("a/big", 2, gpus=8)


def cycle(cluster: ClusterModel, promises: StartPromises, now: float) -> list[PromiseNews]:
    decisions = decide(cluster, native_settings(), now)
    book(cluster, decisions)
    return promises.after_cycle(cluster, decisions, now)


def changed(cluster: ClusterModel, gang: str, **changes: Any) -> None:
    cluster.apply(replace(cluster.gangs[gang].record, **changes))


def test_a_gang_is_told_by_when_it_starts_and_after_whom() -> None:
    (news,) = cycle(crowded(**TRAIN).cluster(), StartPromises(), NOW)
    assert news.event == "made" and news.times is not None and news.times.waits_for == "train-9"
    assert HOUR < (news.times.latest or 0) - NOW <= HOUR + 2 * MINUTE


def test_the_text_names_both_times_and_who_ends() -> None:
    times = StartTimes(13 * HOUR + 50 * MINUTE, 14 * HOUR + 20 * MINUTE, "ns/train-9")
    assert start_text(times, 0) == "starts by 14:20 UTC at the latest (when train-9 ends), probably at 13:50 UTC"
    assert start_text(times, -1).startswith("starts by 1970-01-01 14:20 UTC at the latest")


def test_nothing_is_told_twice() -> None:
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises()
    cycle(cluster, promises, NOW)
    assert [cycle(cluster, promises, NOW + seconds) for seconds in (1, 60, 1800)] == [[], [], []]


def test_where_no_runtime_is_known_nothing_is_promised_but_a_start_is_expected_once_it_is_reserved() -> None:
    cluster, promises = crowded(last_start=NOW - HOUR).cluster(), StartPromises()
    cluster.memo["overtaken since"] = {"big": -32.0}
    (news,) = cycle(cluster, promises, NOW)
    assert news.event == "" and news.times is not None and news.times.latest is None
    assert "not promised: too little is known of those before it" in start_text(news.times, NOW)
    assert sum(len(cycle(cluster, promises, NOW + 60.0 * minute)) for minute in range(60)) <= 2


def test_a_promise_is_kept_when_the_gang_starts_in_time() -> None:
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises()
    cycle(cluster, promises, NOW)
    cluster.remove(TaskRecord, "train-9-0")
    assert cycle(cluster, promises, NOW + HOUR) == [PromiseNews("big", None, "kept")]


def test_an_earlier_end_moves_the_expected_start_and_not_the_promise() -> None:
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises()
    (first,) = cycle(cluster, promises, NOW)
    changed(cluster, "train-9", expected_runtime=1.5 * HOUR)
    (news,) = cycle(cluster, promises, NOW + 1)
    assert news.event == "" and news.times is not None and first.times is not None
    assert news.times.latest == first.times.latest and news.times.expected == first.times.expected - HOUR / 2


def test_work_that_runs_longer_than_expected_breaks_a_promise_once_and_is_named() -> None:
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises()
    cycle(cluster, promises, NOW)
    news = [item for minute in range(55, 120) for item in cycle(cluster, promises, NOW + minute * MINUTE)]
    assert [item.cause for item in news if item.event == "broken"] == ["overrun"]
    assert news[0].told == "train-9 runs longer than expected" and len(news) <= 3


def test_a_lost_node_breaks_a_promise() -> None:
    cluster, promises = (
        crowded(**TRAIN).nodes(1).gang("a/other", 1, gpus=8, on="n2", **TRAIN).cluster(),
        StartPromises(),
    )
    changed(cluster, "other", expected_runtime=3 * HOUR)
    cycle(cluster, promises, NOW)
    cluster.apply(replace(cluster.nodes["n1"].record, ready=False))
    (news,) = cycle(cluster, promises, NOW + 1)
    assert (news.event, news.cause, news.told) == ("broken", "node", "node n1 is not ready")


def test_a_gang_of_higher_priority_that_comes_first_is_named() -> None:
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises()
    cycle(cluster, promises, NOW)
    rush = Scene(settings=native_settings()).gang("a/rush", 1, gpus=8, priority=70, expected_runtime=4 * HOUR)
    for record in rush.records:
        cluster.apply(record)
    (news,) = cycle(cluster, promises, NOW + 1)
    assert (news.event, news.cause, news.told) == ("broken", "order", "rush came first")


def test_a_gang_that_is_gone_takes_its_promise_with_it() -> None:
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises()
    cycle(cluster, promises, NOW)
    for task in ("big-0", "big-1"):
        cluster.remove(TaskRecord, task)
    cluster.remove(GangRecord, "big")
    assert cycle(cluster, promises, NOW + 1) == [] and promises.of("big") is None


def test_a_promise_without_a_reservation_is_taken_back_after_a_minute() -> None:
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises()
    cycle(cluster, promises, NOW)
    cluster.remove(NodeRecord, "n1")
    assert cycle(cluster, promises, NOW + 30) == []
    (news,) = cycle(cluster, promises, NOW + 61)
    assert (news.times, news.event, news.cause) == (None, "broken", "node")


def test_a_new_scheduler_stands_by_what_was_promised_before_it() -> None:
    stored = StartTimes(NOW + HOUR, NOW + 3 * HOUR, "train-9")
    cluster, promises = crowded(**TRAIN).cluster(), StartPromises(lambda gang: stored)
    news = cycle(cluster, promises, NOW)
    assert all(item.times is not None and item.times.latest == stored.latest for item in news)


def test_nothing_is_promised_while_a_gang_before_it_has_no_reservation() -> None:
    hour: dict[str, Any] = {"expected_runtime": HOUR}
    told = Scene(settings=native_settings()).nodes(2).queue("a").gang("a/old", 1, gpus=8, on="n0", **TRAIN)
    told.gang("a/big", 2, gpus=8, **hour).gang("a/later", 1, gpus=8, **hour)
    assert reserved(told) == {"big": True, "later": True}
    told.records[:] = [record for record in told.records if getattr(record, "gang", record.name) != "later"]
    assert reserved(told.gang("a/twin", 2, gpus=8, **hour).gang("a/last", 1, gpus=8, **hour)) == {
        "big": True,
        "last": False,
    }


def reserved(told: Scene) -> dict[str, bool]:
    """Who has a reservation, and whether it is sure."""
    return {made.gang: made.sure for made in decide(told.cluster(), told.settings, NOW).reservations}


def test_where_gangs_run_longer_than_they_say_promises_are_put_off_by_as_much() -> None:
    memory = LearnedRuntimes()
    for _ in range(20):
        memory.overruns.note(stated=HOUR, seconds=2 * HOUR)
    (news,) = cycle(crowded(**TRAIN).cluster(), StartPromises(memory=memory), NOW)
    assert news.times is not None and 2 * HOUR < (news.times.latest or 0) - NOW <= 2 * HOUR + 2 * MINUTE
    assert news.times.expected - NOW <= HOUR + MINUTE


def test_promises_are_put_off_by_how_much_later_than_reserved_gangs_started_here() -> None:
    """Of fifty that were to wait an hour one started half an hour late: the next promise counts on as much. That one
    started two days late is not what the next one must count on."""
    memory = LearnedRuntimes()
    for late in (*[0.0] * 96, *[0.5 * HOUR] * 3, 48 * HOUR):
        memory.delays.note(NOW, NOW + HOUR, NOW + HOUR + late)
    (news,) = cycle(crowded(**TRAIN).cluster(), StartPromises(memory=memory), NOW)
    assert news.times is not None and 1.5 * HOUR < (news.times.latest or 0) - NOW <= 1.5 * HOUR + 2 * MINUTE


def test_a_start_teaches_how_late_starts_are_and_that_is_kept_over_restarts() -> None:
    cluster, promises, after = crowded(**TRAIN).cluster(), StartPromises(), LearnedRuntimes()
    cycle(cluster, promises, NOW)
    cluster.remove(TaskRecord, "train-9-0")
    cycle(cluster, promises, NOW + 1.25 * HOUR)
    after.restore(promises.memory.saved())
    assert list(after.delays.delays) == list(promises.memory.delays.delays) == [0.25]


def test_how_much_longer_gangs_run_is_kept_over_restarts() -> None:
    before, after = LearnedRuntimes(), LearnedRuntimes()
    for _ in range(30):
        before.overruns.note(stated=HOUR, seconds=1.5 * HOUR)
    after.restore(before.saved())
    assert after.overruns.factor() == 1.5
