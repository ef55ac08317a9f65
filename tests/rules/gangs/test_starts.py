"""When a gang starts, as a status says it and as people read it."""

from __future__ import annotations

import pytest

from gangline.api.kai import StartStatus
from gangline.rules.gangs.starts import StartTimes, start_status, start_text, start_times

NOON = 1_767_268_800.0
"""2026-01-01T12:00:00Z"""


@pytest.mark.parametrize(
    ("times", "text"),
    [
        (StartTimes(NOON, NOON), "starts by 12:00 UTC at the latest"),
        (StartTimes(NOON, NOON + 61), "starts by 12:02 UTC at the latest, probably at 12:00 UTC"),
        (
            StartTimes(NOON, None, "work/train"),
            "starts probably at 12:00 UTC (when train ends); not promised: too little is known of those before it",
        ),
        (
            StartTimes(NOON, NOON, "work/train", "node-3 failed"),
            "starts by 12:00 UTC at the latest (when train ends); revised: node-3 failed",
        ),
        (StartTimes(NOON + 86_400, NOON + 86_400), "starts by 2026-01-02 12:00 UTC at the latest"),
    ],
)
def test_a_promise_is_told_with_its_latest_moment_and_whose_end_it_waits_for(times: StartTimes, text: str) -> None:
    assert start_text(times, NOON - 3600) == text


def test_what_was_written_is_read_back_and_what_is_not_known_is_taken_away() -> None:
    times = StartTimes(NOON, NOON + 60, "work/train", "node-3 failed")
    written = start_status(times)
    assert start_times(StartStatus(written["expected"], written["latest"], "work/train", "node-3 failed")) == times
    assert start_status(StartTimes(NOON)) == {
        "expected": "2026-01-01T12:00:00Z",
        "latest": None,
        "waitsFor": None,
        "reason": None,
    }
    assert start_times(None) is None and start_times(StartStatus()) is None
