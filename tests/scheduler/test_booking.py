"""What was decided stands in the model before the watch shows it, so that nothing is given away twice."""

from __future__ import annotations

from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind, Decisions, Evict, GangUpdate
from gangline.scheduler.model.status import Status
from gangline.scheduler.thought.booking import book, name_groups
from gangline.scheduler.victims.ledger import ledger_of
from scheduler.scene import NOW, Scene


def scene() -> Scene:
    return Scene().nodes(2, gpus=4).queue("a", quota=8).gang("a/runs", 2, on="n0", last_start=NOW - 100)


def test_a_bound_pod_holds_its_node() -> None:
    here = scene().gang("a/new", 1)
    cluster = here.cluster()
    book(cluster, Decisions((Bind("new-0", "n1"),)))
    task = cluster.tasks["new-0"]
    assert (task.status, task.node) == (Status.BINDING, "n1")
    assert not cluster.gangs["new"].pending


def test_a_room_that_was_given_away_is_not_given_away_again() -> None:
    here = scene().gang("a/first", 4).gang("a/second", 4)
    cluster = here.cluster()
    first = decide(cluster, here.settings, NOW)
    book(cluster, first)
    assert {bind.task.rpartition("-")[0] for bind in first.binds} == {"first"}
    assert decide(cluster, here.settings, NOW).binds == []


def test_an_evicted_pod_leaves_and_its_room_is_not_there_yet() -> None:
    cluster = scene().cluster()
    book(cluster, Decisions((Evict("runs-0", "n0"),)))
    assert cluster.tasks["runs-0"].status is Status.RELEASING
    assert cluster.tasks["runs-1"].status is Status.RUNNING


def test_a_pod_that_is_gone_meanwhile_is_passed_over() -> None:
    cluster = scene().cluster()
    book(cluster, Decisions((Bind("gone", "n1"), Evict("gone", "n1")), updates=(GangUpdate("gone"),)))
    assert "gone" not in cluster.tasks


def test_time_stamps_of_a_gang_are_kept() -> None:
    cluster = scene().cluster()
    book(cluster, Decisions(updates=(GangUpdate("runs", last_start=5.0, last_eviction=6.0, stale_since=7.0),)))
    record = cluster.gangs["runs"].record
    assert (record.last_start, record.last_eviction, record.stale_since) == (5.0, 6.0, 7.0)


def test_what_a_gang_loses_for_another_one_stands_in_the_ledger_with_its_price() -> None:
    cluster = scene().cluster()
    evictions = tuple(Evict(f"runs-{number}", "n0", action="reclaim", preemptor="other") for number in range(2))
    book(cluster, Decisions(evictions, updates=(GangUpdate("runs", last_eviction=NOW),)))
    [entry] = ledger_of(cluster).entries()
    assert (entry.gang, entry.queue, entry.action, entry.moment) == ("runs", "a", "reclaim", NOW)
    assert entry.broken
    assert entry.lost >= 200, "two GPUs for a hundred seconds, and the restart"


def test_a_stale_gang_that_goes_for_nobodys_sake_costs_nothing() -> None:
    cluster = scene().cluster()
    book(cluster, Decisions((Evict("runs-0", "n0", action="stalegangeviction"),), updates=(GangUpdate("runs"),)))
    assert ledger_of(cluster).entries() == []


def test_a_gpu_that_is_opened_for_sharing_gets_one_lasting_name() -> None:
    shared = (
        Bind("a", "n0", gpu_groups=("new-1",)),
        Bind("b", "n0", gpu_groups=("new-1", "old")),
        Bind("c", "n0", gpu_groups=("new-2",)),
        Evict("d", "n0"),
    )
    fresh = iter(["x", "y", "z"])
    named = name_groups(Decisions(shared), lambda: next(fresh)).commits
    assert [commit.gpu_groups for commit in named if isinstance(commit, Bind)] == [("x",), ("x", "old"), ("y",)]
    assert named[3] == shared[3]
