"""A pod of a clique that failed is replaced, at first at once, then with longer and longer pauses; and why it failed is
said."""

from __future__ import annotations

import logging

import pytest

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import CRD, POD, POD_CLIQUE, POD_GROUP
from gangline.api.meta import Raw, condition
from gangline.cli.explain import explain
from gangline.config import manner
from gangline.errors import BadInput
from gangline.operator.desired import failures
from gangline.rules import trees, verdicts
from gangline.rules.sets import OperatorSettings
from gangline.runtime import ManualClock
from operator_world import NAMESPACE, OperatorWorld, clique, operator_world, pod_clique_set
from operator_world import pod as a_pod

REFUSED: Raw = {
    "phase": "Failed",
    "reason": "OutOfnvidia.com/gpu",
    "message": "Node didn't have enough resource: nvidia.com/gpu",
}
WHY = "OutOfnvidia.com/gpu: Node didn't have enough resource: nvidia.com/gpu"


async def refuse(here: OperatorWorld, pod: Pod) -> None:
    """Bind a pod, and let its node refuse it."""
    if not pod.spec.node_name:
        await here.client.bind(pod.name, NAMESPACE, "node-1", uid=pod.uid)
    placed = {"conditions": [{"type": "PodScheduled", "status": "True"}]}
    await here.client.patch(POD, pod.name, NAMESPACE, {"status": REFUSED | placed}, subresource="status")
    await here.settles()


async def living(here: OperatorWorld) -> list[Pod]:
    return [pod for pod in await here.pods() if not pod.metadata.deleting]


async def test_a_pod_that_its_node_refused_is_replaced_and_let_go_and_the_reason_is_told() -> None:
    async with operator_world(clock=ManualClock()) as here:
        await here.apply(pod_clique_set("w", clique("main", 2)))
        [first, second] = await here.pods()
        await here.run(second)
        await refuse(here, first)
        pods = await living(here)
        assert len(pods) == 2 and first.name not in [pod.name for pod in pods]
        [fresh] = [pod for pod in pods if pod.name != second.name]
        assert fresh.spec.hostname == first.spec.hostname and fresh.spec.scheduling_gates == ()
        assert fresh.annotations[names.FAILED_BEFORE] == "1" and fresh.annotations[names.LAST_FAILURE] == WHY
        told = f"pod {fresh.name} replaces one that failed ({WHY}), once in a row"
        [mine], gang = await here.every(POD_CLIQUE), await here.gang("w-0")
        for conditions in (mine.status.conditions, gang.status.conditions):
            found = condition(conditions, "PodsFailed")
            assert found is not None and (found.status, found.reason, found.message) == ("True", "PodFailed", told)
        assert told in verdicts.of_gang(gang, None).text
        tree = trees.of_set(await here.the_set("w"), [gang], [], [mine], pods)
        assert told in tree.below[0].text
        summary = (await here.the_set("w")).status.pod_gang_statuses
        assert told in str(summary)
        await here.run(fresh)
        [mine] = await here.every(POD_CLIQUE)
        assert condition(mine.status.conditions, "PodsFailed").status == "False"  # type: ignore[union-attr]


async def test_a_pod_that_fails_again_and_again_is_replaced_after_longer_and_longer_pauses() -> None:
    clock = ManualClock()
    async with operator_world(clock=clock) as here:
        await here.apply(pod_clique_set("w", clique("main", 1)))
        for pause in (0, 10, 20, 40):
            [pod] = await living(here)
            await refuse(here, pod)
            if pause:
                [still] = await living(here)
                assert still.name == pod.name, "it stays for a while"
                [mine] = await here.every(POD_CLIQUE)
                found = condition(mine.status.conditions, "PodsFailed")
                assert (
                    found is not None
                    and found.message == f"pod {pod.name} failed on node-1 ({WHY}), replaced {pause}s later"
                )
                assert mine.status.scheduled_replicas == 0, "what failed is not scheduled any more"
                clock.advance(pause + 1)
                await here.settles()
            [fresh] = await living(here)
            assert fresh.name != pod.name
        assert fresh.annotations[names.FAILED_BEFORE] == "4"


async def test_upstream_leaves_a_failed_pod_where_it_is() -> None:
    async with operator_world(OperatorSettings(manner=manner(["grove"]))) as here:
        await here.apply(pod_clique_set("w", clique("main", 1), labels={"kai.scheduler/queue": "default-queue"}))
        [pod] = await here.pods()
        await refuse(here, pod)
        assert [item.name for item in await living(here)] == [pod.name]


def test_pauses_grow_up_to_five_minutes_and_a_pod_that_lived_long_begins_anew() -> None:
    assert [failures.pause(before) for before in (0, 1, 2, 5, 6, 99)] == [0, 10, 20, 160, 300, 300]
    old = a_pod(
        0,
        created="2026-01-01T00:00:00Z",
        **REFUSED
        | {"conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T02:00:00Z"}]},
    )
    assert failures.marks(old, 0.0)[names.FAILED_BEFORE] == "1"


def test_a_container_that_ended_badly_is_a_reason_too() -> None:
    killed = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    ended = a_pod(0, phase="Failed", containerStatuses=[{"name": "main", "state": killed}])
    assert failures.why(ended) == "container main ended with OOMKilled, exit code 137"
    assert trees.pod_state(a_pod(0, **REFUSED)) == "Failed (OutOfnvidia.com/gpu)"


async def test_lifting_gates_is_logged_with_gang_and_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="gangline.operator.cliques.controller")
    async with operator_world() as here:
        await here.apply(pod_clique_set("w", clique("main", 2)))
        [pods] = [sorted(pod.name for pod in await here.pods())]
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert any(
        line.startswith("gates lifted: gang default/w-0, clique w-0-main, pods ")
        and line.endswith(": all pods of the gang are there")
        and all(pod in line for pod in pods)
        for line in lines
    )


async def test_a_set_that_needs_a_kind_nobody_serves_says_so_and_not_only_in_the_log() -> None:
    async with operator_world(OperatorSettings(auto_mnnvl=True), clock=ManualClock()) as here:
        gpus = clique("main", 1)
        gpus["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
        await here.apply(pod_clique_set("llm", gpus, annotations={"grove.io/mnnvl-group": "a"}))
        pcs = await here.the_set("llm")
        [error] = pcs.status.last_errors
        assert error.code == "ERR_SYNC_COMPUTEDOMAIN"
        assert error.description == (
            "cannot create ComputeDomain llm-0-a: 404 page not found; is its CustomResourceDefinition installed?"
        )
        (answer,) = await explain(here.client, "llm", NAMESPACE)
        assert error.description in answer.text
        assert error.description in trees.of_set(pcs, [], [], [], []).text


async def test_explain_works_where_only_the_workload_half_is_installed() -> None:
    async with operator_world() as here:
        await here.client.delete(CRD, POD_GROUP.resource)
        await here.apply(pod_clique_set("w", clique("main", 2, scheduler="default-scheduler")))
        (answer,) = await explain(here.client, "w", NAMESPACE)
        assert answer.text.startswith("w-0 waits: waiting for the scheduler: w-0-main 0/2\n")
        with pytest.raises(BadInput, match="nobody"):
            await explain(here.client, "nobody", NAMESPACE)
