"""Grove's own end-to-end scenarios: gang scheduling (GS), gang termination (GT), start order (SO), updates (RU, OD), and deletion.

One GPU per node and one per pod, so that nodes count pods. The workloads have upstream's shapes: pc-a standalone, pc-b and pc-c
in the scaling group sg-x, always ten pods per replica of the set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import (
    NODE,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    SCALING_GROUP,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
)
from gangline.api.meta import Raw
from gangline.runtime import Cache, ManualClock
from journeys.story import Story, told

ALL, ONE = {"a": 2, "b": 1, "c": 3, "sg": 2}, {"a": 1, "b": 1, "c": 1, "sg": 1}
"""Minima of WL1 (everything at once) and WL2 (one of each is enough)."""


def workload(minima: dict[str, int], *, order: str = "AnyOrder", delay: str = "4h", strategy: str = "", image: str = "app:1",
             after: dict[str, list[str]] | None = None, scheduler: str = names.KAI_SCHEDULER) -> Raw:
    sizes = {"a": 2, "b": 1, "c": 3}
    cliques = [{"name": f"pc-{each}", "spec": {
        "roleName": each, "replicas": sizes[each], "minAvailable": minima[each], "startsAfter": (after or {}).get(f"pc-{each}", []),
        "podSpec": {"schedulerName": scheduler, "containers": [
            {"name": "main", "image": image, "resources": {"requests": {names.NVIDIA_GPU: "1"}, "limits": {names.NVIDIA_GPU: "1"}}}]}}}
        for each in "abc"]
    group = {"name": "sg-x", "cliqueNames": ["pc-b", "pc-c"], "replicas": 2, "minAvailable": minima["sg"]}
    template: Raw = {"cliques": cliques, "terminationDelay": delay, "cliqueStartupType": f"CliqueStartupType{order}",
                     "podCliqueScalingGroups": [group]}
    spec: Raw = {"replicas": 1, "template": template} | ({"updateStrategy": {"type": strategy}} if strategy else {})
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "wl", "namespace": "default"}, "spec": spec}


class Told:
    """A story about one workload."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.nodes: list[str] = []

    async def room_for(self, pods: int) -> None:
        self.nodes += await self.story.nodes(pods, gpus=1)

    async def runs(self, pods: int) -> None:
        """Exactly so many pods run once everything has come to rest."""

        async def as_many() -> bool:
            return len(await self.story.pods("wl", "Running")) == pods

        await self.story.until(as_many, f"{pods} pods run")
        await self.story.at_rest(as_many, f"{pods} pods still run")

    async def scale_set(self, replicas: int) -> None:
        await self.story.client.patch(POD_CLIQUE_SET, "wl", "default", {"spec": {"replicas": replicas}})

    async def scale_group(self, replicas: int, of: int = 0) -> None:
        await self.story.client.patch(SCALING_GROUP, f"wl-{of}-sg-x", "default", {"spec": {"replicas": replicas}})

    async def pods(self, clique: str = "") -> list[Pod]:
        found = [pod for pod in await self.story.pods("wl") if not pod.metadata.deleting]
        return [pod for pod in found if not clique or pod.labels[names.POD_CLIQUE] == f"wl-0-{clique}"]

    async def uids(self, clique: str = "") -> set[str]:
        return {pod.uid for pod in await self.pods(clique)}

    async def cordon(self, node: str) -> None:
        await self.story.client.patch(NODE, node, "", {"spec": {"unschedulable": True}})

    async def lose(self, *pods: Pod) -> None:
        """Pods vanish and their nodes take no others."""
        for pod in pods:
            await self.cordon(pod.spec.node_name)
            await self.story.client.delete(POD, pod.name, "default", grace=0)
        await self.story.settles()


# --- gang scheduling -----------------------------------------------------------------------------------------------------------


