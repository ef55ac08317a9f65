"""batch/v1 Jobs: as many pods as parallelism and completions ask for, counted as they end, tried again as often as
allowed.

`plan` compares a Job with its pods (job_tally.py) and returns what to create, delete, count and say; the shell below
writes it. A pod carries a finalizer until its end is counted, so no result is lost when someone deletes it. No more
pods are made in one turn than replicas.py allows, however many are asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from gangline.api.builtin import Job
from gangline.api.core import Pod
from gangline.api.kinds import JOB, POD
from gangline.api.meta import Raw
from gangline.cluster.world.workloads import job_indexes
from gangline.cluster.world.workloads.job_failures import FAIL_JOB, has_failed
from gangline.cluster.world.workloads.job_tally import (
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
    UNPLACED,
    active,
    allowed,
    by_worth,
    crowd,
    ended_at,
    fresh_names,
    is_ready,
    pod_from,
    unplaced,
)
from gangline.cluster.world.writes import create_pods, delete_quietly, tell_held_back
from gangline.errors import NotFound
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import seconds_of, timestamp

LABELS = ("batch.kubernetes.io/job-name", "job-name")
UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
CONTROLLER = "kubernetes.io/job-controller"
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 600.0


# --- thinking
# ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JobPlan:
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
    """`crowd`: how many pods of everyone wait for a node."""
    if finished(job):
        return _after_the_end(job, pods, now)
    found = tally(job, pods)
    end = _end(job, found, now)
    if end is not None or job.spec.suspend:
        status = _status(job, found, now, 0, end)
        return JobPlan(delete=found.active[:BURST], release=found.ended, status=status)
    missing = _missing(job, pods, found, now, crowd)
    surplus = _surplus(job, found)
    status = _status(job, found, now, len(found.active) - len(surplus) + len(missing.pods))
    later = now + CROWD_SECONDS if missing.held_back else None
    moments = [moment for moment in (missing.again, _deadline(job, now), later) if moment is not None]
    kept = _last_failures(job, found)
    return JobPlan(
        missing.pods,
        tuple(surplus),
        tuple(pod for pod in found.ended if pod.uid not in kept),
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


def _end(job: Job, found: JobTally, now: float) -> tuple[str, str, str] | None:
    """Condition, reason and message of a Job that ends now; a failure that was decided earlier stands."""
    decided = next(
        (
            condition
            for condition in job.status.conditions
            if condition.get("type") == "FailureTarget" and condition.get("status") == "True"
        ),
        None,
    )
    if decided is not None:
        return "Failed", str(decided.get("reason") or ""), str(decided.get("message") or "")
    failed = next((verdict.message for verdict in found.verdicts.values() if verdict.action == FAIL_JOB), "")
    if failed:
        return "Failed", "PodFailurePolicy", failed
    limit = 6 if job.spec.backoff_limit is None else job.spec.backoff_limit
    restarts = sum(status.restart_count for pod in found.active for status in pod.status.container_statuses)
    if found.failures > limit or (
        restarts > limit and (job.spec.template.get("spec") or {}).get("restartPolicy") == "OnFailure"
    ):
        return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    deadline = job.spec.active_deadline_seconds
    if deadline is not None and job.status.start_time and now >= seconds_of(job.status.start_time) + deadline:
        return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
    return _end_of_indexes(job, found) or (
        ("Complete", "CompletionsReached", "Reached expected number of succeeded pods")
        if _complete(job, found)
        else None
    )


def _end_of_indexes(job: Job, found: JobTally) -> tuple[str, str, str] | None:
    """A Job some of whose indexes were given up fails when nothing is left to try, or too many were."""
    lost, most = found.given_up.total, job.spec.max_failed_indexes
    if most is not None and lost > most:
        return "Failed", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
    if lost and lost + found.indexes.total >= (job.spec.completions or 0):
        return "Failed", "FailedIndexes", "Job has failed indexes"
    return None


def _complete(job: Job, found: JobTally) -> bool:
    wanted = job.spec.completions
    if wanted is None:
        return found.successes > 0 and not found.active
    return found.indexes.total >= wanted if is_indexed(job) else found.successes >= wanted


def _done(job: Job, found: JobTally) -> int:
    """Completions that need no further pod."""
    return found.indexes.total + found.given_up.total if is_indexed(job) else found.successes


def _parallelism(job: Job) -> int:
    return 1 if job.spec.parallelism is None else job.spec.parallelism


def _missing(job: Job, pods: Sequence[Pod], found: JobTally, now: float, crowd: int) -> MissingPods:
    """Pods to make now, or the moment from which a failed one may be replaced."""
    there = len(found.active) + len(found.terminating)
    room = _parallelism(job) - there
    if job.spec.completions is not None:
        room = min(room, job.spec.completions - _done(job, found) - there)
    elif found.successes:
        room = 0
    if room <= 0:
        return MissingPods()
    if job.spec.backoff_limit_per_index is None:
        back = _backoff(job, pods, found, now)
        if back is not None:
            return MissingPods(again=back)
    now_room, waiting = allowed(room, found.active, crowd)
    if is_indexed(job):
        made, again = _missing_indexes(job, pods, found, now_room, now)
        return MissingPods(made, again, waiting)
    names = fresh_names(job.name, job.uid, {pod.name for pod in pods}, now_room)
    return MissingPods(tuple(_pod(job, name) for name in names), held_back=waiting)


def _missing_indexes(
    job: Job, pods: Sequence[Pod], found: JobTally, room: int, now: float
) -> tuple[tuple[Raw, ...], float | None]:
    used = {pod.name for pod in pods}
    tried = _tried(job, found)
    waits = {
        index: due for index, pod in tried.items() if (due := ended_at(pod) + _wait(index_failures(pod) + 1)) > now
    }
    busy = job_indexes.of([*numbers_of(job, (*found.active, *found.terminating)), *waits])
    free = found.indexes.joined(found.given_up).joined(busy).outside(job.spec.completions or 0)
    made = tuple(
        _pod(
            job,
            fresh_names(f"{job.name}-{index}", f"{job.uid}/{index}", used, 1)[0],
            index,
            _failures_so_far(found, tried.get(index)),
        )
        for index in islice(free, room)
    )
    return made, min(waits.values(), default=None)


def _tried(job: Job, found: JobTally) -> dict[int, Pod]:
    """Of each index that is limited by itself: the pod that failed last."""
    if job.spec.backoff_limit_per_index is None:
        return {}
    failed = sorted(
        (pod for pod in found.ended if pod.uid in found.verdicts), key=lambda pod: (index_failures(pod), pod.name)
    )
    return {index: pod for pod in failed for index in numbers_of(job, [pod])}


def _failures_so_far(found: JobTally, last: Pod | None) -> int:
    return 0 if last is None else index_failures(last) + found.verdicts[last.uid].counts


def _last_failures(job: Job, found: JobTally) -> set[str]:
    """Failed pods that tell how often their index failed: kept until another pod of that index carries the number
    on."""
    going_on = set(numbers_of(job, found.active))
    over = found.indexes.joined(found.given_up)
    return {pod.uid for index, pod in _tried(job, found).items() if index not in going_on and not over.has(index)}


def _backoff(job: Job, pods: Sequence[Pod], found: JobTally, now: float) -> float | None:
    """Failures in a row make the next try wait."""
    failed = [pod for pod in pods if has_failed(job, pod)]
    failures = found.failures + sum(not verdict.counts for verdict in found.verdicts.values())
    if not failures or not failed:
        return None
    last = max(ended_at(pod) for pod in failed)
    if any(ended_at(pod) > last for pod in pods if pod.status.phase == "Succeeded"):
        return None
    due = last + _wait(failures)
    return due if now < due else None


def _wait(failures: int) -> float:
    return min(FIRST_BACKOFF * 2.0 ** min(max(failures, 1) - 1, 10), LONGEST_BACKOFF)


def _surplus(job: Job, found: JobTally) -> list[Pod]:
    wanted = _parallelism(job)
    if job.spec.completions is not None:
        wanted = min(wanted, job.spec.completions - _done(job, found))
    extra = len(found.active) - max(wanted, 0)
    return by_worth(found.active)[: min(extra, BURST)] if extra > 0 else []


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


def _status(job: Job, found: JobTally, now: float, active: int, end: tuple[str, str, str] | None = None) -> Raw | None:
    """The status to write, or None when the Job already says it."""
    ready = min(sum(is_ready(pod) for pod in found.active), active)
    wanted: Raw = {
        "active": active or None,
        "ready": ready,
        "terminating": found.leaving,
        "succeeded": found.succeeded or None,
        "failed": found.failed or None,
        "uncountedTerminatedPods": {how: uids or None for how, uids in found.noted.items()},
        "startTime": None if job.spec.suspend else job.status.start_time or timestamp(now),
    }
    said: Raw = {
        "active": job.status.active or None,
        "ready": job.status.ready,
        "terminating": job.status.terminating,
        "succeeded": job.status.succeeded or None,
        "failed": job.status.failed or None,
        "startTime": job.status.start_time,
        "uncountedTerminatedPods": {how: job.status.uncounted_terminated_pods.get(how) or None for how in found.noted},
    }
    if is_indexed(job):
        wanted["completedIndexes"] = found.indexes.text() or None
        said["completedIndexes"] = job.status.completed_indexes or None
    if job.spec.backoff_limit_per_index is not None:
        wanted["failedIndexes"], said["failedIndexes"] = found.given_up.text(), job.status.failed_indexes
    conditions = _conditions(job, now, end, found.settled)
    if conditions != list(job.status.conditions):
        wanted["conditions"] = conditions
    if end is not None and end[0] == "Complete" and found.settled:
        wanted["completionTime"] = timestamp(now)
    return None if wanted == said else wanted


def _conditions(job: Job, now: float, end: tuple[str, str, str] | None, settled: bool) -> list[Raw]:
    conditions = list(job.status.conditions)
    said = next((condition for condition in conditions if condition.get("type") == "Suspended"), None)
    if job.spec.suspend and (said is None or said.get("status") != "True"):
        conditions = [condition for condition in conditions if condition is not said]
        conditions.append(_condition("Suspended", "JobSuspended", "Job suspended", now))
    elif not job.spec.suspend and said is not None and said.get("status") == "True":
        conditions = [condition for condition in conditions if condition is not said]
        conditions.append(_condition("Suspended", "JobResumed", "Job resumed", now, "False"))
    return conditions if end is None else conditions + _ends(conditions, now, end, settled)


def _ends(conditions: Sequence[Raw], now: float, end: tuple[str, str, str], settled: bool) -> list[Raw]:
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


# --- doing
# -------------------------------------------------------------------------------------------------------------


async def reconcile(ctx: Context, key: Key) -> Again | None:
    job = ctx.read.get(JOB, key.name, key.namespace)
    if job is None or job.metadata.deleting or job.spec.managed_by not in (None, CONTROLLER):
        return None
    now = ctx.clock.now()
    todo = plan(job, ctx.read.owned(POD, job.uid), now, crowd(ctx.read))
    if todo.remove:
        await ctx.client.delete(JOB, job.name, job.namespace, uid=job.uid, propagation="Foreground")
        return None
    if todo.status is not None:
        guard = {"resourceVersion": job.metadata.resource_version}
        await ctx.client.patch(
            JOB, job.name, job.namespace, {"metadata": guard, "status": todo.status}, subresource="status"
        )
    await asyncio.gather(*(release(ctx, pod) for pod in todo.release))
    await create_pods(ctx, JOB, job, todo.create)
    tell_held_back(ctx, JOB, job, todo.held_back)
    await asyncio.gather(*(_delete(ctx, pod) for pod in todo.delete))
    return None if todo.again is None else Again(max(todo.again - now, 0.001))


async def _delete(ctx: Context, pod: Pod) -> None:
    if tracked(pod):
        await release(ctx, pod)
    await delete_quietly(ctx, POD, pod, propagation="Background")


async def release(ctx: Context, pod: Pod) -> None:
    """Takes the tracking finalizer off a pod whose end is counted, or whose Job is gone."""
    rest = [finalizer for finalizer in pod.metadata.finalizers if finalizer != TRACKING]
    guard = {"uid": pod.uid, "resourceVersion": pod.metadata.resource_version}
    try:
        await ctx.client.patch(POD, pod.name, pod.namespace, {"metadata": guard | {"finalizers": rest or None}})
    except NotFound:
        return


async def release_orphan(ctx: Context, key: Key) -> Again | None:
    """A tracked pod whose Job is gone or gives it up is nobody's to count."""
    pod = ctx.read.get(POD, key.name, key.namespace)
    if pod is None or TRACKING not in pod.metadata.finalizers:
        return None
    owning = pod.metadata.controller
    job = ctx.read.get(JOB, owning.name, pod.namespace) if owning is not None and owning.kind == "Job" else None
    if job is None or job.uid != (owning.uid if owning else "") or job.metadata.deleting:
        await release(ctx, pod)
    return None


def jobs() -> list[Controller]:
    return [
        Controller(
            "jobs",
            reconcile,
            watches=(Watch(JOB, itself), Watch(POD, owner(JOB))),
            indexes=((POD, UNPLACED, unplaced),),
        ),
        Controller(
            "job-orphans",
            release_orphan,
            watches=(
                Watch(
                    POD, itself, when=lambda before, after: after is not None and TRACKING in after.metadata.finalizers
                ),
                Watch(
                    JOB,
                    lambda job, read: [Key(pod.namespace, pod.name) for pod in read.owned(POD, job.uid)],
                    when=lambda before, after: after is None or after.metadata.deleting,
                ),
            ),
            workers=2,
        ),
    ]
