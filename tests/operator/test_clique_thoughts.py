"""What a look at a clique leads to: which pods are made, which go, and which are let go from behind their gate."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG
from gangline.api.meta import Raw
from gangline.errors import Forbidden
from gangline.operator.act import WriteFailure
from gangline.operator.cliques.look import look_at_clique
from gangline.operator.cliques.tell import errors_of, status_after
from gangline.operator.cliques.think import CliqueThought, think
from gangline.operator.desired.cliques import grouped_clique, standalone_clique
from gangline.operator.desired.layout import gang_place
from gangline.operator.memory.lookups import INDEXES
from gangline.operator.operator import Operator
from gangline.operator.plan import Create, Delete, Patch
from gangline.rules.sets import OperatorSettings
from held_objects import HeldObjects
from operator_world import clique, group, pod_clique_set, running

NOW = "2026-01-01T10:00:00Z"
BORN = "2026-01-01T09:59:00Z"


class CliqueAtHand:
    """One clique of a set, its gang, and its pods."""

    def __init__(self, raw: Raw, gang: str = "llm-0", name: str = "llm-0-worker") -> None:
        self.op = Operator(OperatorSettings())
        self.held = HeldObjects(INDEXES)
        self.pcs = self.held.add(POD_CLIQUE_SET, raw | {"status": {"currentGenerationHash": "H1"}})
        place = gang_place(self.pcs, gang)
        assert place is not None
        member = next(member for member in place.members if member.name == name)
        owner = msgspec.convert(
            {"metadata": {"name": "llm-0-w", "namespace": "default", "uid": "g"}}, PodCliqueScalingGroup
        )
        wanted = grouped_clique(self.pcs, owner, member) if member.group else standalone_clique(self.pcs, member)
        self.clique: PodClique = self.held.add(POD_CLIQUE, wanted)

    def gang(self, *conditions: str, backend: str = "kai", **more: Any) -> None:
        """The gang, which lists every pod that is there, and what is true of it."""
        listed = [{"namespace": "default", "name": pod.name} for pod in self.pods]
        self.held.add(
            POD_GANG,
            {
                "metadata": {
                    "name": self.clique.labels[names.POD_GANG],
                    "namespace": "default",
                    "labels": {names.SCHEDULER_BACKEND: backend, names.PART_OF: "llm"},
                },
                "spec": {"podgroups": [{"name": self.clique.name, "minReplicas": 2, "podReferences": listed} | more]},
                "status": {"conditions": [{"type": type, "status": "True"} for type in conditions]},
            },
        )

    @property
    def pods(self) -> list[Pod]:
        return self.held.owned(POD, self.clique.uid)

    def make(self, **status: Any) -> list[Pod]:
        """The pods that are planned are there, a minute old."""
        return [self.put(step.obj, **status) for step in self.steps(Create)]

    def put(self, raw: Raw, **status: Any) -> Pod:
        meta = {"creationTimestamp": BORN} | raw["metadata"]
        live: Pod = self.held.add(POD, raw | {"metadata": meta, "status": {"phase": "Pending"} | status})
        return live

    def change(self, pod: Pod, meta: Raw | None = None, spec: Raw | None = None, **status: Any) -> None:
        raw = msgspec.to_builtins(pod)
        raw["metadata"] |= meta or {}
        raw["spec"] |= spec or {}
        self.held.add(POD, raw | {"status": raw.get("status", {}) | status})

    def think(self) -> CliqueThought:
        look = look_at_clique(self.held, self.clique)
        assert look is not None
        return think(self.op, self.held, look, NOW)

    def steps(self, verb: type[Any]) -> list[Any]:
        return [step for stage in self.think().plan.stages for step in stage if isinstance(step, verb)]

    @property
    def indices(self) -> list[str]:
        return [step.obj["metadata"]["labels"][names.POD_INDEX] for step in self.steps(Create)]

    @property
    def removed(self) -> list[str]:
        return sorted(str(step.name) for step in self.steps(Delete))


def workers(replicas: int = 3, minimum: int = 2, scheduler: str = "kai-scheduler", **more: Any) -> Raw:
    return pod_clique_set("llm", clique("worker", replicas, minimum, scheduler=scheduler), **more)


def at_hand(*conditions: str, **more: Any) -> CliqueAtHand:
    """A clique whose pods are all there, in a gang that lists them."""
    here = CliqueAtHand(workers(**more))
    here.gang()
    here.make()
    here.gang(*conditions)
    return here


# --- making pods ------------------------------------------------------------------------------------------------------


def test_no_pod_is_made_before_its_gang_is_there() -> None:
    here = CliqueAtHand(workers())
    assert here.steps(Create) == []
    assert here.think().waits


def test_pods_are_made_behind_the_gate_of_their_backend_with_one_index_each() -> None:
    here = CliqueAtHand(workers())
    here.gang()
    pods = [step.obj for step in here.steps(Create)]
    assert here.indices == ["0", "1", "2"]
    assert [pod["spec"]["schedulingGates"] for pod in pods] == [[{"name": names.GATE_KAI}]] * 3
    assert {pod["spec"]["schedulerName"] for pod in pods} == {"kai-scheduler"}
    assert {pod["metadata"]["labels"][names.SCHEDULER_BACKEND] for pod in pods} == {"kai"}
    assert [event.reason for event in here.think().plan.events] == ["PodCreateSuccessful"] * 3


def test_a_second_look_at_a_stale_view_asks_for_the_same_names() -> None:
    here = CliqueAtHand(workers())
    here.gang()
    assert [step.name for step in here.steps(Create)] == [step.name for step in here.steps(Create)]


def test_a_clique_that_has_its_pods_asks_for_nothing() -> None:
    here = at_hand("Initialized", "Scheduled")
    for pod in here.pods:
        here.change(pod, spec={"schedulingGates": []})
    assert here.steps(object) == []
    assert here.think().again is None


def test_the_hole_that_a_removed_pod_leaves_is_filled() -> None:
    here = at_hand()
    here.held.remove(POD, here.pods[1])
    assert here.indices == ["1"]


def test_a_pod_on_its_way_out_is_replaced_under_another_name() -> None:
    here = at_hand()
    first = here.pods[0]
    here.change(first, {"deletionTimestamp": NOW})
    [made] = here.steps(Create)
    assert made.obj["spec"]["hostname"] == first.spec.hostname
    assert made.name != first.name


def test_a_clique_scaled_down_loses_pods_and_says_which() -> None:
    here = at_hand()
    raw = msgspec.to_builtins(here.clique)
    raw["spec"]["replicas"] = 1
    here.clique = here.held.add(POD_CLIQUE, raw)
    assert len(here.removed) == 2
    said = [event.message for event in here.think().plan.events]
    assert sorted(said) == [f"deleted pod {name}" for name in here.removed]


def test_pods_that_run_stay_when_a_clique_shrinks_and_waiting_ones_go() -> None:
    here = at_hand("Initialized", "Scheduled")
    runs = here.pods[2]
    here.change(runs, spec={"nodeName": "n", "schedulingGates": []}, **running())
    raw = msgspec.to_builtins(here.clique)
    raw["spec"]["replicas"] = 1
    here.clique = here.held.add(POD_CLIQUE, raw)
    assert runs.name not in here.removed


# --- pods that ended --------------------------------------------------------------------------------------------------


def test_a_pod_that_failed_is_removed_with_its_reason_and_made_anew_at_its_index() -> None:
    here = at_hand()
    first = here.pods[0]
    ended = {"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": "2026-01-01T09:59:30Z"}}
    here.change(
        first,
        spec={"nodeName": "n", "schedulingGates": []},
        phase="Failed",
        containerStatuses=[{"name": "main", "state": ended}],
    )
    assert here.removed == [first.name]
    assert here.indices == ["0"]
    [failure] = [event for event in here.think().plan.events if event.reason == "PodFailed"]
    assert failure.warning
    assert "container main ended with Error, exit code 3" in failure.message


# --- another backend --------------------------------------------------------------------------------------------------


def test_pods_that_were_made_for_another_backend_are_made_anew() -> None:
    here = at_hand()
    for pod in here.pods[:2]:
        here.change(pod, {"labels": pod.labels | {names.SCHEDULER_BACKEND: "default"}})
    assert len(here.removed) == 2
    assert len(here.steps(Create)) == 2


def test_a_bound_pod_keeps_its_backend_while_its_gang_does() -> None:
    here = at_hand()
    bound = here.pods[0]
    labels = bound.labels | {names.SCHEDULER_BACKEND: "volcano"}
    here.change(bound, {"labels": labels}, {"nodeName": "n", "schedulingGates": []}, **running())
    here.gang(backend="volcano")
    assert bound.name not in here.removed


# --- gates ------------------------------------------------------------------------------------------------------------


def held(here: CliqueAtHand) -> dict[str, int]:
    """Why pods wait, and how many."""
    return {reason: len(pods) for reason, pods in here.think().gates.held.items()}


def test_gates_hold_until_the_gang_is_complete() -> None:
    assert held(at_hand()) == {"gang llm-0 is not complete yet": 3}


def test_all_pods_of_a_complete_gang_are_let_go_together() -> None:
    here = at_hand("Initialized")
    gates = here.think().gates
    assert (gates.held, sorted(gates.lifted)) == ({}, sorted(pod.name for pod in here.pods))
    assert [step.patch["spec"]["schedulingGates"] for step in gates.steps if isinstance(step, Patch)] == [[]] * 3


def test_a_gate_that_somebody_else_set_stays() -> None:
    here = at_hand("Initialized")
    first = here.pods[0]
    here.change(first, spec={"schedulingGates": [{"name": names.GATE_KAI}, {"name": "example.com/mine"}]})
    [patch] = [step for step in here.think().gates.steps if isinstance(step, Patch) and step.name == first.name]
    assert patch.patch["spec"]["schedulingGates"] == [{"name": "example.com/mine"}]


def test_a_pod_that_its_gang_does_not_list_yet_waits_alone() -> None:
    here = CliqueAtHand(workers())
    here.gang()
    pods = here.make()
    here.gang("Initialized", podReferences=[{"namespace": "default", "name": pods[0].name}])
    assert held(here) == {"the gang does not list the pod yet": 2}
    assert here.think().gates.lifted == [pods[0].name]


def test_gates_hold_where_the_backend_says_so_whatever_else_is_true() -> None:
    here = at_hand("Scheduled")
    raw = msgspec.to_builtins(here.held.get(POD_GANG, "llm-0", "default"))
    says = {"type": "Initialized", "status": "False", "reason": "BackendNotReady", "message": "herd holds the gates"}
    raw["status"]["conditions"] = [*raw["status"]["conditions"], says]
    here.held.add(POD_GANG, raw)
    assert held(here) == {"herd holds the gates": 3}


@pytest.mark.parametrize(("base", "lifted"), [((), 0), (("Initialized",), 0), (("Scheduled",), 2)])
def test_a_scaled_gang_waits_until_its_base_gang_is_scheduled(base: tuple[str, ...], lifted: int) -> None:
    raw = pod_clique_set("llm", clique("worker", 2), groups=[group("w", ["worker"], 2, 1)])
    here = CliqueAtHand(raw, "llm-0-w-0", "llm-0-w-1-worker")
    here.gang()
    here.make()
    here.gang("Initialized")
    here.held.add(
        POD_GANG,
        {
            "metadata": {"name": "llm-0", "namespace": "default"},
            "status": {"conditions": [{"type": type, "status": "True"} for type in base]},
        },
    )
    gates = here.think().gates
    assert len(gates.lifted) == lifted
    assert list(gates.held) == ([] if lifted else ["base gang llm-0 is not scheduled yet"])


def test_surplus_waits_for_the_minimum_where_the_scheduler_knows_one_minimum_for_all() -> None:
    here = CliqueAtHand(
        workers(3, 2, "scheduler-plugins-scheduler", annotations={names.SCHEDULER_BACKEND: "coscheduling"})
    )
    here.gang(backend="coscheduling")
    here.make()
    here.gang("Initialized", backend="coscheduling")
    assert held(here) == {"the gang's minimum is not scheduled yet, and this pod is above it": 1}
    here.gang("Initialized", "Scheduled", backend="coscheduling")
    assert held(here) == {}


# --- what else a look sees to -----------------------------------------------------------------------------------------


def test_a_clique_whose_finalizer_somebody_took_off_gets_it_back_first() -> None:
    here = at_hand("Initialized")
    raw = msgspec.to_builtins(here.clique)
    raw["metadata"]["finalizers"] = []
    here.clique = here.held.add(POD_CLIQUE, raw)
    [[first], *_] = here.think().plan.stages
    assert isinstance(first, Patch)
    assert (first.kind, first.patch["metadata"]["finalizers"]) == (POD_CLIQUE, [names.CLIQUE_FINALIZER])


def test_a_clique_without_a_backend_gets_no_pod_and_says_why() -> None:
    here = CliqueAtHand(workers(scheduler="nobodys"))
    here.gang(backend="")
    assert here.steps(Create) == []
    [(code, text)] = here.think().plan.errors
    assert code == "ERR_BUILD_POD_RESOURCE"
    assert "nobodys" in text


def test_a_claim_template_that_is_not_there_stops_the_pods_and_is_named() -> None:
    raw = workers()
    raw["spec"]["template"]["cliques"][0]["resourceSharing"] = [{"name": "fabric", "scope": "AllReplicas"}]
    here = CliqueAtHand(raw)
    here.gang()
    [(code, text)] = here.think().plan.errors
    assert code == "ERR_SYNC_PCLQ_RESOURCE_CLAIM"
    assert "fabric" in text
    assert here.steps(Create) == []


def test_pods_of_a_gang_that_was_made_anew_are_led_to_its_new_group() -> None:
    here = at_hand("Initialized")
    first = here.pods[0]
    here.change(first, {"annotations": first.annotations | {names.POD_GROUP_NAME: "pg-llm-0-former"}})
    [patch] = [step for step in here.steps(Patch) if "annotations" in step.patch.get("metadata", {})]
    assert patch.name == first.name
    gang = here.held.get(POD_GANG, "llm-0", "default")
    assert gang is not None
    assert patch.patch["metadata"]["annotations"] == {names.POD_GROUP_NAME: names.kai_pod_group("llm-0", gang.uid)}


def test_nobody_is_led_anywhere_while_the_gang_goes() -> None:
    here = at_hand("Initialized")
    first = here.pods[0]
    here.change(first, {"annotations": first.annotations | {names.POD_GROUP_NAME: "pg-llm-0-former"}})
    raw = msgspec.to_builtins(here.held.get(POD_GANG, "llm-0", "default"))
    raw["metadata"]["deletionTimestamp"] = NOW
    here.held.add(POD_GANG, raw)
    assert [step for step in here.steps(Patch) if "annotations" in step.patch.get("metadata", {})] == []


def test_a_pod_in_the_place_of_one_that_failed_knows_how_many_failed_before() -> None:
    here = at_hand()
    ended = {"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": "2026-01-01T09:59:30Z"}}
    first, *_ = here.pods
    counted = {"annotations": first.annotations | {names.FAILED_BEFORE: "1"}}
    here.change(first, counted, {"nodeName": "n"}, phase="Failed", containerStatuses=[{"name": "main", "state": ended}])
    [made] = here.steps(Create)
    assert made.obj["metadata"]["annotations"][names.FAILED_BEFORE] == "2"


def test_a_pod_that_its_scheduler_gave_up_is_made_anew_when_it_is_old_enough() -> None:
    here = CliqueAtHand(workers(3, 2, "yunikorn"))
    here.gang(backend="yunikorn")
    first, *_ = here.make()
    here.gang("Initialized", backend="yunikorn")
    gave_up = here.op.registry.by_name("yunikorn").gave_up
    reason, age = next((reason, age) for reason, age in gave_up.items() if age > 0)
    here.change(first, {"creationTimestamp": "2026-01-01T00:00:00Z"}, phase="Failed", reason=reason)
    assert here.removed == [first.name]
    here.change(first, {"creationTimestamp": NOW}, phase="Failed", reason=reason)
    assert (here.removed, here.think().again) == ([], age)


def test_a_pod_that_is_not_bound_leaves_its_backend_at_once_and_a_bound_one_with_its_gang() -> None:
    here = at_hand()
    bound, waiting, _ = here.pods
    other = {names.SCHEDULER_BACKEND: "volcano"}
    here.change(bound, {"labels": bound.labels | other}, {"nodeName": "n", "schedulingGates": []}, **running())
    here.change(waiting, {"labels": waiting.labels | other})
    assert here.removed == sorted([bound.name, waiting.name]), "the gang is with kai already"


def test_an_update_removes_pods_of_the_old_template_first_when_a_clique_shrinks() -> None:
    here = at_hand("Initialized", "Scheduled")
    for pod in here.pods:
        here.change(pod, spec={"nodeName": "n", "schedulingGates": []}, **running())
    old = here.pods[0]
    here.change(old, {"labels": old.labels | {names.TEMPLATE_HASH: "old"}})
    raw = msgspec.to_builtins(here.clique)
    raw["spec"]["replicas"] = 2
    here.clique = here.held.add(POD_CLIQUE, raw)
    assert here.removed == [old.name]


def test_annotations_that_go_with_a_gate_go_when_it_is_lifted() -> None:
    here = CliqueAtHand(workers(3, 2, "default-scheduler", annotations={names.SCHEDULER_BACKEND: "kueue"}))
    here.gang(backend="kueue")
    first, *_ = here.make()
    here.gang("Initialized", "Scheduled", backend="kueue")
    [mark] = here.op.registry.by_name("kueue").held
    for notes, removed in (({mark: "x", "other": "y"}, {mark: None}), ({"other": "y"}, None)):
        here.change(first, {"annotations": notes})
        [patch] = [step for step in here.think().gates.steps if isinstance(step, Patch) and step.name == first.name]
        assert patch.patch.get("metadata", {}).get("annotations") == removed


# --- status -----------------------------------------------------------------------------------------------------------


def status(here: CliqueAtHand, *failures: tuple[str, str]) -> Raw:
    look = look_at_clique(here.held, here.clique)
    assert look is not None
    return status_after(here.op.settings.manner, look, here.think(), failures, NOW)


def shown(status: Raw, type: str) -> tuple[str, str, str] | None:
    known = [item for item in status["conditions"] if item["type"] == type]
    return (known[0]["status"], known[0]["reason"], known[0]["message"]) if known else None


def test_a_status_counts_pods_by_what_has_become_of_them() -> None:
    here = at_hand("Initialized", "Scheduled")
    runs, placed, _ = here.pods
    here.change(runs, spec={"nodeName": "n", "schedulingGates": []}, **running())
    here.change(placed, spec={"nodeName": "n", "schedulingGates": []}, **running(ready=False))
    new = status(here)
    assert (new["replicas"], new["readyReplicas"], new["scheduledReplicas"], new["updatedReplicas"]) == (3, 1, 2, 3)
    assert shown(new, "PodCliqueScheduled") == ("True", "SufficientScheduledPods", "2 pods are scheduled, 2 are needed")


def test_a_status_says_why_pods_are_held_and_then_that_none_is() -> None:
    here = at_hand()
    first = status(here)
    assert shown(first, "SchedulingGated") == ("True", "GangNotReady", "3 pods wait: gang llm-0 is not complete yet")
    raw = msgspec.to_builtins(here.clique)
    here.clique = here.held.add(POD_CLIQUE, raw | {"status": first})
    here.gang("Initialized")
    for pod in here.pods:
        here.change(pod, spec={"schedulingGates": []})
    assert shown(status(here), "SchedulingGated") == ("False", "GatesLifted", "no pod is held back")


def test_a_clique_of_which_no_pod_was_ever_held_says_nothing_of_gates() -> None:
    here = at_hand("Initialized")
    for pod in here.pods:
        here.change(pod, spec={"schedulingGates": []})
    assert shown(status(here), "SchedulingGated") is None


def test_a_generation_of_a_clique_is_observed_once_nothing_failed() -> None:
    here = at_hand("Initialized")
    assert status(here)["observedGeneration"] == 1
    failed = status(here, ("ERR_CREATE_POD", "no"))
    assert failed.get("observedGeneration") is None
    assert [(error["code"], error["description"]) for error in failed["lastErrors"]] == [("ERR_CREATE_POD", "no")]


def test_pods_fail_alike_and_are_told_of_once() -> None:
    step = Create(POD, {"metadata": {"name": "p"}}, "ERR_CREATE_POD")
    failures = [WriteFailure(step, Forbidden({"message": f"quota {number}"})) for number in range(3)]
    [(code, text)] = errors_of(failures)
    assert code == "ERR_CREATE_POD"
    assert text.startswith("cannot create Pod p: ") and text.endswith(" (and 2 more)")


def test_an_update_of_a_clique_waits_until_the_set_wrote_its_new_template() -> None:
    here = at_hand()
    raw = workers()
    raw["metadata"]["generation"] = 2
    raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = "app:2"
    progress = {"updateStartedAt": NOW, "currentlyUpdating": [{"replicaIndex": 0}]}
    here.held.add(POD_CLIQUE_SET, raw | {"status": {"currentGenerationHash": "H2", "updateProgress": progress}})
    before = here.think()
    assert before.progress is not None and before.progress["podCliqueSetGenerationHash"] == "H2"
    assert here.removed == [] and "updateEndedAt" not in before.progress

    clique = msgspec.to_builtins(here.clique)
    clique["metadata"]["labels"][names.TEMPLATE_HASH] = before.progress["podTemplateHash"]
    here.clique = here.held.add(POD_CLIQUE, clique)
    assert here.removed == sorted(pod.name for pod in here.pods)


def test_a_set_that_updates_another_replica_leaves_the_hashes_of_this_one() -> None:
    here = at_hand("Initialized")
    new = status(here)
    assert new["currentPodCliqueSetGenerationHash"] == "H1"
    assert new["currentPodTemplateHash"] == here.clique.labels[names.TEMPLATE_HASH]
    first = here.pods[0]
    here.change(first, {"labels": first.labels | {names.TEMPLATE_HASH: "old"}})
    assert "currentPodTemplateHash" not in status(here), "one pod is of another template"
