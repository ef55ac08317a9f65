"""Gangs that lost their place, and gangs that failed: by whom, and whether they come back."""

from __future__ import annotations

import pytest

from dashboard.seen import Given, eviction, gang, group, job, look, owned_by, pod
from gangline.api import names
from gangline.dashboard.model import GangLine, GangPage, Overview
from gangline.dashboard.pages import overview, page
from gangline.dashboard.views import document

LIMIT = ("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
TRAIN = group("pg-train", 2, owner=owned_by("Job", "train"))
URGENT = group("pg-urgent", 1, owner=owned_by("Job", "urgent"))


def shown(name: str, *objects: Given) -> GangPage:
    found = page(look(*objects), ["gang", "work", name], {})
    assert isinstance(found, GangPage)
    return found


def seen(*objects: Given) -> Overview:
    return overview(look(*objects), {})


def only(rows: tuple[GangLine, ...]) -> GangLine:
    [found] = rows
    return found


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("preempt", "preempted by work/urgent, which has a higher priority"),
        ("reclaim", "reclaimed for work/urgent, whose queue had less than its share"),
        ("consolidation", "moved so that work/urgent fits"),
    ],
)
def test_an_evicted_gang_says_by_whom_and_that_it_comes_back(action: str, words: str) -> None:
    objects = (
        TRAIN,
        URGENT,
        job("train"),
        job("urgent"),
        eviction("pg-train", action, "pg-urgent"),
        pod("a", "pg-train", 1),
        pod("b", "pg-train", 1),
        pod("c", "pg-urgent", 1, on="n"),
    )
    found = seen(*objects)
    line = only(found.waiting.rows)
    assert (line.title, line.state) == ("train", "evicted") and line.evicted is not None
    assert (line.evicted.by, line.evicted.other) == (words, "work/urgent")
    assert line.evicted.back == "it comes back by itself when there is room for it"
    assert (found.counts.waiting, found.counts.evicted) == (1, 1) and ", 1 evicted" in document(found)
    text = document(shown("train", *objects))
    assert f"train was {words}, 2 min ago; it comes back by itself when there is room for it." in text and "⏏" in text


def test_a_gang_evicted_as_stale_names_nobody() -> None:
    objects = (TRAIN, job("train"), eviction("pg-train", "stalegangeviction", ""), pod("a", "pg-train", 1))
    line = shown("train", *objects).gang
    assert line.evicted is not None
    assert line.evicted.by == "evicted by the scheduler: fewer of its pods than its minimum were left"


def test_a_job_that_makes_its_pods_again_later_still_counts_as_evicted() -> None:
    line = shown("train", TRAIN, job("train"), eviction("pg-train", "preempt", "pg-gone")).gang
    assert line.state == "evicted" and line.evicted is not None
    assert line.evicted.by == "preempted by work/pg-gone, which has a higher priority"


def test_the_gang_of_a_set_comes_back() -> None:
    objects = (
        gang("llm-0", {"w": 1}),
        group("pg-llm-0", 1, owner=owned_by("PodGang", "llm-0")),
        eviction("pg-llm-0", "reclaim", ""),
        pod("a", "pg-llm-0", 1, gang="llm-0", clique="w"),
    )
    line = shown("llm-0", *objects).gang
    assert (line.state, line.evicted.back if line.evicted else "") == (
        "evicted",
        "it comes back by itself when there is room for it",
    )


def test_a_gang_that_runs_again_is_not_called_evicted() -> None:
    objects = (
        TRAIN,
        job("train"),
        eviction("pg-train", "preempt", "pg-urgent"),
        *(pod(name, "pg-train", on="n") for name in "ab"),
    )
    line = only(seen(*objects).running.rows)
    assert (line.state, line.evicted) == ("running", None)


def test_when_the_event_is_gone_the_stamp_still_tells_unless_the_gang_started_since() -> None:
    kind, body = group("g", 1)
    stamps = {names.LAST_EVICTION: "2026-01-01T00:30:00Z"}
    evicted = (kind, {**body, "metadata": {**body["metadata"], "annotations": stamps}})
    line = shown("g", evicted, pod("a", "g", 1)).gang
    assert line.state == "evicted" and line.evicted is not None and line.evicted.by == "evicted by the scheduler"
    stamps = stamps | {names.LAST_START: "2026-01-01T00:40:00Z"}
    started = (kind, {**body, "metadata": {**body["metadata"], "annotations": stamps}})
    assert shown("g", started, pod("a", "g", 1)).gang.state == "waiting"


def test_a_job_that_failed_after_an_eviction_is_failed_and_does_not_come_back() -> None:
    objects = (TRAIN, job("train", *LIMIT), eviction("pg-train", "reclaim", "pg-urgent"))
    found = seen(*objects)
    assert (found.counts.ended, found.counts.failed, found.waiting.total) == (0, 1, 0)
    line = only(found.failed.rows)
    assert (line.state, line.failure) == ("failed", "BackoffLimitExceeded: Job has reached the specified backoff limit")
    text = document(shown("train", *objects))
    assert "✗" in text and "✓ ended" not in text and "BackoffLimitExceeded" in text
    assert (
        "it does not come back: its Job failed (BackoffLimitExceeded); a podFailurePolicy that ignores "
        "DisruptionTarget keeps " in text
    )
    assert "1 failed" in document(found) and "Gangs that failed" in document(found)


def test_a_job_that_is_complete_has_ended_and_one_between_two_tries_waits() -> None:
    assert shown("train", TRAIN, job("train", "Complete", "CompletionsReached")).gang.state == "ended"
    assert shown("train", TRAIN, job("train"), pod("a", "pg-train", phase="Failed")).gang.state == "waiting"


def test_pods_of_no_job_that_failed_below_their_minimum_are_a_failed_gang() -> None:
    line = shown("g", group("g", 2), pod("a", "g", phase="Succeeded"), pod("b", "g", phase="Failed")).gang
    assert (line.state, line.failure) == ("failed", "2 of its pods ended, and fewer than its minimum of 2 succeeded")
