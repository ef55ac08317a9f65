"""ReplicaSets, Deployments and StatefulSets as plans."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.world.making import START, pod, ready_status, replicated, when
from gangline.api.builtin import Replicated
from gangline.cluster.world.workloads import deployment_plan, replicasets, statefulset_plan
from gangline.cluster.world.workloads.deployment_plan import HASH, REVISION, template_hash
from gangline.cluster.world.workloads.replicas import by_worth, fresh_names


def test_names_belong_to_their_owner_and_are_never_made_twice() -> None:
    first = fresh_names("web", "uid", (), 3)
    assert first == fresh_names("web", "uid", (), 3)
    assert fresh_names("web", "uid", {first[1]}, 2) == [first[0], first[2]]
    assert set(first).isdisjoint(fresh_names("web", "other", (), 3))


def test_a_replica_set_makes_what_is_missing_and_removes_what_is_too_much() -> None:
    assert len(replicasets.plan(replicated(replicas=3), [pod("a")], START).create) == 2
    todo = replicasets.plan(replicated(replicas=1), [pod("a", status=ready_status()), pod("b"), pod("c")], START)
    assert [item.name for item in todo.delete] == ["b", "c"]


def test_finished_and_leaving_pods_are_replaced() -> None:
    pods = [pod("a", status={"phase": "Failed"}), pod("b", deletion_timestamp=when(0)), pod("c", status=ready_status())]
    assert len(replicasets.plan(replicated(replicas=2), pods, START).create) == 1


def test_a_replica_set_counts_pods_as_available_once_they_were_ready_long_enough() -> None:
    given = replicated(replicas=1, minReadySeconds=10)
    todo = replicasets.plan(given, [pod("a", status=ready_status(0))], START + 4)
    assert todo.again == START + 10
    assert todo.status is not None and (todo.status["readyReplicas"], todo.status["availableReplicas"]) == (1, None)


def test_the_least_worth_goes_first() -> None:
    bound = {"nodeName": "n"}
    given = [
        pod("ready", spec=bound, status=ready_status()),
        pod("running", spec=bound, status={"phase": "Running"}),
        pod("unbound"),
        pod("young", spec=bound, status=ready_status(), creation_timestamp=when(50)),
    ]
    assert [item.name for item in by_worth(given)] == ["unbound", "running", "young", "ready"]


def rs(
    deployment: Replicated, image: str, replicas: int, available: int | None = None, revision: int = 1
) -> Replicated:
    """A ReplicaSet of a deployment for an image."""
    mark = template_hash(replicated(deployment.name, image=image).spec.template)
    count = replicas if available is None else available
    return replicated(
        f"{deployment.name}-{mark}",
        labels={HASH: mark},
        annotations={REVISION: str(revision)},
        replicas=replicas,
        status={"replicas": replicas, "availableReplicas": count, "readyReplicas": count},
    )


def scaled(deployment: Replicated, *sets: Replicated) -> list[int]:
    """How many replicas each of these sets should have now."""
    todo = {item.name: number for item, number in deployment_plan.plan(deployment, sets, when(0)).scale}
    return [todo.get(item.name, item.spec.replicas or 0) for item in sets]


def test_a_new_deployment_makes_a_replica_set_with_all_replicas() -> None:
    made = deployment_plan.plan(replicated("web", replicas=4), [], when(0)).create
    assert made is not None and made["spec"]["replicas"] == 4
    assert made["spec"]["selector"]["matchLabels"][HASH] == made["spec"]["template"]["metadata"]["labels"][HASH]


def test_a_changed_template_begins_within_the_surge() -> None:
    web = replicated("web", replicas=4, image="new")
    made = deployment_plan.plan(web, [rs(web, "old", 4)], when(0)).create
    assert made is not None and made["spec"]["replicas"] == 1
    assert made["metadata"]["annotations"][REVISION] == "2"


def test_a_rollout_shrinks_the_old_only_as_far_as_enough_stays_available() -> None:
    web = replicated("web", replicas=4, image="new")
    assert scaled(web, rs(web, "old", 4), rs(web, "new", 1, available=0)) == [3, 1]
    assert scaled(web, rs(web, "old", 3), rs(web, "new", 1)) == [2, 2]
    assert scaled(web, rs(web, "old", 1), rs(web, "new", 4)) == [0, 4]


@pytest.mark.parametrize(("surge", "missing"), [(1, 0), (0, 1), ("50%", "50%"), ("0%", "0%"), (3, 2)])
def test_every_rollout_ends_and_never_breaks_its_limits(surge: Any, missing: Any) -> None:
    web = replicated(
        "web", replicas=5, image="new", strategy={"rollingUpdate": {"maxSurge": surge, "maxUnavailable": missing}}
    )
    most, fewest = deployment_plan.limits(web, 5)
    old, new = 5, 0
    for _ in range(40):
        before = (old, new)
        old, new = scaled(web, rs(web, "old", old), rs(web, "new", new))
        assert old + new <= 5 + most
        assert old + before[1] >= 5 - fewest
        if (old, new) == (0, 5):
            return
    raise AssertionError(f"stuck at {old} old and {new} new")


def test_recreate_waits_until_the_old_ones_are_gone() -> None:
    web = replicated("web", replicas=2, image="new", strategy={"type": "Recreate"})
    assert scaled(web, rs(web, "old", 2), rs(web, "new", 0)) == [0, 0]
    assert scaled(web, rs(web, "old", 0), rs(web, "new", 0)) == [0, 2]


def test_old_history_is_thrown_away() -> None:
    web = replicated("web", replicas=1, image="new", revisionHistoryLimit=1)
    todo = deployment_plan.plan(
        web, [rs(web, "a", 0, revision=1), rs(web, "b", 0, revision=2), rs(web, "new", 1, revision=3)], when(0)
    )
    assert [item.annotations[REVISION] for item in todo.delete] == ["1"]


def stateful_pod(number: int, image: str = "app", ready: bool = True) -> Any:
    mark = template_hash(replicated("db", image=image).spec.template)
    return pod(
        f"db-{number}",
        labels={statefulset_plan.REVISION: f"db-{mark}"},
        status=ready_status() if ready else {"phase": "Running"},
    )


def made(stateful: Replicated, *pods: Any) -> tuple[list[str], list[str]]:
    todo = statefulset_plan.plan(stateful, pods, START)
    return [item["metadata"]["name"] for item in todo.create], [item.name for item in todo.delete]


def test_a_stateful_set_makes_one_pod_after_the_other() -> None:
    db = replicated("db", replicas=3, serviceName="db")
    assert made(db) == (["db-0"], [])
    assert made(db, stateful_pod(0, ready=False)) == ([], [])
    assert made(db, stateful_pod(0)) == (["db-1"], [])
    assert made(replicated("db", replicas=3, podManagementPolicy="Parallel")) == (["db-0", "db-1", "db-2"], [])


def test_a_stateful_set_shrinks_from_the_top() -> None:
    assert made(replicated("db", replicas=1), *(stateful_pod(number) for number in range(3))) == ([], ["db-2"])


def test_a_stateful_set_changes_its_pods_from_the_top_down_to_the_partition() -> None:
    db = replicated("db", replicas=3, updateStrategy={"rollingUpdate": {"partition": 1}}, image="new")
    assert made(db, *(stateful_pod(number) for number in range(3))) == ([], ["db-2"])
    assert made(db, stateful_pod(0), stateful_pod(1), stateful_pod(2, "new", ready=False)) == ([], [])
    assert made(db, stateful_pod(0), stateful_pod(1), stateful_pod(2, "new")) == ([], ["db-1"])
    assert made(db, stateful_pod(0), stateful_pod(1, "new"), stateful_pod(2, "new")) == ([], [])


def test_a_lost_pod_in_the_middle_comes_back_first() -> None:
    assert made(replicated("db", replicas=3), stateful_pod(0), stateful_pod(2)) == (["db-1"], [])


def test_each_stateful_pod_has_volumes_of_its_own() -> None:
    db = replicated(
        "db",
        replicas=1,
        volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
    )
    todo = statefulset_plan.plan(db, [], START)
    assert [claim["metadata"]["name"] for claim in todo.claims] == ["data-db-0"]
    assert todo.create[0]["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]
