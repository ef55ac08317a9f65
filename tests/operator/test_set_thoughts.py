"""What a look at a set leads to: which writes, in which stages, and none where all is as wanted."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP, SECRET, SERVICE
from gangline.api.meta import Raw
from gangline.operator.memory.lookups import INDEXES
from gangline.operator.operator import Operator
from gangline.operator.plan import Apply, Create, Delete, Patch, Step, WritePlan
from gangline.operator.sets.look import due_terminations, look_at_set
from gangline.operator.sets.think import think
from gangline.rules.sets import OperatorSettings
from gangline.rules.values.times import seconds_of
from held_objects import HeldObjects
from operator_world import clique, group, pod_clique_set

NOW = "2026-01-01T10:00:00Z"
MOMENT = seconds_of(NOW)


class SetAtHand:
    """A set and what is there of it."""

    def __init__(self, raw: Raw, settings: OperatorSettings | None = None) -> None:
        self.op = Operator(settings or OperatorSettings())
        self.held = HeldObjects(INDEXES)
        self.pcs: PodCliqueSet = self.held.add(POD_CLIQUE_SET, raw)

    def change(self, raw: Raw, **status: Any) -> None:
        """The set as somebody wants it now."""
        meta = raw["metadata"] | {"generation": self.pcs.metadata.generation + 1}
        self.pcs = self.held.add(POD_CLIQUE_SET, raw | {"metadata": meta, "status": status})

    def plan(self) -> WritePlan:
        look = look_at_set(self.op, self.held, self.pcs)
        look.terminations = due_terminations(look, MOMENT)
        return think(self.op, self.held, look, NOW)

    def carry_out(self) -> None:
        """Whatever is planned to be made is there."""
        for step in steps(self.plan(), Create):
            if step.kind is not SECRET:
                self.held.add(step.kind, step.obj)


def steps(plan: WritePlan, verb: type[Any]) -> list[Any]:
    return [step for stage in plan.stages for step in stage if isinstance(step, verb)]


def named(plan: WritePlan, verb: type[Create | Patch | Apply | Delete]) -> list[str]:
    return [f"{step.kind.kind} {step.name}" for step in steps(plan, verb) if step.kind is not SECRET]


def stages(plan: WritePlan) -> list[list[str]]:
    def text(step: Step) -> str:
        return f"{type(step).__name__.lower()} {step.kind.kind} {step.name}"

    return [[text(step) for step in stage] for stage in plan.stages]


def llm(replicas: int = 1, **template: Any) -> Raw:
    """A router, and workers of one clique in a group of two replicas of which one must run."""
    groups = template.pop("groups", [group("w", ["worker"], 2, 1)])
    return pod_clique_set("llm", clique("router", 1), clique("worker", 2), groups=groups, replicas=replicas, **template)


def test_a_new_set_gets_its_accounts_and_services_then_its_cliques_then_its_groups_and_gangs() -> None:
    assert stages(SetAtHand(llm()).plan()) == [
        [
            "create Secret llm-ic-sat",
            "patch PodCliqueSet llm",
            "create ServiceAccount llm",
            "create Role grove.io:pcs:llm",
            "create RoleBinding grove.io:pcs:llm",
            "create Service llm-0",
        ],
        ["create PodClique llm-0-router"],
        ["create PodCliqueScalingGroup llm-0-w", "create PodGang llm-0", "create PodGang llm-0-w-0"],
    ]


def test_users_hear_of_each_clique_and_group_that_is_made() -> None:
    events = [(event.reason, event.message) for event in SetAtHand(llm()).plan().events]
    assert events == [
        ("PodCliqueCreateSuccessful", "created PodClique llm-0-router"),
        ("PodCliqueScalingGroupCreateSuccessful", "created scaling group llm-0-w"),
    ]


def test_what_is_as_wanted_is_not_written_again() -> None:
    at_hand = SetAtHand(llm(replicas=2))
    at_hand.carry_out()
    again = at_hand.plan()
    assert (named(again, Create), named(again, Delete), again.events) == ([], [], [])
    assert named(again, Patch) == ["PodCliqueSet llm"], "the finalizer was not written"


def test_a_set_that_grows_gets_one_more_replica_of_everything() -> None:
    at_hand = SetAtHand(llm())
    at_hand.carry_out()
    at_hand.change(llm(replicas=2))
    assert named(at_hand.plan(), Create) == [
        "Service llm-1",
        "PodClique llm-1-router",
        "PodCliqueScalingGroup llm-1-w",
        "PodGang llm-1",
        "PodGang llm-1-w-0",
    ]


def test_a_set_that_shrinks_loses_the_highest_replica_whole() -> None:
    at_hand = SetAtHand(llm(replicas=2))
    at_hand.carry_out()
    at_hand.change(llm())
    assert named(at_hand.plan(), Delete) == [
        "Service llm-1",
        "PodClique llm-1-router",
        "PodCliqueScalingGroup llm-1-w",
        "PodGang llm-1",
        "PodGang llm-1-w-0",
    ]


def test_what_is_on_its_way_out_is_not_deleted_twice() -> None:
    at_hand = SetAtHand(llm(replicas=2))
    at_hand.carry_out()
    at_hand.change(llm())
    for step in steps(at_hand.plan(), Delete):
        live = at_hand.held.get(step.kind, step.name, step.namespace)
        assert live is not None
        raw = msgspec.to_builtins(live)
        raw["metadata"] |= {"deletionTimestamp": NOW}
        at_hand.held.add(step.kind, raw)
    assert named(at_hand.plan(), Delete) == []


def test_somebody_who_changed_a_child_is_overruled_and_a_size_that_was_scaled_stays() -> None:
    at_hand = SetAtHand(llm())
    at_hand.carry_out()
    live = msgspec.to_builtins(at_hand.held.get(POD_CLIQUE, "llm-0-router", "default"))
    live["spec"] |= {"replicas": 5, "roleName": "other"}
    at_hand.held.add(POD_CLIQUE, live)
    [patch] = [step for step in steps(at_hand.plan(), Patch) if step.kind is POD_CLIQUE]
    assert patch.patch == {"spec": {"roleName": "router"}}


def test_a_group_that_was_scaled_up_gets_a_gang_for_each_replica_above_its_minimum() -> None:
    at_hand = SetAtHand(llm())
    at_hand.carry_out()
    scale(at_hand, 4)
    assert named(at_hand.plan(), Create) == ["PodGang llm-0-w-1", "PodGang llm-0-w-2"]
    scale(at_hand, 1)
    assert named(at_hand.plan(), Delete) == ["PodGang llm-0-w-0"]


def scale(at_hand: SetAtHand, replicas: int) -> None:
    live = msgspec.to_builtins(at_hand.held.get(SCALING_GROUP, "llm-0-w", "default"))
    live["spec"]["replicas"] = replicas
    at_hand.held.add(SCALING_GROUP, live)


def test_a_group_that_the_set_has_no_more_goes_with_its_gangs() -> None:
    at_hand = SetAtHand(llm())
    at_hand.carry_out()
    at_hand.change(pod_clique_set("llm", clique("router", 1)))
    assert named(at_hand.plan(), Delete) == ["PodCliqueScalingGroup llm-0-w", "PodGang llm-0-w-0"]


def test_gangs_are_made_empty_and_labelled_with_their_backend() -> None:
    gangs = [step.obj for step in steps(SetAtHand(llm()).plan(), Create) if step.kind is POD_GANG]
    assert [gang["metadata"]["labels"][names.SCHEDULER_BACKEND] for gang in gangs] == ["kai", "kai"]
    assert [(item["name"], item["podReferences"]) for gang in gangs for item in gang["spec"]["podgroups"]] == [
        ("llm-0-router", []),
        ("llm-0-w-0-worker", []),
        ("llm-0-w-1-worker", []),
    ]


def test_a_set_without_a_backend_gets_cliques_and_no_gang_and_the_error_says_which_schedulers_there_are() -> None:
    unknown = pod_clique_set("llm", clique("router", 1, scheduler="nobodys"))
    plan = SetAtHand(unknown).plan()
    assert "PodClique llm-0-router" in named(plan, Create)
    assert not [name for name in named(plan, Create) if name.startswith("PodGang")]
    [(code, text)] = plan.errors
    assert code == "ERR_CREATE_OR_PATCH_PODGANG"
    assert "nobodys" in text


def test_a_base_gang_with_more_groups_than_an_object_holds_is_an_error_and_stops_the_cliques() -> None:
    plan = SetAtHand(llm(groups=[group("w", ["worker"], 6000, 6000)])).plan()
    assert plan.errors == [
        (
            "ERR_CREATE_OR_PATCH_PODGANG",
            "the base gang of each replica would have 6001 groups, and at most 5000 fit into a PodGang: lower "
            "minAvailable of the set's scaling groups",
        )
    ]
    assert not [name for name in named(plan, Create) if name.startswith("PodClique")]


# --- replicas below their minimum -------------------------------------------------------------------------------------


def breached(at_hand: SetAtHand, name: str, since: str) -> None:
    """A clique that ran, and fell below its minimum then."""
    live = msgspec.to_builtins(at_hand.held.get(POD_CLIQUE, name, "default"))
    live["metadata"] |= {"creationTimestamp": "2026-01-01T00:00:00Z"}
    live["status"] = {
        "conditions": [
            {"type": "PodCliqueScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"},
            {"type": "MinAvailableBreached", "status": "True", "lastTransitionTime": since},
        ]
    }
    at_hand.held.add(POD_CLIQUE, live)


def test_a_replica_below_its_minimum_for_longer_than_the_delay_is_ended_as_a_gang() -> None:
    at_hand = SetAtHand(llm(replicas=2, terminationDelay="10m"))
    at_hand.carry_out()
    breached(at_hand, "llm-1-router", "2026-01-01T09:50:00Z")
    plan = at_hand.plan()
    assert named(plan, Delete) == ["PodClique llm-1-router"]
    [mark] = [step for step in steps(plan, Patch) if step.kind is SCALING_GROUP]
    assert (mark.name, mark.subresource) == ("llm-1-w", "status")
    assert [(item["type"], item["status"], item["reason"]) for item in mark.patch["status"]["conditions"]] == [
        ("GangTerminationInProgress", "True", "GangTerminationActive")
    ]
    assert plan.events[-1].message == ("replica 1 was below its minimum for longer than 10m; its cliques start again")


def test_a_replica_below_its_minimum_lives_until_the_delay_is_over() -> None:
    at_hand = SetAtHand(llm(terminationDelay="10m"))
    at_hand.carry_out()
    breached(at_hand, "llm-0-router", "2026-01-01T09:50:01Z")
    look = look_at_set(at_hand.op, at_hand.held, at_hand.pcs)
    assert due_terminations(look, MOMENT).wait == 1.0
    assert named(at_hand.plan(), Delete) == []


def test_a_set_that_says_so_is_left_below_its_minimum() -> None:
    at_hand = SetAtHand(llm(terminationDelay="10m", annotations={names.GANG_TERMINATION: "disabled"}))
    at_hand.carry_out()
    breached(at_hand, "llm-0-router", "2026-01-01T00:00:00Z")
    assert named(at_hand.plan(), Delete) == []


# --- services ---------------------------------------------------------------------------------------------------------


def test_a_service_that_somebody_changed_is_put_right() -> None:
    at_hand = SetAtHand(llm())
    at_hand.carry_out()
    service = msgspec.to_builtins(at_hand.held.get(SERVICE, "llm-0", "default"))
    service["spec"]["publishNotReadyAddresses"] = False
    at_hand.held.add(SERVICE, service)
    [patch] = [step for step in steps(at_hand.plan(), Patch) if step.kind is SERVICE]
    assert patch.patch == {"spec": {"publishNotReadyAddresses": True}}
