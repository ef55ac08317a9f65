"""Finer points of the search for victims: what is judged, what is counted, and what is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import (
    DEFAULT_POD_SET,
    GangRecord,
    GroupRecord,
    NodeTerm,
    PodSetRecord,
    Requirement,
    TaskRecord,
    TopologyRule,
)
from gangline.scheduler.victims.search import partial
from scheduler.scene import Scene

ELSEWHERE = {"node_affinity": (NodeTerm((Requirement("kubernetes.io/hostname", "In", ("elsewhere",)),)),)}


def parts(scene: Scene, name: str, size: int, portion: float, on: str = "", group: str = "", **more: Any) -> Scene:
    """A gang of pods that each ask for a part of a GPU."""
    start = len(scene.records)
    scene.gang(name, size, gpus=0, on=on, **more)
    for place, record in enumerate(scene.records[start:], start):
        if isinstance(record, TaskRecord):
            scene.records[place] = replace(
                record, gpu=GpuRequest("Fraction", 1, portion), gpu_groups=(group,) if group else ()
            )
    return scene


def tree(scene: Scene, root: GroupRecord) -> Scene:
    """Give the gang that was added last another tree."""
    place = max(place for place, record in enumerate(scene.records) if isinstance(record, GangRecord))
    record = scene.records[place]
    assert isinstance(record, GangRecord)
    scene.records[place] = replace(record, tree=root)
    return scene


def only(scene: Scene, *actions: str, **more: Any) -> Scene:
    return scene.with_settings(actions=actions, **more)


# ── what is judged ──


def test_a_reclaim_is_judged_with_what_the_gang_asks_for_also_above_its_own_queue() -> None:
    """x holds its whole share through x2, so x1 may not take a fourth GPU from y, which would be left with less of its
    share."""
    scene = Scene().nodes(1, gpus=7).queue("x").queue("y").queue("z", quota=1)
    scene.queue("x1", parent="x").queue("x2", parent="x").queue("y1", parent="y").queue("z1", parent="z", quota=1)
    scene.gang("z1/lost", 1, task=ELSEWHERE)
    for number in range(3):
        scene.gang(f"x2/a{number}", 1, on="n0")
    for number in range(4):
        scene.gang(f"y1/b{number}", 1, on="n0")
    after = scene.gang("x1/more", 1).decide()
    assert not after.evicted and not after.waiting


# ── parts of GPUs ──


def test_tenths_of_a_gpu_add_up_to_a_whole_one() -> None:
    scene = Scene().nodes(1, gpus=1).queue("a", weight=0).queue("b", quota=1)
    after = parts(scene, "a/parts", 3, 0.3, on="n0", group="g").gang("b/whole", 1).decide()
    assert after.evicted == ["parts-0", "parts-1", "parts-2"] and after.waiting == {"whole-0": "n0"}


def test_a_gang_that_asks_for_exactly_its_queues_share_in_parts_may_reclaim() -> None:
    scene = Scene().nodes(1, gpus=1).queue("a", weight=0).queue("b").gang("a/whole", 1, on="n0")
    after = parts(scene, "b/parts", 3, 0.1).decide()
    assert after.evicted == ["whole-0"] and set(after.waiting) == {"parts-0", "parts-1", "parts-2"}


def test_parts_that_fill_a_limit_exactly_are_within_it() -> None:
    after = parts(Scene().nodes(1, gpus=1).queue("a", limit=0.3), "a/parts", 3, 0.1).decide()
    assert set(after.bound) == {"parts-0", "parts-1", "parts-2"}


# ── what is left alone ──


def test_while_a_part_of_a_gang_is_tried_the_sub_groups_left_out_keep_their_minimum() -> None:
    gang = (
        Scene().queue("a").gang("a/gang", 5, groups={"first": (3, None), "second": (2, None)}).cluster().gangs["gang"]
    )
    view = partial(gang, [gang.tasks["gang-0"]])
    assert {name: leaf.min_available for name, leaf in view.pod_sets.items()} == {"first": 1, "second": 2}


def test_what_is_left_of_a_gang_that_was_just_evicted_is_not_served_on_its_own() -> None:
    scene = Scene().nodes(1, gpus=3).queue("a", quota=2).queue("b", quota=2)
    scene.gang("a/loses", 4, groups={"s0": (2, None), "s1": (2, None)}, on="n0")
    last = scene.records[-1]
    assert isinstance(last, TaskRecord)
    scene.records[-1] = replace(last, status=Status.PENDING, node="")
    after = only(scene.gang("b/gains", 1, gpus=2), "reclaim").decide()
    assert after.evicted == ["loses-0", "loses-1", "loses-2"] and after.waiting == {"gains-0": "n0"}


def test_a_gang_that_a_search_left_with_too_few_places_gives_them_back_as_a_stale_one_does() -> None:
    """In upstream's manner, where such places stand until the cycle ends."""
    scene = (
        Scene().nodes(1, gpus=1).queue("a").gang("a/low", 1, gpus=0, on="n0").gang("a/high", 1, gpus=0, priority=100)
    )
    tree(scene, GroupRecord(min_groups=1, pod_sets=(PodSetRecord(DEFAULT_POD_SET, 1), PodSetRecord("late", 1))))
    after = only(scene, "preempt", "stalegangeviction", leaves_unsolved=True, staleness_grace=0).decide()
    assert after.evicted == ["high-0"]


