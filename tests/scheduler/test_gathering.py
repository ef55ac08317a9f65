"""Nothing is told of a gang whose pods are still coming."""

from __future__ import annotations

from gangline.scheduler.thought.standings import GangStanding, GatheringGangs


def stands(gang: str, version: int, *, ready: bool = False, **more: str) -> GangStanding:
    return GangStanding(gang, True, ready, False, False, version=version, **more)  # type: ignore[arg-type]


def test_a_gang_that_grows_is_told_of_once_nobody_has_come_for_a_while() -> None:
    gathering = GatheringGangs(0.5)
    assert gathering.worth_telling([stands("a", 1)], 10.0) == []
    assert gathering.until == 10.5
    assert gathering.worth_telling([stands("a", 2)], 10.4) == []
    assert gathering.until == 10.9
    assert gathering.worth_telling([stands("a", 2)], 10.6) == []
    assert gathering.worth_telling([stands("a", 2)], 10.9) == [stands("a", 2)]
    assert gathering.until is None


def test_what_is_complete_stale_or_astray_is_told_of_at_once_and_anything_without_patience() -> None:
    at_once = [
        stands("a", 1, ready=True),
        stands("b", 1, stale="yes"),
        GangStanding("c", True, False, False, False, strays=("x",)),
    ]
    assert GatheringGangs(0.5).worth_telling(at_once, 1.0) == at_once
    assert GatheringGangs().worth_telling([stands("a", 1)], 1.0) == [stands("a", 1)]


def test_the_next_moment_is_that_of_the_gang_that_has_waited_longest() -> None:
    gathering = GatheringGangs(0.5)
    gathering.worth_telling([stands("a", 1)], 1.0)
    gathering.worth_telling([stands("a", 1), stands("b", 1)], 1.2)
    assert gathering.until == 1.5
    gathering.worth_telling([stands("b", 1)], 1.3)
    assert gathering.until == 1.7
