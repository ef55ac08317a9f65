"""How long work is left alone before it may be taken."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.scheduler.plugins.evict.minruntime import MinRuntimePlugin, preempt_min_runtime, reclaim_min_runtime
from gangline.scheduler.records import QueueRecord
from gangline.scheduler.session import Session
from gangline.scheduler.settings import DEFAULT_PLUGINS, PluginSetting
from scheduler.scene import Scene

QUEUES = {
    item.name: item
    for item in (
        QueueRecord("prod", preempt_min_runtime=20, reclaim_min_runtime=30),
        QueueRecord("prod-a", "prod", reclaim_min_runtime=25),
        QueueRecord("prod-b", "prod", preempt_min_runtime=15),
        QueueRecord("prod-b-x", "prod-b"),
        QueueRecord("dev", reclaim_min_runtime=10),
        QueueRecord("dev-a", "dev", reclaim_min_runtime=8),
        QueueRecord("bare"),
    )
}


@pytest.mark.parametrize(
    ("queue", "seconds"), [("prod-b-x", 15), ("prod-a", 20), ("dev-a", 2), ("bare", 2), ("unknown", 2)]
)
def test_preemption_looks_upwards_for_the_nearest_value(queue: str, seconds: float) -> None:
    assert preempt_min_runtime(QUEUES, queue, 2) == seconds


@pytest.mark.parametrize(
    ("reclaimer", "victim", "seconds"),
    [
        ("dev-a", "prod-a", 30),
        ("dev-a", "bare", 1),
        ("prod-b", "prod-a", 25),
        ("prod-a", "prod-b-x", 30),
        ("prod-a", "prod", 30),
        ("unknown", "prod-a", 1),
    ],
)
def test_reclaim_looks_where_the_two_queues_part(reclaimer: str, victim: str, seconds: float) -> None:
    assert reclaim_min_runtime(QUEUES, reclaimer, victim, "lca", 1) == seconds


def test_reclaim_by_queue_looks_upwards_from_the_victim() -> None:
    assert reclaim_min_runtime(QUEUES, "dev-a", "prod-a", "queue", 1) == 25
    assert reclaim_min_runtime(QUEUES, "dev-a", "prod-b", "queue", 1) == 30


def contest(**runtime: Any) -> Scene:
    """A queue that borrowed everything, and one that wants its share back."""
    scene = Scene().nodes(1, gpus=4).queue("borrower", **runtime).queue("owner", quota=4)
    return scene.gang("borrower/old", 4, on="n0", last_start=scene.now - 20).gang("owner/new", 4)


def test_a_gang_that_just_started_is_not_taken() -> None:
    assert contest(reclaim_min_runtime=60.0).decide().evicted == []
    assert contest(reclaim_min_runtime=10.0).decide().evicted == ["old-0", "old-1", "old-2", "old-3"]
    assert contest().decide().evicted == ["old-0", "old-1", "old-2", "old-3"]


def test_what_it_holds_above_its_minimum_can_be_taken_at_once() -> None:
    scene = Scene().nodes(1, gpus=4).queue("borrower", reclaim_min_runtime=60.0).queue("owner", quota=4)
    scene.gang("borrower/old", 4, needs=2, on="n0", last_start=scene.now - 20)
    assert len(scene.gang("owner/new", 2).decide().evicted) == 2
    scene = Scene().nodes(1, gpus=4).queue("borrower", reclaim_min_runtime=60.0).queue("owner", quota=4)
    scene.gang("borrower/old", 4, needs=2, on="n0", last_start=scene.now - 20)
    assert scene.gang("owner/new", 3).decide().evicted == []


def test_preemption_inside_a_queue_is_held_back_too() -> None:
    def inside(seconds: float) -> list[str]:
        scene = Scene().nodes(1, gpus=4).queue("q", preempt_min_runtime=seconds)
        return (
            scene.gang("q/low", 4, on="n0", last_start=scene.now - 20).gang("q/high", 4, priority=90).decide().evicted
        )

    assert inside(60.0) == [] and len(inside(5.0)) == 4


def test_the_default_for_all_queues_is_an_argument_and_nonsense_counts_as_none() -> None:
    def with_default(text: str) -> Scene:
        others = tuple(default_plugin for default_plugin in DEFAULT_PLUGINS if default_plugin.name != "minruntime")
        return contest().with_settings(
            plugins=(*others, PluginSetting("minruntime", {"defaultReclaimMinRuntime": text}))
        )

    assert with_default("1m").decide().evicted == []
    assert len(with_default("soon").decide().evicted) == 4


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (60.0, (60.0, "borrower", "reclaimMinRuntime", True)),
        (None, (70.0, "borrower", "reclaimMinRuntime", False)),
        (10.0, (0.0, "borrower", "reclaimMinRuntime", True)),
    ],
    ids=["the-queue-says-it", "an-argument-says-it", "it-has-run-for-longer"],
)
def test_a_protection_says_who_speaks(own: float | None, told: tuple[Any, ...]) -> None:
    others = tuple(item for item in DEFAULT_PLUGINS if item.name != "minruntime")
    default = PluginSetting("minruntime", {"defaultReclaimMinRuntime": "70s"})
    scene = contest(reclaim_min_runtime=own).with_settings(plugins=(*others, default))
    cluster = scene.cluster()
    session = Session(cluster, scene.settings, scene.now)
    plugin = next(item for item in session.hooks.plugins if isinstance(item, MinRuntimePlugin))
    assert tuple(plugin.protection(cluster.gangs["new"], cluster.gangs["old"])) == told
    session.close()
