"""What an update does next, when a gang is ended, and what is true of a clique: pure thoughts."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.meta import Raw
from gangline.operator.cliques.look import count
from gangline.operator.cliques.rollout import PodReplacement, clique_progress, replace_pods
from gangline.operator.cliques.tell import CliqueView, clique_status
from gangline.operator.desired import termination
from gangline.operator.desired.layout import group_places
from gangline.operator.groups.rollout import GroupReplacement, replace_group_replicas
from gangline.operator.sets.rollout import set_progress
from operator_world import clique, group, pod, pod_clique_set

NOW = "2026-01-01T10:00:00Z"


def a_set(progress: Raw | None = None, known: str | None = "H1", strategy: str = "") -> PodCliqueSet:
    raw = pod_clique_set("p", clique("a", 3, 2), clique("w", 1), groups=[group("g", ["w"], 3, 1)], strategy=strategy)
    return msgspec.convert(raw | {"status": {"currentGenerationHash": known, "updateProgress": progress}}, PodCliqueSet)


def a_clique(progress: Raw | None = None, current: str | None = None, *, label: str = "new", **more: Any) -> PodClique:
    meta = {
        "name": "p-0-a",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"grove.io/pod-template-hash": label, "grove.io/podcliqueset-replica-index": "0"}
        | more.pop("labels", {}),
    }
    spec = {"replicas": 3, "minAvailable": 2}
    return msgspec.convert(
        {
            "metadata": meta,
            "spec": spec,
            "status": {"updateProgress": progress, "currentPodCliqueSetGenerationHash": current} | more,
        },
        PodClique,
    )


# --- updates ----------------------------------------------------------------------------------------------------------


def test_a_changed_template_starts_an_update_of_the_set_and_under_on_delete_ends_it_at_once() -> None:
    assert set_progress(a_set(), "H2", NOW) == {"updateStartedAt": NOW}
    assert set_progress(a_set(strategy="OnDelete"), "H2", NOW) == {"updateStartedAt": NOW, "updateEndedAt": NOW}
    assert set_progress(a_set(), "H1", NOW) is None
    assert set_progress(a_set(known=None), "H1", NOW) is None


def test_a_clique_waits_until_its_replica_is_the_one_being_updated() -> None:
    elsewhere = {"updateStartedAt": NOW, "currentlyUpdating": [{"replicaIndex": 1}]}
    here = {"updateStartedAt": NOW, "currentlyUpdating": [{"replicaIndex": 0}]}
    old = {"podCliqueSetGenerationHash": "H0", "updateEndedAt": NOW}
    assert clique_progress(a_clique(old), a_set(elsewhere), "new", 0, NOW) == old
    assert clique_progress(a_clique(old), a_set(here), "new", 0, NOW) == {
        "updateStartedAt": NOW,
        "podCliqueSetGenerationHash": "H1",
        "podTemplateHash": "new",
    }


OPEN = {"updateStartedAt": NOW, "podCliqueSetGenerationHash": "H1", "podTemplateHash": "new"}


def test_unhealthy_old_pods_go_at_once_and_one_ready_old_pod_with_them() -> None:
    old = [
        pod(0, hash="old"),
        pod(1, node="n", ready=True, hash="old", created="2026-01-01T00:00:01Z"),
        pod(2, node="n", ready=True, hash="old", created="2026-01-01T00:00:02Z"),
    ]
    found = replace_pods(a_clique(OPEN), OPEN, old, 2, NOW)
    assert [item.name for item in found.remove] == ["c-0", "c-1"]
    assert found.progress == OPEN | {"readyPodsSelectedToUpdate": {"current": "c-1"}}


def test_the_next_ready_pod_waits_until_the_one_before_has_a_ready_successor() -> None:
    progress = OPEN | {"readyPodsSelectedToUpdate": {"current": "c-1"}}
    rest = [pod(2, node="n", ready=True, hash="old"), pod(0, node="n", ready=True, hash="old")]
    starting, ready = pod(1, name="new", node="n"), pod(1, name="new", node="n", ready=True)
    assert replace_pods(a_clique(progress), progress, [*rest, starting], 2, NOW).remove == []
    found = replace_pods(a_clique(progress), progress, [*rest, ready], 3, NOW)
    assert found.progress == OPEN | {"readyPodsSelectedToUpdate": {"current": "c-0", "completed": ["c-1"]}}


def test_no_ready_pod_is_given_up_below_the_minimum() -> None:
    old = [pod(0, node="n", ready=True, hash="old")]
    assert replace_pods(a_clique(OPEN), OPEN, old, 1, NOW) == PodReplacement(OPEN, [])


def test_an_update_ends_when_no_old_pod_is_left() -> None:
    found = replace_pods(a_clique(OPEN), OPEN, [pod(0, node="n", ready=True)], 1, NOW)
    assert found == PodReplacement(OPEN | {"updateEndedAt": NOW}, [])


def member(index: int, *, label: str, ready: bool, name: str = "") -> PodClique:
    conditions = [{"type": "PodCliqueScheduled", "status": str(ready)}]
    return msgspec.convert(
        {
            "metadata": {"name": name or f"p-0-g-{index}-w", "labels": {"grove.io/pod-template-hash": label}},
            "spec": {"replicas": 1, "minAvailable": 1},
            "status": {"readyReplicas": int(ready), "scheduledReplicas": int(ready), "conditions": conditions},
        },
        PodClique,
    )


def test_replicas_of_a_group_that_do_not_run_go_at_once_the_others_lowest_first() -> None:
    pcs = a_set()
    config = pcs.spec.template.pod_clique_scaling_groups[0]
    places = [group_places(pcs, 0, config, index) for index in range(3)]
    members = {f"p-0-g-{index}-w": member(index, label="old", ready=index != 2) for index in range(3)}
    owner = msgspec.convert(
        {"spec": {"replicas": 3, "minAvailable": 1, "cliqueNames": ["w"]}, "status": {"availableReplicas": 2}},
        PodCliqueScalingGroup,
    )
    found = replace_group_replicas(owner, OPEN, places, members.get, lambda place: "new", "H1", NOW)
    assert found.remove == [2, 0]
    assert found.progress == OPEN | {"readyReplicaIndicesSelectedToUpdate": {"current": 0}}


def old_and_ready(*numbers: int) -> list[Any]:
    return [pod(number, node="n", ready=True, hash="old", created=f"2026-01-01T00:00:0{number}Z") for number in numbers]


def test_as_many_ready_pods_go_at_once_as_may_be_unavailable() -> None:
    found = replace_pods(a_clique(OPEN), OPEN, old_and_ready(0, 1, 2), 3, NOW, most=2)
    assert [item.name for item in found.remove] == ["c-0", "c-1"]
    assert found.progress == OPEN | {"readyPodsSelectedToUpdate": {"current": "c-1", "completed": ["c-0"]}}
    progress = found.progress
    starting = [*old_and_ready(2), pod(0, name="n0", node="n"), pod(1, name="n1", node="n")]
    assert replace_pods(a_clique(progress), progress, starting, 1, NOW, most=2) == PodReplacement(progress, [])
    one_up = [*old_and_ready(2), pod(0, name="n0", node="n", ready=True), pod(1, name="n1", node="n")]
    assert [item.name for item in replace_pods(a_clique(progress), progress, one_up, 2, NOW, most=2).remove] == ["c-2"]


def test_pods_that_are_not_ready_for_other_reasons_count() -> None:
    assert replace_pods(a_clique(OPEN), OPEN, old_and_ready(0, 1), 2, NOW, most=1).remove == []


def test_a_pod_that_was_chosen_and_is_still_there_is_removed_again() -> None:
    progress = OPEN | {"readyPodsSelectedToUpdate": {"current": "c-0"}}
    for most in (None, 1):
        found = replace_pods(a_clique(progress), progress, old_and_ready(0, 1, 2), 3, NOW, most=most)
        assert [item.name for item in found.remove] == ["c-0"] and found.progress == progress


def test_replicas_of_a_group_go_as_many_at_once_as_may_be_unavailable() -> None:
    pcs = a_set()
    places = [group_places(pcs, 0, pcs.spec.template.pod_clique_scaling_groups[0], index) for index in range(3)]
    members = {f"p-0-g-{index}-w": member(index, label="old", ready=True) for index in range(3)}
    owner = msgspec.convert({"spec": {"replicas": 3, "minAvailable": 1, "cliqueNames": ["w"]}}, PodCliqueScalingGroup)
    found = replace_group_replicas(owner, OPEN, places, members.get, lambda place: "new", "H1", NOW, most=2)
    assert found.remove == [0, 1]
    assert found.progress == OPEN | {"readyReplicaIndicesSelectedToUpdate": {"current": 1, "completed": [0]}}
    del members["p-0-g-0-w"], members["p-0-g-1-w"]
    again = replace_group_replicas(owner, found.progress, places, members.get, lambda place: "new", "H1", NOW, most=2)
    assert again == GroupReplacement(found.progress, [])


# --- termination ------------------------------------------------------------------------------------------------------


def breached(since: str, ever: bool = True) -> PodClique:
    placed = {
        "type": "PodCliqueScheduled",
        "status": "False",
        "lastTransitionTime": since if ever else "2026-01-01T00:00:00Z",
    }
    return a_clique(
        conditions=[{"type": "MinAvailableBreached", "status": "True", "lastTransitionTime": since}, placed]
    )


ONE_HOUR_LATER = 1767261600.0 + 3600


def test_a_replica_in_breach_lives_for_the_delay_and_not_longer() -> None:
    clique_ = breached("2026-01-01T10:00:00Z")
    assert termination.set_replica([clique_], [], 4 * 3600.0, ONE_HOUR_LATER) == 3 * 3600.0
    assert termination.set_replicas({0: -1.0, 1: 60.0}) == termination.DueTerminations([0], 60.0)


def test_a_clique_that_never_ran_is_not_ended_for_being_incomplete() -> None:
    assert termination.set_replica([breached("2026-01-01T00:00:00Z", ever=False)], [], 1.0, ONE_HOUR_LATER) is None


def test_a_missing_clique_postpones_the_judgement() -> None:
    assert termination.set_replica([breached("2026-01-01T10:00:00Z"), None], [], 1.0, ONE_HOUR_LATER) is None


def test_a_group_loses_the_replica_in_breach_as_long_as_its_own_minimum_holds() -> None:
    owner = msgspec.convert({"spec": {"replicas": 2, "minAvailable": 1}}, PodCliqueScalingGroup)
    bad, good = breached("2026-01-01T10:00:00Z"), a_clique()
    assert termination.group_replicas(owner, [[bad], [good]], 60.0, ONE_HOUR_LATER) == termination.DueTerminations(
        [0], None
    )
    assert termination.group_replicas(owner, [[bad], [bad]], 60.0, ONE_HOUR_LATER) == termination.DueTerminations()


# --- status -----------------------------------------------------------------------------------------------------------


def viewed(pods: list[Any], *, terminating: bool = False, **more: Any) -> Raw:
    live = a_clique(**more)
    counts = count(pods, terminating=terminating)
    return clique_status(CliqueView(live, a_set(), "new", pods, live.status.update_progress, 1, counts), NOW)


def reasons(found: Raw) -> dict[str, tuple[str, str]]:
    return {condition["type"]: (condition["status"], condition["reason"]) for condition in found["conditions"]}


def test_a_clique_is_in_breach_until_its_minimum_is_scheduled() -> None:
    assert reasons(viewed([pod(0), pod(1)])) == {
        "MinAvailableBreached": ("True", "ScheduledReplicasBelowMinAvailable"),
        "PodCliqueScheduled": ("False", "InsufficientScheduledPods"),
    }


def test_pods_that_start_are_no_breach_but_crashed_ones_are() -> None:
    fine = [pod(0, node="n", ready=True), pod(1, node="n", ready=True)]
    assert reasons(viewed(fine))["MinAvailableBreached"] == ("False", "SufficientReadyPods")
    crash = [{"name": "main", "lastState": {"terminated": {"exitCode": 1}}}]
    crashed = [fine[0], pod(1, node="n", containerStatuses=crash)]
    assert reasons(viewed(crashed))["MinAvailableBreached"] == ("True", "InsufficientReadyPods")


def test_a_first_breach_dates_from_the_cliques_creation() -> None:
    assert {condition["lastTransitionTime"] for condition in viewed([])["conditions"]} == {"2026-01-01T00:00:00Z"}


def test_leaving_pods_count_only_where_upstream_is_imitated() -> None:
    leaving = [pod(0, node="n", ready=True, leaving=True), pod(1, node="n", ready=True)]
    assert viewed(leaving)["readyReplicas"] == 1
    assert viewed(leaving, terminating=True)["readyReplicas"] == 2


def test_hashes_follow_when_every_pod_has_the_new_template() -> None:
    assert viewed([pod(0)])["currentPodTemplateHash"] == "new"
    assert "currentPodTemplateHash" not in viewed([pod(0), pod(1, hash="old")])
