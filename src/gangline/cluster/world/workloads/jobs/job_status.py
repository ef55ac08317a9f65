"""The status of a Job: counts, and the conditions that say it is suspended, ends or has ended. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gangline.api.builtin import Job
from gangline.api.meta import Raw
from gangline.cluster.world.workloads.jobs.job_tally import JobTally, is_indexed
from gangline.cluster.world.workloads.replicas import is_ready
from gangline.runtime.clock import timestamp


class JobEnd(NamedTuple):
    """The condition, reason and message with which a Job ends."""

    condition: str
    reason: str
    message: str


def status_of(job: Job, counted: JobTally, now: float, active: int, end: JobEnd | None = None) -> Raw | None:
    """The status to write, or None when the Job already says it."""
    wanted, written = _counts(job, counted, now, active), _written(job, counted)
    if is_indexed(job):
        wanted["completedIndexes"] = counted.indexes.text() or None
        written["completedIndexes"] = job.status.completed_indexes or None
    if job.spec.backoff_limit_per_index is not None:
        wanted["failedIndexes"], written["failedIndexes"] = counted.given_up.text(), job.status.failed_indexes
    conditions = _conditions(job, now, end, counted.settled)
    if conditions != list(job.status.conditions):
        wanted["conditions"] = conditions
    if end is not None and end.condition == "Complete" and counted.settled:
        wanted["completionTime"] = timestamp(now)
    return None if wanted == written else wanted


def _counts(job: Job, counted: JobTally, now: float, active: int) -> Raw:
    """What the status should say, whatever the Job counts by."""
    return {
        "active": active or None,
        "ready": min(sum(is_ready(pod) for pod in counted.active), active),
        "terminating": counted.leaving,
        "succeeded": counted.succeeded or None,
        "failed": counted.failed or None,
        "uncountedTerminatedPods": {how: uids or None for how, uids in counted.noted.items()},
        "startTime": None if job.spec.suspend else job.status.start_time or timestamp(now),
    }


def _written(job: Job, counted: JobTally) -> Raw:
    """What it says of that."""
    uncounted = job.status.uncounted_terminated_pods
    return {
        "active": job.status.active or None,
        "ready": job.status.ready,
        "terminating": job.status.terminating,
        "succeeded": job.status.succeeded or None,
        "failed": job.status.failed or None,
        "uncountedTerminatedPods": {how: uncounted.get(how) or None for how in counted.noted},
        "startTime": job.status.start_time,
    }


def _conditions(job: Job, now: float, end: JobEnd | None, settled: bool) -> list[Raw]:
    conditions = list(job.status.conditions)
    suspended = next((condition for condition in conditions if condition.get("type") == "Suspended"), None)
    if job.spec.suspend and (suspended is None or suspended.get("status") != "True"):
        conditions = [condition for condition in conditions if condition is not suspended]
        conditions.append(_condition("Suspended", "JobSuspended", "Job suspended", now))
    elif not job.spec.suspend and suspended is not None and suspended.get("status") == "True":
        conditions = [condition for condition in conditions if condition is not suspended]
        conditions.append(_condition("Suspended", "JobResumed", "Job resumed", now, "False"))
    return conditions if end is None else conditions + _ends(conditions, now, end, settled)


def _ends(conditions: Sequence[Raw], now: float, end: JobEnd, settled: bool) -> list[Raw]:
    """A failure is written down before the pods that show it are let go; the end itself when every pod is counted."""
    kind, reason, message = end
    before = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[kind]
    first = (
        []
        if any(condition.get("type") == before for condition in conditions)
        else [_condition(before, reason, message, now)]
    )
    if settled:
        return [*first, _condition(kind, reason, message, now)]
    return first if kind == "Failed" else []


def _condition(kind: str, reason: str, message: str, now: float, status: str = "True") -> Raw:
    when = timestamp(now)
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastProbeTime": when,
        "lastTransitionTime": when,
    }
