"""Pods that end by somebody else's will, and what their Jobs make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cluster.world.making import START, job, pod, when
from cluster.world.simulated_world import SimulatedWorld, pod_spec, world
from gangline.api.core import Pod
from gangline.api.kinds import JOB, NODE, POD
from gangline.api.meta import Raw, condition
from gangline.cluster.world.nodes.nodes import NodePool
from gangline.cluster.world.workloads.jobs.job_failures import judge_failure
from gangline.cluster.world.workloads.jobs.job_plan import plan
from gangline.cluster.world.workloads.jobs.job_tally import INDEX, INDEX_FAILURES, TRACKING
from yaml_loading import load_yaml

TWO = NodePool(name="n", count=2, gpus=8)
IGNORED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}
GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "jobs.md"


def ended(
    name: str = "a",
    code: int = 1,
    conditions: list[Raw] | None = None,
    annotations: dict[str, str] | None = None,
    phase: str = "Failed",
    **meta: Any,
) -> Pod:
    state = {"terminated": {"exitCode": code, "finishedAt": when(0)}}
    status = {"phase": phase, "conditions": conditions or [], "containerStatuses": [{"name": "main", "state": state}]}
    return pod(name, finalizers=[TRACKING], status=status, annotations=annotations or {}, **meta)


DISRUPTED: list[Raw] = [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]


# --- which failures count ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "failed", "action"),
    [
        (
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            ended(conditions=DISRUPTED),
            "Ignore",
        ),
        (
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "False"}]},
            ended(conditions=DISRUPTED),
            "Count",
        ),
        ({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}, ended(), "Count"),
        ({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 42]}}, ended(code=42), "FailJob"),
        ({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 42]}}, ended(code=43), "Count"),
        ({"action": "FailIndex", "onExitCodes": {"operator": "NotIn", "values": [1, 42]}}, ended(code=43), "FailIndex"),
        ({"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [7]}}, ended(code=0), "Count"),
        (
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1], "containerName": "other"}},
            ended(code=1),
            "Count",
        ),
        (
            {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1], "containerName": "main"}},
            ended(code=1),
            "Ignore",
        ),
    ],
)
def test_a_rule_says_what_a_failure_means(rule: Raw, failed: Pod, action: str) -> None:
    assert judge_failure(job(podFailurePolicy={"rules": [rule]}), failed).action == action


def test_the_first_rule_that_matches_decides() -> None:
    rules = [
        {"action": "Count", "onPodConditions": [{"type": "Ready", "status": "False"}]},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}},
    ]
    assert judge_failure(job(podFailurePolicy={"rules": rules}), ended(conditions=DISRUPTED)).action == "Ignore"


def test_an_ignored_failure_is_let_go_uncounted_and_the_job_goes_on() -> None:
    todo = plan(job(backoffLimit=0, podFailurePolicy=IGNORED), [ended(conditions=DISRUPTED)], START)
    assert todo.status is not None and todo.status["uncountedTerminatedPods"] == {"succeeded": None, "failed": None}
    assert [item.name for item in todo.release] == ["a"] and "conditions" not in todo.status
    assert len(plan(job(backoffLimit=0, podFailurePolicy=IGNORED), [], START).create) == 1


def test_a_pod_on_its_way_out_is_neither_counted_nor_replaced_before_it_has_ended() -> None:
    leaving = ended("a", phase="Running", conditions=DISRUPTED, deletion_timestamp=when(30))
    todo = plan(job(podFailurePolicy=IGNORED), [leaving], START)
    assert todo.create == () and todo.release == ()
    once = plan(job(podReplacementPolicy="Failed"), [leaving], START)
    assert once.create == () and once.release == ()
    assert plan(job(), [leaving], START).status is not None and [
        item.name for item in plan(job(), [leaving], START).release
    ] == ["a"]


def test_a_failure_that_ends_the_job_is_written_down_before_its_pod_is_let_go() -> None:
    policy = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}
    todo = plan(job(backoffLimit=6, podFailurePolicy=policy), [ended(code=42)], START)
    assert todo.status is not None
    [target] = todo.status["conditions"]
    assert (target["type"], target["reason"]) == ("FailureTarget", "PodFailurePolicy")
    assert (
        target["message"]
        == "Container main for pod default/a failed with exit code 42 matching FailJob rule at index 0"
    )
    noted = job(
        podFailurePolicy=policy, status={"conditions": [target], "uncountedTerminatedPods": {"failed": ["uid-a"]}}
    )
    later = plan(noted, [], START)
    assert later.status is not None and later.status["failed"] == 1
    assert [(item["type"], item["reason"]) for item in later.status["conditions"]] == [
        ("FailureTarget", "PodFailurePolicy"),
        ("Failed", "PodFailurePolicy"),
    ]


def indexed(**spec: Any) -> Any:
    return job(
        completionMode="Indexed", completions=3, parallelism=3, backoffLimit=2**31 - 1, backoffLimitPerIndex=1, **spec
    )


def of_index(name: str, index: int, failures: int, **more: Any) -> Pod:
    return ended(name, annotations={INDEX: str(index), INDEX_FAILURES: str(failures)}, **more)


def test_an_index_that_failed_too_often_is_given_up_and_the_others_go_on() -> None:
    todo = plan(indexed(), [of_index("a", 0, 1), of_index("b", 1, 0)], START + 60)
    assert todo.status is not None and todo.status["failedIndexes"] == "0"
    made = {
        item["metadata"]["annotations"][INDEX]: item["metadata"]["annotations"][INDEX_FAILURES] for item in todo.create
    }
    assert made == {"1": "1", "2": "0"}
    assert [item.name for item in todo.release] == ["a"]  # b tells how often index 1 failed until another pod does


def test_a_job_fails_when_nothing_is_left_but_indexes_that_were_given_up() -> None:
    last = indexed(status={"completedIndexes": "1,2", "failedIndexes": "0", "succeeded": 2, "startTime": when(0)})
    todo = plan(last, [], START)
    assert todo.status is not None
    assert [(item["type"], item["reason"]) for item in todo.status["conditions"]] == [
        ("FailureTarget", "FailedIndexes"),
        ("Failed", "FailedIndexes"),
    ]
    over = plan(indexed(maxFailedIndexes=0), [of_index("a", 0, 1)], START)
    assert over.status is not None and over.status["conditions"][0]["reason"] == "MaxFailedIndexesExceeded"


def test_a_job_that_somebody_else_manages_is_left_alone() -> None:
    assert job(managedBy="kueue.x-k8s.io/multikueue").spec.managed_by == "kueue.x-k8s.io/multikueue"


# --- on a server ------------------------------------------------------------------------------------------------------


def batch(**spec: Any) -> Raw:
    return {
        "spec": {
            "backoffLimit": 0,
            "template": {
                "metadata": {"annotations": {"gangline.io/run-seconds": "100"}},
                **pod_spec(restartPolicy="Never"),
            },
            **spec,
        }
    }


async def evict(lived: SimulatedWorld, name: str) -> None:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    await lived.client.send("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", json.dumps(body).encode())


async def ends(lived: SimulatedWorld) -> dict[str, str]:
    found = (await lived.client.get(JOB, "j", "default")).status.conditions
    return {str(item["type"]): str(item["reason"]) for item in found if item["type"] in ("Complete", "Failed")}


async def test_a_job_whose_pod_is_evicted_fails_unless_it_ignores_disruptions() -> None:
    async with world(TWO) as lived:
        await lived.make(JOB, "j", batch())
        await lived.settles()
        await evict(lived, (await lived.pods())[0].name)
        await lived.after(60)
        assert await ends(lived) == {"Failed": "BackoffLimitExceeded"}


async def test_a_job_that_ignores_disruptions_survives_evictions_lost_nodes_and_pods_that_never_started() -> None:
    async with world(TWO) as lived:
        await lived.make(JOB, "j", batch(podFailurePolicy=IGNORED))
        await lived.settles()
        [first] = await lived.pods()
        await evict(lived, first.name)
        await lived.after(60)
        [second] = await lived.pods()
        assert second.uid != first.uid and second.status.phase == "Running"
        await lived.client.delete(NODE, second.spec.node_name)
        await lived.after(60)
        [third] = await lived.pods()
        assert third.uid != second.uid and third.status.phase == "Running"
        await lived.after(120, steps=10)
        assert await ends(lived) == {"Complete": "CompletionsReached"}
        assert (await lived.client.get(JOB, "j", "default")).status.failed == 0


async def test_a_pod_that_is_deleted_before_it_has_a_node_is_failed_and_its_job_makes_another() -> None:
    async with world(off=("nodes",)) as lived:
        await lived.make(JOB, "j", batch(podReplacementPolicy="Failed", backoffLimit=3))
        await lived.settles()
        [first] = await lived.pods()
        await lived.client.delete(POD, first.name, "default")
        await lived.after(30)
        [second] = await lived.pods()
        assert second.uid != first.uid
        assert (await lived.client.get(JOB, "j", "default")).status.failed == 1


async def test_a_pod_whose_node_is_gone_says_so_before_it_goes() -> None:
    async with world(TWO) as lived:
        await lived.make(POD, "p", pod_spec(), finalizers=["example.com/kept"])
        await lived.settles()
        await lived.client.delete(NODE, (await lived.pods())[0].spec.node_name)
        await lived.after(30)
        [left] = await lived.pods()
        told = condition(left.status.conditions, "DisruptionTarget")
        assert left.status.phase == "Failed" and told is not None
        assert (told.status, told.reason, told.message) == ("True", "DeletionByPodGC", "PodGC: node no longer exists")


def manifests() -> list[Raw]:
    """The manifests that the guide prints."""
    blocks = GUIDE.read_text().split("```yaml\n")[1:]
    return [load_yaml(block.split("```")[0]) for block in blocks]


async def test_the_guides_job_survives_an_eviction_as_it_is_printed() -> None:
    [printed] = [manifest for manifest in manifests() if manifest.get("kind") == "Job"]
    assert printed["spec"]["podFailurePolicy"]["rules"][0] == IGNORED["rules"][0]
    async with world(NodePool(name="n", count=4, gpus=8)) as lived:
        printed["spec"]["template"]["spec"].pop("schedulerName", None)
        printed["spec"]["backoffLimit"] = 0
        await lived.client.create(JOB, printed, "default")
        await lived.settles()
        await evict(lived, (await lived.pods())[0].name)
        await lived.after(60)
        found = await lived.client.get(JOB, printed["metadata"]["name"], "default")
        assert found.status.failed == 0 and found.status.succeeded == printed["spec"]["completions"]
