"""What a Job makes of its pods."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cluster.world.making import START, job, pod, when
from gangline.api.core import Pod
from gangline.cluster.world.workloads.jobs import job_indexes
from gangline.cluster.world.workloads.jobs.job_plan import plan
from gangline.cluster.world.workloads.jobs.job_tally import INDEX, TRACKING


def worker(
    name: str, phase: str, *, tracked: bool = True, index: int | None = None, ended: float = 0, **meta: Any
) -> Pod:
    notes = {} if index is None else {INDEX: str(index)}
    end = {"name": "main", "state": {"terminated": {"exitCode": 0, "finishedAt": when(ended)}}}
    status = {"phase": phase, "containerStatuses": [end] if phase in ("Succeeded", "Failed") else []}
    return pod(name, annotations=notes, finalizers=[TRACKING] if tracked else [], status=status, **meta)


def test_a_new_job_makes_its_pods_at_once_with_a_finalizer_and_its_labels() -> None:
    todo = plan(job(parallelism=3, completions=5), [], START)
    assert len(todo.create) == 3
    meta = todo.create[0]["metadata"]
    assert meta["finalizers"] == [TRACKING]
    assert meta["labels"]["batch.kubernetes.io/job-name"] == "j"
    assert meta["ownerReferences"][0]["kind"] == "Job"
    assert len({item["metadata"]["name"] for item in todo.create}) == 3


def test_the_same_job_asks_for_the_same_names_again() -> None:
    assert plan(job(parallelism=2), [], START).create == plan(job(parallelism=2), [], START).create


def test_an_end_is_noted_first_and_counted_when_its_pod_was_let_go() -> None:
    done = worker("a", "Succeeded")
    noted = plan(job(completions=1), [done], START)
    assert noted.status is not None and noted.release == (done,)
    assert noted.status["uncountedTerminatedPods"] == {"succeeded": ["uid-a"], "failed": None}
    assert noted.status["succeeded"] is None and "conditions" not in noted.status
    later = job(
        completions=1,
        status={
            "uncountedTerminatedPods": {"succeeded": ["uid-a"]},
            "startTime": when(0),
            "ready": 0,
            "terminating": 0,
        },
    )
    assert plan(later, [done], START).status is None
    counted = plan(later, [worker("a", "Succeeded", tracked=False)], START)
    assert counted.status is not None and counted.status["succeeded"] == 1
    assert [condition["type"] for condition in counted.status["conditions"]] == ["SuccessCriteriaMet", "Complete"]


def test_a_counted_pod_that_is_gone_counts_once() -> None:
    later = job(completions=3, status={"succeeded": 1, "uncountedTerminatedPods": {"succeeded": ["uid-a"]}})
    todo = plan(later, [], START)
    assert todo.status is not None and todo.status["succeeded"] == 2
    assert len(todo.create) == 1


def test_a_failed_pod_is_replaced_after_a_wait_that_grows() -> None:
    failed = worker("a", "Failed", ended=0, tracked=False)
    first = job(status={"failed": 1, "startTime": when(0), "ready": 0, "terminating": 0})
    assert plan(first, [failed], START + 5).again == START + 10
    assert len(plan(first, [failed], START + 10).create) == 1
    third = job(status={"failed": 3, "startTime": when(0)})
    assert plan(third, [failed], START + 10).again == START + 40


def test_a_job_fails_when_more_pods_failed_than_it_allows() -> None:
    todo = plan(job(backoffLimit=1, parallelism=2, status={"failed": 2}), [worker("a", "Running")], START)
    assert todo.status is not None and todo.status["conditions"][-1]["reason"] == "BackoffLimitExceeded"
    assert [item.name for item in todo.delete] == ["a"] and not todo.create


def test_a_pod_that_someone_deleted_counts_as_failed() -> None:
    todo = plan(job(), [worker("a", "Running", deletion_timestamp=when(30))], START)
    assert todo.status is not None and todo.status["uncountedTerminatedPods"]["failed"] == ["uid-a"]


def test_a_suspended_job_lets_its_pods_go_and_says_so() -> None:
    todo = plan(job(suspend=True, parallelism=1), [worker("a", "Running")], START)
    assert [item.name for item in todo.delete] == ["a"]
    assert todo.status is not None and todo.status["conditions"][0]["reason"] == "JobSuspended"
    assert todo.status["startTime"] is None


def test_a_job_over_its_deadline_fails_and_one_below_looks_again_then() -> None:
    late = job(activeDeadlineSeconds=60, status={"startTime": when(0)})
    assert plan(late, [worker("a", "Running")], START + 10).again == START + 60
    todo = plan(late, [worker("a", "Running")], START + 60)
    assert todo.status is not None and todo.status["conditions"][-1]["reason"] == "DeadlineExceeded"


def test_a_finished_job_is_removed_when_its_time_to_live_is_over() -> None:
    done = {"conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": when(0)}]}
    assert plan(job(ttlSecondsAfterFinished=30, status=done), [], START + 10).again == START + 30
    assert plan(job(ttlSecondsAfterFinished=30, status=done), [], START + 30).remove


def test_an_indexed_job_makes_one_pod_per_index_that_is_not_done() -> None:
    given_job = job(
        parallelism=3, completions=4, completionMode="Indexed", status={"completedIndexes": "1", "succeeded": 1}
    )
    todo = plan(given_job, [worker("x", "Running", index=0)], START)
    assert [item["metadata"]["annotations"][INDEX] for item in todo.create] == ["2", "3"]
    assert todo.create[0]["spec"]["hostname"] == "j-2"
    assert todo.create[0]["spec"]["containers"][0]["env"] == [{"name": "JOB_COMPLETION_INDEX", "value": "2"}]


def test_fewer_parallel_pods_are_wanted_than_there_are() -> None:
    todo = plan(job(parallelism=1, completions=9), [worker("a", "Running"), worker("b", "Pending")], START)
    assert [item.name for item in todo.delete] == ["b"]


@given(st.sets(st.integers(0, 40)))
def test_indexes_are_read_as_they_are_written(numbers: set[int]) -> None:
    written = job_indexes.of(numbers)
    assert job_indexes.read(written.text(), 41) == written and written.total == len(numbers)
    assert list(written.outside(41)) == [item for item in range(41) if item not in numbers]
    assert all(written.has(item) == (item in numbers) for item in range(41))


def test_indexes_in_a_row_are_written_as_a_span() -> None:
    assert job_indexes.of([0, 1, 2, 5, 7, 8]).text() == "0-2,5,7,8"


def test_what_is_no_span_is_left_out_and_what_is_beyond_the_end_too() -> None:
    assert job_indexes.read("3,a-b,5-,2-1,7-" + "9" * 5000 + ",8-2147483647", 10).text() == "3,8,9"
