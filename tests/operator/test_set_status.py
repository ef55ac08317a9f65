"""What the status of a set says: its replicas counted, its topology, its gangs, and whether an update still moves."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api import names
from gangline.api.grove import ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.desired.layout import places_by_replica
from gangline.operator.memory.lookups import INDEXES
from gangline.operator.operator import Operator
from gangline.operator.sets.look import SetView, look_at_set, replica_state
from gangline.operator.sets.progress import progressing, remaining
from gangline.operator.sets.rollout import new_hash, next_replica
from gangline.operator.sets.tell import FEW, MANY, events_of, set_status, status_after
from gangline.rules.sets import OperatorSettings
from gangline.rules.values.times import seconds_of
from held_objects import HeldObjects
from operator_world import clique, group, pod_clique_set

NOW = "2026-01-01T10:00:00Z"


def the_set(replicas: int = 2, status: Raw | None = None, **more: Any) -> PodCliqueSet:
    groups = [group("w", ["worker"], 1, 1)]
    raw = pod_clique_set("llm", clique("router", 1), clique("worker", 2), groups=groups, replicas=replicas, **more)
    return msgspec.convert(raw | {"status": {"currentGenerationHash": "H1"} | (status or {})}, PodCliqueSet)


def router(pcs: PodCliqueSet, replica: int, *, ready: int = 1, hash: str = "") -> PodClique:
    template = clique_hash(pcs, places_by_replica(pcs, replica + 1)[replica][0].template)
    status = {
        "readyReplicas": ready,
        "updatedReplicas": 1,
        "scheduledReplicas": ready,
        "currentPodTemplateHash": template,
        "currentPodCliqueSetGenerationHash": hash or "H1",
    }
    meta = {"name": f"llm-{replica}-router", "labels": {names.TEMPLATE_HASH: template}}
    return msgspec.convert({"metadata": meta, "spec": {"replicas": 1, "minAvailable": 1}, "status": status}, PodClique)


def workers(replica: int, *, available: int = 1, hash: str = "H1") -> PodCliqueScalingGroup:
    status = {"availableReplicas": available, "scheduledReplicas": available, "currentPodCliqueSetGenerationHash": hash}
    raw = {"metadata": {"name": f"llm-{replica}-w"}, "spec": {"replicas": 1, "minAvailable": 1}, "status": status}
    return msgspec.convert(raw, PodCliqueScalingGroup)


def view(
    pcs: PodCliqueSet,
    cliques: list[PodClique] | None = None,
    groups: list[PodCliqueScalingGroup] | None = None,
    gangs: tuple[PodGang, ...] = (),
    **more: Any,
) -> SetView:
    """All of the set runs, unless it is said otherwise."""
    size = pcs.spec.replicas
    known = {item.name: item for item in (cliques or [router(pcs, number) for number in range(size)])}
    grouped = {item.name: item for item in (groups or [workers(number) for number in range(size)])}
    given = {
        "set_hash": "H1",
        "progress": pcs.status.update_progress,
        "observed": 1,
        "topology_aware": True,
        "binding": None,
        "places": places_by_replica(pcs, size),
    } | more
    return SetView(pcs, known.get, grouped.get, gangs, **given)


def counts(pcs: PodCliqueSet, **more: Any) -> tuple[int, int, int]:
    status = set_status(view(pcs, **more), NOW)
    return status["replicas"], status["availableReplicas"], status["updatedReplicas"]


# --- replicas ---------------------------------------------------------------------------------------------------------


def test_a_replica_is_available_when_all_its_cliques_and_groups_have_their_minimum() -> None:
    pcs = the_set()
    assert counts(pcs) == (2, 2, 2)
    assert counts(pcs, cliques=[router(pcs, 0), router(pcs, 1, ready=0)]) == (2, 1, 1)
    assert counts(pcs, cliques=[router(pcs, 0)]) == (2, 1, 1), "a clique is missing"
    assert counts(pcs, groups=[workers(0), workers(1, available=0)]) == (2, 1, 1)
    assert counts(pcs, groups=[workers(0)]) == (2, 1, 1), "a group is missing"


def test_a_replica_of_the_old_template_is_available_and_not_updated() -> None:
    pcs = the_set()
    assert counts(pcs, cliques=[router(pcs, 0), router(pcs, 1, hash="H0")]) == (2, 2, 1)
    assert counts(pcs, groups=[workers(0, hash="H0"), workers(1)]) == (2, 2, 1)


def test_a_replica_is_done_when_every_clique_and_group_is_updated() -> None:
    pcs = the_set(1)
    assert replica_state(view(pcs), 0).done
    assert not replica_state(view(pcs, groups=[workers(0, hash="H0")]), 0).done


# --- gangs ------------------------------------------------------------------------------------------------------------


def gang(name: str, *conditions: tuple[str, str], phase: str = "Running") -> PodGang:
    listed = [{"type": type, "status": status} for type, status in conditions]
    return msgspec.convert({"metadata": {"name": name}, "status": {"phase": phase, "conditions": listed}}, PodGang)


def test_a_set_lists_its_gangs_with_their_phase() -> None:
    status = set_status(view(the_set(), gangs=(gang("llm-0"), gang("llm-1", phase=""))), NOW)
    assert [(item["name"], item["phase"]) for item in status["podGangStatuses"]] == [
        ("llm-0", "Running"),
        ("llm-1", "Pending"),
    ]


# --- topology ---------------------------------------------------------------------------------------------------------

PACKED: Raw = {"topologyConstraint": {"topologyName": "dc", "pack": {"required": "rack"}}}


def binding(*domains: str) -> ClusterTopologyBinding:
    levels = [{"domain": domain, "key": f"example.com/{domain}"} for domain in domains]
    return msgspec.convert({"metadata": {"name": "dc"}, "spec": {"levels": levels}}, ClusterTopologyBinding)


def levels(pcs: PodCliqueSet, **more: Any) -> tuple[str, str, str] | None:
    known = [item for item in set_status(view(pcs, **more), NOW)["conditions"] if item["type"].startswith("Topology")]
    return (known[0]["status"], known[0]["reason"], known[0]["message"]) if known else None


@pytest.mark.parametrize(
    ("there", "told"),
    [
        (binding("zone", "rack"), ("False", "AllClusterTopologyLevelsAvailable", "has every level the set names")),
        (binding("zone"), ("True", "ClusterTopologyLevelsUnavailable", "no longer has: rack")),
        (None, ("Unknown", "ClusterTopologyNotFound", "does not exist")),
    ],
)
def test_a_set_says_whether_the_levels_that_it_names_are_there(
    there: ClusterTopologyBinding | None, told: tuple[str, str, str]
) -> None:
    status, reason, message = told
    assert levels(the_set(**PACKED), binding=there) == (status, reason, f"ClusterTopologyBinding dc {message}")


def test_a_set_without_a_constraint_lacks_no_level() -> None:
    assert levels(the_set()) == ("False", "AllClusterTopologyLevelsAvailable", "the set has no topology constraint")


def test_where_topology_is_off_only_a_set_with_a_constraint_says_so() -> None:
    assert levels(the_set(), topology_aware=False) is None
    assert levels(the_set(**PACKED), topology_aware=False) == (
        "Unknown",
        "TopologyAwareSchedulingDisabled",
        "topology-aware scheduling is switched off",
    )


# --- updates ----------------------------------------------------------------------------------------------------------

OPEN = {"updateStartedAt": "2026-01-01T09:00:00Z"}


def test_a_new_template_is_noted_with_its_hash_and_starts_an_update() -> None:
    pcs = the_set()
    patch = new_hash(pcs, NOW)
    assert patch is not None
    assert patch["status"]["updatedReplicas"] == 0
    assert patch["status"]["updateProgress"] == {"updateStartedAt": NOW}
    known = the_set(status={"currentGenerationHash": patch["status"]["currentGenerationHash"]})
    assert new_hash(known, NOW) is None


def test_an_update_takes_the_replica_with_nothing_scheduled_first_and_waits_for_it() -> None:
    pcs = the_set(status={"updateProgress": OPEN})
    old = [router(pcs, 0, hash="H0"), router(pcs, 1, ready=0, hash="H0")]
    stopped = [workers(0, hash="H0"), workers(1, available=0, hash="H0")]
    first = next_replica(view(pcs, cliques=old, groups=stopped), (), NOW)
    assert first is not None
    assert first["currentlyUpdating"] == [{"replicaIndex": 1, "updateStartedAt": NOW}]
    again = view(pcs, cliques=old, groups=stopped, progress=first)
    assert next_replica(again, (), "later") == first


def test_an_update_goes_on_with_the_next_replica_and_then_ends() -> None:
    pcs = the_set(status={"updateProgress": OPEN})
    updating = OPEN | {"currentlyUpdating": [{"replicaIndex": 0}]}
    half = view(pcs, cliques=[router(pcs, 0), router(pcs, 1, hash="H0")], progress=updating)
    following = next_replica(half, (), NOW)
    assert following is not None
    assert following["currentlyUpdating"] == [{"replicaIndex": 1, "updateStartedAt": NOW}]
    assert next_replica(view(pcs, progress=following), (), NOW) == OPEN | {"updateEndedAt": NOW}


def test_as_many_replicas_are_updated_at_once_as_may_be_unavailable() -> None:
    pcs = the_set(3, status={"updateProgress": OPEN}, annotations={names.MAX_UNAVAILABLE: "2"})
    old = [router(pcs, number, hash="H0") for number in range(3)]
    chosen = next_replica(view(pcs, cliques=old), (), NOW)
    assert chosen is not None
    assert [item["replicaIndex"] for item in chosen["currentlyUpdating"]] == [0, 1]
    ending = next_replica(view(pcs, cliques=old), (0,), NOW)
    assert ending is not None
    assert [item["replicaIndex"] for item in ending["currentlyUpdating"]] == [1, 2], "0 is ended as a gang"


def test_on_delete_the_operator_chooses_no_replica() -> None:
    pcs = the_set(status={"updateProgress": OPEN}, strategy="OnDelete")
    old = [router(pcs, number, hash="H0") for number in range(2)]
    assert next_replica(view(pcs, cliques=old), (), NOW) == OPEN


# --- whether it moves -------------------------------------------------------------------------------------------------

COUNTERS = {
    "updatedPodCliquesCount": 1,
    "totalPodCliquesCount": 2,
    "updatedPodCliqueScalingGroupsCount": 0,
    "totalPodCliqueScalingGroupsCount": 2,
}
DONE = "updated: 1 of 2 cliques (2 pods), 0 of 2 scaling groups"


def moving(since: str = "", message: str = DONE, progress: Raw | None = None, deadline: str = "10m") -> Raw | None:
    before = {"type": "Progressing", "status": "True", "reason": "Updating", "message": message}
    conditions = [before | {"lastTransitionTime": since}] if since else []
    pcs = the_set(
        status={"updateProgress": progress or OPEN, "conditions": conditions},
        annotations={names.PROGRESS_DEADLINE: deadline},
    )
    return progressing(view(pcs), COUNTERS, NOW)


def test_an_update_that_moves_says_how_far_it_is() -> None:
    told = moving()
    assert told is not None
    assert (told["status"], told["reason"], told["message"]) == ("True", "Updating", DONE)
    assert told["lastTransitionTime"] == NOW


def test_an_update_that_has_not_moved_for_its_deadline_is_stuck() -> None:
    waits, stuck = moving("2026-01-01T09:50:01Z"), moving("2026-01-01T09:50:00Z")
    assert waits is not None and stuck is not None
    assert (waits["reason"], stuck["status"], stuck["reason"]) == ("Updating", "False", "ProgressDeadlineExceeded")
    assert stuck["message"] == f"{DONE}; nothing has moved for 10m0s"


def test_an_update_that_moved_since_starts_to_count_anew() -> None:
    told = moving("2026-01-01T08:00:00Z", "updated: 0 of 2 cliques (0 pods), 0 of 2 scaling groups")
    assert told is not None
    assert (told["reason"], told["lastTransitionTime"]) == ("Updating", NOW)


def test_an_update_that_is_over_is_complete() -> None:
    told = moving(progress=OPEN | {"updateEndedAt": NOW})
    assert told is not None
    assert told["reason"] == "UpdateComplete"


def test_without_a_deadline_nothing_is_said() -> None:
    assert progressing(view(the_set(status={"updateProgress": OPEN})), COUNTERS, NOW) is None
    assert moving(deadline="soon") is None


def test_a_moving_update_is_looked_at_again_when_it_would_count_as_stuck() -> None:
    moves = {"reason": "Updating", "lastTransitionTime": "2026-01-01T09:55:00Z"}
    now = seconds_of(NOW)
    assert remaining(moves, 600.0, now) == 300.0
    assert remaining(moves, 60.0, now) == 1.0
    assert remaining(moves | {"reason": "UpdateComplete"}, 600.0, now) is None
    assert remaining(None, 600.0, now) is None


# --- the whole status -------------------------------------------------------------------------------------------------


def after(
    raw: Raw, errors: tuple[tuple[str, str], ...] = (), faults: tuple[Problem, ...] = (), **status: Any
) -> tuple[Raw, PodCliqueSet]:
    """The status that a look at the set writes."""
    op, held = Operator(OperatorSettings(), faults=lambda pcs: faults), HeldObjects(INDEXES)
    meta = {"generation": 4} | raw["metadata"]
    pcs = held.add(POD_CLIQUE_SET, raw | {"metadata": meta, "status": {"observedGeneration": 3} | status})
    return status_after(op, look_at_set(op, held, pcs), errors, NOW), pcs


def types(status: Raw) -> list[str]:
    return [item["type"] for item in status["conditions"]]


PLAIN = pod_clique_set("llm", clique("router", 1))


def test_a_generation_is_observed_once_a_look_at_it_had_no_error() -> None:
    assert after(PLAIN)[0]["observedGeneration"] == 4
    failed = after(PLAIN, (("E", "broken"),))[0]
    assert failed["observedGeneration"] == 3
    assert failed["lastErrors"] == [{"code": "E", "description": "broken", "observedAt": NOW}]


def test_a_set_that_admission_would_refuse_today_says_so_while_it_does() -> None:
    refused, _ = after(PLAIN, faults=(Problem("spec.template", "must not be"),))
    [invalid] = [item for item in refused["conditions"] if item["reason"] == "WouldBeRefused"]
    assert (invalid["status"], invalid["observedGeneration"]) == ("True", 4)
    assert "spec.template: must not be" in invalid["message"]
    mended, _ = after(PLAIN, conditions=refused["conditions"])
    assert invalid["type"] not in types(mended)


def test_conditions_of_others_stay() -> None:
    known = {"type": "Ours", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": NOW}
    assert "Ours" in types(after(PLAIN, conditions=[known])[0])


def test_an_update_that_gets_stuck_is_told_once() -> None:
    raw = pod_clique_set("llm", clique("router", 1), annotations={names.PROGRESS_DEADLINE: "10m"})
    done = "updated: 0 of 1 cliques (0 pods), 0 of 0 scaling groups"
    moved = {"type": "Progressing", "status": "True", "reason": "Updating", "message": done}
    before = [moved | {"lastTransitionTime": "2026-01-01T09:00:00Z"}]
    status, pcs = after(raw, updateProgress=OPEN, conditions=before)
    [event] = events_of(pcs, status)
    assert (event.reason, event.warning) == ("ProgressDeadlineExceeded", True)
    assert event.message == f"{done}; nothing has moved for 10m0s"
    again, told = after(raw, updateProgress=OPEN, conditions=status["conditions"])
    assert events_of(told, again) == []


def test_a_set_of_many_gangs_lists_those_that_something_is_wrong_with_first() -> None:
    many = tuple(gang(f"llm-{number:04}", ("Scheduled", "True")) for number in range(MANY))
    waits = gang("llm-9999", ("Scheduled", "False"), ("Ready", "True"))
    listed = set_status(view(the_set(), gangs=(*many, waits)), NOW)["podGangStatuses"]
    assert len(listed) == MANY
    assert listed[-1]["name"] == "llm-9999"
    assert [item["type"] for item in listed[-1]["conditions"]] == ["Scheduled"], "only what is wrong"
    assert "conditions" not in listed[0]


def test_a_set_of_few_gangs_lists_all_their_conditions() -> None:
    fine = gang("llm-0", ("Scheduled", "True"), ("Ready", "False"))
    for others, shown in ((FEW - 1, 2), (FEW, 0)):
        more = tuple(gang(f"llm-x{number}") for number in range(others))
        [first, *_] = set_status(view(the_set(), gangs=(fine, *more)), NOW)["podGangStatuses"]
        assert len(first.get("conditions", ())) == shown
