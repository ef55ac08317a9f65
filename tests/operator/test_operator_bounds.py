"""Two billion of something: a bounded number is made, nothing is built for what is not there yet, and the rest is
said."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgspec
import pytest

from embedded import until
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP
from gangline.api.meta import Raw, condition
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.store.live_reader import LiveReader
from gangline.components.admission_hooks import hooks
from gangline.components.options import ComponentOptions
from gangline.operator.desired import bounds, layout
from gangline.operator.desired.bounds import PodBacklog, horizon
from gangline.runtime import ManualClock
from operator_world import NAMESPACE, OperatorWorld, clique, group, operator_world, pod_clique_set

MOST = 2**31 - 1


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test reaches quickly; the rule is the same."""
    for name, value in (("MADE_AT_ONCE", 12), ("PODS_AT_ONCE", 6), ("LARGE", 100), ("WINDOW", 10)):
        monkeypatch.setattr(bounds, name, value)


def a_set(pcs: Raw) -> PodCliqueSet:
    return msgspec.convert(pcs, PodCliqueSet, strict=False)


async def grown(here: OperatorWorld, kind: Any, least: int) -> list[Any]:
    """What is there of a kind once nothing more is made."""

    async def enough() -> bool:
        if isinstance(here.clock, ManualClock):
            here.clock.advance(6)
        await here.settles()
        return len(await here.every(kind)) >= least

    await until(enough, f"{least} of {kind.kind}")
    for _ in range(3):
        assert isinstance(here.clock, ManualClock)
        here.clock.advance(6)
        await here.settles()
    return await here.every(kind)


async def test_a_set_of_two_billion_replicas_makes_as_many_as_may_wait_says_so_and_goes_on_when_they_are_placed() -> (
    None
):
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(pod_clique_set("w", clique("main", 1), replicas=MOST))
        gangs = await grown(here, POD_GANG, 10)
        assert sorted(gang.name for gang in gangs) == sorted(f"w-{number}" for number in range(10))
        assert len(await here.pods()) == 10
        found = await here.the_set("w")
        told = condition(found.status.conditions, "HeldBack")
        assert told is not None and (told.status, told.reason) == ("True", "TooManyWaiting")
        assert told.message == (
            f"10 of {MOST} replicas are there, and 10 gangs with 10 pods wait to be placed: more are made once fewer "
            "wait"
        )
        assert (found.status.replicas, found.status.available_replicas) == (MOST, 0)
        await here.run(*await here.pods())
        assert len(await grown(here, POD_GANG, 20)) == 20
        assert (await here.the_set("w")).status.available_replicas == 10
        await here.client.patch(POD_CLIQUE_SET, "w", NAMESPACE, {"spec": {"replicas": 3}})
        await here.settles()
        assert sorted(gang.name for gang in await here.every(POD_GANG)) == ["w-0", "w-1", "w-2"]
        found = await here.the_set("w")
        assert (
            found.status.replicas,
            found.status.available_replicas,
            condition(found.status.conditions, "HeldBack"),
        ) == (3, 3, None)


async def test_a_set_that_is_larger_than_one_look_makes_becomes_whole() -> None:
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(pod_clique_set("w", clique("main", 1), replicas=25))
        assert len(await grown(here, POD_GANG, 25)) == 25
        assert condition((await here.the_set("w")).status.conditions, "HeldBack") is None


async def test_a_clique_of_two_billion_pods_makes_as_many_as_may_wait_and_says_so() -> None:
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(pod_clique_set("w", clique("main", MOST, 1)))
        assert len(await grown(here, POD, 10)) == 10
        [found] = await here.every(POD_CLIQUE)
        told = condition(found.status.conditions, "HeldBack")
        assert told is not None and told.message == (
            f"10 of {MOST} pods are there, and 10 of the gang wait to begin: more are made once fewer wait"
        )
        assert (found.status.replicas, found.status.scheduled_replicas) == (10, 0)
        initialized = condition((await here.gang("w-0")).status.conditions, "Initialized")
        assert initialized is not None and initialized.message == f"w-0-main has 10 of {MOST} pods"
        await here.client.patch(POD_CLIQUE, "w-0-main", NAMESPACE, {"spec": {"replicas": 2}}, subresource="scale")
        await here.settles()
        assert len([pod for pod in await here.pods() if not pod.metadata.deleting]) == 2
        [found] = await here.every(POD_CLIQUE)
        assert found.status.replicas == 2 and condition(found.status.conditions, "HeldBack") is None


async def test_a_scaling_group_of_two_billion_replicas_makes_as_many_as_may_wait_and_says_so() -> None:
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(pod_clique_set("w", clique("a", 1), groups=[group("g", ["a"], MOST, 1)]))
        gangs = await grown(here, POD_GANG, 10)
        assert len(gangs) <= 11
        [found] = await here.every(SCALING_GROUP)
        told = condition(found.status.conditions, "HeldBack")
        assert told is not None and told.message.startswith(
            f"10 of {MOST} replicas are there, and 10 of them with 10 pods wait"
        )
        assert found.status.replicas == MOST
        await here.run(*[pod for pod in await here.pods() if not pod.spec.scheduling_gates])
        assert len(await grown(here, POD_CLIQUE, 11)) >= 11


