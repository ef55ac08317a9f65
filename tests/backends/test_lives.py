"""A gang that is ended and starts again under the same PodGang: it is a gang again, whatever its scheduler remembers of
the first time."""

from __future__ import annotations

from typing import Any

import pytest

from backends.crds import install
from embedded import until
from gangline.api.core import Pod
from gangline.api.kinds import COSCHEDULING_POD_GROUP, KOORDINATOR_POD_GROUP, POD, POD_CLIQUE, Kind
from gangline.api.meta import Raw, condition
from operator_world import NAMESPACE, OperatorWorld, clique, operator_world, pod_clique_set

APPLICATION = "yunikorn.apache.org/app-id"
POLICY = "gang.scheduling.koordinator.sh/match-policy"
KUEUE = "kueue.x-k8s.io/managed"


def llm(backend: str, **more: Any) -> Raw:
    return pod_clique_set(
        "llm",
        clique("a", 3, 2, scheduler=""),
        clique("b", 1, scheduler=""),
        annotations={"grove.io/scheduler-backend": backend},
        **more,
    )


async def alive(here: OperatorWorld) -> list[Pod]:
    return [pod for pod in await here.pods() if not pod.metadata.deleting]


async def runs(here: OperatorWorld) -> None:
    """Everything is placed, the surplus after the rest."""
    for _ in range(2):
        await here.run(*(pod for pod in await alive(here) if not pod.spec.scheduling_gates and not pod.spec.node_name))
    assert all(pod.spec.node_name for pod in await alive(here))


async def starts_again(here: OperatorWorld) -> list[Pod]:
    """Ended as a gang that fell below its minimum is; gives the pods of the new life."""
    before = {pod.uid for pod in await here.pods()}
    for name in ("llm-0-a", "llm-0-b"):
        await here.client.delete(POD_CLIQUE, name, NAMESPACE)
    await here.settles()
    return [pod for pod in await alive(here) if pod.uid not in before]


async def test_each_life_of_a_gang_is_an_application_of_its_own_to_yunikorn() -> None:
    async with operator_world() as here:
        await here.apply(llm("yunikorn"))
        lives = [{pod.labels[APPLICATION] for pod in await alive(here)}]
        for _ in range(2):
            await runs(here)
            lives.append({pod.labels[APPLICATION] for pod in await starts_again(here)})
        assert [len(live) for live in lives] == [1, 1, 1] and len(set.union(*lives)) == 3
        assert (await here.gang("llm-0")).annotations["grove.io/yunikorn-application"] in lives[1]


async def test_a_pod_that_is_replaced_stays_with_the_application_of_the_others() -> None:
    async with operator_world() as here:
        await here.apply(llm("yunikorn"))
        await runs(here)
        await here.client.delete(POD, (await here.pods())[0].name, NAMESPACE)
        await here.settles()
        assert len(await alive(here)) == 4 and len({pod.labels[APPLICATION] for pod in await alive(here)}) == 1


@pytest.mark.parametrize(
    ("backend", "kind"), [("coscheduling", COSCHEDULING_POD_GROUP), ("koordinator", KOORDINATOR_POD_GROUP)]
)
async def test_the_surplus_of_a_second_life_waits_for_its_minimum_again(backend: str, kind: Kind[Any]) -> None:
    async with operator_world() as here:
        await install(here.client, kind)
        await until(lambda: here.manager.cache.revision(kind) > 0, f"{kind.resource} to be noticed")
        await here.apply(llm(backend))
        await runs(here)
        new = await starts_again(here)
        assert [pod.labels["grove.io/podclique-pod-index"] for pod in new if pod.spec.scheduling_gates] == [
            "2"
        ] and len(new) == 4
        found = condition((await here.gang("llm-0")).status.conditions, "Scheduled")
        assert found is not None and found.status == "False"


async def test_koordinator_is_told_to_place_a_second_life_together_although_it_was_satisfied_once() -> None:
    async with operator_world() as here:
        await install(here.client, KOORDINATOR_POD_GROUP)
        await until(lambda: here.manager.cache.revision(KOORDINATOR_POD_GROUP) > 0, "koordinator's kinds to be noticed")

        async def policies() -> set[str]:
            return {item.annotations[POLICY] for item in await here.every(KOORDINATOR_POD_GROUP)}

        await here.apply(llm("koordinator"))
        assert await policies() == {"waiting-and-running"}
        await runs(here)
        assert await policies() == {"once-satisfied"}
        await starts_again(here)
        assert await policies() == {"waiting-and-running"}


async def test_kueues_finalizer_is_taken_off_pods_that_have_ended_and_only_off_those() -> None:
    async with operator_world() as here:
        await here.apply(llm("kueue", labels={"kueue.x-k8s.io/queue-name": "team-a"}))
        never, stranger, ended, running = sorted(await alive(here), key=lambda pod: not pod.spec.scheduling_gates)
        await here.run(ended, running)
        for pod, mark in ((never, KUEUE), (ended, KUEUE), (running, KUEUE), (stranger, "example.com/own")):
            await here.client.patch(POD, pod.name, NAMESPACE, {"metadata": {"finalizers": [mark]}})
            await here.client.delete(POD, pod.name, NAMESPACE)
        await here.client.patch(POD, ended.name, NAMESPACE, {"status": {"phase": "Succeeded"}}, subresource="status")
        await here.settles()
        kept = {pod.uid: pod.metadata.finalizers for pod in await here.pods() if pod.metadata.deleting}
        assert kept[running.uid] == (KUEUE,) and kept[stranger.uid] == ("example.com/own",)
        assert never.uid not in kept and kept.get(ended.uid, ()) == ()
