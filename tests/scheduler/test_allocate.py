"""Allocate: who gets room that is there, and when a gang waits as a whole."""

from __future__ import annotations

from dataclasses import replace

from gangline.scheduler.model.status import Status
from gangline.scheduler.placing.gang_queue import GangQueue
from gangline.scheduler.records import (
    HostPort,
    NodeTerm,
    PodTerm,
    Requirement,
    StorageCapacityRecord,
    TaintRecord,
    TaskRecord,
    TolerationRecord,
    VolumeClaimRecord,
)
from gangline.scheduler.session import Session
from gangline.scheduler.settings import native_settings
from scheduler.scene import NOW, Scene


def test_a_gang_that_fits_is_bound_whole() -> None:
    after = Scene().nodes(1, gpus=4).queue("a", quota=4).gang("a/big", 4).decide()
    assert after.bound == {f"big-{i}": "n0" for i in range(4)}


def test_a_gang_waits_whole_until_its_last_node_arrives() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=8).gang("a/big", 8)
    assert not scene.decide().decisions.commits
    assert len(scene.nodes(1, gpus=4).decide().bound) == 8


def test_the_refusal_counts_the_pods_that_found_room_and_names_what_is_short() -> None:
    after = Scene().nodes(1, gpus=4).queue("a", quota=8).gang("a/big", 8).decide()
    assert after.why("big") == (
        "PodSchedulingErrors: Resources were found for 4 pods while 8 are required for gang scheduling. Additional "
        "pods cannot be "
        "scheduled due to: no nodes with enough resources were found: 1 node(s) didn't have enough resources: GPUs.."
    )


def test_a_gang_whose_minimum_needs_room_that_is_leaving_waits_as_a_whole() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=8).gang("a/old", 2, on="n0", status=Status.RELEASING)
    after = scene.gang("a/big", 4).decide()
    assert not after.bound and after.waiting == {f"big-{i}": "n0" for i in range(4)}


def test_a_pod_that_will_not_go_away_blocks_its_room() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=8).gang("a/old", 2, on="n0", status=Status.STUCK_RELEASING)
    assert not scene.gang("a/big", 4).decide().decisions.commits


def test_an_elastic_gang_gets_its_minimum_first_and_grows_in_turn_with_others() -> None:
    scene = Scene().nodes(1, gpus=5).queue("a", quota=8).gang("a/first", 4, needs=1).gang("a/second", 4, needs=1)
    bound = scene.decide().bound
    assert (
        sum(task.startswith("first") for task in bound) == 3 and sum(task.startswith("second") for task in bound) == 2
    )


def test_higher_priority_goes_first_then_the_older_gang() -> None:
    scene = Scene().nodes(1, gpus=1).queue("a", quota=1).gang("a/old", 1).gang("a/young", 1)
    assert scene.decide().bound == {"old-0": "n0"}
    assert scene.gang("a/urgent", 1, priority=75).decide().bound == {"urgent-0": "n0"}


def test_the_queue_with_less_of_its_share_goes_first() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=2).queue("b", quota=2).gang("a/runs", 2, on="n0")
    assert set(scene.gang("a/more", 1).gang("b/one", 1).gang("b/two", 1).decide().bound) == {"one-0", "two-0"}


def test_a_queue_limit_holds_and_the_refusal_names_the_numbers() -> None:
    after = Scene().nodes(1, gpus=8).queue("a", limit=4).gang("a/big", 6).decide()
    assert not after.bound
    assert after.why("big") == (
        "OverLimit: a quota has reached the allowable limit of GPUs. Limit is 4 GPUs, currently 0 GPUs "
        "allocated and workload requested 6 GPUs."
    )


def test_work_that_cannot_be_preempted_stays_within_quota() -> None:
    after = Scene().nodes(1, gpus=8).queue("a", quota=2).gang("a/firm", 4, priority=125).decide()
    assert not after.bound and after.why("firm").startswith(
        "NonPreemptibleOverQuota: Non-preemptible workload is over quota."
    )


def test_tasks_are_packed_onto_the_fullest_node_and_ties_go_by_name() -> None:
    scene = Scene().nodes(3, gpus=8).queue("a", quota=24).gang("a/runs", 4, on="n1")
    assert scene.gang("a/next", 2).decide().bound == {"next-0": "n1", "next-1": "n1"}
    assert Scene().nodes(3).queue("a", quota=9).gang("a/one", 1).decide().bound == {"one-0": "n0"}


