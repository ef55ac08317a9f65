"""What a scheduler logs about its decisions."""

from __future__ import annotations

from gangline.scheduler.cycle import decide
from gangline.scheduler.thought.decision_log import DecisionLine, decision_lines
from scheduler.scene import Scene


def lines(scene: Scene) -> list[DecisionLine]:
    cluster = scene.cluster()
    return list(decision_lines(cluster, decide(cluster, scene.settings, scene.now)))


def test_a_gang_that_is_placed_is_one_line_however_many_pods_it_has() -> None:
    scene = Scene().nodes(2, gpus=4).queue("a", quota=8).gang("a/train", 8)
    assert lines(scene) == [
        DecisionLine("gang ns/train: 8 pods placed on 2 nodes (allocate)", "ns/train", "a", "allocate")
    ]


def test_a_gang_on_one_node_names_it() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=4).gang("a/one", 1)
    assert [line.text for line in lines(scene)] == ["gang ns/one: 1 pod placed on n0 (allocate)"]


def test_an_eviction_names_the_gang_that_gets_the_room() -> None:
    scene = Scene().nodes(1, gpus=4).queue("a", quota=0).queue("b", quota=4).gang("a/lent", 4, on="n0")
    shown = lines(scene.gang("b/mine", 4))
    assert [(line.gang, line.queue, line.action) for line in shown] == [("ns/lent", "a", "reclaim")]
    assert shown[0].text.startswith("gang ns/lent: 4 pods evicted for ns/mine (reclaim")


def test_a_gang_that_waits_is_not_logged() -> None:
    assert lines(Scene().nodes(1, gpus=4).queue("a", quota=4).gang("a/big", 8)) == []
