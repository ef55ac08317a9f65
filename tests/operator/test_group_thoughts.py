"""What a look at a scaling group leads to, and what its status says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api import names
from gangline.api.grove import PodCliqueScalingGroup
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET, SCALING_GROUP
from gangline.api.meta import Raw
from gangline.config import NATIVE
from gangline.operator.groups.look import ScalingGroupObjects, look_at_group
from gangline.operator.groups.tell import status_after
from gangline.operator.groups.think import think
from gangline.operator.memory.lookups import INDEXES
from gangline.operator.plan import Create, Delete, Patch, WritePlan
from gangline.operator.sets.scaling_groups import scaling_group
from gangline.rules.values.times import seconds_of
from held_objects import HeldObjects
from operator_world import clique, group, pod_clique_set

NOW = "2026-01-01T10:00:00Z"
MOMENT = seconds_of(NOW)
PLACED = {"type": "PodCliqueScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"}


class GroupAtHand:
    """A scaling group of a set, and its cliques."""

    def __init__(self, replicas: int = 2, minimum: int = 1, **more: Any) -> None:
        config = group("w", ["lead", "worker"], replicas, minimum, **more.pop("config", {}))
        raw = pod_clique_set("llm", clique("lead", 1), clique("worker", 2), groups=[config], **more)
        self.held = HeldObjects(INDEXES)
        self.pcs = self.held.add(POD_CLIQUE_SET, raw | {"status": {"currentGenerationHash": "H1"}})
        wanted = scaling_group(self.pcs, 0, self.pcs.spec.template.pod_clique_scaling_groups[0], None)
        self.group: PodCliqueScalingGroup = self.held.add(SCALING_GROUP, wanted)

    @property
    def look(self) -> ScalingGroupObjects:
        look = look_at_group(self.held, self.group)
        assert look is not None
        return look

    def scale(self, replicas: int) -> None:
        raw = msgspec.to_builtins(self.group)
        raw["spec"]["replicas"] = replicas
        self.group = self.held.add(SCALING_GROUP, raw)

    def plan(self, progress: Raw | None = None) -> WritePlan:
        return self.think(progress)[0]

    def think(self, progress: Raw | None = None) -> tuple[WritePlan, Raw | None, float | None]:
        return think(self.held, self.look, progress, MOMENT, NOW)

    def make(self) -> None:
        for step in self.steps(Create):
            self.held.add(POD_CLIQUE, step.obj)

    def steps(self, verb: type[Any], progress: Raw | None = None) -> list[Any]:
        return [step for stage in self.plan(progress).stages for step in stage if isinstance(step, verb)]

    def change(self, name: str, labels: Raw | None = None, **status: Any) -> None:
        raw = msgspec.to_builtins(self.held.get(POD_CLIQUE, name, "default"))
        raw["metadata"] |= {
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": raw["metadata"]["labels"] | (labels or {}),
        }
        self.held.add(POD_CLIQUE, raw | {"status": raw.get("status", {}) | status})

    def run(self, *names: str, **status: Any) -> None:
        """These cliques run the present template."""
        for name in names:
            live = self.held.get(POD_CLIQUE, name, "default")
            assert live is not None
            size, hash = live.spec.replicas, live.labels["grove.io/pod-template-hash"]
            shown: Raw = {
                "replicas": size,
                "readyReplicas": size,
                "updatedReplicas": size,
                "scheduledReplicas": size,
                "conditions": [PLACED, {"type": "MinAvailableBreached", "status": "False"}],
                "currentPodTemplateHash": hash,
                "currentPodCliqueSetGenerationHash": "H1",
            }
            self.change(name, **(shown | status))

    def status(self) -> Raw:
        return status_after(NATIVE, self.look, None, (), NOW)


FIRST = ("llm-0-w-0-lead", "llm-0-w-0-worker")
SECOND = ("llm-0-w-1-lead", "llm-0-w-1-worker")


def whole(**more: Any) -> GroupAtHand:
    here = GroupAtHand(**more)
    here.make()
    return here


# --- what is made and removed -----------------------------------------------------------------------------------------


def test_every_clique_of_every_replica_is_made_with_the_gang_it_belongs_to() -> None:
    made = [step.obj["metadata"] for step in GroupAtHand().steps(Create)]
    assert [(meta["name"], meta["labels"][names.POD_GANG]) for meta in made] == [
        ("llm-0-w-0-lead", "llm-0"),
        ("llm-0-w-0-worker", "llm-0"),
        ("llm-0-w-1-lead", "llm-0-w-0"),
        ("llm-0-w-1-worker", "llm-0-w-0"),
    ]
    assert [meta["labels"].get(names.BASE_POD_GANG) for meta in made] == [None, None, "llm-0", "llm-0"]


def test_a_group_that_is_whole_asks_for_nothing() -> None:
    assert whole().steps(object) == []


def test_a_group_whose_finalizer_somebody_took_off_gets_it_back_first() -> None:
    here = whole()
    raw = msgspec.to_builtins(here.group)
    raw["metadata"] |= {"finalizers": []}
    here.group = here.held.add(SCALING_GROUP, raw)
    [[step]] = here.plan().stages
    assert isinstance(step, Patch)
    assert step.patch["metadata"] == {
        "finalizers": [names.SCALING_GROUP_FINALIZER],
        "resourceVersion": here.group.metadata.resource_version,
    }


def test_a_clique_that_somebody_deleted_is_made_again() -> None:
    here = whole()
    live = here.held.get(POD_CLIQUE, "llm-0-w-1-lead", "default")
    assert live is not None
    here.held.remove(POD_CLIQUE, live)
    assert [step.name for step in here.steps(Create)] == ["llm-0-w-1-lead"]
    assert [event.message for event in here.plan().events] == ["created PodClique llm-0-w-1-lead"]


def test_a_group_scaled_down_loses_its_highest_replicas_first() -> None:
    here = whole(replicas=3)
    here.scale(1)
    assert [step.name for step in here.steps(Delete)] == [
        "llm-0-w-2-lead",
        "llm-0-w-2-worker",
        "llm-0-w-1-lead",
        "llm-0-w-1-worker",
    ]
    assert [event.message for event in here.plan().events] == ["deleted replica 2", "deleted replica 1"]


def test_a_changed_template_is_written_at_once_only_under_on_delete() -> None:
    for strategy, changed in (("", []), ("OnDelete", ["llm-0-w-0-lead"])):
        here = whole(replicas=1, strategy=strategy)
        here.change("llm-0-w-0-lead", {"grove.io/pod-template-hash": "old"})
        assert [step.name for step in here.steps(Patch) if step.kind is POD_CLIQUE] == changed


def test_an_external_template_of_a_claim_that_is_missing_stops_the_group_and_is_named() -> None:
    here = GroupAtHand(config={"resourceSharing": [{"name": "fabric", "scope": "AllReplicas"}]})
    plan, _, wait = here.think()
    [(code, text)] = plan.errors
    assert (code, wait) == ("ERR_SYNC_PCSG_RESOURCE_CLAIM", None)
    assert "fabric" in text
    assert here.steps(Create) == []


# --- below the minimum ------------------------------------------------------------------------------------------------


def breach(here: GroupAtHand, name: str, since: str) -> None:
    broken = {"type": "MinAvailableBreached", "status": "True", "lastTransitionTime": since}
    here.run(name, conditions=[PLACED, broken], readyReplicas=0)


def test_a_replica_in_breach_for_longer_than_the_delay_goes_alone_while_the_group_keeps_its_minimum() -> None:
    here = whole(terminationDelay="10m")
    here.run(*FIRST, *SECOND)
    breach(here, "llm-0-w-1-worker", "2026-01-01T09:50:00Z")
    assert [step.name for step in here.steps(Delete)] == list(SECOND)


def test_a_replica_in_breach_is_looked_at_again_when_its_delay_is_over() -> None:
    here = whole(terminationDelay="10m")
    here.run(*FIRST, *SECOND)
    breach(here, "llm-0-w-1-worker", "2026-01-01T09:55:00Z")
    assert (here.steps(Delete), here.think()[2]) == ([], 300.0)


def test_a_group_at_its_minimum_leaves_the_judgement_to_its_set() -> None:
    here = whole(minimum=2, terminationDelay="10m")
    here.run(*FIRST, *SECOND)
    breach(here, "llm-0-w-1-worker", "2026-01-01T09:00:00Z")
    assert (here.steps(Delete), here.think()[2]) == ([], None)


# --- updates ----------------------------------------------------------------------------------------------------------

OPEN = {"updateStartedAt": NOW, "podCliqueSetGenerationHash": "H1"}


def outdated(here: GroupAtHand, *names: str) -> None:
    for name in names:
        here.change(name, {"grove.io/pod-template-hash": "old"})


def test_an_update_gives_up_one_running_replica_and_waits_for_it() -> None:
    here = whole()
    here.run(*FIRST, *SECOND)
    outdated(here, *FIRST, *SECOND)
    raw = msgspec.to_builtins(here.group)
    raw["status"] = {"availableReplicas": 2}
    here.group = here.held.add(SCALING_GROUP, raw)
    plan, progress, _ = here.think(OPEN)
    assert [step.name for stage in plan.stages for step in stage if isinstance(step, Delete)] == list(FIRST)
    assert progress == OPEN | {"readyReplicaIndicesSelectedToUpdate": {"current": 0}}


def test_a_breach_ends_nothing_while_an_update_is_open() -> None:
    here = whole(terminationDelay="10m")
    here.run(*FIRST, *SECOND)
    breach(here, "llm-0-w-1-worker", "2026-01-01T00:00:00Z")
    assert here.steps(Delete, OPEN) == []


# --- status -----------------------------------------------------------------------------------------------------------


def counts(status: Raw) -> tuple[int, int, int, int]:
    kinds = ("replicas", "scheduledReplicas", "availableReplicas", "updatedReplicas")
    replicas, scheduled, available, updated = (status[kind] for kind in kinds)
    return replicas, scheduled, available, updated


def test_a_replica_counts_when_all_of_its_cliques_do() -> None:
    here = whole()
    assert counts(here.status()) == (2, 0, 0, 0)
    here.run(*FIRST, "llm-0-w-1-lead")
    assert counts(here.status()) == (2, 1, 1, 1)
    here.run("llm-0-w-1-worker", readyReplicas=1)
    assert counts(here.status()) == (2, 2, 1, 1)
    here.run("llm-0-w-1-worker", currentPodTemplateHash="old")
    assert counts(here.status()) == (2, 2, 2, 1)


def test_a_replica_with_a_clique_missing_counts_nowhere() -> None:
    here = whole()
    here.run(*FIRST, *SECOND)
    live = here.held.get(POD_CLIQUE, "llm-0-w-0-lead", "default")
    assert live is not None
    here.held.remove(POD_CLIQUE, live)
    assert counts(here.status()) == (2, 1, 1, 1)


def breach_of(status: Raw) -> tuple[str, str, str]:
    [condition] = [item for item in status["conditions"] if item["type"] == "MinAvailableBreached"]
    return condition["status"], condition["reason"], condition["message"]


def test_a_group_is_in_breach_below_its_minimum_and_says_how_many_replicas_it_needs() -> None:
    here = whole(minimum=2)
    here.run(*FIRST)
    assert breach_of(here.status()) == (
        "True",
        "InsufficientAvailablePodCliqueScalingGroupReplicas",
        "1 replicas are whole and not in breach, 2 are needed",
    )
    here.run(*SECOND)
    assert breach_of(here.status()) == (
        "False",
        "SufficientAvailablePodCliqueScalingGroupReplicas",
        "2 replicas are whole and not in breach, 2 are needed",
    )


def test_a_first_breach_has_been_there_since_the_group_was_made() -> None:
    here = whole()
    raw = msgspec.to_builtins(here.group)
    raw["metadata"] |= {"creationTimestamp": "2026-01-01T00:00:00Z"}
    here.group = here.held.add(SCALING_GROUP, raw)
    [condition] = here.status()["conditions"]
    assert (condition["status"], condition["lastTransitionTime"]) == ("True", "2026-01-01T00:00:00Z")


@pytest.mark.parametrize("updated", [True, False])
def test_a_group_shows_the_hash_of_its_set_once_every_clique_has_it(updated: bool) -> None:
    here = whole()
    here.run(*FIRST, *SECOND)
    if not updated:
        here.run("llm-0-w-1-lead", currentPodCliqueSetGenerationHash="H0")
    assert here.status().get("currentPodCliqueSetGenerationHash") == ("H1" if updated else None)


def test_a_group_whose_set_was_not_looked_at_yet_waits() -> None:
    here = GroupAtHand()
    raw = msgspec.to_builtins(here.pcs)
    raw["status"] = {}
    here.held.add(POD_CLIQUE_SET, raw)
    assert look_at_group(here.held, here.group) is None
