"""The cluster by events, the statement and its undoing, settings, and the order of queues."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gangline.errors import ConfigError, Refusal
from gangline.scheduler.cycle import decide, run_actions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.gang_queue import Heap
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, TaskRecord
from gangline.scheduler.session import Session
from gangline.scheduler.settings import SchedulerSettings, read_config, seconds
from gangline.scheduler.thought.think import think
from scheduler.scene import NOW, Scene


def small() -> Scene:
    return (
        Scene()
        .nodes(2, gpus=4)
        .queue("a", quota=4)
        .queue("b", quota=4)
        .gang("a/run", 4, on=("n0", "n1"))
        .gang("b/wait", 4)
    )


KEYS = {NodeRecord: "name", QueueRecord: "name", GangRecord: "uid", TaskRecord: "uid"}


def test_records_may_come_in_any_order() -> None:
    records: list[Any] = small().records
    want = ClusterModel.build(records).state()
    for turn in range(5):
        cluster = ClusterModel()
        for record in random.Random(turn).sample(records, len(records)):
            cluster.apply(record)
        assert cluster.state() == want


def test_taking_things_away_again_leaves_nothing_behind() -> None:
    records: list[Any] = small().records
    cluster = ClusterModel.build(records)
    for record in random.Random(1).sample(records, len(records)):
        cluster.remove(type(record), getattr(record, KEYS[type(record)]))
    assert cluster.state() == ClusterModel().state()


def test_only_gangs_with_pending_pods_are_listed_as_waiting_whatever_changed_last() -> None:
    from dataclasses import replace

    records: list[Any] = small().records
    cluster = ClusterModel.build(records)
    assert [*cluster.waiting] == ["wait"]
    for record in records:
        if isinstance(record, TaskRecord) and record.gang == "wait":
            cluster.apply(replace(record, status=Status.RUNNING, node="n0"))
    assert [*cluster.waiting] == []


def test_a_changed_record_replaces_the_old_one() -> None:
    from dataclasses import replace

    cluster = ClusterModel.build(small().records)
    task = next(record for record in small().records if isinstance(record, TaskRecord) and record.uid == "run-0")
    cluster.apply(replace(task, status=Status.RELEASING))
    node = cluster.nodes["n0"]
    assert (node.idle[2], node.releasing[2], cluster.queues["a"].held.gpu) == (2, 1, 300)


def test_a_gang_that_lost_a_pod_takes_its_turn_as_if_the_cluster_was_read_anew() -> None:
    """Below its minimum it goes before the surplus of others, whatever was known of it in an earlier cycle."""
    scene = Scene().nodes(1, gpus=4).queue("a", quota=4)
    scene.gang("a/first", 2, needs=1, gpus=2, on=("n0", "")).gang("a/second", 2, needs=1, gpus=2, on=("n0", ""))
    cluster = ClusterModel.build(scene.records)
    decide(cluster, SchedulerSettings(), NOW)
    (held,) = [task for task in cluster.gangs["second"].tasks.values() if task.record.node]
    cluster.remove(TaskRecord, held.uid)
    records = [record for record in scene.records if getattr(record, "uid", "") != held.uid]
    anew = decide(ClusterModel.build(records), SchedulerSettings(), NOW)
    assert [bind.task for bind in anew.binds] == [task.uid for task in cluster.gangs["second"].tasks.values()]
    assert decide(cluster, SchedulerSettings(), NOW) == anew


def test_a_pod_on_an_unknown_node_waits_for_it() -> None:
    scene = Scene().queue("a", quota=4).gang("a/run", 1, on="late")
    cluster = scene.cluster()
    decide(cluster, scene.settings, NOW)
    cluster.apply(Scene().node("late", gpus=2).records[0])
    assert cluster.nodes["late"].idle[2] == 1


def test_deciding_leaves_the_cluster_exactly_as_it_was() -> None:
    cluster = small().cluster()
    before = cluster.state()
    first = decide(cluster, SchedulerSettings(), NOW)
    assert cluster.state() == before and first.commits
    assert decide(cluster, SchedulerSettings(), NOW) == first


def test_leaving_a_statement_without_commit_undoes_it() -> None:
    cluster = small().cluster()
    session = Session(cluster, SchedulerSettings(), NOW)
    before = cluster.state()
    with session.statement() as statement:
        statement.evict(cluster.tasks["run-0"])
        statement.pipeline(cluster.tasks["wait-0"], cluster.nodes["n0"])
        statement.allocate(cluster.tasks["wait-1"], cluster.nodes["n1"])
        assert cluster.tasks["wait-0"].status == Status.PIPELINED and cluster.nodes["n0"].releasing[2] == 0
    assert cluster.state() == before and not session.commits


def test_a_task_put_back_where_it_was_evicted_from_was_never_evicted() -> None:
    cluster = small().cluster()
    session = Session(cluster, SchedulerSettings(), NOW)
    with session.statement() as statement:
        statement.evict(cluster.tasks["run-0"])
        statement.pipeline(cluster.tasks["run-0"], cluster.nodes["n0"])
        statement.commit()
    assert cluster.tasks["run-0"].status == Status.RUNNING and not session.commits


def test_a_checkpoint_undoes_only_what_came_after() -> None:
    cluster = small().cluster()
    session = Session(cluster, SchedulerSettings(), NOW)
    with session.statement() as statement:
        statement.evict(cluster.tasks["run-0"])
        mark = statement.checkpoint()
        statement.evict(cluster.tasks["run-1"])
        statement.rollback(mark)
        assert [cluster.tasks[uid].status for uid in ("run-0", "run-1")] == [Status.RELEASING, Status.RUNNING]


def test_the_heap_gives_the_smallest_and_cuts_the_last_slot_when_it_is_too_long() -> None:
    heap: Heap[int] = Heap(lambda left, right: left < right)
    for number in (5, 3, 8, 1, 4):
        heap.push(number)
    assert [heap.pop() for _ in range(5)] == [1, 3, 4, 5, 8]
    short: Heap[int] = Heap(lambda left, right: left < right, limit=2)
    for number in (5, 3, 1):
        short.push(number)
    assert sorted(short.items) == [1, 5]


def test_upstreams_configuration_is_read_unchanged() -> None:
    config = {
        "actions": "allocate, reclaim",
        "queueDepthPerAction": {"reclaim": 3},
        "tiers": [{"plugins": [{"name": "proportion", "arguments": {"kValue": 0.5}}, {"name": "priority"}]}],
    }
    settings = read_config(config)
    assert settings.actions == ("allocate", "reclaim") and settings.queue_depth == {"reclaim": 3}
    assert [plugin.name for plugin in settings.plugins] == ["proportion", "priority"] and settings.arguments(
        "proportion"
    ) == {"kValue": "0.5"}


def test_unknown_actions_and_plugins_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="there is no action 'sleep'; known are allocate, consolidation"):
        read_config({"actions": "sleep"})
    with pytest.raises(ConfigError, match="there is no plugin 'magic'"):
        Session(ClusterModel(), read_config({"tiers": [{"plugins": [{"name": "magic"}]}]}), NOW)


@pytest.mark.parametrize(
    ("text", "wanted"), [("90s", 90), ("1h30m", 5400), ("2d", 172800), ("-1s", -1), ("0", 0), ("1.5m", 90)]
)
def test_durations(text: str, wanted: float) -> None:
    assert seconds(text) == wanted


def test_a_duration_that_cannot_be_read_says_how_to_write_one() -> None:
    with pytest.raises(ConfigError, match="'soon' is not a duration; write a number with a unit"):
        seconds("soon")


def test_search_budgets_are_durations_in_the_configuration_and_steps_here() -> None:
    given = {
        "maxActionSearchDuration": {"reclaim": "10s"},
        "maxJobSearchDuration": "5s",
        "maxGeneratorSearchDuration": {"MultiNodeGang": "1s"},
    }
    budgets = read_config({"scenarioSearchBudgets": given}).budgets
    assert (budgets.for_action("reclaim"), budgets.for_action("preempt"), budgets.gang) == (2000, 60_000, 1000)
    assert (budgets.for_generator("MultiNodeGang"), budgets.for_generator("NodeLocalGreedy")) == (200, 6000)
    with pytest.raises(ConfigError, match="there is no generator 'Magic'; known are NodeLocalGreedy, MultiNodeGang"):
        read_config({"scenarioSearchBudgets": {"maxGeneratorSearchDuration": {"Magic": "1s"}}})
    with pytest.raises(ConfigError, match="minJobSearchDuration must be smaller than maxJobSearchDuration"):
        read_config({"scenarioSearchBudgets": {"minJobSearchDuration": "5s", "maxJobSearchDuration": "5s"}})


class NoBind(Plugin):
    """Refuses every bind."""

    name = "no-bind"

    def before_bind(self, task: TaskInfo, node: NodeInfo) -> Refusal:
        return Refusal(self.name, "not today")


def test_a_refused_bind_puts_the_task_back_and_ends_its_gangs_turn() -> None:
    cluster = Scene().nodes(1).queue("a", quota=8).gang("a/elastic", 2, needs=1).cluster()
    session = Session(cluster, SchedulerSettings(), NOW, extra=[NoBind])
    run_actions(session, ("allocate",))
    assert not session.commits and {task.status for task in cluster.tasks.values()} == {Status.PENDING}
    assert cluster.nodes["n0"].idle == cluster.nodes["n0"].allocatable


def test_the_running_scheduler_decides_by_the_same_function_and_counts_its_seconds() -> None:
    scene = Scene().nodes(1).queue("a", quota=4).queue("b", quota=4).gang("a/fits", 4).gang("b/large", 9)
    thought = think(scene.cluster(), [], scene.settings, NOW, lambda: "fresh")
    assert thought.decisions == decide(scene.cluster(), scene.settings, NOW)
    assert list(thought.tally.times) == ["open", *scene.settings.actions, "close"]
    assert [(share.queue, share.fair[2]) for share in thought.tally.shares] == [("a", 4), ("b", 4)]