async def test_pods_that_a_node_without_a_kubelet_takes_count_as_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WINDOW_IN_ALL", 20), ("SMALL_WINDOW", 3)):
        monkeypatch.setattr(bounds, name, value)
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(pod_clique_set("w", clique("main", 1), replicas=MOST))
        for _ in range(6):
            for pod in await here.pods():
                if not pod.spec.node_name and not pod.spec.scheduling_gates:
                    await here.client.bind(pod.name, pod.namespace, "huge", uid=pod.uid)
            made = await grown(here, POD, 10)
        assert len(made) <= 20 + 3
        told = condition((await here.the_set("w")).status.conditions, "HeldBack")
        assert told is not None and told.message == (
            f"{len(made)} of {MOST} replicas are there, and {len(made)} pods of all sets wait to begin: more are made "
            "once fewer wait"
        )
        await here.run(*made)
        assert len(await grown(here, POD, len(made) + 1)) > len(made)


async def test_when_very_many_pods_of_all_sets_wait_each_makes_a_few_and_larger_gangs_do_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("WINDOW_IN_ALL", 20), ("SMALL_WINDOW", 3)):
        monkeypatch.setattr(bounds, name, value)
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(pod_clique_set("a", clique("main", 1), replicas=MOST))
        assert len(await grown(here, POD, 10)) == 10
        for name in ("b", "c", "d"):
            await here.apply(pod_clique_set(name, clique("main", 1), replicas=MOST))
        crowd = len(await grown(here, POD, 19))
        assert crowd == 19
        await here.apply(pod_clique_set("small", clique("main", 2)))
        assert len(await grown(here, POD, crowd + 2)) == crowd + 2
        await here.apply(pod_clique_set("gang", clique("main", 5)))
        assert len(await grown(here, POD, crowd + 2)) == crowd + 2
        [waiting] = [found for found in await here.every(POD_CLIQUE) if found.name == "gang-0-main"]
        told = condition(waiting.status.conditions, "HeldBack")
        assert told is not None and told.message == (
            f"0 of 5 pods are there, and {crowd + 2} of all sets wait to begin: more are made once fewer wait"
        )
        for name in ("a", "b", "c", "d"):
            await here.client.delete(POD_CLIQUE_SET, name, NAMESPACE)
        assert len([found for found in await grown(here, POD, 7) if found.name.startswith("gang-")]) == 5


async def test_shared_claims_of_two_billion_replicas_are_made_as_far_as_replicas_are() -> None:
    from gangline.api.kinds import RESOURCE_CLAIM

    devices = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(
            pod_clique_set(
                "w",
                clique("main", MOST, 1) | {"resourceSharing": [{"name": "t", "scope": "PerReplica"}]},
                replicas=MOST,
                resourceClaimTemplates=[{"name": "t", "templateSpec": devices}],
                resourceSharing=[{"name": "t", "scope": "PerReplica"}],
            )
        )
        assert len(await grown(here, RESOURCE_CLAIM, 4)) < 60


async def test_a_base_gang_that_no_object_could_hold_is_said_and_nothing_is_made() -> None:
    async with operator_world() as here:
        for hook in hooks(ComponentOptions(), LiveReader(here.server.store, here.server.catalogue)):
            admit_with(here.server.admission, hook)
        await here.apply(pod_clique_set("w", clique("a", 1), groups=[group("g", ["a"], MOST, MOST)]))
        assert await here.every(POD_GANG) == []
        [error] = (await here.the_set("w")).status.last_errors
        assert error.description == (
            f"the base gang of each replica would have {MOST} groups, and at most 5000 fit into a PodGang: lower "
            "minAvailable of the set's scaling groups"
        )


def test_nothing_that_is_not_there_takes_memory() -> None:
    pcs = a_set(
        pod_clique_set("w", clique("a", MOST), clique("b", MOST), replicas=MOST, groups=[group("g", ["b"], MOST, 1)])
    )
    tracemalloc.start()
    assert len(layout.places_by_replica(pcs, 3)) == 3
    assert len(layout.missing_gangs(pcs, 3, {}, (), 100)) == 103
    assert layout.asks_for_gang(pcs, f"w-{MOST - 1}-g-5", {}) and not layout.asks_for_gang(pcs, f"w-{MOST}", {})
    assert layout.gang_place(pcs, f"w-{MOST - 1}") is not None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_look_goes_past_what_is_there_and_never_as_far_as_somebody_claims() -> None:
    assert horizon(10, range(10), 3) == 10
    assert horizon(MOST, (), 5) == 5
    assert horizon(MOST, range(7), 5) == 12
    assert horizon(MOST, (0, 40), 5) == 41
    assert horizon(MOST, (MOST - 1,), 5) == 1 + bounds.HOLES
    assert (
        PodBacklog().step(4, MOST, MOST) == 1
        and PodBacklog(gangs=10).step(4, 1, MOST) == 0
        and PodBacklog(pods=9).step(4, 2, MOST) == 0
    )
    assert PodBacklog(gangs=10, pods=10).step(4, 1, 100) == 3
