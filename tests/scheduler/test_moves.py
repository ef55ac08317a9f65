"""Work that asks to be moved only by starting its replacement first: what consolidation asks for, and what it leaves
alone."""

from __future__ import annotations

from typing import Any

from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import MoveRequest
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.records import TaskRecord
from gangline.scheduler.settings import native_settings
from gangline.scheduler.thought.booking import book
from gangline.scheduler.victims.moves import PATIENCE
from scheduler.scene import NOW, Scene

SERVING: dict[str, Any] = {"move": "start-first", "last_start": NOW - 36_000}
OF_A_CLIQUE = {"replaceable": True}


def half_full(serving: dict[str, Any], task: dict[str, Any], other: int = 4) -> Scene:
    """Two nodes of 8 GPUs: serve holds 4 of the one, other holds some of the other; large needs a whole node."""
    scene = Scene(settings=native_settings()).nodes(2).queue("a")
    scene.gang("a/serve", 1, gpus=4, on="n0", task=task, **serving)
    return scene.gang("a/other", 1, gpus=other, on="n1", move="never").gang("a/large", 1, gpus=8)


def test_consolidation_asks_for_the_new_place_first_and_evicts_nobody() -> None:
    outcome = half_full(SERVING, OF_A_CLIQUE).decide()
    assert outcome.decisions.moves == (MoveRequest("serve-0", "n1", "large", NOW),)
    assert not outcome.evicted and not outcome.waiting


def test_without_the_wish_a_young_pod_is_evicted_and_an_old_one_costs_too_much() -> None:
    young = half_full({"last_start": NOW - 60}, OF_A_CLIQUE).decide()
    assert young.evicted == ["serve-0"] and not young.decisions.moves
    assert not half_full({"last_start": 0.0}, OF_A_CLIQUE).decide().evicted


def test_what_starts_first_loses_nothing_however_old_it_is() -> None:
    moves = half_full({"last_start": 0.0, "move": "start-first"}, OF_A_CLIQUE).decide().decisions.moves
    assert [move.task for move in moves] == ["serve-0"]


def test_a_pod_can_ask_for_itself() -> None:
    outcome = half_full({}, {"move": "start-first", "replaceable": True}).decide()
    assert [move.task for move in outcome.decisions.moves] == ["serve-0"]


def test_nothing_is_moved_where_nobody_can_start_the_replacement_or_the_wish_is_never() -> None:
    for serving, task in ((SERVING, {}), ({"move": "never"}, OF_A_CLIQUE)):
        outcome = half_full(serving, task).decide()
        assert not outcome.evicted and not outcome.decisions.moves


def test_the_new_place_must_be_free_before_the_old_one_is() -> None:
    """first and second would have to change places with each other's room: nobody can start first."""
    scene = Scene(settings=native_settings()).nodes(2, gpus=4).queue("a")
    scene.gang("a/first", 1, gpus=3, on="n0", task=OF_A_CLIQUE, **SERVING)
    scene.gang("a/small", 1, gpus=2, on="n1", last_start=NOW - 60)
    outcome = scene.gang("a/large", 1, gpus=3).decide()
    assert not any(move.task == "first-0" for move in outcome.decisions.moves)


def asked(cluster: ClusterModel, now: float) -> list[str]:
    decisions = decide(cluster, native_settings(), now)
    book(cluster, decisions)
    assert not decisions.evictions
    return [move.task for move in decisions.moves]


def test_a_move_is_asked_for_once_and_nobody_else_goes_while_it_is_under_way() -> None:
    cluster = half_full(SERVING, OF_A_CLIQUE).cluster()
    assert asked(cluster, NOW) == ["serve-0"]
    assert [asked(cluster, NOW + seconds) for seconds in (1, 60, PATIENCE - 1)] == [[], [], []]


def test_a_gang_that_was_moved_is_left_alone_for_its_grace() -> None:
    cluster = half_full(SERVING, OF_A_CLIQUE).cluster()
    assert [asked(cluster, NOW), asked(cluster, NOW + PATIENCE), asked(cluster, NOW + 3601)] == [
        ["serve-0"],
        [],
        ["serve-0"],
    ]


def test_the_waiting_gang_starts_when_the_old_pod_is_gone() -> None:
    cluster = half_full(SERVING, OF_A_CLIQUE).cluster()
    asked(cluster, NOW)
    cluster.remove(TaskRecord, "serve-0")
    assert {bind.task: bind.node for bind in decide(cluster, native_settings(), NOW + 1).binds} == {"large-0": "n0"}


def test_reclaim_takes_back_what_was_lent_whatever_the_borrower_wishes() -> None:
    scene = Scene(settings=native_settings()).nodes(1).queue("owner", quota=8).queue("guest")
    scene.gang("guest/serve", 1, gpus=8, on="n0", move="never", last_start=NOW - 60)
    assert scene.gang("owner/mine", 1, gpus=8).decide().evicted == ["serve-0"]
