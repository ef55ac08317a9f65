"""What a look at a gang leads to: the gang lists its pods, and its scheduler gets the objects that its backend says."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api import names
from gangline.api.grove import PodGang
from gangline.api.kinds import (
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    POD_GROUP,
    QUEUE,
    VOLCANO_POD_GROUP,
    Kind,
    reference,
)
from gangline.api.meta import Raw
from gangline.operator.backends.contract import GangObject, PodGangInfo
from gangline.operator.desired.cliques import standalone_clique
from gangline.operator.desired.gangs import pod_gang
from gangline.operator.desired.layout import gang_place
from gangline.operator.gangs.look import GangObjects, look_at_gang
from gangline.operator.gangs.think import left_behind, think
from gangline.operator.gangs.translation import CREATION, sync
from gangline.operator.memory.lookups import INDEXES
from gangline.operator.operator import Operator
from gangline.operator.plan import Apply, Delete, Patch, Step, WritePlan
from gangline.rules.sets import OperatorSettings
from held_objects import HeldObjects
from operator_world import clique, pod_clique_set


class GangAtHand:
    """The gang of a set of one clique, and the pods of that."""

    def __init__(self, pods: int = 2, settings: OperatorSettings | None = None, **more: Any) -> None:
        self.op = Operator(settings or OperatorSettings())
        self.held = HeldObjects(INDEXES)
        scheduler = more.pop("scheduler", "kai-scheduler")
        raw = pod_clique_set("llm", clique("worker", 2, scheduler=scheduler), **more)
        self.pcs = self.held.add(POD_CLIQUE_SET, raw | {"status": {"currentGenerationHash": "H1"}})
        self.held.add(QUEUE, {"metadata": {"name": "default-queue"}, "spec": {}})
        place = gang_place(self.pcs, "llm-0")
        assert place is not None
        self.clique = self.held.add(POD_CLIQUE, standalone_clique(self.pcs, place.members[0]))
        chosen = self.op.registry.for_set(self.pcs).chosen
        self.gang: PodGang = self.held.add(POD_GANG, pod_gang(self.pcs, place, lambda name: (), chosen, {}))
        for number in range(pods):
            self.pod(f"p{number}")

    def pod(self, name: str, **spec: Any) -> None:
        copied = (names.POD_GANG, names.PART_OF, names.SET_REPLICA)
        labels = {key: value for key, value in self.clique.labels.items() if key in copied}
        owner = reference(POD_CLIQUE, self.clique)
        meta = {
            "name": name,
            "namespace": "default",
            "labels": labels | {names.POD_CLIQUE: self.clique.name},
            "ownerReferences": [owner],
        }
        self.held.add(POD, {"metadata": meta, "spec": spec})

    @property
    def look(self) -> GangObjects:
        look = look_at_gang(self.op, self.held, self.gang)
        assert look is not None
        return look

    def think(self) -> tuple[WritePlan, PodGangInfo, str]:
        return think(self.op, self.held, self.look)

    def steps(self, verb: type[Any]) -> list[Any]:
        return [step for stage in self.think()[0].stages for step in stage if isinstance(step, verb)]

    def carry_out(self) -> None:
        """What is planned is there."""
        plan, _, _ = self.think()
        for step in (step for stage in plan.stages for step in stage):
            if isinstance(step, Apply):
                meta = {"namespace": "default"} | step.obj["metadata"]
                self.held.add(step.kind, step.obj | {"metadata": meta})
            elif isinstance(step, Patch):
                raw = msgspec.to_builtins(self.gang)
                self.gang = self.held.add(POD_GANG, raw | {"spec": raw["spec"] | step.patch.get("spec", {})})

    def translated(self, kind: Kind[Any], name: str, owner: bool = True, **spec: Any) -> Any:
        """An object that somebody wrote for the gang, or that only has such a name."""
        mine = [reference(POD_GANG, self.gang)]
        meta: Raw = {"name": name, "namespace": "default", "ownerReferences": mine if owner else []}
        return self.held.add(kind, {"metadata": meta, "spec": spec})

    @property
    def group_name(self) -> str:
        return names.kai_pod_group("llm-0", self.gang.uid)


def test_a_gang_lists_its_pods_by_clique() -> None:
    [patch] = GangAtHand().steps(Patch)
    [group] = patch.patch["spec"]["podgroups"]
    assert (group["name"], [pod["name"] for pod in group["podReferences"]]) == ("llm-0-worker", ["p0", "p1"])


def test_its_scheduler_gets_an_object_that_the_gang_owns_and_that_says_who_made_it() -> None:
    here = GangAtHand()
    [apply] = here.steps(Apply)
    meta = apply.obj["metadata"]
    assert (apply.kind, meta["name"]) == (POD_GROUP, here.group_name)
    assert [owner["uid"] for owner in meta["ownerReferences"]] == [here.gang.uid]
    assert meta["labels"][names.MANAGED_BY] == names.GROVE_OPERATOR
    assert (meta["labels"][names.PART_OF], meta["labels"][names.SCHEDULER_BACKEND]) == ("llm", "kai")


def test_what_kubectl_noted_about_the_set_is_not_passed_on() -> None:
    [apply] = GangAtHand(annotations={names.LAST_APPLIED: "{}", "note": "x"}).steps(Apply)
    assert names.LAST_APPLIED not in apply.obj["metadata"].get("annotations", {})


def test_a_gang_whose_translation_is_there_asks_for_nothing() -> None:
    here = GangAtHand()
    here.carry_out()
    plan, _, trouble = here.think()
    assert (plan.stages, trouble) == ([], "")


def test_a_pod_that_comes_later_is_listed_too() -> None:
    here = GangAtHand(pods=1)
    here.carry_out()
    here.pod("later")
    [patch] = here.steps(Patch)
    [group] = patch.patch["spec"]["podgroups"]
    assert [pod["name"] for pod in group["podReferences"]] == ["later", "p0"]


def test_an_object_of_its_name_that_belongs_to_somebody_else_is_never_touched() -> None:
    here = GangAtHand()
    here.translated(POD_GROUP, here.group_name, owner=False)
    plan, _, trouble = here.think()
    assert [step for stage in plan.stages for step in stage if not isinstance(step, Patch)] == []
    assert trouble == f"PodGroup {here.group_name} exists and belongs to someone else; remove or rename it"
    assert [(event.reason, event.message, event.warning) for event in plan.events] == [
        ("BackendBlocked", trouble, True)
    ]


def test_a_trouble_that_the_gang_shows_already_is_no_new_event() -> None:
    here = GangAtHand()
    here.translated(POD_GROUP, here.group_name, owner=False)
    trouble = here.think()[2]
    told = [{"type": "Initialized", "status": "False", "reason": "R", "message": trouble}]
    here.gang = here.held.add(POD_GANG, msgspec.to_builtins(here.gang) | {"status": {"conditions": told}})
    assert here.think()[0].events == []


def test_what_an_earlier_backend_wrote_goes() -> None:
    here = GangAtHand()
    former = here.translated(VOLCANO_POD_GROUP, "llm-0")
    assert [(step.kind, step.uid) for step in here.steps(Delete)] == [(VOLCANO_POD_GROUP, former.uid)]


def test_a_kind_that_the_cluster_does_not_serve_is_named_with_what_to_do() -> None:
    here = GangAtHand()
    here.held.informer(POD_GROUP).revision = 0
    plan, _, trouble = here.think()
    assert trouble == (
        "this cluster does not serve podgroups.scheduling.run.ai v2alpha2: install the definitions of kai's scheduler, "
        "or choose another backend"
    )
    assert [step for stage in plan.stages for step in stage if isinstance(step, Apply)] == []


def test_a_gang_that_cannot_be_said_to_its_scheduler_is_told_as_an_event() -> None:
    here = GangAtHand(scheduler="default-scheduler", annotations={names.SCHEDULER_BACKEND: "kueue"})
    plan, _, trouble = here.think()
    assert trouble.startswith("gang llm-0 names no queue")
    assert [(event.reason, event.message) for event in plan.events] == [("KUEUEBackendMappingFailed", trouble)]


def test_a_process_of_one_backend_takes_away_what_it_wrote_for_gangs_that_left_it() -> None:
    here = GangAtHand()
    here.translated(VOLCANO_POD_GROUP, "llm-0")
    here.translated(POD_GROUP, here.group_name)
    [stage] = left_behind(here.op, here.look).stages
    assert [step.kind for step in stage] == [VOLCANO_POD_GROUP]


def test_a_gang_without_a_set_or_whose_set_goes_is_left_alone() -> None:
    here = GangAtHand()
    raw = msgspec.to_builtins(here.pcs)
    raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    gone = here.held.add(POD_CLIQUE_SET, raw)
    assert look_at_gang(here.op, here.held, here.gang) is None
    here.held.remove(POD_CLIQUE_SET, gone)
    assert look_at_gang(here.op, here.held, here.gang) is None


def test_a_gang_with_bound_pods_stays_with_its_backend_while_its_set_asks_for_another() -> None:
    here = GangAtHand()
    raw = msgspec.to_builtins(here.pcs)
    raw["metadata"]["annotations"] = {names.SCHEDULER_BACKEND: "volcano"}
    raw["metadata"]["generation"] = 2
    raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"].pop("schedulerName")
    here.pcs = here.held.add(POD_CLIQUE_SET, raw)
    assert (here.look.selection.backend.name, here.look.asked) == ("volcano", "")
    here.pod("bound", nodeName="n0")
    assert (here.look.selection.backend.name, here.look.asked) == ("kai", "volcano")


def test_pods_of_a_clique_that_was_deleted_do_not_count() -> None:
    here = GangAtHand()
    raw = msgspec.to_builtins(here.clique)
    raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    here.held.add(POD_CLIQUE, raw)
    assert (list(here.look.pods), here.look.cliques) == ([], {})


# --- how an object of the scheduler is made as it is wanted -----------------------------------------------------------

FLOCK = {"members": 2}


def planned(
    here: GangAtHand, *, metadata: bool = True, removed: bool = True, **item: Any
) -> tuple[list[list[Step]], str]:
    """The writes that make one object of Volcano's as wanted, and what stands in the way."""
    spec, labels = item.pop("spec", FLOCK), item.pop("labels", {})
    meta = {"name": "flock", "namespace": "default"} | ({"labels": labels} if labels else {})
    wanted = GangObject(VOLCANO_POD_GROUP, {"metadata": meta, "spec": spec}, **item)
    plan = WritePlan()
    trouble = sync(here.held, here.look, [wanted], plan, metadata=metadata, metadata_removed=removed)
    return plan.stages, trouble