GS: dict[str, tuple[dict[str, int], list[tuple[str, int, int]]]] = {
    "GS1": (ALL, [("room", 9, 0), ("room", 1, 10)]),
    "GS2": (ALL, [("room", 10, 10), ("group", 3, 10), ("room", 3, 10), ("room", 1, 14)]),
    "GS3": (ALL, [("room", 10, 10), ("set", 2, 10), ("room", 9, 10), ("room", 1, 20)]),
    "GS4": (ALL, [("room", 10, 10), ("group", 3, 10), ("room", 4, 14), ("set", 2, 14), ("room", 10, 24), ("group 1", 3, 24),
                   ("room", 4, 28)]),
    "GS5": (ONE, [("room", 2, 0), ("room", 1, 3), ("room", 7, 10)]),
    "GS6": (ONE, [("room", 10, 10), ("group", 3, 10), ("room", 1, 10), ("room", 1, 12), ("room", 2, 14)]),
    "GS7": (ONE, [("room", 2, 0), ("room", 1, 3), ("room", 2, 5), ("room", 5, 10), ("group", 3, 10), ("room", 4, 14)]),
    "GS8": (ONE, [("group", 3, 0), ("room", 2, 0), ("room", 1, 3), ("room", 4, 7), ("room", 7, 14)]),
    "GS9": (ONE, [("room", 10, 10), ("set", 2, 10), ("room", 2, 10), ("room", 1, 13), ("room", 7, 20)]),
    "GS10": (ONE, [("set", 2, 0), ("room", 2, 0), ("room", 4, 6), ("room", 4, 10), ("room", 10, 20)]),
    "GS11": (ONE, [("room", 10, 10), ("group", 3, 10), ("room", 4, 14), ("set", 2, 14), ("room", 10, 24), ("group 1", 3, 24),
                   ("room", 4, 28)]),
    "GS12": (ONE, [("set", 2, 0), ("group", 3, 0), ("group 1", 3, 0), ("room", 6, 6), ("room", 8, 14), ("room", 14, 28)]),
}
"""Scenario → minima, and steps: what is done (more room, a larger group or set), how much, and how many pods then run."""


@pytest.mark.parametrize("scenario", GS)
async def test_a_gang_starts_whole_or_not_at_all(story: Story, scenario: str) -> None:
    minima, steps = GS[scenario]
    tale = Told(story)
    await story.apply(workload(minima))
    await story.settles()
    for deed, amount, running in steps:
        if deed == "room":
            await tale.room_for(amount)
        elif deed == "set":
            await tale.scale_set(amount)
        else:
            await tale.scale_group(amount, of=int(deed.removeprefix("group").strip() or 0))
        await tale.runs(running)


# --- gang termination ------------------------------------------------------------------------------------------------------------


async def breach(tale: Told, clock: ManualClock, *lost: Pod) -> None:
    """Pods are lost with no room for others, and the delay passes."""
    clock.advance(60)
    await tale.story.settles()
    await tale.lose(*lost)
    clock.advance(11)
    await tale.story.settles()


@pytest.mark.parametrize("clique", ["pc-a", "sg-x-0-pc-c"], ids=["GT1", "GT2"])
async def test_a_replica_below_its_minimum_starts_again_as_a_whole(clique: str) -> None:
    clock = ManualClock()
    async with told(clock=clock) as story:
        tale = Told(story)
        await tale.room_for(10)
        await story.apply(workload(ALL, delay="10s"))
        await tale.runs(10)
        before = await tale.uids()
        await breach(tale, clock, (await tale.pods(clique))[0])
        assert not before & await tale.uids()
        await tale.room_for(1)
        await tale.runs(10)


async def test_gt3_a_standalone_clique_may_lose_pods_down_to_its_minimum() -> None:
    clock = ManualClock()
    async with told(clock=clock) as story:
        tale = Told(story)
        await tale.room_for(10)
        await story.apply(workload(ONE, delay="10s"))
        await tale.runs(10)
        before = await tale.uids()
        first, second = await tale.pods("pc-a")
        await breach(tale, clock, first)
        assert len(before & await tale.uids()) == 9
        await breach(tale, clock, second)
        assert not before & await tale.uids()


async def test_gt4_a_group_loses_one_replica_and_the_set_its_replica_when_the_group_falls_below_its_minimum() -> None:
    clock = ManualClock()
    async with told(clock=clock) as story:
        tale = Told(story)
        await tale.room_for(10)
        await story.apply(workload(ONE, delay="10s"))
        await tale.runs(10)
        first, *rest = await tale.pods("sg-x-0-pc-c")
        whole, of_a, of_1 = await tale.uids("sg-x-0-pc-b"), await tale.uids("pc-a"), await tale.uids("sg-x-1-pc-c")
        await breach(tale, clock, first)
        assert whole == await tale.uids("sg-x-0-pc-b")
        await breach(tale, clock, *rest)
        assert not whole & await tale.uids("sg-x-0-pc-b")
        assert (of_a, of_1) == (await tale.uids("pc-a"), await tale.uids("sg-x-1-pc-c"))
        await breach(tale, clock, *await tale.pods("sg-x-1-pc-c"))
        assert not of_a & await tale.uids("pc-a")


