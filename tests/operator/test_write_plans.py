"""What a look writes: only what differs, with times that move only when something does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api.grove import LastError, PodClique
from gangline.api.kinds import POD_CLIQUE, SERVICE
from gangline.api.meta import Condition, Raw
from gangline.errors import AlreadyExists, Conflict, NotFound
from gangline.operator.act import WriteFailure, in_short, joined
from gangline.operator.plan import Create, EventNote, Patch, WritePlan, changed, with_condition
from gangline.operator.status import LONGEST, as_choice, chosen_so_far, ended, error_list, status_patch, update_open
from gangline.rules.values.merge_patch import merge_patch, patch_between

NOW, BEFORE = "2026-01-01T10:00:00Z", "2026-01-01T09:00:00Z"


def live(**more: Any) -> PodClique:
    meta = {"name": "c", "namespace": "default", "resourceVersion": "7"} | more.pop("metadata", {})
    return msgspec.convert({"metadata": meta, **more}, PodClique)


# --- patches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {}, {"a": None}),
        ({}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        ({"a": [1, 2]}, {"a": [1]}, {"a": [1]}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_a_merge_patch_says_what_differs(before: Raw, after: Raw, patch: Raw) -> None:
    assert patch_between(before, after) == patch
    assert merge_patch(before, patch) == after, "applied, it gives what was wanted"


def test_an_object_that_is_as_wanted_needs_no_patch() -> None:
    there = live(spec={"roleName": "r", "replicas": 2})
    assert changed(POD_CLIQUE, there, {"metadata": {"name": "c"}, "spec": {"roleName": "r", "replicas": 2}}) is None


def test_fields_that_nobody_asks_for_any_more_are_removed() -> None:
    there = live(spec={"roleName": "r", "startsAfter": ["a"]})
    wanted = {"metadata": {"name": "c"}, "spec": {"roleName": "r"}}
    assert changed(POD_CLIQUE, there, wanted) == {"spec": {"startsAfter": None}}


def test_a_label_is_set_and_one_that_is_wanted_no_more_is_taken_away() -> None:
    there = live(metadata={"labels": {"a": "1", "old": "x"}})
    wanted = {"metadata": {"name": "c", "labels": {"a": "2"}}, "spec": {}}
    assert changed(POD_CLIQUE, there, wanted) == {"metadata": {"labels": {"a": "2", "old": None}}}


def test_what_is_wanted_empty_is_no_difference_from_nothing() -> None:
    there = msgspec.convert({"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}}}, SERVICE.type)
    assert changed(SERVICE, there, {"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}}}) is None


def test_an_empty_stage_is_none() -> None:
    plan = WritePlan()
    plan.stage([])
    plan.stage([Patch(POD_CLIQUE, "c", "default", {})])
    assert (len(plan.stages), plan.writes) == (1, 1)


# --- conditions -------------------------------------------------------------------------------------------------------

OLD = Condition(type="Ready", status="False", reason="Waits", message="1 of 2", last_transition_time=BEFORE)


@pytest.mark.parametrize(
    ("status", "reason", "message", "since"),
    [
        ("False", "Waits", "1 of 2", BEFORE),
        ("False", "Waits", "0 of 2", BEFORE),
        ("False", "Stuck", "1 of 2", BEFORE),
        ("True", "Waits", "1 of 2", NOW),
    ],
)
def test_a_transition_time_moves_only_with_the_status(status: str, reason: str, message: str, since: str) -> None:
    new = Condition(type="Ready", status=status, reason=reason, message=message)
    assert with_condition((OLD,), new, NOW)["lastTransitionTime"] == since


def test_a_first_condition_dates_from_now() -> None:
    new = Condition(type="Scheduled", status="True", reason="R", message="m")
    assert with_condition((OLD,), new, NOW) == {
        "type": "Scheduled",
        "status": "True",
        "reason": "R",
        "message": "m",
        "lastTransitionTime": NOW,
    }


# --- statuses ---------------------------------------------------------------------------------------------------------


def test_a_status_that_says_the_same_is_not_written() -> None:
    there = live(status={"replicas": 2, "readyReplicas": 1})
    assert status_patch(there, {"replicas": 2, "readyReplicas": 1}) is None


def test_a_status_is_written_with_what_differs_and_without_what_is_gone() -> None:
    there = live(status={"replicas": 2, "hpaPodSelector": "a=b"})
    assert status_patch(there, {"replicas": 3}) == {"status": {"replicas": 3, "hpaPodSelector": None}}


def test_an_error_that_is_still_there_keeps_the_time_at_which_it_was_first_seen() -> None:
    known = (LastError(code="E", description="broken", observed_at=BEFORE),)
    assert error_list(known, [("E", "broken"), ("F", "new")], NOW) == [
        {"code": "E", "description": "broken", "observedAt": BEFORE},
        {"code": "F", "description": "new", "observedAt": NOW},
    ]


def test_errors_are_told_once_shortened_and_only_with_a_code() -> None:
    told = error_list((), [("E", "x" * 2000), ("E", "x" * 2000), ("", "nobody asks")], NOW)
    assert [(error["code"], len(error["description"])) for error in told] == [("E", LONGEST)]


def test_errors_that_are_over_go_unless_they_linger() -> None:
    known = (LastError(code="E", description="broken", observed_at=BEFORE),)
    assert error_list(known, [], NOW) == []
    assert [error["observedAt"] for error in error_list(known, [], NOW, linger=True)] == [BEFORE]


# --- progress of an update --------------------------------------------------------------------------------------------


def test_an_update_is_open_from_its_start_until_its_end() -> None:
    assert [update_open(progress) for progress in (None, {}, {"updateEndedAt": ""}, {"updateEndedAt": NOW})] == [
        False,
        True,
        True,
        False,
    ]
    assert ended({"updateStartedAt": BEFORE, "chosen": 1}, "chosen", NOW) == {
        "updateStartedAt": BEFORE,
        "updateEndedAt": NOW,
    }


@pytest.mark.parametrize("chosen", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_what_was_chosen_is_read_back_in_order(chosen: list[str]) -> None:
    written = as_choice(chosen)
    assert written["current"] == chosen[-1]
    assert chosen_so_far(written) == chosen
    assert chosen_so_far(None) == []


# --- failures and events ----------------------------------------------------------------------------------------------


def create(**more: str) -> Create:
    return Create(POD_CLIQUE, {"metadata": {"name": "c", "namespace": "default"}}, "E_CREATE", **more)


def test_a_conflict_only_means_that_the_view_was_old() -> None:
    patch = Patch(POD_CLIQUE, "c", "default", {})
    assert WriteFailure(patch, Conflict({"message": "changed"})).stale
    assert WriteFailure(patch, NotFound({"message": "gone"})).stale
    assert not WriteFailure(create(), NotFound({"message": "no such kind"})).stale
    assert not WriteFailure(create(), AlreadyExists({"message": "taken"})).stale


def test_a_name_that_somebody_else_has_is_told_by_a_code_of_its_own() -> None:
    taken = AlreadyExists({"message": 'podcliques "c" already exists'})
    assert WriteFailure(create(taken="E_TAKEN"), taken).code == "E_TAKEN"
    assert WriteFailure(create(), taken).code == "E_CREATE"
    assert WriteFailure(create(taken="E_TAKEN"), Conflict({"message": "changed"})).code == "E_CREATE"


def test_a_kind_that_nobody_serves_is_told_with_what_may_be_missing() -> None:
    text = str(WriteFailure(create(), NotFound({"message": "the server could not find it"})))
    assert text.startswith("cannot create PodClique c: ")
    assert text.endswith("; is its CustomResourceDefinition installed?")


def test_many_failures_are_told_in_one_line() -> None:
    failures = [WriteFailure(create(), Conflict({"message": f"no {number}"})) for number in range(11)]
    assert in_short(failures).count("cannot create") == 8
    assert in_short(failures).endswith("; and 3 more")


def test_equal_events_of_one_look_are_one_event() -> None:
    clique, other = live(metadata={"uid": "1"}), live(metadata={"uid": "2"})
    notes = [EventNote(POD_CLIQUE, clique, "Made", f"made pod {number}") for number in range(3)]
    notes += [EventNote(POD_CLIQUE, other, "Made", "made pod x"), EventNote(POD_CLIQUE, clique, "Lost", "l", True)]
    assert [(note.obj.uid, note.message) for note in joined(notes)] == [
        ("1", "made pod 0; made pod 1; made pod 2"),
        ("2", "made pod x"),
        ("1", "l"),
    ]
