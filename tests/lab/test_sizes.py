"""Jobs cut into pods, machines made of GPUs, and what a seed decides."""

from __future__ import annotations

import pytest

from gangline.lab.arrivals import inflated, noises
from gangline.lab.fleet import equal_machines
from gangline.lab.formats.node_events import read as read_node_events
from gangline.lab.formats.rows import RowError, TraceText
from gangline.lab.formats.sizes import MOST_PODS, checked_pods, in_pods
from gangline.lab.jobs import BadTrace, Machine, TraceJob
from gangline.lab.sizes import too_large


@pytest.mark.parametrize(
    ("gpus", "pods", "of_each"), [(0, 1, 0), (8, 1, 8), (9, 3, 3), (16, 2, 8), (20, 4, 5), (17 * 2, 17, 2)]
)
def test_a_job_of_more_than_a_node_becomes_as_few_equal_pods_as_will_do(gpus: int, pods: int, of_each: int) -> None:
    assert in_pods(gpus, 8) == (pods, of_each)


def test_gpus_that_no_few_equal_pods_hold_are_refused() -> None:
    with pytest.raises(RowError, match="23 GPUs cannot be divided into equal pods of at most 8"):
        in_pods(23, 8)


@pytest.mark.parametrize("pods", [0, MOST_PODS + 1])
def test_a_job_has_a_pod_and_no_endless_number_of_them(pods: int) -> None:
    with pytest.raises(RowError, match=f"pods is {pods}, which must be from 1 to {MOST_PODS}"):
        checked_pods(pods)
    assert (checked_pods(1), checked_pods(MOST_PODS)) == (1, MOST_PODS)


def test_gpus_that_fill_no_whole_node_make_a_smaller_one() -> None:
    assert [machine.gpus for machine in equal_machines(20, 8)] == [8, 8, 4]
    assert [machine.gpus for machine in equal_machines(16, 8)] == [8, 8]


def test_a_node_is_lost_or_added_and_nothing_else_happens_to_it() -> None:
    head = "time,node,event,gpus\n"
    lost, added = read_node_events(TraceText("n.csv", f"{head}10,a,lost,\n20,b,added,4\n"))
    assert (lost.time, lost.name, lost.machine) == (10, "a", None)
    assert added.machine is not None and (added.machine.name, added.machine.gpus) == ("b", 4)
    with pytest.raises(BadTrace) as caught:
        read_node_events(TraceText("n.csv", f"{head}10,a,broken,\n20,,lost,\n"))
    assert [problem.message for problem in caught.value.problems] == [
        "event is 'broken', which must be lost or added",
        "node is missing",
    ]


def test_copies_are_added_until_the_load_is_asked_for_and_one_comes_each_second() -> None:
    jobs = [TraceJob("small", 7, 60, 1, 1), TraceJob("large", 9, 60, 1, 4)]
    copied = inflated(jobs, 10, 2.0, seed=1)
    assert 20 <= sum(job.all_gpus for job in copied) < 24
    assert [job.arrival for job in copied] == [float(place) for place in range(len(copied))]
    assert {job.name.rpartition("-")[0] for job in copied[:2]} == {"small", "large"}
    assert inflated(jobs, 10, 2.0, seed=1) == copied
    assert inflated([TraceJob("none", 0)], 10, 2.0, seed=1) == []


def test_a_noise_is_wrong_by_the_factor_at_most_in_both_directions() -> None:
    wrong = noises(200, 3.0, seed=5)
    assert 1 / 3 <= min(wrong) < 1 < max(wrong) <= 3
    assert wrong == noises(200, 3.0, seed=5) != noises(200, 3.0, seed=6)


def test_a_job_that_no_node_can_hold_says_what_it_lacks() -> None:
    machines = [Machine("a", 8, 64_000, 2**38, "A100"), Machine("b", 4, 96_000, 2**37, "H100")]
    jobs = [
        TraceJob("fits", 0, gpus=8, cpu=64_000),
        TraceJob("gpus", 0, gpus=16, line=3),
        TraceJob("model", 0, gpus=1, models=("V100", "T4")),
        TraceJob("cores", 0, gpus=1, cpu=97_000),
        TraceJob("together", 0, gpus=8, cpu=96_000),
    ]
    assert list(too_large(jobs, machines)) == [
        "line 3 (gpus): a pod asks for 16 GPUs, and the largest node has 8",
        "model: no node has GPUs of model V100 or T4",
        "cores: a pod asks for 97 cores, and the largest node has 96",
        "together: no node has the GPUs, CPU and memory of a pod together",
    ]