async def test_gt6_a_lost_pod_of_a_scaled_gang_is_only_replaced() -> None:
    clock = ManualClock()
    async with told(clock=clock) as story:
        tale = Told(story)
        await tale.room_for(10)
        await story.apply(workload(ONE, delay="10s"))
        await tale.runs(10)
        before = await tale.uids()
        [lost, *_] = await tale.pods("sg-x-1-pc-c")
        await story.client.delete(POD, lost.name, "default", grace=0)
        clock.advance(60)
        await tale.runs(10)
        assert len(before & await tale.uids()) == 9


# --- start order -----------------------------------------------------------------------------------------------------------------


SO: dict[str, tuple[dict[str, int], str, dict[str, list[str]], list[tuple[str, str]]]] = {
    "SO1": (ALL, "InOrder", {}, [("pc-a", "sg-x-0-pc-b"), ("sg-x-1-pc-b", "sg-x-0-pc-c")]),
    "SO2": (ONE, "InOrder", {}, [("pc-a", "sg-x-0-pc-b"), ("sg-x-0-pc-b", "sg-x-0-pc-c"), ("sg-x-1-pc-b", "sg-x-1-pc-c")]),
    "SO3": (ALL, "Explicit", {"pc-c": ["pc-a"], "pc-b": ["pc-c"]}, [("pc-a", "sg-x-0-pc-c"), ("sg-x-1-pc-c", "sg-x-0-pc-b")]),
    "SO4": (ONE, "Explicit", {"pc-b": ["pc-a"], "pc-c": ["pc-b"]}, [("pc-a", "sg-x-0-pc-b"), ("sg-x-1-pc-b", "sg-x-1-pc-c")]),
}
"""Scenario → minima, order, startsAfter, and pairs of which the first is ready before the second."""


@pytest.mark.parametrize("scenario", SO)
async def test_cliques_start_in_their_order(story: Story, scenario: str) -> None:
    minima, order, after, pairs = SO[scenario]
    tale = Told(story)
    cache, seen = Cache(story.client), list[tuple[str, str]]()
    cache.informer(POD).on_change(lambda before, now: seen.extend(news(before, now)))
    await cache.start()
    try:
        await tale.room_for(10)
        await story.apply(workload(minima, order=order, after=after))
        await tale.runs(10)

        async def everything_seen() -> bool:
            return sum(what == "ready" for what, _ in seen) == 10

        await story.until(everything_seen, "ten pods were seen to become ready")
    finally:
        await cache.stop()
    for first, second in pairs:
        ready = [at for at, told_of in enumerate(seen) if told_of == ("ready", f"wl-0-{first}")]
        started = [at for at, told_of in enumerate(seen) if told_of == ("started", f"wl-0-{second}")]
        assert ready[minima[first[-1]] - 1] < started[0], (first, second, seen)


def news(before: Pod | None, now: Pod | None) -> list[tuple[str, str]]:
    """What a change of a pod tells: that its containers started, that it is ready."""
    if now is None:
        return []
    tests: dict[str, Callable[[Pod], bool]] = {
        "started": lambda pod: any("running" in each.state for each in pod.status.container_statuses),
        "ready": lambda pod: any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)}
    clique = now.labels.get(names.POD_CLIQUE, "")
    return [(what, clique) for what, test in tests.items() if test(now) and not (before is not None and test(before))]


# --- updates -----------------------------------------------------------------------------------------------------------------------


async def change(story: Story, *cliques: str, **more: Any) -> None:
    pcs = workload(ONE, **more)
    for clique in pcs["spec"]["template"]["cliques"]:
        if clique["name"] in cliques:
            clique["spec"]["podSpec"]["containers"][0]["image"] = "app:2"
    live = await story.client.get(POD_CLIQUE_SET, "wl", "default")
    pcs["spec"]["replicas"] = live.spec.replicas
    await story.client.patch(POD_CLIQUE_SET, "wl", "default", {"spec": pcs["spec"]})


