"""A gang goes from one backend to another whole, or stays while its pods are bound; and pods follow a gang that was
made anew."""

from __future__ import annotations

import msgspec
import pytest

from backends.crds import install
from backends.test_journeys import BACKEND, cluster, llm, noticed, said
from embedded import until
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import (
    COSCHEDULING_POD_GROUP,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from gangline.client import Client
from gangline.components import build
from gangline.components.options import ComponentOptions
from gangline.config import manner
from gangline.operator.checks import backend_move
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Manager
from held_objects import HeldObjects, held
from operator_world import NAMESPACE, OPERATOR, OperatorWorld, operator_world


async def ask_for(here: OperatorWorld, backend: str) -> None:
    await here.client.patch(POD_CLIQUE_SET, "llm", NAMESPACE, {"metadata": {"annotations": {BACKEND: backend}}})
    await here.settles()


@pytest.mark.parametrize("gated", [True, False])
async def test_a_gang_without_a_bound_pod_moves_whole_and_leaves_nothing_behind(gated: bool) -> None:
    async with cluster(*(() if gated else (COSCHEDULING_POD_GROUP,))) as here:
        await here.apply(llm("coscheduling"))
        before = await here.pods()
        assert any(not pod.spec.scheduling_gates for pod in before) is not gated
        await ask_for(here, "kai")
        after = await here.pods()
        assert not {pod.uid for pod in before} & {pod.uid for pod in after} and len(after) == 7
        assert {pod.spec.scheduler_name for pod in after} == {"kai-scheduler"}
        assert {pod.labels[BACKEND] for pod in after} == {"kai"} == {(await here.gang("llm-0")).labels[BACKEND]}
        [group] = await here.every(POD_GROUP)
        assert {pod.annotations["pod-group-name"] for pod in after} == {group.name}
        assert not any("scheduling.x-k8s.io/pod-group" in pod.labels for pod in after)
        assert not any(pod.spec.scheduling_gates for pod in after)
        assert gated or await here.every(COSCHEDULING_POD_GROUP) == []


async def test_a_gang_whose_pods_are_bound_stays_says_so_and_moves_once_none_is() -> None:
    async with cluster(COSCHEDULING_POD_GROUP) as here:
        await here.apply(llm("kai"))
        first, *rest = await here.pods()
        await here.run(first)
        await ask_for(here, "coscheduling")
        assert {pod.uid for pod in await here.pods()} == {first.uid, *(pod.uid for pod in rest)}
        assert (len(await here.every(POD_GROUP)), await here.every(COSCHEDULING_POD_GROUP)) == (1, [])
        assert await said(here, "BackendChangePending") == (
            "True",
            "PodsBound",
            "the set asks for backend coscheduling; the gang stays with kai while its pods are bound",
        )
        await here.client.delete(POD_CLIQUE, first.labels["grove.io/podclique"], NAMESPACE)
        await here.settles()
        assert (await here.every(POD_GROUP), len(await here.every(COSCHEDULING_POD_GROUP))) == ([], 1)
        living = [pod for pod in await here.pods() if not pod.metadata.deleting]
        assert {pod.labels[BACKEND] for pod in living} == {"coscheduling"} and len(living) == 7
        assert (await said(here, "BackendChangePending"))[0] == "False"


async def test_a_gang_moves_between_two_processes_and_each_prunes_what_is_its_own() -> None:
    async with cluster(
        COSCHEDULING_POD_GROUP, VOLCANO_POD_GROUP, settings=OperatorSettings(outside=("coscheduling", "volcano"))
    ) as here:
        alone = [
            Manager(
                build(f"backend-{name}", ComponentOptions()),
                Client(here.server.transport(OPERATOR), manager=name),
                here.clock,
            )
            for name in ("coscheduling", "volcano")
        ]
        for manager in alone:
            await manager.start()
        try:
            await here.apply(llm("volcano"))
            await until(lambda: _counts(here, 0, 1), "the first process to translate")
            await ask_for(here, "coscheduling")
            await until(lambda: _counts(here, 1, 0), "the second to translate and the first to prune")
        finally:
            for manager in alone:
                await manager.stop()


async def _counts(here: OperatorWorld, coscheduling: int, volcano: int) -> bool:
    return (len(await here.every(COSCHEDULING_POD_GROUP)), len(await here.every(VOLCANO_POD_GROUP))) == (
        coscheduling,
        volcano,
    )


def a_set(backend: str) -> PodCliqueSet:
    return msgspec.convert(llm(backend), PodCliqueSet, strict=False)


def a_clique(scheduled: int) -> HeldObjects:
    raw = {
        "metadata": {"name": "llm-0-decode", "namespace": NAMESPACE, "labels": {"app.kubernetes.io/part-of": "llm"}},
        "status": {"scheduledReplicas": scheduled},
    }
    return held((POD_CLIQUE, msgspec.convert(raw, POD_CLIQUE.type, strict=False)))


def test_admission_refuses_another_backend_while_pods_are_bound_and_says_which() -> None:
    check = backend_move(OperatorSettings())
    [problem] = check(a_set("volcano"), a_set("kai"), a_clique(3))
    assert str(problem) == (
        "metadata.annotations[grove.io/scheduler-backend]: the backend cannot be changed from kai to volcano while "
        "pods are bound: "
        "llm-0-decode has 3 (make a new set for the other scheduler, or change it while no pod is bound)"
    )
    assert list(check(a_set("volcano"), a_set("kai"), a_clique(0))) == []
    assert list(check(a_set("podgang"), a_set("kai"), a_clique(3))) == [], "an alias is no move"


def test_under_compat_the_backend_can_never_be_changed() -> None:
    [problem] = backend_move(OperatorSettings(manner=manner(["grove"])))(a_set("volcano"), a_set("kai"), a_clique(0))
    assert str(problem) == (
        "metadata.annotations[grove.io/scheduler-backend]: the backend cannot be changed from kai to volcano "
        "(make a new set for the other scheduler)"
    )


async def test_pods_that_run_point_to_the_group_of_a_gang_that_was_made_anew() -> None:
    async with operator_world() as here:
        await here.apply(llm("kai"))
        await here.run(*await here.pods())
        before = {pod.uid for pod in await here.pods()}
        old = await here.gang("llm-0")
        await here.client.delete(POD_GANG, "llm-0", NAMESPACE)
        await here.settles()
        new = await here.gang("llm-0")
        assert new.uid != old.uid
        assert [group.name for group in await here.every(POD_GROUP)] == [f"pg-llm-0-{new.uid}"]
        pods = await here.pods()
        assert {pod.annotations["pod-group-name"] for pod in pods} == {f"pg-llm-0-{new.uid}"}
        assert {pod.uid for pod in pods} == before


async def test_a_gang_that_is_taken_over_keeps_its_pod_group_and_new_pods_join_it() -> None:
    async with operator_world(OperatorSettings(manner=manner(["grove"]))) as grove:
        await grove.apply(llm("kai", labels={"kai.scheduler/queue": "default-queue"}))
        [theirs] = await grove.every(POD_GROUP)
        assert theirs.name == "llm-0"
        await grove.start(build("operator", ComponentOptions()))
        await grove.settles()
        await grove.client.delete(POD_CLIQUE, "llm-0-decode", NAMESPACE)
        await grove.settles()
        [kept] = await grove.every(POD_GROUP)
        assert (kept.name, kept.uid) == ("llm-0", theirs.uid)
        assert {pod.annotations["pod-group-name"] for pod in await grove.pods()} == {"llm-0"} and len(
            await grove.pods()
        ) == 7


async def test_a_gang_moves_to_kube_scheduler_and_its_pods_are_linked_there() -> None:
    async with operator_world() as here:
        await install(here.client, COSCHEDULING_POD_GROUP)
        await noticed(here, COSCHEDULING_POD_GROUP)
        await here.apply(llm("coscheduling"))
        await ask_for(here, "default")
        [workload] = await here.every(WORKLOAD)
        assert {pod.spec.workload_ref is not None for pod in await here.pods()} == {True} and workload.name == "llm-0"
        assert await here.every(COSCHEDULING_POD_GROUP) == []
