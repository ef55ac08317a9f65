"""What a Job needs now: pods to create, delete and let go of, and whether it has ended. Pure; jobs.py writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from gangline.api.builtin import Job
from gangline.api.core import Pod
from gangline.api.kinds import JOB
from gangline.api.meta import Raw
from gangline.cluster.world.workloads.jobs import job_indexes
from gangline.cluster.world.workloads.jobs.job_failures import FAIL_JOB, has_failed
from gangline.cluster.world.workloads.jobs.job_status import JobEnd, status_of
from gangline.cluster.world.workloads.jobs.job_tally import (
    INDEX,
    INDEX_FAILURES,
    TRACKING,
    JobTally,
    index_failures,
    is_indexed,
    numbers_of,
    tally,
    tracked,
)
from gangline.cluster.world.workloads.replicas import (
    BURST,
    CROWD_SECONDS,
    active,
    allowed,
    by_worth,
    ended_at,
    fresh_names,
    pod_from,
)
from gangline.runtime.clock import seconds_of

LABELS = ("batch.kubernetes.io/job-name", "job-name")
UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
CONTROLLER = "kubernetes.io/job-controller"
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 600.0


@dataclass(frozen=True, slots=True)
class JobPlan:
    """What is to be written for a Job, and when to look at it again."""

    create: tuple[Raw, ...] = ()
    delete: tuple[Pod, ...] = ()
    """Pods no longer wanted: let go first, so that their end does not count."""
    release: tuple[Pod, ...] = ()
    """Pods whose end this status notes: their finalizer can go."""
    status: Raw | None = None
    remove: bool = False
    """The Job itself is past its time to live."""
    again: float | None = None
    held_back: str = ""
    """Which pods wait for a node, so many that no more are made."""


@dataclass(frozen=True, slots=True)
class MissingPods:
    """Pods to make now, and when to look again for those that must wait."""

    pods: tuple[Raw, ...] = ()
    again: float | None = None
    held_back: str = ""


def plan(job: Job, pods: Sequence[Pod], now: float, crowd: int = 0) -> JobPlan:
    """`crowd`: how many pods of the whole cluster wait for a node."""
    if finished(job):
        return _after_the_end(job, pods, now)
    counted = tally(job, pods)
    end = _end(job, counted, now)
    if end is not None or job.spec.suspend:
        status = status_of(job, counted, now, 0, end)
        return JobPlan(delete=counted.active[:BURST], release=counted.ended, status=status)
    missing = _missing(job, pods, counted, now, crowd)
    surplus = _surplus(job, counted)
    status = status_of(job, counted, now, len(counted.active) - len(surplus) + len(missing.pods))
    later = now + CROWD_SECONDS if missing.held_back else None
    moments = [moment for moment in (missing.again, _deadline(job, now), later) if moment is not None]
    kept = _last_failures(job, counted)
    return JobPlan(
        missing.pods,
        tuple(surplus),
        tuple(pod for pod in counted.ended if pod.uid not in kept),
        status,
        again=min(moments, default=None),
        held_back=missing.held_back,
    )


def finished(job: Job) -> bool:
    return any(
        condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True"
        for condition in job.status.conditions
    )


def _after_the_end(job: Job, pods: Sequence[Pod], now: float) -> JobPlan:
    rest = tuple(pod for pod in pods if active(pod))[:BURST]
    release = tuple(pod for pod in pods if tracked(pod) and not active(pod))
    live = job.spec.ttl_seconds_after_finished
    if live is None:
        return JobPlan(delete=rest, release=release)
    ended = max(
        seconds_of(str(condition["lastTransitionTime"]))
        for condition in job.status.conditions
        if condition.get("status") == "True"
    )
    over = now >= ended + live
    return JobPlan(delete=rest, release=release, remove=over, again=None if over else ended + live)


def _end(job: Job, counted: JobTally, now: float) -> JobEnd | None:
    """How a Job ends now; a failure that was decided earlier stands."""
    return next((end for check in ENDS if (end := check(job, counted, now)) is not None), None)


def _decided(job: Job, counted: JobTally, now: float) -> JobEnd | None:
    for condition in job.status.conditions:
        if condition.get("type") == "FailureTarget" and condition.get("status") == "True":
            return JobEnd("Failed", str(condition.get("reason") or ""), str(condition.get("message") or ""))
    return None


def _failed_by_policy(job: Job, counted: JobTally, now: float) -> JobEnd | None:
    message = next((verdict.message for verdict in counted.verdicts.values() if verdict.action == FAIL_JOB), "")
    return JobEnd("Failed", "PodFailurePolicy", message) if message else None


def _out_of_tries(job: Job, counted: JobTally, now: float) -> JobEnd | None:
    limit = 6 if job.spec.backoff_limit is None else job.spec.backoff_limit
    restarts = sum(status.restart_count for pod in counted.active for status in pod.status.container_statuses)
    restarted = (job.spec.template.get("spec") or {}).get("restartPolicy") == "OnFailure"
    if counted.failures > limit or (restarted and restarts > limit):
        return JobEnd("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    return None


def _out_of_time(job: Job, counted: JobTally, now: float) -> JobEnd | None:
    deadline = job.spec.active_deadline_seconds
    if deadline is not None and job.status.start_time and now >= seconds_of(job.status.start_time) + deadline:
        return JobEnd("Failed", "DeadlineExceeded", "Job was active longer than specified deadline")
    return None


def _out_of_indexes(job: Job, counted: JobTally, now: float) -> JobEnd | None:
    """A Job some of whose indexes were given up fails when nothing is left to try, or too many were."""
    lost, most = counted.given_up.total, job.spec.max_failed_indexes
    if most is not None and lost > most:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return JobEnd("Failed", "MaxFailedIndexesExceeded", message)
    if lost and lost + counted.indexes.total >= (job.spec.completions or 0):
        return JobEnd("Failed", "FailedIndexes", "Job has failed indexes")
    return None


def _completed(job: Job, counted: JobTally, now: float) -> JobEnd | None:
    if not _complete(job, counted):
        return None
    return JobEnd("Complete", "CompletionsReached", "Reached expected number of succeeded pods")


ENDS = (_decided, _failed_by_policy, _out_of_tries, _out_of_time, _out_of_indexes, _completed)
"""In this order: the first that says so ends the Job."""


def _complete(job: Job, counted: JobTally) -> bool:
    wanted = job.spec.completions
    if wanted is None:
        return counted.successes > 0 and not counted.active
    return counted.indexes.total >= wanted if is_indexed(job) else counted.successes >= wanted


def _completions_done(job: Job, counted: JobTally) -> int:
    """Completions that need no further pod."""
    return counted.indexes.total + counted.given_up.total if is_indexed(job) else counted.successes


def _parallelism(job: Job) -> int:
    return 1 if job.spec.parallelism is None else job.spec.parallelism


def _missing(job: Job, pods: Sequence[Pod], counted: JobTally, now: float, crowd: int) -> MissingPods:
    """Pods to make now, or the moment from which a failed one may be replaced."""
    there = len(counted.active) + len(counted.terminating)
    room = _parallelism(job) - there
    if job.spec.completions is not None:
        room = min(room, job.spec.completions - _completions_done(job, counted) - there)
    elif counted.successes:
        room = 0
    if room <= 0:
        return MissingPods()
    if job.spec.backoff_limit_per_index is None:
        back = _backoff(job, pods, counted, now)
        if back is not None:
            return MissingPods(again=back)
    now_room, waiting = allowed(room, counted.active, crowd)
    if is_indexed(job):
        made, again = _missing_indexes(job, pods, counted, now_room, now)
        return MissingPods(made, again, waiting)
    names = fresh_names(job.name, job.uid, {pod.name for pod in pods}, now_room)
    return MissingPods(tuple(_pod(job, name) for name in names), held_back=waiting)


def _missing_indexes(
    job: Job, pods: Sequence[Pod], counted: JobTally, room: int, now: float
) -> tuple[tuple[Raw, ...], float | None]:
    used = {pod.name for pod in pods}
    tried = _tried(job, counted)
    waits = {
        index: due for index, pod in tried.items() if (due := ended_at(pod) + _wait(index_failures(pod) + 1)) > now
    }
    busy = job_indexes.of([*numbers_of(job, (*counted.active, *counted.terminating)), *waits])
    free = counted.indexes.joined(counted.given_up).joined(busy).outside(job.spec.completions or 0)
    made = tuple(
        _pod(
            job,
            fresh_names(f"{job.name}-{index}", f"{job.uid}/{index}", used, 1)[0],
            index,
            _failures_so_far(counted, tried.get(index)),
        )
        for index in islice(free, room)
    )
    return made, min(waits.values(), default=None)


def _tried(job: Job, counted: JobTally) -> dict[int, Pod]:
    """Of each index that is limited by itself: the pod that failed last."""
    if job.spec.backoff_limit_per_index is None:
        return {}
    failed = sorted(
        (pod for pod in counted.ended if pod.uid in counted.verdicts), key=lambda pod: (index_failures(pod), pod.name)
    )
    return {index: pod for pod in failed for index in numbers_of(job, [pod])}


def _failures_so_far(counted: JobTally, last: Pod | None) -> int:
    return 0 if last is None else index_failures(last) + counted.verdicts[last.uid].counts


def _last_failures(job: Job, counted: JobTally) -> set[str]:
    """Failed pods that tell how often their index failed: kept until another pod of that index carries the number
    on."""
    going_on = set(numbers_of(job, counted.active))
    over = counted.indexes.joined(counted.given_up)
    return {pod.uid for index, pod in _tried(job, counted).items() if index not in going_on and not over.has(index)}


def _backoff(job: Job, pods: Sequence[Pod], counted: JobTally, now: float) -> float | None:
    """Failures in a row make the next try wait."""
    failed = [pod for pod in pods if has_failed(job, pod)]
    failures = counted.failures + sum(not verdict.counts for verdict in counted.verdicts.values())
    if not failures or not failed:
        return None
    last = max(ended_at(pod) for pod in failed)
    if any(ended_at(pod) > last for pod in pods if pod.status.phase == "Succeeded"):
        return None
    due = last + _wait(failures)
    return due if now < due else None


def _wait(failures: int) -> float:
    return min(FIRST_BACKOFF * 2.0 ** min(max(failures, 1) - 1, 10), LONGEST_BACKOFF)


def _surplus(job: Job, counted: JobTally) -> list[Pod]:
    wanted = _parallelism(job)
    if job.spec.completions is not None:
        wanted = min(wanted, job.spec.completions - _completions_done(job, counted))
    extra = len(counted.active) - max(wanted, 0)
    return by_worth(counted.active)[: min(extra, BURST)] if extra > 0 else []


def _deadline(job: Job, now: float) -> float | None:
    if job.spec.active_deadline_seconds is None:
        return None
    return (seconds_of(job.status.start_time) if job.status.start_time else now) + job.spec.active_deadline_seconds


def _pod(job: Job, name: str, index: int | None = None, failures: int = 0) -> Raw:
    template = job.spec.template
    labels = dict.fromkeys(LABELS, job.name) | dict.fromkeys(UID_LABELS, job.uid)
    notes = {} if index is None else {INDEX: str(index)}
    own = {INDEX_FAILURES: str(failures)} if job.spec.backoff_limit_per_index is not None else {}
    pod = pod_from(template, JOB, job, name, labels | notes, notes | own)
    pod["metadata"]["finalizers"] = [*(pod["metadata"].get("finalizers") or ()), TRACKING]
    if index is not None:
        pod["spec"].setdefault("hostname", f"{job.name}-{index}")
        for container in [*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())]:
            container["env"] = [*(container.get("env") or ()), {"name": "JOB_COMPLETION_INDEX", "value": str(index)}]
    return pod