async def updated(story: Story, tale: Told, *cliques: str) -> bool:
    live = await story.client.get(POD_CLIQUE_SET, "wl", "default")
    if not (live.status.update_progress or {}).get("updateEndedAt"):
        return False
    wanted = [pod for pod in await tale.pods() if pod.labels[names.POD_CLIQUE].rpartition("pc-")[2] in {each[-1] for each in cliques}]
    return all(pod.spec.containers[0].image == "app:2" for pod in wanted)


@pytest.mark.parametrize("cliques", [("pc-a",), ("pc-b",), ("pc-a", "pc-b", "pc-c")], ids=["RU7", "RU8", "RU9"])
async def test_a_new_template_reaches_every_pod_and_only_what_must_change_does(story: Story, cliques: tuple[str, ...]) -> None:
    tale = Told(story)
    await tale.room_for(12)
    await story.apply(workload(ONE))
    await tale.runs(10)
    of_a = await tale.uids("pc-a")
    await change(story, *cliques)
    await story.until(lambda: updated(story, tale, *cliques), "the update to end")
    await tale.runs(10)
    assert bool(of_a & await tale.uids("pc-a")) == ("pc-a" not in cliques)


async def test_ru10_with_no_room_one_pod_waits_and_the_others_keep_running(story: Story) -> None:
    tale = Told(story)
    await tale.room_for(10)
    await story.apply(workload(ONE))
    await tale.runs(10)
    for node in tale.nodes:
        await tale.cordon(node)
    await change(story, "pc-a")
    await tale.runs(9)
    for node in tale.nodes:
        await story.client.patch(NODE, node, "", {"spec": {"unschedulable": False}})
    await story.until(lambda: updated(story, tale, "pc-a"), "the update to end")
    await tale.runs(10)


async def test_od1_and_od2_under_on_delete_nothing_is_replaced_until_it_is_deleted(story: Story) -> None:
    tale = Told(story)
    await tale.room_for(10)
    await story.apply(workload(ONE, strategy="OnDelete"))
    await tale.runs(10)
    before = await tale.uids()
    await change(story, "pc-a", "pc-b", "pc-c", strategy="OnDelete")
    await tale.runs(10)
    live = await story.client.get(POD_CLIQUE_SET, "wl", "default")
    assert before == await tale.uids() and (live.status.update_progress or {}).get("updateEndedAt")
    [victim, _] = await tale.pods("pc-a")
    await story.client.delete(POD, victim.name, "default", grace=0)
    await story.settles()
    await tale.runs(10)
    assert sorted(pod.spec.containers[0].image for pod in await tale.pods("pc-a")) == ["app:1", "app:2"]


async def test_od3_a_smaller_clique_gives_up_its_outdated_pod_first(story: Story) -> None:
    tale = Told(story)
    await tale.room_for(10)
    await story.apply(workload(ONE, strategy="OnDelete"))
    await tale.runs(10)
    await change(story, "pc-a", strategy="OnDelete")
    await story.settles()
    [victim, _] = await tale.pods("pc-a")
    await story.client.delete(POD, victim.name, "default", grace=0)
    await tale.runs(10)
    await story.client.patch(POD_CLIQUE, "wl-0-pc-a", "default", {"spec": {"replicas": 1}})
    await tale.runs(9)
    assert [pod.spec.containers[0].image for pod in await tale.pods("pc-a")] == ["app:2"]


# --- the end -----------------------------------------------------------------------------------------------------------------------


async def test_a_deleted_set_leaves_nothing_behind(story: Story) -> None:
    tale = Told(story)
    await tale.room_for(10)
    await story.apply(workload(ALL))
    await tale.runs(10)
    await story.client.delete(POD_CLIQUE_SET, "wl", "default")
    await story.gone(POD_CLIQUE_SET, SCALING_GROUP, POD_CLIQUE, POD_GANG, POD_GROUP, POD, SERVICE)
    assert [each.name for each in await story.all(SERVICE_ACCOUNT)] == ["default"]
    assert not [each for each in await story.all(SECRET) if each.name.startswith("wl")]
