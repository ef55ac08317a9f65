"""What people read of a verdict calls gangs as they do."""

from __future__ import annotations

import json

import msgspec

from gangline.api.builtin import Job
from gangline.api.kai import PodGroup
from gangline.rules.gangs.evictions import prospects
from gangline.rules.verdicts import of_group, renamed


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
