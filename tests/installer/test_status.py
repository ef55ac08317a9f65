"""What is said of a Config or shard: whether its Deployments are at work, why not, and since when."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api.builtin import Replicated
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.installer.plan import WrittenObject, contested
from gangline.installer.status import Outcome, conditions, daemon_set_waits, deployment_waits, merged


def deployment(generation: int = 2, **status: int) -> Replicated:
    complete = {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
    return msgspec.convert(
        {"metadata": {"name": "d", "generation": generation}, "spec": {"replicas": 2}, "status": complete | status},
        Replicated,
    )


def pod(**status: Any) -> Pod:
    return msgspec.convert({"metadata": {"name": "d-1"}, "status": status}, Pod)


def waiting(reason: str, message: str = "") -> Raw:
    return {"name": "c", "state": {"waiting": {"reason": reason} | ({"message": message} if message else {})}}


def test_a_deployment_is_at_work_with_all_its_pods_and_the_newest_template() -> None:
    assert deployment_waits(deployment(), "d", []) == ""
    assert deployment_waits(None, "d", []) == "Deployment d: not there yet"
    assert deployment_waits(deployment(3), "d", []) == "Deployment d: its controller has not seen the last change yet"
    assert deployment_waits(deployment(updatedReplicas=1), "d", []) == "Deployment d: 1 of 2 pods at work"
    assert (
        deployment_waits(deployment(replicas=3), "d", [])
        == "Deployment d: pods of before the last change are still going"
    )


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (
            {"containerStatuses": [waiting("ImagePullBackOff", "no such image")]},
            " (pod d-1: ImagePullBackOff: no such image)",
        ),
        ({"containerStatuses": [waiting("CrashLoopBackOff")]}, " (pod d-1: CrashLoopBackOff)"),
        ({"containerStatuses": [waiting("ContainerCreating")]}, ""),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]},
            " (pod d-1: 0/3 nodes are available)",
        ),
    ],
)
def test_a_pod_that_waits_says_why(status: Raw, why: str) -> None:
    assert (
        deployment_waits(deployment(availableReplicas=0), "d", [pod(**status)])
        == f"Deployment d: 0 of 2 pods at work{why}"
    )


def test_a_daemon_set_is_at_work_on_every_node_it_is_meant_for() -> None:
    assert (
        daemon_set_waits({}, "x") == ""
        and daemon_set_waits({"desiredNumberScheduled": 2, "numberAvailable": 2}, "x") == ""
    )
    assert daemon_set_waits({"desiredNumberScheduled": 2}, "x") == "DaemonSet x: 0 of 2 pods at work"
    assert daemon_set_waits(None, "x") == "DaemonSet x: not there yet"


def told(outcome: Outcome) -> dict[str, tuple[str, str]]:
    return {condition["type"]: (condition["status"], condition["message"]) for condition in conditions(outcome, 1)}


def test_what_is_not_deployed_or_not_at_work_is_not_ready_and_says_both() -> None:
    found = told(Outcome(problems=["p"], waits=["w"]))
    assert (
        found["Deployed"] == ("False", "p")
        and found["Available"] == ("False", "w")
        and found["Ready"] == ("False", "p; w")
    )
    assert found["Reconciling"][0] == "False"
    assert told(Outcome(failures=["f"]))["Reconciling"] == ("True", "f")


def test_what_the_cluster_lacks_does_not_keep_the_rest_from_being_ready() -> None:
    found = told(Outcome(missing=["prometheus operator"]))
    assert found["DependenciesFulfilled"] == ("False", "prometheus operator") and found["Ready"][0] == "True"


def test_what_was_said_in_vain_is_noted() -> None:
    assert told(Outcome(notes=["n"]))["Deployed"] == ("True", "note: n")


def test_a_condition_that_says_nothing_new_is_not_written_and_its_time_moves_with_its_status_only() -> None:
    first = merged([], conditions(Outcome(), 1), "t1") or []
    assert {item["lastTransitionTime"] for item in first} == {"t1"} and merged(
        first, conditions(Outcome(), 1), "t2"
    ) is None
    foreign = {"type": "Mine", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "t0"}
    later = {item["type"]: item for item in merged([*first, foreign], conditions(Outcome(waits=["w"]), 2), "t2") or []}
    assert later["Available"]["lastTransitionTime"] == "t2" and later["Deployed"]["lastTransitionTime"] == "t1"
    assert later["Deployed"]["observedGeneration"] == 2 and later["Mine"] == foreign


def test_what_is_put_back_five_times_in_a_minute_is_contested_for_the_rest_of_it() -> None:
    often = WrittenObject("d", 1, (0.0, 1.0, 2.0, 3.0, 4.0))
    assert contested(often, 10.0) and not contested(often, 61.0)
    assert not contested(WrittenObject("d", 1, (0.0, 1.0)), 2.0) and not contested(None, 0.0)
