"""How a gang stands after a cycle, in the words that its conditions have."""

from __future__ import annotations

from typing import Any

from gangline.scheduler.model.status import Status
from gangline.scheduler.thought.standings import GangStanding, standing
from scheduler.scene import NOW, Scene


def stands(gang: str = "g", **more: Any) -> GangStanding:
    """A gang of queue `a`, alone on a node with room."""
    size = more.pop("size", 2)
    scene = Scene().nodes(1, gpus=8).queue("a", quota=8).gang(f"a/{gang}", size, **more)
    return standing(scene.cluster().gangs[gang])


def test_a_whole_gang_that_waits_is_ready_and_misses_nothing() -> None:
    assert stands() == GangStanding("g", True, True, False, False, version=stands().version)


def test_a_gang_that_runs_waits_for_nothing() -> None:
    running = stands(on="n0")
    assert (running.waiting, running.running, running.awaiting) == (False, True, False)


def test_a_gang_on_its_way_to_a_node_is_awaited() -> None:
    assert stands(on="n0", status=Status.BINDING).awaiting


def test_a_gang_that_lacks_pods_says_how_many_of_how_many_are_there() -> None:
    assert stands(needs=5).missing == ("Job is not ready for scheduling. Waiting for 3 more pods (2 of 5 are there)")


def test_gated_pods_are_counted_apart_and_do_not_count_as_there() -> None:
    assert stands(status=Status.GATED).missing == (
        "Job is not ready for scheduling. Waiting for 2 more pods (0 of 2 are there, 2 gated)"
    )


def test_each_sub_group_that_lacks_pods_is_named() -> None:
    gated = stands(groups={"lead": (1, None), "work": (3, None)}, status=Status.GATED)
    assert gated.missing == (
        "Job is not ready for scheduling. Waiting for 1 more pods in sub-group lead (0 of 1 are there, 1 gated), "
        "3 more pods in sub-group work (0 of 3 are there, 3 gated)"
    )


def test_a_gang_below_its_minimum_says_so_once_it_is_stale() -> None:
    assert stands(needs=4, on="n0").stale == ""
    assert stands(needs=4, on="n0", stale_since=NOW).stale == "Job is stale. 2 pods are active, minMember is 4"


def test_a_gang_that_recovered_is_stale_no_more() -> None:
    assert stands(on="n0", stale_since=NOW).stale == ""