def test_tasks_can_be_spread_instead() -> None:
    from dataclasses import replace

    scene = Scene().nodes(2, gpus=8).queue("a", quota=24).gang("a/runs", 4, on="n0").gang("a/next", 2)
    plugins = tuple(
        replace(plugin, arguments={"gpu": "spread", "cpu": "spread"}) if plugin.name == "nodeplacement" else plugin
        for plugin in scene.settings.plugins
    )
    assert scene.with_settings(plugins=plugins).decide().bound == {"next-0": "n1", "next-1": "n1"}


def test_a_task_without_gpus_prefers_a_node_that_has_none() -> None:
    scene = Scene().node("gpu", gpus=8).node("plain", gpus=0).queue("a").gang("a/small", 1, gpus=0)
    assert scene.decide().bound == {"small-0": "plain"}


def test_a_nominated_node_beats_everything_else() -> None:
    scene = (
        Scene()
        .nodes(2, gpus=8)
        .queue("a", quota=9)
        .gang("a/runs", 4, on="n0")
        .gang("a/next", 1, task={"nominated_node": "n1"})
    )
    assert scene.decide().bound == {"next-0": "n1"}


def test_selectors_affinity_and_taints_keep_a_task_away() -> None:
    scene = (
        Scene()
        .node("red", labels={"colour": "red"})
        .node("blue", labels={"colour": "blue"}, taints=(TaintRecord("mine", "NoSchedule"),))
    )
    scene.queue("a", quota=8)
    wants_blue = {"node_selector": {"colour": "blue"}}
    assert not scene.gang("a/blue", 1, task=wants_blue).decide().bound
    tolerant = {
        "node_affinity": (NodeTerm((Requirement("colour", "NotIn", ("red",)),)),),
        "tolerations": (TolerationRecord("mine", "Exists"),),
    }
    assert scene.gang("a/tolerant", 1, task=tolerant).decide().bound == {"tolerant-0": "blue"}


def test_a_node_that_is_not_ready_takes_nobody_and_says_why() -> None:
    after = (
        Scene()
        .nodes(1, ready=False, ready_reason="node is unschedulable")
        .queue("a", quota=8)
        .gang("a/one", 1)
        .decide()
    )
    assert not after.bound and "1 node is unschedulable" in after.why("one")


def test_a_gang_with_too_few_living_pods_is_not_tried() -> None:
    scene = Scene().nodes(1).queue("a", quota=8).gang("a/half", 2, needs=4)
    assert not scene.decide().decisions.commits


def test_gangs_of_a_missing_broken_or_inner_queue_are_told_so_and_others_go_on() -> None:
    scene = Scene().nodes(1).queue("a", quota=8).queue("b", parent="gone").queue("top").queue("leaf", parent="top")
    after = scene.gang("nowhere/x", 1).gang("b/y", 1).gang("top/z", 1).gang("a/fine", 1).decide()
    assert after.bound == {"fine-0": "n0"}
    assert after.why("x").startswith("QueueDoesNotExist: Queue 'nowhere' does not exist")
    assert "has no unbroken line of parent queues" in after.why("y") and "has queues below it" in after.why("z")


def test_queues_whose_parents_run_in_a_circle_stop_nobody_else() -> None:
    scene = Scene().nodes(1).queue("a", quota=8).queue("x", parent="y").queue("y", parent="x")
    after = scene.gang("x/lost", 1).gang("a/fine", 1).decide()
    assert after.bound == {"fine-0": "n0"} and "circle" in after.why("lost")


def test_the_first_full_start_is_stamped_on_the_gang() -> None:
    updates = Scene().nodes(1).queue("a", quota=8).gang("a/one", 1).decide().decisions.updates
    assert [(update.gang, update.last_start) for update in updates] == [("one", NOW)]


def test_with_a_queue_depth_only_so_many_gangs_per_queue_are_looked_at() -> None:
    scene = Scene().nodes(1).queue("a", quota=8).with_settings(queue_depth={"allocate": 1}, actions=("allocate",))
    for name in "abc":
        scene.gang(f"a/{name}", 1)
    assert set(scene.decide().bound) == {"a-0"}


def test_volumes_that_wait_for_their_first_user_must_fit_what_their_class_has_left() -> None:
    def bound(free: float) -> int:
        scene = Scene().nodes(1).queue("a", quota=8).with_settings(csi_storage=True)
        scene.records += [
            VolumeClaimRecord("data", "ns", storage_class="fast", size=10),
            StorageCapacityRecord("c", "fast", free),
        ]
        return len(scene.gang("a/one", 1, task={"volumes": ("data",)}).decide().bound)

    assert (bound(10), bound(9)) == (1, 0)


