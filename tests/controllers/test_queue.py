"""How often a queue's status is written."""

from __future__ import annotations

from gangline.controllers.queue import AT_ONCE, STEADY, StatusPace


def test_a_queue_whose_sums_move_all_the_time_is_written_at_a_steady_pace() -> None:
    pace, written = StatusPace(), 0
    for tenth in range(100):
        written += pace.wait("q", tenth / 10) == 0.0
    assert AT_ONCE < written <= AT_ONCE + 10 * STEADY + 1
    assert pace.wait("q", 100.0) == 0.0 and pace.wait("other", 9.9) == 0.0
