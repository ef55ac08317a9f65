"""Reservations: a gang that does not fit gets the earliest place and time, and nobody after it may delay that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gangline.errors import ConfigError
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import GangRecord, TaskRecord
from gangline.scheduler.settings import PluginSetting, native_settings
from gangline.scheduler.time.earliest import NodeSlots, earliest_start
from gangline.scheduler.time.learned import LearnedRuntimes, name_pattern
from gangline.scheduler.time.learning import teach
from gangline.scheduler.time.profile import MOST_SLOTS, NodeFuture, slot_times
from scheduler.scene import NOW, Outcome, Scene

HOUR = 3600.0


def native(**arguments: str) -> Scene:
    """Native settings, with these arguments of the reservations."""
    plugins = tuple(
        PluginSetting(plugin.name, arguments) if plugin.name == "reservations" else plugin
        for plugin in native_settings().plugins
    )
    return Scene().with_settings(plugins=plugins, skips_alike=True)


def crowded(**arguments: str) -> Scene:
    """Two nodes of 8 GPUs; one is free, the other is held for another hour. A gang needs both."""
    scene = (
        native(**arguments)
        .nodes(2)
        .queue("a")
        .gang("a/old", 1, gpus=8, on="n0", last_start=NOW - HOUR, expected_runtime=2 * HOUR)
    )
    return scene.gang("a/big", 2, gpus=8)


def start_of(after: Outcome) -> dict[str, float]:
    return {reservation.gang: reservation.start - NOW for reservation in after.decisions.reservations}


def test_a_gang_that_does_not_fit_reserves_the_moment_at_which_the_last_node_is_free() -> None:
    after = crowded().decide()
    assert start_of(after) == {"big": HOUR} and after.decisions.reservations[0].nodes == (("n0", 8), ("n1", 8))


def test_a_job_that_would_delay_the_gang_waits_and_is_told_for_whom() -> None:
    after = crowded().gang("a/long", 1, expected_runtime=3 * HOUR).decide()
    assert not after.bound
    assert "1 node(s) are kept for ns/big, which can start at 14:47 UTC" in after.why("long")


def test_a_job_that_is_gone_by_then_starts_at_once() -> None:
    assert crowded().gang("a/short", 1, expected_runtime=HOUR / 4).decide().bound == {"short-0": "n1"}


def test_a_gang_that_runs_and_lacks_a_pod_is_not_kept_out_of_a_reserved_place() -> None:
    """Kept waiting, it would be ended as a gang below its minimum, and all its work be lost."""
    scene = (
        native().nodes(2).queue("a").gang("a/old", 1, gpus=7, on="n0", last_start=NOW - HOUR, expected_runtime=2 * HOUR)
    )
    scene.gang("a/big", 2, gpus=8).gang("a/torn", 2, on="n0", last_start=NOW - HOUR, expected_runtime=9 * HOUR)
    lost = scene.records.pop()
    assert isinstance(lost, TaskRecord)
    scene.records.append(replace(lost, status=Status.PENDING, node=""))
    assert scene.decide().bound == {"torn-1": "n1"}


def test_consolidation_moves_nobody_for_room_that_is_kept_for_others() -> None:
    scene = native().nodes(2).queue("a")
    for number in range(8):
        scene.gang(f"a/young{number}", 1, on="n0", last_start=NOW - 60, expected_runtime=HOUR)
    after = scene.gang("a/big", 2, gpus=8).gang("a/long", 1, expected_runtime=3 * HOUR).decide()
    assert start_of(after).keys() == {"big"}
    assert not after.bound and not after.evicted and not after.decisions.steps


def test_the_margin_says_how_much_sooner_it_must_be_gone() -> None:
    assert not crowded().gang("a/short", 1, expected_runtime=HOUR / 2).decide().bound
    assert crowded(margin="2").gang("a/short", 1, expected_runtime=HOUR / 2).decide().bound == {"short-0": "n1"}


def test_where_gangs_are_known_to_end_as_they_say_they_need_no_margin() -> None:
    scene = crowded().gang("a/short", 1, expected_runtime=HOUR, overrun=1.0)
    assert scene.decide().bound == {"short-0": "n1"}
    assert not crowded().gang("a/short", 1, expected_runtime=HOUR, overrun=1.5).decide().bound


def overtaken(by: float, *gangs: str) -> Scene:
    """Eight nodes, seven held for ten hours by work of unknown end; a gang that needs two is overtaken by so much."""
    scene = native().nodes(8).queue("a")
    for place in range(7):
        scene.gang(f"a/old{place}", 1, gpus=8, on=f"n{place}", last_start=NOW - 10 * HOUR)
    for name in gangs or ("big",):
        scene.gang(f"a/{name}", 2, gpus=8)
        scene.marks[name] = -by
    return scene


def test_before_a_place_that_is_drained_work_of_unknown_runtime_starts_until_the_gang_was_overtaken_by_much() -> None:
    assert overtaken(32).gang("a/one", 1).decide().bound == {"one-0": "n7"}
    after = overtaken(128).gang("a/one", 1).decide()
    assert not after.bound and "kept for ns/big" in after.why("one")


def test_on_a_drained_node_unknown_work_starts_only_as_long_as_it_should_delay_nothing() -> None:
    """Another node should be free in ten hours, eight young gangs together be over in eleven. Where several queues
    share the cluster no more is asked than that each of them alone should be."""
    for queues, number in ((("a",), 7), (("a", "b"), 8)):
        scene = overtaken(32)
        for queue in queues[1:]:
            scene.queue(queue).gang(f"{queue}/other", 1, gpus=9)
        for place in range(8):
            scene.gang(f"a/one{place}", 1)
        assert len(scene.decide().bound) == number


def test_places_are_drained_for_several_gangs_of_a_kind_as_long_as_few_nodes_are() -> None:
    assert set(start_of(overtaken(32, "first", "second").decide())) == {"first"}
    wide = overtaken(32, "first", "second").nodes(8)
    for place in range(8, 16):
        wide.gang(f"a/old{place}", 1, gpus=8, on=f"n{place}", last_start=NOW - 10 * HOUR)
    assert set(start_of(wide.decide())) == {"first", "second"}


def test_a_job_of_unknown_runtime_uses_only_what_the_gang_leaves() -> None:
    scene = (
        native().nodes(2, gpus=10).queue("a").gang("a/old", 1, gpus=10, on="n0", last_start=NOW, expected_runtime=HOUR)
    )
    after = scene.gang("a/big", 2, gpus=8).gang("a/one", 1).gang("a/two", 1, gpus=2).gang("a/three", 1).decide()
    assert after.bound == {"one-0": "n1", "three-0": "n1"} and start_of(after)["big"] == HOUR


def test_whoever_comes_before_in_the_fair_order_is_not_held_back() -> None:
    scene = crowded().gang("a/urgent", 1, priority=75, expected_runtime=9 * HOUR)
    after = scene.decide()
    assert after.bound == {"urgent-0": "n1"} and start_of(after) == {"big": 9 * HOUR}


def test_a_job_that_is_tried_after_an_alike_one_that_is_too_long_may_still_start() -> None:
    scene = crowded().gang("a/long", 1, expected_runtime=3 * HOUR).gang("a/short", 1, expected_runtime=600)
    assert scene.decide().bound == {"short-0": "n1"}


def test_reservations_go_on_behind_one_another() -> None:
    scene = native().nodes(1).queue("a").gang("a/old", 1, gpus=8, on="n0", last_start=NOW, expected_runtime=HOUR)
    scene = scene.gang("a/first", 1, gpus=8, expected_runtime=HOUR).gang(
        "a/second", 1, gpus=7, expected_runtime=2 * HOUR
    )
    assert start_of(scene.decide()) == {"first": HOUR, "second": 2 * HOUR}


@pytest.mark.parametrize(
    ("came_later", "yields", "first"), [(600, "24h", "short"), (7200, "24h", "long"), (600, "1m", "long")]
)
def test_short_work_goes_before_longer_work_that_came_up_to_its_runtime_earlier(
    came_later: float, yields: str, first: str
) -> None:
    scene = native(yields=yields).nodes(1, gpus=1).queue("a")
    scene.gang("a/long", 1, expected_runtime=HOUR).gang("a/short", 1, expected_runtime=60)
    scene.records = [
        replace(record, created=NOW + came_later * (record.uid == "short"))
        if isinstance(record, GangRecord)
        else record
        for record in scene.records
    ]
    assert scene.decide().bound == {f"{first}-0": "n0"}


def test_work_of_which_nothing_is_known_and_gangs_of_many_pods_have_their_turn_as_they_come() -> None:
    scene = native().nodes(1, gpus=2).queue("a").gang("a/pair", 2, expected_runtime=9 * HOUR)
    assert set(scene.gang("a/short", 1, expected_runtime=60).decide().bound) == {"pair-0", "pair-1"}
    scene = native().nodes(1, gpus=1).queue("a").gang("a/unknown", 1).gang("a/short", 1, expected_runtime=60)
    assert set(scene.decide().bound) == {"unknown-0"}


def test_no_start_is_promised_before_which_shorter_work_may_still_come() -> None:
    scene = native().nodes(1).queue("a").gang("a/old", 1, gpus=8, on="n0", last_start=NOW, expected_runtime=HOUR)
    scene.gang("a/big", 1, gpus=8, expected_runtime=2 * HOUR)
    sure = []
    for came in (NOW - HOUR, NOW - 2 * HOUR):
        scene.records = [
            replace(record, created=came) if isinstance(record, GangRecord) and record.uid == "big" else record
            for record in scene.records
        ]
        sure += [reservation.sure for reservation in scene.decide().decisions.reservations]
    assert sure == [False, True]


def test_no_more_gangs_than_the_depth_reserve() -> None:
    scene = (
        native(depth="1").nodes(1).queue("a").gang("a/old", 1, gpus=8, on="n0", last_start=NOW, expected_runtime=HOUR)
    )
    scene = scene.gang("a/first", 1, gpus=8, expected_runtime=HOUR).gang(
        "a/second", 1, gpus=7, expected_runtime=2 * HOUR
    )
    assert list(start_of(scene.decide())) == ["first"]


def test_where_nothing_is_known_a_gang_reserves_only_once_enough_others_overtook_it() -> None:
    scene = (
        native(overtaking="0")
        .nodes(2)
        .queue("a")
        .gang("a/old", 1, gpus=8, on="n0", last_start=NOW)
        .gang("a/big", 2, gpus=8)
    )
    assert not scene.gang("a/small", 1).decide().bound
    patient = native().nodes(2).queue("a").gang("a/old", 1, gpus=8, on="n0", last_start=NOW).gang("a/big", 2, gpus=8)
    assert patient.gang("a/small", 1).decide().bound == {"small-0": "n1"}


def test_a_queue_above_its_share_reserves_nothing_from_others() -> None:
    scene = native().nodes(2).queue("a", quota=0, weight=0).queue("b", quota=16)
    scene = scene.gang("b/old", 1, gpus=8, on="n0", last_start=NOW, expected_runtime=HOUR).gang("a/big", 2, gpus=8)
    after = scene.gang("b/small", 1).decide()
    assert after.bound == {"small-0": "n1"} and not start_of(after)


def test_a_queue_without_any_gpu_may_reserve_for_a_first_gang_of_up_to_a_node_however_small_its_share() -> None:
    scene = native().nodes(1).queue("a", weight=0).queue("b", quota=8)
    scene = scene.gang("b/old", 1, gpus=8, on="n0", last_start=NOW, expected_runtime=HOUR)
    assert start_of(scene.gang("a/first", 1, gpus=8).gang("a/second", 1, gpus=8).decide()) == {"first": HOUR}
    assert not start_of(native().nodes(2).queue("a", weight=0).gang("a/wide", 2, gpus=8).gang("b/o", 1).decide())


def test_what_the_queue_itself_holds_in_the_reserved_places_does_not_count_against_its_share() -> None:
    scene = native().nodes(2).queue("a").queue("b")
    for number in range(2):
        scene = scene.gang(f"a/old-{number}", 1, gpus=8, on=f"n{number}", last_start=NOW, expected_runtime=HOUR)
    assert start_of(scene.gang("a/big", 2, gpus=8).decide()) == {"big": HOUR}


def test_no_one_reserves_with_the_settings_of_upstream() -> None:
    after = (
        Scene()
        .nodes(2)
        .queue("a")
        .gang("a/old", 1, gpus=8, on="n0", last_start=NOW, expected_runtime=HOUR)
        .gang("a/big", 2, gpus=8)
    )
    assert after.gang("a/small", 1).decide().bound == {"small-0": "n1"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"depth": "some"}, "plugins: reservations: invalid literal for int"),
        (
            {"margin": "0.5"},
            "plugins: reservations: depth, overtaking and yields must not be negative, margin must be at least 1",
        ),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused(arguments: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        native(**arguments).nodes(1).queue("a").decide()


def test_the_earliest_start_is_inside_one_domain_where_a_level_is_required() -> None:
    nodes = [NodeSlots("n0", (0, 50), "r0"), NodeSlots("n1", (10,), "r1"), NodeSlots("n2", (20,), "r1")]
    together = earliest_start(nodes, 2)
    anywhere = earliest_start([NodeSlots(node.name, node.times) for node in nodes], 2)
    assert together is not None and (together.moment, together.nodes) == (20, {"n1": 1, "n2": 1})
    assert anywhere is not None and anywhere.moment == 10 and earliest_start(nodes, 9) is None


def test_runtimes_are_learned_by_name_then_queue_then_size() -> None:
    memory = LearnedRuntimes()
    for number in range(10):
        memory.note(f"train-{number}", "a", 8, 100.0 + number)
        memory.note(f"eval-{number}", "b", 8, 10.0)
    assert name_pattern("train-17") == name_pattern("train-18")
    assert (
        memory.expected("train-99", "a", 8) == 108
        and memory.expected("new", "b", 8) == 10
        and memory.expected("new", "c", 8) == 106
    )
    assert memory.expected("train-1", "a", 16) is None
    kept = LearnedRuntimes()
    kept.restore(memory.saved())
    assert kept.expected("train-99", "a", 8) == 108


def test_what_is_learned_is_bounded_and_what_is_no_memory_is_left_out() -> None:
    memory = LearnedRuntimes()
    for number in range(2000):
        memory.note(f"job-{'x' * (number % 90)}{number}", "q", number % 7, 60.0)
    assert len(memory.saved()) <= 512
    memory.restore({"name\nq\na\n1": [1, "x", float("nan"), -3, 60.5], "y" * 1000: [1], "size\n8": "no list"})
    assert memory.saved() == {"name\nq\na\n1": [1.0, 60.5]}


def test_a_node_that_says_it_has_a_thousand_million_gpus_takes_no_list_as_long() -> None:
    scene = crowded().node("huge", gpus=10**9).gang("a/cores", 1, cpu=10**6)
    assert "cores-0" not in scene.decide().bound
    times = slot_times([(0.0, 1e9), (5.0, 2e9)], 0.01)
    assert times == [0.0] * MOST_SLOTS
    assert slot_times([(0.0, 1.0), (5.0, 2.5)], 0.5) == [0.0, 0.0, 5.0, 5.0, 5.0]


def test_a_gang_that_says_how_long_it_runs_learns_how_far_such_words_were_kept() -> None:
    memory, cluster = LearnedRuntimes(), crowded().gang("a/short", 1, expected_runtime=HOUR).cluster()
    assert teach(cluster, ["short"], memory) == []
    for _ in range(20):
        memory.overruns.note(100.0, 150.0)
    assert [record.overrun for record in teach(cluster, ["short"], memory)] == [1.5]
    assert cluster.gangs["short"].record.overrun == 1.5 and teach(cluster, ["short"], memory) == []


def test_a_node_with_several_gangs_of_which_nothing_is_known_is_free_later_than_one_with_a_single_older_gang() -> None:
    """Each of eight young gangs ends with even chances within the hour; that all of them do takes about eleven. The old
    one has run for four hours and probably runs for four more."""
    scene = Scene(settings=native_settings()).nodes(3).queue("a")
    for number in range(8):
        scene.gang(f"a/young-{number}", 1, on="n0", last_start=NOW - 60)
    scene.gang("a/old", 1, gpus=8, on="n1", last_start=NOW - 4 * HOUR)
    scene.gang("a/known", 1, gpus=8, on="n2", last_start=NOW, expected_runtime=90 * HOUR)
    scene.marks["big"] = -32.0
    (made,) = scene.gang("a/big", 1, gpus=8).decide().decisions.reservations
    assert [name for name, _ in made.nodes] == ["n1"]


def test_ends_of_which_nothing_is_known_come_one_after_the_other() -> None:
    scene = Scene(settings=native_settings()).nodes(1).queue("a")
    for number in range(8):
        scene.gang(f"a/young-{number}", 1, on="n0", last_start=NOW - 60)
    node = scene.cluster().nodes["n0"]
    hours = [(moment - NOW) / HOUR for moment in NodeFuture(node, NOW).slot_times(node, 1)]
    assert [round(hour) for hour in hours] == [1, 2, 4, 5, 7, 8, 10, 11]
