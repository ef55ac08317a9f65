"""What an evicted pod and its gang say: by which action, for whom and when, before the pod goes."""

from __future__ import annotations

import pytest

from gangline import components
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import EVENT, POD, POD_GROUP, PRIORITY_CLASS
from gangline.api.meta import condition
from gangline.binder.component import component as binder
from gangline.cli.explain import explain
from gangline.rules.gangs.evictions import EvictionNote, last_eviction, sentence
from gangline.runtime import Component
from gangline.runtime.clock import ManualClock
from gangline.scheduler.loop.component import component as scheduler
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.settings import shard_settings
from gangline.scheduler.thought.booking import remember_evictions
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.victims.ledger import DAY, ledger_of
from scheduler_world import SPACE, SchedulerWorld, scheduler_world


def fast() -> Component:
    return scheduler(options=SchedulerOptions(period=0.01))


async def hold(here: SchedulerWorld) -> None:
    """Pods run, and stay visible while they are being deleted."""
    for name in await here.placed():
        await here.run(name)
        await here.client.patch(POD, name, SPACE, {"metadata": {"finalizers": ["example.com/held"]}})


async def victims(here: SchedulerWorld) -> list[Pod]:
    return [pod for pod in (await here.client.list(POD, SPACE)).items if pod.metadata.deleting]


async def _is_leaving(here: SchedulerWorld) -> bool:
    return bool(await victims(here))


async def target(here: SchedulerWorld) -> str:
    """The message of the one victim's condition."""
    (victim,) = await victims(here)
    found = condition(victim.status.conditions, "DisruptionTarget")
    assert found is not None and (found.status, found.reason) == ("True", "PreemptionByScheduler")
    return found.message


async def preempted(here: SchedulerWorld) -> None:
    await here.node("n0", gpus=1)
    await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "low"}, "value": 30})
    await here.gang("old", 1, gpus=1, priorityClassName="low")
    await here.settles()
    await hold(here)
    await here.gang("new", 1, gpus=1)
    await here.settles()


async def test_a_preempted_pod_is_marked_before_it_goes_and_says_for_whom() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await preempted(here)
        assert await target(here) == (
            "preempt to make room for work/new: Pod work/old-0 was preempted by higher priority workload work/new"
        )


async def test_the_evicted_gang_says_by_whom_and_when_and_explain_shows_it() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await preempted(here)
        found = last_eviction(await here.get_group("old"))
        assert found is not None and (found.action, found.by, found.pods, found.of) == ("preempt", "work/new", 1, 1)
        assert found.message == "Pod work/old-0 was preempted by higher priority workload work/new"
        (answer,) = await explain(here.client, "old", SPACE)
        assert answer.evicted == (
            f"last evicted {found.at} by new (preempt: higher priority in the same queue): 1 of 1 pod; "
            "no controller makes them anew"
        )
        assert answer.data["lastEviction"]["by"] == "work/new"
        assert last_eviction(await here.get_group("new")) is None


async def test_a_pod_whose_queue_gives_back_says_so() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0")
        await here.queue("top", gpus=8)
        await here.queue("a", "top", gpus=4)
        await here.queue("b", "top", gpus=4)
        for number in range(2):
            await here.gang(f"a{number}", 1, gpus=4, queue="a")
        await here.settles()
        await hold(here)
        await here.gang("b0", 1, gpus=4, queue="b")
        await here.settles()
        (victim,) = await victims(here)
        said = await target(here)
        assert said.startswith(
            f"reclaim to make room for work/b0: Pod work/{victim.name} was preempted by workload work/b0."
        )
        found = last_eviction(await here.get_group(victim.name.removesuffix("-0")))
        assert found is not None and (found.action, found.by) == ("reclaim", "work/b0")


async def test_a_pod_that_is_moved_says_for_whom() -> None:
    async with scheduler_world(fast(), binder()) as here:
        for number in range(2):
            await here.node(f"n{number}", gpus=4)
            await here.group(f"small{number}")
            await here.pod(f"small{number}-0", group=f"small{number}", gpus=1, nodeName=f"n{number}")
        await hold(here)
        await here.gang("large", 1, gpus=4)
        await here.settles()
        (victim,) = await victims(here)
        assert await target(here) == (
            f"consolidation to make room for work/large: Pod work/{victim.name} was preempted and rescheduled "
            "due to bin packing (resource consolidation) procedure"
        )


async def test_what_is_left_of_a_gang_that_lost_its_minimum_says_so() -> None:
    clock = ManualClock()
    async with scheduler_world(scheduler(options=SchedulerOptions(period=0.0)), binder(), clock=clock) as here:
        await here.node("n0")
        await here.gang("g", 2, gpus=1)
        await here.settles()
        await hold(here)
        await here.run("g-1", "Failed")
        await here.settles()
        clock.advance(shard_settings().staleness_grace + 1)
        await here.settles()
        assert (await target(here)).startswith(
            "stalegangeviction: Workload doesn't meet the minimum required number of pods (2)"
        )
        found = last_eviction(await here.get_group("g"))
        assert found is not None and (found.action, found.by, found.pods) == ("stalegangeviction", "", 1)