def test_an_object_that_has_what_we_own_is_left_alone_whatever_else_it_has() -> None:
    here = GangAtHand()
    here.translated(VOLCANO_POD_GROUP, "flock", members=2, others="theirs", absent=None)
    assert planned(here) == ([], "")


def test_a_field_of_ours_that_somebody_changed_is_applied_again() -> None:
    here = GangAtHand()
    here.translated(VOLCANO_POD_GROUP, "flock", members=1)
    [[apply]] = planned(here)[0]
    assert isinstance(apply, Apply)
    assert apply.obj["spec"] == FLOCK


def test_a_field_of_ours_that_is_wanted_no_more_is_applied_away() -> None:
    here = GangAtHand()
    here.translated(VOLCANO_POD_GROUP, "flock", members=2, old=1)
    assert planned(here)[0] == []
    assert [type(step) for step in planned(here, owns=("old",))[0][0]] == [Apply]


def test_what_others_may_change_is_set_at_creation_alone() -> None:
    here = GangAtHand()
    [[made]] = planned(here, once={"spec": {"queue": "a"}})[0]
    assert isinstance(made, Apply)
    assert (made.obj["spec"], made.manager, made.force) == (FLOCK | {"queue": "a"}, CREATION, False)
    here.translated(VOLCANO_POD_GROUP, "flock", members=2, queue="b")
    assert planned(here, once={"spec": {"queue": "a"}})[0] == []


