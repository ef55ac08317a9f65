"""PodGroup and Queue status on an embedded server: what pods ask for and hold, up the tree, written only when it
changed."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client import CollectorRegistry

from embedded import until
from gangline.api import names
from gangline.api.kai import Queue
from gangline.api.kinds import POD, POD_GROUP, QUEUE
from gangline.client.lanes import AT_ONCE, SHARE
from gangline.config import KAI, NATIVE, manner
from gangline.controllers.component import pod_group_controller, queue_controller
from gangline.controllers.queue_metrics import QueueMetrics
from scheduler_world import SPACE, SchedulerWorld, scheduler_world


async def queue_of(here: SchedulerWorld, name: str) -> Queue:
    return await here.client.get(QUEUE, name)


async def test_what_pods_ask_for_and_hold_goes_up_the_tree() -> None:
    async with scheduler_world(pod_group_controller(), queue_controller()) as here:
        await here.queue("top")
        await here.queue("team", "top")
        await here.gang("g", 2, gpus=2, asks={"cpu": 1}, queue="team")
        for name in ("g-0", "g-1"):
            await here.run(name, "Pending")
        await here.run("g-0")
        await here.settles()
        held = (await here.get_group("g")).status.resources_status
        assert held.requested == {"cpu": "2", names.NVIDIA_GPU: "4"}
        assert held.allocated == {"cpu": "1", names.NVIDIA_GPU: "2"}
        for name in ("team", "top"):
            status = (await queue_of(here, name)).status
            assert (status.requested, status.allocated) == (held.requested, held.allocated)
        assert (await queue_of(here, "top")).status.child_queues == ("team",)


async def test_a_group_that_ends_leaves_its_queues_empty() -> None:
    async with scheduler_world(pod_group_controller(), queue_controller()) as here:
        await here.gang("g", 1)
        await here.run("g-0")
        await here.settles()
        await here.run("g-0", "Succeeded")
        await here.settles()
        assert (await here.get_group("g")).status.resources_status.requested == {}
        assert (await queue_of(here, names.DEFAULT_PARENT_QUEUE)).status.requested == {}


async def test_nothing_is_written_when_nothing_changed() -> None:
    async with scheduler_world(pod_group_controller(), queue_controller()) as here:
        await here.gang("g", 1)
        await here.run("g-0")
        await here.settles()
        await here.client.patch(POD, "g-0", SPACE, {"metadata": {"labels": {"a": "b"}}})
        before = here.server.revision
        await asyncio.sleep(0)
        await here.settles()
        assert here.server.revision == before


async def test_a_group_that_goes_with_its_pod_is_not_written_once_the_pod_is_gone() -> None:
    async with scheduler_world(pod_group_controller(), queue_controller()) as here:
        await here.pod("alone", group="g", gpus=1)
        pod = await here.get_pod("alone")
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "alone", "uid": pod.uid}
        group = {"metadata": {"name": "g", "namespace": SPACE, "ownerReferences": [owner]}}
        await here.client.create(POD_GROUP, group | {"spec": {"queue": names.DEFAULT_QUEUE, "minMember": 1}})
        await here.run("alone")
        await here.settles()
        before = await here.get_group("g")
        assert before.status.resources_status.allocated[names.NVIDIA_GPU] == "1"
        await here.client.delete(POD, "alone", SPACE, grace=0)
        await here.settles()
        assert (await here.get_group("g")).metadata.resource_version == before.metadata.resource_version
        await here.client.delete(POD_GROUP, "g", SPACE)
        await here.settles()
        assert (await queue_of(here, names.DEFAULT_QUEUE)).status.allocated == {}


async def test_a_group_that_turns_preemptible_holds_nothing_firm_but_upstream_keeps_the_old_figure() -> None:
    for how, kept in ((NATIVE, {}), (manner([KAI]), {"cpu": "1", names.NVIDIA_GPU: "1"})):
        async with scheduler_world(pod_group_controller(manner=how)) as here:
            await here.gang("g", 1, asks={"cpu": 1}, preemptibility="non-preemptible")
            await here.run("g-0")
            await here.settles()
            assert (await here.get_group("g")).status.resources_status.allocated_non_preemptible == {
                "cpu": "1",
                names.NVIDIA_GPU: "1",
            }
            await here.client.patch(POD_GROUP, "g", SPACE, {"spec": {"preemptibility": "preemptible"}})
            await here.settles()
            assert (await here.get_group("g")).status.resources_status.allocated_non_preemptible == kept


async def test_a_pod_on_two_shared_gpus_holds_both_but_upstream_counts_one() -> None:
    noted = {
        names.POD_GROUP_NAME: "g",
        names.GPU_FRACTION: "0.5",
        names.GPU_FRACTION_DEVICES: "2",
        names.RECEIVED_TYPE: "Fraction",
    }
    for how, held in ((NATIVE, "1"), (manner([KAI]), "500m")):
        async with scheduler_world(pod_group_controller(manner=how)) as here:
            await here.group("g")
            await here.pod("p", annotations=noted)
            await here.run("p")
            await here.settles()
            assert (await here.get_group("g")).status.resources_status.allocated[names.NVIDIA_GPU] == held


async def test_a_gpu_shared_by_memory_counts_as_asked_for_once_it_is_held_but_not_upstream() -> None:
    noted = {names.POD_GROUP_NAME: "g", names.GPU_MEMORY: "20480", names.RECEIVED_TYPE: "Fraction"}
    for how, asked in ((NATIVE, "500m"), (manner([KAI]), None)):
        async with scheduler_world(pod_group_controller(manner=how)) as here:
            await here.node("n", nvidia_com__gpu_memory="40960")
            await here.group("g")
            await here.pod("p", annotations=noted, nodeName="n")
            await here.run("p")
            await here.settles()
            status = (await here.get_group("g")).status.resources_status
            assert status.allocated[names.NVIDIA_GPU] == "500m"
            assert status.requested.get(names.NVIDIA_GPU) == asked and status.requested["run.ai/gpu.memory"] == "20480"


async def test_queues_that_are_each_others_parents_are_counted_once_and_do_not_loop() -> None:
    async with scheduler_world(pod_group_controller(), queue_controller()) as here:
        await here.queue("a", "b")
        await here.queue("b", "a")
        await here.gang("g", 1, asks={"cpu": 1}, queue="a")
        await here.run("g-0")
        await here.settles()
        assert (
            (await queue_of(here, "a")).status.allocated
            == (await queue_of(here, "b")).status.allocated
            == {"cpu": "1", names.NVIDIA_GPU: "1"}
        )


async def test_metrics_have_upstreams_names_and_go_with_their_queue() -> None:
    registry = CollectorRegistry()
    metrics = QueueMetrics(labels={"team": "team_name"}, defaults={"team": "nobody"}, registry=registry)
    async with scheduler_world(pod_group_controller(), queue_controller(metrics)) as here:
        await here.queue("q", gpus=4)
        await here.gang("g", 1, gpus=2, queue="q")
        await here.run("g-0")
        await here.settles()
        labels = {"queue_name": "q", "queue_metadata_name": "q", "queue_display_name": "", "team_name": "nobody"}
        assert registry.get_sample_value("kai_queue_deserved_gpus", labels) == 4
        assert registry.get_sample_value("kai_queue_allocated_gpus", labels) == 2
        assert registry.get_sample_value("kai_queue_quota_cpu_cores", labels) == -1
        await here.client.delete(QUEUE, "q")
        await here.settles()
        assert registry.get_sample_value("kai_queue_info", labels) is None


async def test_in_a_crowd_a_group_is_told_of_once_for_all_its_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.lanes.TICK", 3600.0)
    async with scheduler_world(pod_group_controller()) as here:
        lanes = here.managers["podgroup-controller"].context.writer.lanes
        for _ in range(AT_ONCE):
            lanes.begin()
        await here.gang("g", 3, asks={"cpu": 1})
        before = (await here.get_group("g")).metadata.resource_version
        for name in ("g-0", "g-1", "g-2"):
            await here.run(name)
        await until(lambda: _seen(here, before))
        for _ in range(SHARE):
            lanes.begin()
        await here.settles()
        group = await here.get_group("g")
        assert group.status.resources_status.allocated == {"cpu": "3", names.NVIDIA_GPU: "3"}


def _seen(here: SchedulerWorld, revision: str) -> bool:
    """The controller has looked at everything so far, and has put off telling it."""
    manager = here.managers["podgroup-controller"]
    cache, put_off = manager.cache, bool(manager.context.writer.lanes._waiting)
    running = [pod for pod in cache.list(POD) if pod.status.phase == "Running"]
    group = cache.get(POD_GROUP, "g", SPACE)
    return put_off and len(running) == 3 and group is not None and group.metadata.resource_version == revision
