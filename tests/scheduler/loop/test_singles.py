"""Pods that stand for themselves are placed before their PodGroup is written, as what the grouper will write."""

from __future__ import annotations

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD, POD_GROUP, PRIORITY_CLASS
from gangline.api.meta import condition
from gangline.binder.component import component as binder
from gangline.components import ComponentOptions, build
from gangline.grouper.component import component as grouper
from gangline.grouper.settings import GrouperSettings
from gangline.grouper.singles import group_of_single
from gangline.runtime import Component, Reader
from gangline.scheduler.loop.component import component as service
from gangline.scheduler.thought.options import SchedulerOptions
from scheduler_world import SPACE, scheduler_world


def scheduler(*compat: str, **flags: str) -> Component:
    told = {name.replace("_", "-"): value for name, value in flags.items()}
    return build("scheduler", ComponentOptions(compat=compat, period=0.01, flags=told))


async def test_a_single_is_bound_and_marked_though_nobody_has_written_its_group() -> None:
    async with scheduler_world(scheduler(), binder()) as here:
        await here.node("n0")
        await here.pod("alone", gpus=1)
        await here.settles()
        assert await here.placed() == {"alone": "n0"}
        pod = await here.get_pod("alone")
        assert pod.annotations[names.POD_GROUP_NAME] == names.kai_pod_group("alone", pod.uid)
        assert (await here.client.list(POD_GROUP, SPACE)).items == []


async def test_the_group_of_a_single_is_thought_once_until_the_pod_says_something_else() -> None:
    thought, think = [], group_of_single(GrouperSettings())

    def counted(pod: Pod, read: Reader) -> PodGroup | None:
        thought.append(pod.name)
        return think(pod, read)

    async with scheduler_world(
        service(options=SchedulerOptions(period=0.01, group_of_single=counted)), binder()
    ) as here:
        await here.node("n0")
        await here.pod("alone", gpus=1)
        await here.settles()
        await here.run("alone")
        await here.settles()
        assert await here.placed() == {"alone": "n0"} and thought == ["alone"]
        await here.client.patch(POD, "alone", SPACE, {"metadata": {"labels": {names.PRIORITY_CLASS: "first"}}})
        await here.settles()
        assert thought == ["alone"] * 2
        await here.client.create(PRIORITY_CLASS, {"metadata": {"name": "first"}, "value": 7})
        await here.settles()
        assert thought == ["alone"] * 3


async def test_a_single_whose_group_came_and_went_after_its_bind_still_counts() -> None:
    async with scheduler_world(scheduler(), binder()) as here:
        await here.node("n0", gpus=2)
        await here.queue("small", limit=2)
        await here.pod("first", gpus=2, queue="small")
        await here.settles()
        pod = await here.get_pod("first")
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "first", "uid": pod.uid}
        name = names.kai_pod_group("first", pod.uid)
        meta = {"name": name, "namespace": SPACE, "ownerReferences": [owner]}
        await here.client.create(POD_GROUP, {"metadata": meta, "spec": {"queue": "small", "minMember": 1}})
        await here.settles()
        await here.client.delete(POD_GROUP, name, SPACE)
        await here.settles()
        await here.node("n1", gpus=2)
        await here.pod("second", gpus=2, queue="small")
        await here.settles()
        assert await here.placed() == {"first": "n0"}, "what it holds still counts in its queue"


async def test_in_upstreams_manner_or_when_told_so_a_single_waits_for_its_group() -> None:
    for told in (scheduler("kai"), scheduler(singles_at_once="false")):
        async with scheduler_world(told, binder()) as here:
            await here.node("n0")
            await here.pod("alone", gpus=1)
            await here.settles()
            assert await here.placed() == {}
            await here.start(grouper(GrouperSettings()))
            await here.settles()
            assert await here.placed() == {"alone": "n0"}


async def test_pods_that_the_grouper_leaves_alone_or_puts_elsewhere_are_not_placed_without_a_group() -> None:
    async with scheduler_world(scheduler(), binder()) as here:
        await here.node("n0")
        await here.pod("skipped", gpus=1, annotations={names.SKIP_GROUPER: "true"})
        await here.pod("marked", gpus=1, group="somewhere")
        await here.pod("spark", gpus=1, labels={"spark-app-name": "a", "spark-app-selector": "b"})
        owner = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "u"}
        await here.pod("owned", gpus=1, owner=owner)
        await here.settles()
        assert await here.placed() == {}


async def test_what_singles_without_a_group_hold_counts_in_their_queue() -> None:
    async with scheduler_world(binder()) as here:
        await here.node("n0")
        await here.queue("small", limit=2)
        for name in ("a", "b", "c"):
            await here.pod(name, gpus=1, queue="small")
        await here.start(scheduler())
        await here.settles()
        assert len(await here.placed()) == 2
        await here.kill("scheduler")
        await here.start(scheduler())
        await here.settles()
        assert len(await here.placed()) == 2, "a scheduler that starts anew counts them too"
        gone = next(iter(await here.placed()))
        await here.client.delete(POD, gone, SPACE, grace=0)
        await here.settles()
        assert len(await here.placed()) == 2, "what a pod held is free once it is gone"


async def test_a_single_that_is_refused_is_told_and_has_its_verdict_once_its_group_is_written() -> None:
    async with scheduler_world(scheduler(), binder()) as here:
        await here.node("n0")
        await here.pod("large", gpus=9)
        await here.settles()
        told = condition((await here.get_pod("large")).status.conditions, "PodScheduled")
        assert told is not None and (told.status, told.reason) == ("False", "Unschedulable")
        await here.start(grouper(GrouperSettings()))
        await here.settles()
        (group,) = (await here.client.list(POD_GROUP, SPACE)).items
        assert names.VERDICT in group.annotations and group.status.scheduling_conditions


async def test_a_group_that_is_written_takes_over_and_one_that_goes_leaves_the_pod_where_it_is() -> None:
    async with scheduler_world(scheduler(), binder()) as here:
        await here.node("n0", gpus=2)
        await here.pod("first", gpus=2)
        await here.settles()
        await here.start(grouper(GrouperSettings()))
        await here.settles()
        (group,) = (await here.client.list(POD_GROUP, SPACE)).items
        await here.kill("grouper")
        await here.client.delete(POD_GROUP, group.name, SPACE)
        await here.pod("second", gpus=2)
        await here.settles()
        assert await here.placed() == {"first": "n0"}, "what it holds still counts"