async def test_what_a_gang_lost_is_counted_also_after_a_restart() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await preempted(here)
        noted = last_eviction(await here.get_group("old"))
        assert noted is not None
        (charge,) = noted.lately
        assert (charge.action, charge.broken) == ("preempt", True) and charge.lost >= 0
        groups = [await here.get_group(name) for name in ("old", "new")]
        after_a_restart = ClusterModel()
        remember_evictions(after_a_restart, groups, charge.moment + 60)
        ledger = ledger_of(after_a_restart)
        assert ledger.last_broken("work/old", "preempt") == charge.moment
        assert ledger.of_gang("work/old")[0].queue == groups[0].spec.queue
        assert ledger.of_gang("work/new") == []
        a_day_later = ClusterModel()
        remember_evictions(a_day_later, groups, charge.moment + DAY + 1)
        assert ledger_of(a_day_later).entries() == []


async def single_with_group(here: SchedulerWorld) -> None:
    """A pod that stands for itself on the only GPU, and its group."""
    await here.node("n0", gpus=1)
    await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "low"}, "value": 30})
    await here.pod("alone", group="old", gpus=1)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "alone", "uid": (await here.get_pod("alone")).uid}
    group = {"metadata": {"name": "old", "namespace": SPACE, "ownerReferences": [owner]}}
    spec = {"queue": names.DEFAULT_QUEUE, "minMember": 1, "priorityClassName": "low"}
    await here.client.create(POD_GROUP, group | {"spec": spec})
    await here.settles()


async def test_the_group_of_an_evicted_single_is_written_on_only_if_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scheduler_world(fast(), binder()) as here:
        await single_with_group(here)
        await hold(here)
        await here.settles()
        before = (await here.get_group("old")).metadata.resource_version
        monkeypatch.setattr("gangline.scheduler.loop.carrier.LINGERS", float("inf"))
        await here.gang("new", 1, gpus=1)
        await here.at_rest(lambda: _is_leaving(here))
        assert (await here.get_group("old")).metadata.resource_version == before
        monkeypatch.setattr("gangline.scheduler.loop.carrier.LINGERS", 0.0)
        await here.gang("later", 1, gpus=1)
        await here.settles()
        found = last_eviction(await here.get_group("old"))
        assert found is not None and found.by == "work/new"


async def test_a_group_whose_single_is_gone_is_left_to_be_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scheduler_world(fast(), binder()) as here:
        await single_with_group(here)
        monkeypatch.setattr("gangline.scheduler.loop.carrier.LINGERS", float("inf"))
        await here.gang("new", 1, gpus=1)
        await here.at_rest(lambda: _is_leaving(here))
        await here.client.delete(POD, "alone", SPACE, grace=0)
        await here.settles()
        monkeypatch.setattr("gangline.scheduler.loop.carrier.LINGERS", 0.0)
        await here.gang("later", 1, gpus=1)
        await here.settles()
        assert last_eviction(await here.get_group("old")) is None


async def test_a_gang_that_waits_for_others_to_leave_has_one_event() -> None:
    async with scheduler_world(fast(), binder()) as here:
        await here.node("n0", gpus=1)
        await here.node("n1", gpus=1)
        await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "low"}, "value": 30})
        await here.gang("old", 2, gpus=1, priorityClassName="low")
        await here.settles()
        await hold(here)
        await here.gang("new", 2, gpus=1)
        await here.settles()
        told = [item for item in (await here.client.list(EVENT, SPACE)).items if item.reason == "Pipelined"]
        assert [(item.involved_object["kind"], item.involved_object["name"]) for item in told] == [("PodGroup", "new")]
        assert told[0].message == "2 pods to 2 nodes: n0, n1, once others have left"


async def test_as_kai_does_it_nothing_is_marked_unless_a_flag_asks() -> None:
    for flags, marked in (({}, False), ({"update-pod-eviction-condition": "true"}, True)):
        kai = components.build("scheduler", components.ComponentOptions(compat=("kai",), period=0.01, flags=flags))
        async with scheduler_world(kai, binder()) as here:
            await preempted(here)
            (victim,) = await victims(here)
            assert (condition(victim.status.conditions, "DisruptionTarget") is not None) is marked
            assert last_eviction(await here.get_group("old")) is None


def test_a_sentence_names_what_there_is() -> None:
    stale = EvictionNote("stalegangeviction", "2026-01-02T03:04:05Z", "", 1, 2)
    assert sentence(stale) == (
        "last evicted 2026-01-02T03:04:05Z (stalegangeviction: it was below its minimum for too long): 1 of 2 pods"
    )
