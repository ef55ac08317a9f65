"""Cliques and groups of no pods, cliques below their minimum: what becomes of their gang, and what is said."""

from __future__ import annotations

import msgspec

from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD, POD_CLIQUE, POD_GANG, POD_GROUP, SCALING_GROUP
from gangline.api.meta import condition
from gangline.operator.desired.startup import parents
from operator_world import NAMESPACE, OperatorWorld, clique, group, operator_world, pod_clique_set


async def ungated(here: OperatorWorld) -> list[str]:
    return sorted(pod.labels["grove.io/podclique"] for pod in await here.pods() if not pod.spec.scheduling_gates)


async def test_a_clique_that_hibernates_leaves_its_gang_running_and_wakes_up_when_it_is_scaled() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("front", 1), clique("worker", 0, 0)))
        gang = await here.gang("w-0")
        assert [(podgroup.name, podgroup.min_replicas) for podgroup in gang.spec.podgroups] == [
            ("w-0-front", 1),
            ("w-0-worker", 0),
        ]
        await here.run(*await here.pods())
        found = await here.the_set("w")
        assert found.status.available_replicas == 1 and (await here.gang("w-0")).status.phase == "Running"
        await here.client.patch(POD_CLIQUE, "w-0-worker", NAMESPACE, {"spec": {"replicas": 2}}, subresource="scale")
        await here.settles()
        assert await ungated(here) == ["w-0-front", "w-0-worker", "w-0-worker"]
        [group_] = await here.every(POD_GROUP)
        assert group_.spec.min_member == 1
        await here.client.patch(POD_CLIQUE, "w-0-worker", NAMESPACE, {"spec": {"replicas": 0}}, subresource="scale")
        await here.settles()
        [front] = [pod for pod in await here.pods() if not pod.metadata.deleting]
        assert (
            front.labels["grove.io/podclique"] == "w-0-front"
            and (await here.the_set("w")).status.available_replicas == 1
        )


async def test_a_group_that_hibernates_has_no_gang_until_it_is_scaled() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("front"), clique("a", 2), groups=[group("g", ["a"], 0, 0)]))
        assert [gang.name for gang in await here.every(POD_GANG)] == ["w-0"]
        await here.run(*await here.pods())
        assert (await here.the_set("w")).status.available_replicas == 1
        await here.client.patch(SCALING_GROUP, "w-0-g", NAMESPACE, {"spec": {"replicas": 1}}, subresource="scale")
        await here.settles()
        assert [gang.name for gang in await here.every(POD_GANG)] == ["w-0", "w-0-g-0"]
        assert await ungated(here) == ["w-0-front", "w-0-g-0-a", "w-0-g-0-a"]
        await here.client.patch(SCALING_GROUP, "w-0-g", NAMESPACE, {"spec": {"replicas": 0}}, subresource="scale")
        await here.settles()
        assert [gang.name for gang in await here.every(POD_GANG)] == ["w-0"]


def test_nobody_waits_for_a_clique_that_may_have_no_pods() -> None:
    cliques = [clique("a"), clique("b", 1, 0), clique("c", startsAfter=["a", "b"])]
    ordered, explicit = (
        msgspec.convert(pod_clique_set("p", *cliques, cliqueStartupType=f"CliqueStartupType{kind}"), PodCliqueSet)
        for kind in ("InOrder", "Explicit")
    )
    assert parents(ordered, "c") == ("a",) == parents(ordered, "b") and parents(ordered, "a") == ()
    assert parents(explicit, "c") == ("a",)


async def test_a_clique_scaled_below_its_minimum_says_so_and_recovers_when_it_is_scaled_back() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("a", 2, 2)))
        await here.run(*await here.pods())
        await here.client.patch(POD_CLIQUE, "w-0-a", NAMESPACE, {"spec": {"replicas": 1}})
        await here.settles()
        for pod in await here.pods():
            if pod.metadata.deleting:
                await here.client.delete(POD, pod.name, NAMESPACE, grace=0)
        await here.settles()
        assert (await here.the_set("w")).status.available_replicas == 0
        placed = condition((await here.gang("w-0")).status.conditions, "Scheduled")
        assert placed is not None and (placed.status, placed.message) == (
            "False",
            "w-0-a is scaled to 1 pods, below its minimum of 2: it cannot run until it is scaled up",
        )
        await here.client.patch(POD_CLIQUE, "w-0-a", NAMESPACE, {"spec": {"replicas": 2}})
        await here.settles()
        await here.run(*[pod for pod in await here.pods() if not pod.spec.node_name])
        assert (await here.the_set("w")).status.available_replicas == 1
