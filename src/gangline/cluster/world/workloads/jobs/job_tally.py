"""What a Job's pods come to: which run, which ended and how, and which indexes are done or given up.

An end is first noted by uid, and counted once its pod was let go: so none counts twice, whoever is restarted in
between. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gangline.api.builtin import Job
from gangline.api.core import Pod
from gangline.cluster.world.workloads.jobs import job_indexes as indexes
from gangline.cluster.world.workloads.jobs.job_failures import (
    FAIL_INDEX,
    FailureVerdict,
    has_failed,
    is_terminating,
    judge_failure,
    only_replaces_failed,
)
from gangline.cluster.world.workloads.jobs.job_indexes import JobIndexes
from gangline.cluster.world.workloads.replicas import active

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
LONGEST_NUMBER = 10


@dataclass(frozen=True, slots=True)
class JobTally:
    active: tuple[Pod, ...]
    leaving: int
    terminating: tuple[Pod, ...]
    """On their way out, and to be waited for before anything takes their place."""
    ended: tuple[Pod, ...]
    """Pods with an end to note, in this plan or an earlier one."""
    succeeded: int
    failed: int
    noted: dict[str, list[str]]
    indexes: JobIndexes
    given_up: JobIndexes = field(default_factory=JobIndexes)
    """Indexes that failed for good."""
    verdicts: Mapping[str, FailureVerdict] = field(default_factory=dict)
    """By the uid of each pod that failed."""

    @property
    def successes(self) -> int:
        return self.succeeded + len(self.noted["succeeded"])

    @property
    def failures(self) -> int:
        return self.failed + len(self.noted["failed"])

    @property
    def settled(self) -> bool:
        return not self.noted["succeeded"] and not self.noted["failed"]


def tally(job: Job, pods: Iterable[Pod]) -> JobTally:
    pods = sorted(pods, key=lambda pod: pod.name)
    verdicts = {pod.uid: judge_failure(job, pod) for pod in pods if has_failed(job, pod)}
    good = [pod for pod in pods if tracked(pod) and pod.status.phase == "Succeeded"]
    bad = [pod for pod in pods if tracked(pod) and pod.uid in verdicts]
    counted, noted = _counted(
        job, pods, {"succeeded": good, "failed": [pod for pod in bad if verdicts[pod.uid].counts]}
    )
    return JobTally(
        active=tuple(pod for pod in pods if active(pod)),
        leaving=sum(pod.metadata.deleting and not tracked(pod) for pod in pods),
        terminating=tuple(pod for pod in pods if is_terminating(pod)) if only_replaces_failed(job) else (),
        ended=(*good, *bad),
        succeeded=job.status.succeeded + counted["succeeded"],
        failed=job.status.failed + counted["failed"],
        noted=noted,
        indexes=_read(job, job.status.completed_indexes).joined(indexes.of(numbers_of(job, good))),
        given_up=_given_up(job, bad, verdicts),
        verdicts=verdicts,
    )


def _counted(
    job: Job, pods: Sequence[Pod], ended: Mapping[str, Sequence[Pod]]
) -> tuple[dict[str, int], dict[str, list[str]]]:
    """How many noted ends are counted now, and the uids of those that are noted and wait for that."""
    held = {pod.uid for pod in pods if tracked(pod)}
    counted, noted = {}, {}
    for how, ended_pods in ended.items():
        earlier = [str(uid) for uid in job.status.uncounted_terminated_pods.get(how) or ()]
        counted[how] = sum(uid not in held for uid in earlier)
        kept = dict.fromkeys(uid for uid in earlier if uid in held)
        noted[how] = list(kept | dict.fromkeys(pod.uid for pod in ended_pods))
    return counted, noted


def _given_up(job: Job, failed: Iterable[Pod], verdicts: Mapping[str, FailureVerdict]) -> JobIndexes:
    limit = job.spec.backoff_limit_per_index
    if limit is None:
        return JobIndexes()
    over = [
        pod
        for pod in failed
        if verdicts[pod.uid].action == FAIL_INDEX or (verdicts[pod.uid].counts and index_failures(pod) >= limit)
    ]
    return _read(job, job.status.failed_indexes or "").joined(indexes.of(numbers_of(job, over)))


def _read(job: Job, text: str) -> JobIndexes:
    return indexes.read(text, job.spec.completions or 0) if text and is_indexed(job) else JobIndexes()


def tracked(pod: Pod) -> bool:
    return TRACKING in pod.metadata.finalizers


def is_indexed(job: Job) -> bool:
    return job.spec.completion_mode == "Indexed"


def index_of(pod: Pod) -> int | None:
    return _number(pod.annotations.get(INDEX, ""))


def index_failures(pod: Pod) -> int:
    """How often its index had failed when this pod was made."""
    return _number(pod.annotations.get(INDEX_FAILURES, "")) or 0


def numbers_of(job: Job, pods: Iterable[Pod]) -> list[int]:
    """The indexes that pods of a Job stand for; one beyond the Job's end stands for none."""
    end = (job.spec.completions or 0) if is_indexed(job) else 0
    return [number for pod in pods if (number := index_of(pod)) is not None and number < end]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None