def test_volumes_promised_in_one_cycle_are_counted_together_and_given_back_with_their_pod() -> None:
    scene = Scene().nodes(1).queue("a", quota=8)
    scene.records += [StorageCapacityRecord("c", "fast", 25)]
    scene.records += [VolumeClaimRecord(f"data-{number}", "ns", storage_class="fast", size=10) for number in range(4)]
    for number in range(3):
        scene.gang(f"a/one{number}", 1, task={"volumes": (f"data-{number}",)})
    after = scene.decide()
    assert set(after.bound) == {"one0-0", "one1-0"} and "did not have enough free storage" in after.why("one2")
    late = Scene().nodes(1).queue("a", quota=8)
    late.records += [StorageCapacityRecord("c", "fast", 15)]
    late.records += [VolumeClaimRecord(f"data-{number}", "ns", storage_class="fast", size=10) for number in range(2)]
    late.gang("a/early", 1, on="n0", status=Status.BINDING, task={"volumes": ("data-0",)}).gang(
        "a/late", 1, task={"volumes": ("data-1",)}
    )
    assert not late.decide().bound


def test_a_bound_volume_ties_its_pod_to_the_nodes_that_reach_it() -> None:
    scene = Scene().node("near", labels={"zone": "a"}).node("far", labels={"zone": "b"}).queue("a", quota=8)
    scene.records.append(
        VolumeClaimRecord("data", "ns", bound=True, nodes=(NodeTerm((Requirement("zone", "In", ("a",)),)),))
    )
    assert scene.gang("a/one", 1, task={"volumes": ("data",)}).decide().bound == {"one-0": "near"}


def test_host_ports_are_not_shared() -> None:
    task = {"host_ports": (HostPort(8080),)}
    assert set(Scene().nodes(2).queue("a", quota=8).gang("a/web", 2, task=task).decide().bound.values()) == {"n0", "n1"}


def test_pods_that_shun_each_other_are_kept_apart() -> None:
    shun = (PodTerm("kubernetes.io/hostname", (Requirement("app", "In", ("db",)),)),)
    scene = (
        Scene().nodes(2).queue("a", quota=8).gang("a/db", 2, task={"labels": {"app": "db"}, "pod_anti_affinity": shun})
    )
    assert set(scene.decide().bound.values()) == {"n0", "n1"}


def test_pods_that_want_each_other_stand_together() -> None:
    like = (PodTerm("kubernetes.io/hostname", (Requirement("app", "In", ("db",)),)),)
    scene = Scene().nodes(2).queue("a", quota=8).gang("a/db", 1, on="n1", task={"labels": {"app": "db"}})
    assert scene.gang("a/web", 1, task={"pod_affinity": like}).decide().bound == {"web-0": "n1"}


def last_of_three(counts_succeeded: bool) -> Scene:
    """A gang of three of which two have succeeded; the third was lost and made anew."""
    scene = Scene().nodes(1).queue("a", quota=8).gang("a/job", 3, counts_succeeded=counts_succeeded)
    scene.records[-2:] = [
        replace(record, status=Status.SUCCEEDED) for record in scene.records[-2:] if isinstance(record, TaskRecord)
    ]
    return scene


def test_pods_that_succeeded_are_part_of_the_minimum_so_the_last_pod_of_a_gang_starts() -> None:
    assert last_of_three(counts_succeeded=True).decide().bound == {"job-0": "n0"}


def test_in_upstreams_manner_the_last_pod_waits_for_those_that_succeeded() -> None:
    assert last_of_three(counts_succeeded=False).decide().bound == {}


def test_a_queue_whose_next_gang_is_a_better_one_than_thought_moves_up_before_all_others() -> None:
    """The heap of queues is looked through from its top only as upstream does it, and so passes over the fourth."""
    scene = Scene(settings=native_settings()).nodes(2, gpus=8)
    for number, held in enumerate((1, 2, 2, 0)):
        scene.queue(f"q{number}", quota=4)
        if held:
            scene.gang(f"q{number}/held{number}", held, on="n0" if number < 2 else "n1")
        scene.gang(f"q{number}/next{number}", 1)
    cluster = scene.gang("q3/large", 5, priority=40).cluster()
    session = Session(cluster, scene.settings, NOW)
    queue = GangQueue(session)
    gangs = cluster.gangs
    queue.fill([gangs["next0"], gangs["next1"], gangs["next2"], gangs["large"], gangs["next3"]])
    assert queue.pop().uid == "next3"
    session.close()
