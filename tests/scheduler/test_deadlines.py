"""When a cycle is worth running though nothing happened: never too late, and not at all where time changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.scheduler.settings import PluginSetting
from gangline.scheduler.thought.deadlines import LOOK_AGAIN, next_deadline
from scheduler.scene import NOW, Scene


def deadline(scene: Scene) -> float | None:
    """Seconds until then."""
    moment = next_deadline(scene.cluster(), scene.settings, scene.now)
    return None if moment is None else moment - NOW


def scene(**settings: Any) -> Scene:
    return Scene().nodes(1, gpus=4).queue("a", quota=4).with_settings(**settings)


def test_a_cluster_in_which_nobody_waits_is_left_alone() -> None:
    assert deadline(scene().gang("a/runs", 4, on="n0")) is None


def test_time_alone_starts_no_gang_that_waits_for_room() -> None:
    assert deadline(scene().gang("a/waits", 8)) is None


def test_a_gang_below_its_minimum_is_looked_at_when_its_grace_ends() -> None:
    waits = scene(staleness_grace=60).gang("a/stale", 2, on="n0", needs=4, stale_since=NOW - 20)
    assert deadline(waits) == 40


def test_a_gang_has_a_grace_of_its_own_or_one_without_end() -> None:
    assert deadline(scene().gang("a/stale", 2, on="n0", needs=4, stale_since=NOW, staleness_grace=5)) == 5
    assert deadline(scene().gang("a/stale", 2, on="n0", needs=4, stale_since=NOW, staleness_grace=-1)) is None


def test_a_grace_that_is_over_is_no_moment_to_wait_for() -> None:
    assert deadline(scene(staleness_grace=60).gang("a/stale", 2, on="n0", needs=4, stale_since=NOW - 60)) is None


def test_a_gang_that_may_not_evict_yet_is_looked_at_when_it_may() -> None:
    waits = scene().gang("a/waits", 8, preemption_delay=30, last_eviction=NOW - 10)
    assert deadline(waits) == 20


@pytest.mark.parametrize(("actions", "moment"), [(("allocate", "reclaim"), LOOK_AGAIN), (("allocate",), None)])
def test_evictions_become_worth_their_price_with_time_where_something_evicts(
    actions: tuple[str, ...], moment: float | None
) -> None:
    priced = scene(actions=actions, plugins=(PluginSetting("disruption"),)).gang("a/waits", 8)
    assert deadline(priced) == moment


def test_evictions_without_a_price_do_not_become_cheaper() -> None:
    assert deadline(scene(actions=("allocate", "reclaim"), plugins=()).gang("a/waits", 8)) is None


def test_a_running_gang_may_be_replaced_when_its_minimum_run_time_is_over() -> None:
    here = Scene().nodes(1, gpus=4).queue("a", quota=4, preempt_min_runtime=100, reclaim_min_runtime=50)
    here.gang("a/runs", 4, on="n0", last_start=NOW - 20).gang("a/waits", 4)
    assert deadline(here) == 30
    here.now = NOW + 40
    assert deadline(here) == 80, "the longer of the two is still ahead"


def test_run_times_matter_only_while_somebody_waits() -> None:
    here = Scene().nodes(1, gpus=4).queue("a", quota=4, reclaim_min_runtime=50)
    assert deadline(here.gang("a/runs", 4, on="n0", last_start=NOW)) is None
