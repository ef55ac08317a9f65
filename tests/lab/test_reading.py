"""Traces read row by row, and the part of one that is played."""

from __future__ import annotations

import math

import pytest

from gangline.lab.formats import FORMATS
from gangline.lab.formats.openb import read_nodes
from gangline.lab.formats.rows import RowError, TraceRow, TraceText
from gangline.lab.jobs import BadTrace, TraceJob
from gangline.lab.selection import DAY, last_moment, selected


def jobs(*arrivals: float) -> list[TraceJob]:
    return [TraceJob(f"job-{arrival:g}", arrival) for arrival in arrivals]


def names(chosen: list[TraceJob]) -> list[str]:
    return [job.name for job in chosen]


def test_the_first_jobs_are_the_first_to_arrive() -> None:
    assert names(selected(jobs(30, 10, 20), 2, None)) == ["job-10", "job-20"]


def test_a_number_of_jobs_is_picked_evenly_over_the_whole_time() -> None:
    assert names(selected(jobs(0, 1, 2, 3, 4, 5), None, 3)) == ["job-0", "job-2", "job-4"]
    assert names(selected(jobs(1, 2), None, 5)) == ["job-1", "job-2"]


def test_the_first_days_count_from_the_first_arrival() -> None:
    trace = jobs(DAY, 2 * DAY, 2.5 * DAY)
    assert last_moment(trace, 1) == 2 * DAY
    assert names(selected(trace, None, None, last_moment(trace, 1))) == ["job-86400", "job-172800"]
    assert last_moment(trace, None) == last_moment([], 3) == math.inf


@pytest.mark.parametrize(
    ("cell", "moment"),
    [("12.5", 12.5), ("-3", -3.0), ("2017-10-09 07:01:55", 1507532515.0), ("1970-01-01T00:00:07Z", 7)],
)
def test_a_moment_is_seconds_or_a_date_in_utc(cell: str, moment: float) -> None:
    assert TraceRow(2, {"at": cell}).moment("at") == moment


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("", "at is missing"),
        ("soon", "at is 'soon', which is no date and time (2017-10-09 07:01:55) and no number of seconds"),
    ],
)
def test_what_is_no_moment_says_why(cell: str, why: str) -> None:
    with pytest.raises(RowError) as caught:
        TraceRow(2, {"at": cell}).moment("at")
    assert str(caught.value) == why


@pytest.mark.parametrize("cell", ["-1", "1e16", "nan", "inf"])
def test_a_number_is_neither_negative_nor_endless(cell: str) -> None:
    with pytest.raises(RowError, match=r"must be a number from 0 to 1e\+15"):
        TraceRow(2, {"gpus": cell}).number("gpus")


def test_an_empty_cell_takes_what_else_holds() -> None:
    row = TraceRow(2, {"gpus": ""})
    assert (row.number("gpus", 4), row.whole("pods", 1), row.text("queue", "all")) == (4, 1, "all")


def test_a_row_with_more_cells_than_the_header_is_refused_and_an_empty_line_is_none() -> None:
    with pytest.raises(BadTrace) as caught:
        FORMATS["philly"](TraceText("t.csv", "timestamp,duration,num_gpus\n0,10,1\n\n5,10,1,9,9\n"))
    assert str(caught.value) == "t.csv: 1 row cannot be read\n  line 4: the row has 2 more cells than the header"


def test_an_itp_job_keeps_its_name_and_is_cut_into_pods_of_a_node() -> None:
    (job,) = FORMATS["itp"](TraceText("t.csv", "job_id,submission_time,duration,num_gpu\nx,60,30,16\n", node_gpus=8))
    assert (job.name, job.arrival, job.duration, job.pods, job.gpus, job.queue) == ("job-x-2", 60, 30, 2, 8, "all")


def test_an_openb_pod_lives_from_its_creation_to_its_deletion() -> None:
    head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
    pod, endless = FORMATS["openb"](TraceText("t.csv", f"{head}a,4000,1024,2,1000,50,80\nb,4000,1024,0,0,50,\n"))
    assert (pod.name, pod.duration, pod.gpus, pod.cpu, pod.memory) == ("a-2", 30, 2, 4000, 2**30)
    assert (endless.duration, endless.gpus) == (math.inf, 0)


def test_part_of_more_than_one_gpu_is_refused() -> None:
    with pytest.raises(BadTrace, match="gpu_milli is 1500, which must be at most 1000"):
        FORMATS["openb"](TraceText("t.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1500\n"))


def test_an_openb_node_has_its_model() -> None:
    (node,) = read_nodes(TraceText("n.csv", "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,1024,8,A100\n"))
    assert (node.name, node.gpus, node.cpu, node.memory, node.model) == ("n1", 8, 96000, 2**30, "A100")