def two_surplus_pods_before_the_one_that_matters() -> Scene:
    """Surplus comes first, but only the pod with the GPU makes room."""
    scene = (
        Scene()
        .nodes(1, gpus=2)
        .queue("a", quota=2)
        .gang("a/holds", 1, on="n0")
        .gang("a/wide", 2, gpus=0, needs=1, on="n0")
    )
    return scene.gang("a/high", 1, gpus=2, priority=100)


def test_a_surplus_pod_that_makes_no_room_stays() -> None:
    assert two_surplus_pods_before_the_one_that_matters().decide().evicted == ["holds-0"]


def test_in_upstreams_manner_surplus_that_was_tried_together_goes_together() -> None:
    assert two_surplus_pods_before_the_one_that_matters().with_settings(joins_steps=True).decide().evicted == [
        "holds-0",
        "wide-1",
    ]


def test_victims_for_a_gang_bound_to_a_domain_are_tried_once_more_before_they_go() -> None:
    """The screens for domains look at more than the pods that wait, so the choice may still grow."""
    scene = (
        Scene()
        .node("n0", gpus=1, labels={"rack": "r0"})
        .topology("racks", "rack")
        .queue("a", weight=0)
        .queue("b", quota=1)
    )
    free = scene.gang("a/low", 1, on="n0")
    bound = replace(free, records=list(free.records)).gang("b/bound", 1, rule=TopologyRule("racks", required="rack"))
    after, plain = bound.decide(), free.gang("b/plain", 1).decide()
    assert after.evicted == plain.evicted == ["low-0"]
    assert (after.decisions.steps["reclaim"], plain.decisions.steps["reclaim"]) == (2, 1)


def test_who_fits_as_things_stand_moves_nobody() -> None:
    scene = Scene().nodes(4, gpus=8).queue("a", quota=32)
    for number in range(4):
        scene.gang(f"a/here{number}", 1, gpus=2, on=f"n{number}")
    scene.gang("a/new", 4, gpus=4).with_settings(actions=("consolidation",))
    after = scene.decide()
    assert not after.evicted and len(after.waiting) == 4 and after.decisions.steps == {}


def test_who_fits_only_by_count_still_moves_the_fewest() -> None:
    scene = (
        Scene()
        .nodes(3, gpus=8)
        .queue("a", quota=24)
        .gang("a/one", 1, gpus=2, on="n0")
        .gang("a/two", 1, gpus=2, on="n1")
    )
    scene.gang("a/three", 1, gpus=2, on="n2").gang("a/new", 1, gpus=8).with_settings(actions=("consolidation",))
    after = scene.decide()
    assert len(after.evicted) == 1 and "new-0" in after.waiting


def test_a_node_that_says_it_has_a_thousand_million_gpus_keeps_nobody_from_being_decided() -> None:
    scene = Scene().nodes(1).node("huge", gpus=10**9).queue("a").gang("a/cores", 1, cpu=10**6).gang("a/small", 1)
    assert set(parts(scene, "a/part", 1, 0.01, cpu=10**6).decide().bound) == {"small-0"}
