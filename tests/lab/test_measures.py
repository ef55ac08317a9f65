"""Figures of a simulation, worked out by hand beside what the lab says."""

from __future__ import annotations

import pytest

from gangline.lab.measures import HOUR, GpuClock, JobRun, PlayedTrace, figures, percent, quantile, thinned, waits
from gangline.lab.table import table
from gangline.rules.capacity.idle_causes import NO_DEMAND, STARTING


def run(name: str, hours: float | None, queue: str = "all", gpus: float = 8) -> JobRun:
    """A job that waited so long; None: it never started."""
    return JobRun(name, queue, gpus, 0.0, 0.0, started=hours is not None, waited=(hours or 0.0) * HOUR)


@pytest.mark.parametrize(
    ("values", "part", "between"),
    [((), 0.5, 0.0), ((3.0,), 0.99, 3.0), ((1.0, 2.0), 0.5, 1.5), ((0.0, 10.0, 20.0), 0.75, 15.0), ((1, 2, 3), 1, 3)],
)
def test_a_quantile_lies_between_the_two_nearest_values(values: tuple[float, ...], part: float, between: float) -> None:
    assert quantile(values, part) == between


def test_only_jobs_that_started_are_in_the_waits_and_the_others_are_counted() -> None:
    told = waits([run("short", 1), run("long", 3), run("stuck", None)])
    assert told == {"mean_h": 2.0, "p50_h": 2.0, "p99_h": 2.98, "max_h": 3.0, "never": 1}


def test_of_no_job_nobody_waited() -> None:
    assert waits([]) == {"mean_h": 0.0, "p50_h": 0.0, "p99_h": 0.0, "max_h": 0.0, "never": 0}


def test_a_part_of_nothing_is_no_error() -> None:
    assert (percent(1, 3), percent(1, 0)) == (33.33, 0.0)


def test_idle_gpus_have_no_demand_while_nobody_waits() -> None:
    clock = GpuClock(10, 0.0, busy=4)
    clock.advance(5)
    assert (clock.held_seconds, clock.capacity_seconds, clock.contended_capacity) == (20, 50, 0)
    assert clock.idle == {NO_DEMAND: 30}


def test_idle_gpus_go_to_the_causes_of_the_last_cycle_and_the_rest_is_about_to_start() -> None:
    clock = GpuClock(10, 0.0, busy=4, waiting=8, causes={"fragmented": 2, "reserved": 3})
    clock.advance(2)
    assert (clock.contended_held, clock.contended_capacity) == (8, 20)
    assert clock.idle == {"fragmented": 4, "reserved": 6, STARTING: 2}


def test_causes_of_more_gpus_than_are_idle_share_what_is() -> None:
    clock = GpuClock(10, 0.0, busy=8, waiting=1, causes={"fragmented": 3, "reserved": 1})
    clock.advance(1)
    assert clock.idle == {"fragmented": 1.5, "reserved": 0.5}


def test_a_clock_that_is_told_the_same_moment_twice_counts_it_once() -> None:
    clock = GpuClock(10, 0.0, busy=4)
    clock.advance(5)
    clock.advance(5)
    clock.advance(3)
    assert (clock.now, clock.held_seconds) == (5, 20)


def test_a_long_curve_is_drawn_by_the_means_of_its_stretches() -> None:
    points = [(float(moment), float(moment), 1.0) for moment in range(10)]
    assert thinned(points, 10) == points
    assert thinned(points, 4) == [(0.0, 1.0, 1.0), (3.0, 4.0, 1.0), (6.0, 7.0, 1.0), (9.0, 9.0, 1.0)]


def played() -> PlayedTrace:
    clock = GpuClock(10, 0.0, busy=5)
    clock.advance(2 * HOUR)
    clock.by_queue = {"a": 8 * HOUR, "b": 2 * HOUR}
    runs = [run("a-1", 1, "a"), run("b-1", 3, "b", gpus=16), run("b-2", None, "b", gpus=12)]
    return PlayedTrace("native", runs, clock, 0.0, 2 * HOUR, 5.0, quotas={"a": 3.0}, promises_made=2, promises_kept=1)


def test_jobs_are_told_by_size_and_queues_by_share_and_by_what_they_borrowed() -> None:
    told = figures(played())
    assert {size: row["max_h"] for size, row in told["waits"].items()} == {
        "all": 3.0,
        "1..8": 1.0,
        "9..15": 0.0,
        ">=16": 3.0,
    }
    assert told["queues"] == {
        "a": {"mean_h": 1.0, "share": 80.0, "borrowed": 2.0},
        "b": {"mean_h": 3.0, "share": 20.0, "borrowed": 0.0},
    }
    assert (told["used_percent"], told["gpus_allocated_percent"], told["makespan_h"]) == (50.0, 50.0, 2.0)


def test_the_table_has_a_column_for_each_setting_and_rows_of_queues_where_there_are_several() -> None:
    one, other = figures(played()), figures(played()) | {"settings": "greedy", "idle": {}}
    lines = table([one, other]).splitlines()
    assert lines[0].split() == ["native", "greedy"]
    cells = {line.rsplit(maxsplit=2)[0].strip(): line.split()[-2:] for line in lines[1:]}
    assert cells["all jobs: never started"] == ["1", "1"]
    assert cells["promises kept"] == ["1", "1"]
    assert cells[f"idle GPU hours: {NO_DEMAND}"] == ["10.00", "0"]
    assert cells["queue b: mean wait, h"] == ["3.00", "3.00"]
