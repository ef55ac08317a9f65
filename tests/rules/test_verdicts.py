"""What people read of a verdict calls gangs as they do."""

from __future__ import annotations

import json

import msgspec
import pytest

from gangline.api import names
from gangline.api.builtin import Job
from gangline.api.grove import PodGang
from gangline.api.kai import PodGroup
from gangline.rules.gangs.evictions import prospects
from gangline.rules.verdicts import group_of, of_gang, of_group, renamed


def test_the_names_of_pod_groups_become_those_that_users_know_and_nothing_else_changes() -> None:
    titles = {"pg-train-7f3a": "train", "pg-llm-0-91": "llm-0"}
    told = (
        "waits: 8 GPUs short\n  would start if   pg-train-7f3a (2 pods) ended\n"
        "              or   pg-llm-0-91 and pg-llm-0-911 gave back 4.5 GPUs"
    )
    assert renamed(told, titles) == told.replace("pg-train-7f3a", "train").replace("pg-llm-0-91 ", "llm-0 ")


def evicted_group(phase: str, owner: str = "Job") -> PodGroup:
    note = {"action": "reclaim", "at": "2026-01-01T00:00:00Z", "by": "work/claim", "pods": 4, "of": 4}
    return msgspec.convert(
        {
            "metadata": {
                "name": "pg-train",
                "namespace": "work",
                "annotations": {"gangline.io/last-eviction": json.dumps(note)},
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": owner, "name": "train", "uid": "u"}],
            },
            "status": {"conditions": [{"type": "Phase", "status": "True", "reason": phase, "message": "so it is"}]},
        },
        PodGroup,
    )


def test_a_gang_without_a_verdict_says_how_far_it_has_come() -> None:
    assert of_group(evicted_group("Running"), "train").text == "train is Running: so it is"


def test_whether_an_evicted_gang_comes_back() -> None:
    failed = msgspec.convert(
        {"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}}, Job
    )
    assert prospects(Job(), "Job", waits=False) == "it comes back by itself when there is room for it"
    assert prospects(None, "PodGang", waits=True) == "it comes back by itself when there is room for it"
    assert prospects(None, "RayJob", waits=False) == "it comes back when its RayJob makes its pods again"
    assert prospects(failed, "Job", waits=False) == (
        "it does not come back: its Job failed (BackoffLimitExceeded); a podFailurePolicy that ignores "
        "DisruptionTarget keeps evictions from counting as failures"
    )


def gang(phase: str = "", **conditions: tuple[str, str, str]) -> PodGang:
    listed = [
        {"type": type, "status": status, "reason": reason, "message": message}
        for type, (status, reason, message) in conditions.items()
    ]
    meta = {"name": "llm-0", "namespace": "work", "uid": "gang-uid"}
    return msgspec.convert({"metadata": meta, "status": {"phase": phase, "conditions": listed}}, PodGang)


def group_with_verdict(*owners: str) -> PodGroup:
    references = [{"apiVersion": "v1", "kind": "X", "name": uid, "uid": uid} for uid in owners]
    verdict = json.dumps({"headline": "waits: pg-llm-0 needs 8 GPUs"})
    meta = {"name": "pg-llm-0", "namespace": "work", "annotations": {names.VERDICT: verdict}}
    return msgspec.convert({"metadata": meta | {"ownerReferences": references}}, PodGroup)


def test_the_group_of_a_gang_is_the_one_that_has_it_among_its_owners() -> None:
    mine = group_with_verdict("somebody", "gang-uid")
    assert group_of(gang(), [group_with_verdict("somebody"), group_with_verdict(), mine]) is mine
    assert group_of(gang(), [group_with_verdict("somebody")]) is None


HELD = ("False", "BackendNotReady", "backend kueue holds the gates: no quota")


@pytest.mark.parametrize(
    ("waiting", "text"),
    [
        (gang(), "waits: llm-0 needs 8 GPUs"),
        (gang(Initialized=("True", "PodGangPodsCreated", "")), "waits: llm-0 needs 8 GPUs"),
        (gang(Initialized=HELD), "llm-0 is Pending: backend kueue holds the gates: no quota"),
        (
            gang("Running", Ready=("False", "MinimumNotReady", "ready pods: a 1/2")),
            "llm-0 is Running: ready pods: a 1/2",
        ),
        (gang(PodsFailed=("True", "Failed", "pod a-0 failed")), "waits: llm-0 needs 8 GPUs\npod a-0 failed"),
    ],
)
def test_the_scheduler_speaks_of_a_gang_only_while_it_waits_and_its_backend_does_not_hold_it(
    waiting: PodGang, text: str
) -> None:
    assert of_gang(waiting, group_with_verdict("gang-uid")).text == text


def test_of_several_unmet_conditions_the_first_on_the_way_is_told() -> None:
    waiting = gang(
        Ready=("False", "MinimumNotReady", "later"),
        Scheduled=("False", "MinimumNotScheduled", ""),
        Initialized=("True", "", ""),
    )
    assert of_gang(waiting, None).text == "llm-0 is Pending: MinimumNotScheduled"