def test_what_others_may_change_stays_as_they_left_it_when_something_else_is_applied() -> None:
    here = GangAtHand()
    here.translated(VOLCANO_POD_GROUP, "flock", members=1, queue="b")
    [[ours], [theirs]] = planned(here, once={"spec": {"queue": "a"}})[0]
    assert isinstance(ours, Apply) and isinstance(theirs, Apply)
    assert (ours.obj["spec"], ours.manager) == (FLOCK, "")
    assert (theirs.obj["spec"], theirs.manager) == ({"queue": "b"}, CREATION)
    [_, [anew]] = planned(here, once={"spec": {"queue": "a"}}, again=True)[0]
    assert isinstance(anew, Apply)
    assert anew.obj["spec"] == {"queue": "a"}


def test_an_object_whose_field_cannot_change_is_deleted_and_then_made_anew() -> None:
    here = GangAtHand()
    live = here.translated(VOLCANO_POD_GROUP, "flock", members=1)
    [[step]] = planned(here, fixed=("members",))[0]
    assert isinstance(step, Delete)
    assert step.uid == live.uid
    raw = msgspec.to_builtins(live)
    raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    here.held.add(VOLCANO_POD_GROUP, raw)
    assert planned(here, fixed=("members",)) == (
        [],
        "PodGroup flock is made anew once the old one is gone; it stays while pods belong to it",
    )


def test_a_fixed_field_that_the_server_dropped_is_no_reason_to_make_it_anew() -> None:
    here = GangAtHand()
    here.translated(VOLCANO_POD_GROUP, "flock")
    assert planned(here, fixed=("members",))[0] == []


def test_an_object_that_goes_is_not_written() -> None:
    here = GangAtHand()
    raw = msgspec.to_builtins(here.translated(VOLCANO_POD_GROUP, "flock", members=1))
    raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    here.held.add(VOLCANO_POD_GROUP, raw)
    assert planned(here) == ([], "")


def test_labels_alone_are_applied_only_where_they_matter() -> None:
    here = GangAtHand()
    here.translated(VOLCANO_POD_GROUP, "flock", members=2)
    assert planned(here, labels={"a": "b"}, metadata=False)[0] == []
    [[apply]] = planned(here, labels={"a": "b"})[0]
    assert isinstance(apply, Apply)
    assert apply.obj["metadata"]["labels"] == {"a": "b"}


def test_labels_that_are_wanted_no_more_stay_in_groves_manner() -> None:
    here = GangAtHand()
    raw = msgspec.to_builtins(here.translated(VOLCANO_POD_GROUP, "flock", members=1))
    raw["metadata"]["labels"] = {"old": "x"}
    here.held.add(VOLCANO_POD_GROUP, raw)
    for removed, kept in ((True, {"a": "b"}), (False, {"old": "x", "a": "b"})):
        [[apply]] = planned(here, labels={"a": "b"}, removed=removed)[0]
        assert isinstance(apply, Apply)
        assert apply.obj["metadata"]["labels"] == kept
