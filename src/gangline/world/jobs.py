"""batch/v1 Jobs: as many pods as parallelism and completions ask for, counted as they end, tried again as often as allowed.

`plan` compares a Job with its pods and returns what to create, delete, count and say; the shell below writes it. A pod carries a
finalizer until its end is counted, so no result is lost when someone deletes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gangline.api.builtin import Job
from gangline.api.core import Pod
from gangline.api.kinds import JOB, POD
from gangline.api.meta import Raw
from gangline.errors import NotFound
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import seconds_of, timestamp
from gangline.world.replicas import active, by_worth, fresh_names, is_ready, pod_from
from gangline.world.writes import create_pods, delete_quietly

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
LABELS = ("batch.kubernetes.io/job-name", "job-name")
UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 600.0


# --- thinking ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    create: tuple[Raw, ...] = ()
    delete: tuple[Pod, ...] = ()
    """Pods no longer wanted: let go first, so that their end does not count."""
    release: tuple[Pod, ...] = ()
    """Pods whose end this status notes: their finalizer can go."""
    status: Raw | None = None
    remove: bool = False
    """The Job itself is past its time to live."""
    again: float | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """What a Job's pods come to. An end is first noted by uid, and counted once its pod was let go: so none counts twice."""

    active: tuple[Pod, ...]
    leaving: int
    ended: tuple[Pod, ...]
    """Pods with an end to note, in this plan or an earlier one."""
    succeeded: int
    failed: int
    noted: dict[str, list[str]]
    indexes: frozenset[int]

    @property
    def successes(self) -> int:
        return self.succeeded + len(self.noted["succeeded"])

    @property
    def failures(self) -> int:
        return self.failed + len(self.noted["failed"])

    @property
    def settled(self) -> bool:
        return not self.noted["succeeded"] and not self.noted["failed"]


def tally(job: Job, pods: Iterable[Pod]) -> Tally:
    pods = sorted(pods, key=lambda pod: pod.name)
    ended = {"succeeded": [pod for pod in pods if _tracked(pod) and pod.status.phase == "Succeeded"],
             "failed": [pod for pod in pods if _tracked(pod) and _failed(pod)]}
    earlier = {how: [str(uid) for uid in job.status.uncounted_terminated_pods.get(how) or ()] for how in ended}
    held = {pod.uid for pod in pods if _tracked(pod)}
    counted = {how: sum(uid not in held for uid in uids) for how, uids in earlier.items()}
    noted = {how: [uid for uid in uids if uid in held] for how, uids in earlier.items()}
    for how, found in ended.items():
        noted[how] += [pod.uid for pod in found if pod.uid not in noted[how]]
    indexes = frozenset(read_indexes(job.status.completed_indexes)) | {each for pod in ended["succeeded"] for each in _index(pod)}
    return Tally(tuple(pod for pod in pods if active(pod)), sum(pod.metadata.deleting and not _tracked(pod) for pod in pods),
                 (*ended["succeeded"], *ended["failed"]), job.status.succeeded + counted["succeeded"],
                 job.status.failed + counted["failed"], noted, indexes)


def _tracked(pod: Pod) -> bool:
    return TRACKING in pod.metadata.finalizers


def _failed(pod: Pod) -> bool:
    """Failed, or deleted by someone before it could end."""
    return pod.status.phase == "Failed" or (pod.metadata.deleting and pod.status.phase != "Succeeded")


def plan(job: Job, pods: Sequence[Pod], now: float) -> Plan:
    if finished(job):
        return _after_the_end(job, pods, now)
    found = tally(job, pods)
    end = _end(job, found, now)
    if end is not None or job.spec.suspend:
        status = _status(job, found, now, 0, end if found.settled else None)
        return Plan(delete=found.active, release=found.ended, status=status)
    create, again = _missing(job, pods, found, now)
    surplus = _surplus(job, found)
    status = _status(job, found, now, len(found.active) - len(surplus) + len(create))
    moments = [moment for moment in (again, _deadline(job, now)) if moment is not None]
    return Plan(tuple(create), tuple(surplus), found.ended, status, again=min(moments, default=None))


def finished(job: Job) -> bool:
    return any(each.get("type") in ("Complete", "Failed") and each.get("status") == "True" for each in job.status.conditions)


def _after_the_end(job: Job, pods: Sequence[Pod], now: float) -> Plan:
    rest = tuple(pod for pod in pods if active(pod))
    release = tuple(pod for pod in pods if _tracked(pod) and not active(pod))
    live = job.spec.ttl_seconds_after_finished
    if live is None:
        return Plan(delete=rest, release=release)
    ended = max(seconds_of(str(each["lastTransitionTime"])) for each in job.status.conditions if each.get("status") == "True")
    over = now >= ended + live
    return Plan(delete=rest, release=release, remove=over, again=None if over else ended + live)


def _end(job: Job, found: Tally, now: float) -> tuple[str, str, str] | None:
    """Condition, reason and message of a Job that ends now."""
    limit = 6 if job.spec.backoff_limit is None else job.spec.backoff_limit
    restarts = sum(status.restart_count for pod in found.active for status in pod.status.container_statuses)
    if found.failures > limit or (restarts > limit and (job.spec.template.get("spec") or {}).get("restartPolicy") == "OnFailure"):
        return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    deadline = job.spec.active_deadline_seconds
    if deadline is not None and job.status.start_time and now >= seconds_of(job.status.start_time) + deadline:
        return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
    if _complete(job, found):
        return "Complete", "CompletionsReached", "Reached expected number of succeeded pods"
    return None


def _complete(job: Job, found: Tally) -> bool:
    wanted = job.spec.completions
    if wanted is None:
        return found.successes > 0 and not found.active
    return len(found.indexes) >= wanted if _indexed(job) else found.successes >= wanted


def _parallelism(job: Job) -> int:
    return 1 if job.spec.parallelism is None else job.spec.parallelism


def _missing(job: Job, pods: Sequence[Pod], found: Tally, now: float) -> tuple[list[Raw], float | None]:
    """Pods to make now, or the moment from which a failed one may be replaced."""
    room = _parallelism(job) - len(found.active)
    if job.spec.completions is not None:
        room = min(room, job.spec.completions - found.successes - len(found.active))
    elif found.successes:
        room = 0
    if room <= 0:
        return [], None
    back = _backoff(pods, found, now)
    if back is not None:
        return [], back
    used = {pod.name for pod in pods}
    if _indexed(job):
        busy = found.indexes | {index for pod in found.active for index in _index(pod)}
        free = [index for index in range(job.spec.completions or 0) if index not in busy][:room]
        return [_pod(job, fresh_names(f"{job.name}-{index}", f"{job.uid}/{index}", used, 1)[0], index) for index in free], None
    return [_pod(job, name) for name in fresh_names(job.name, job.uid, used, room)], None


def _backoff(pods: Sequence[Pod], found: Tally, now: float) -> float | None:
    """Failures in a row make the next try wait."""
    failed = [pod for pod in pods if _failed(pod)]
    if not found.failures or not failed:
        return None
    last = max(_ended(pod) for pod in failed)
    if any(_ended(pod) > last for pod in pods if pod.status.phase == "Succeeded"):
        return None
    due = last + min(FIRST_BACKOFF * 2.0 ** (found.failures - 1), LONGEST_BACKOFF)
    return due if now < due else None


def _ended(pod: Pod) -> float:
    times = [state["finishedAt"] for status in pod.status.container_statuses if (state := status.state.get("terminated"))]
    return max(seconds_of(each) for each in times or [pod.metadata.creation_timestamp or "1970-01-01T00:00:00Z"])


def _surplus(job: Job, found: Tally) -> list[Pod]:
    wanted = _parallelism(job)
    if job.spec.completions is not None:
        wanted = min(wanted, job.spec.completions - found.successes)
    extra = len(found.active) - max(wanted, 0)
    return by_worth(found.active)[:extra] if extra > 0 else []


def _deadline(job: Job, now: float) -> float | None:
    if job.spec.active_deadline_seconds is None:
        return None
    return (seconds_of(job.status.start_time) if job.status.start_time else now) + job.spec.active_deadline_seconds


def _pod(job: Job, name: str, index: int | None = None) -> Raw:
    template = job.spec.template
    labels = dict.fromkeys(LABELS, job.name) | dict.fromkeys(UID_LABELS, job.uid)
    notes = {} if index is None else {INDEX: str(index)}
    pod = pod_from(template, JOB, job, name, labels | notes, notes)
    pod["metadata"]["finalizers"] = [*(pod["metadata"].get("finalizers") or ()), TRACKING]
    if index is not None:
        pod["spec"].setdefault("hostname", f"{job.name}-{index}")
        for container in [*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())]:
            container["env"] = [*(container.get("env") or ()), {"name": "JOB_COMPLETION_INDEX", "value": str(index)}]
    return pod


def _indexed(job: Job) -> bool:
    return job.spec.completion_mode == "Indexed"


def _index(pod: Pod) -> list[int]:
    text = pod.annotations.get(INDEX, "")
    return [int(text)] if text.isdigit() else []


def read_indexes(text: str) -> list[int]:
    """`0-2,5` → 0, 1, 2, 5."""
    found: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """0, 1, 2, 5 → `0-2,5`; two in a row are written with a comma."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][-1] + 1 == index:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(_run(run[0], run[-1]) for run in runs)


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first},{last}" if last == first + 1 else f"{first}-{last}"


def _status(job: Job, found: Tally, now: float, active: int, end: tuple[str, str, str] | None = None) -> Raw | None:
    """The status to write, or None when the Job already says it."""
    ready = sum(is_ready(pod) for pod in found.active) if active else 0
    wanted: Raw = {"active": active or None, "ready": ready, "terminating": found.leaving, "succeeded": found.succeeded or None,
                   "failed": found.failed or None,
                   "uncountedTerminatedPods": {how: uids or None for how, uids in found.noted.items()},
                   "startTime": None if job.spec.suspend else job.status.start_time or timestamp(now)}
    said: Raw = {"active": job.status.active or None, "ready": job.status.ready, "terminating": job.status.terminating,
                 "succeeded": job.status.succeeded or None, "failed": job.status.failed or None,
                 "startTime": job.status.start_time,
                 "uncountedTerminatedPods": {how: job.status.uncounted_terminated_pods.get(how) or None for how in found.noted}}
    if _indexed(job):
        wanted["completedIndexes"] = write_indexes(found.indexes) or None
        said["completedIndexes"] = job.status.completed_indexes or None
    conditions = _conditions(job, now, end)
    if conditions != list(job.status.conditions):
        wanted["conditions"] = conditions
    if end is not None and end[0] == "Complete":
        wanted["completionTime"] = timestamp(now)
    return None if wanted == said else wanted


def _conditions(job: Job, now: float, end: tuple[str, str, str] | None) -> list[Raw]:
    conditions = list(job.status.conditions)
    said = next((each for each in conditions if each.get("type") == "Suspended"), None)
    if job.spec.suspend and (said is None or said.get("status") != "True"):
        conditions = [each for each in conditions if each is not said]
        conditions.append(_condition("Suspended", "JobSuspended", "Job suspended", now))
    elif not job.spec.suspend and said is not None and said.get("status") == "True":
        conditions = [each for each in conditions if each is not said]
        conditions.append(_condition("Suspended", "JobResumed", "Job resumed", now, "False"))
    if end is not None:
        kind, reason, message = end
        before = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[kind]
        conditions += [_condition(before, reason, message, now), _condition(kind, reason, message, now)]
    return conditions


def _condition(kind: str, reason: str, message: str, now: float, status: str = "True") -> Raw:
    when = timestamp(now)
    return {"type": kind, "status": status, "reason": reason, "message": message,
            "lastProbeTime": when, "lastTransitionTime": when}


# --- doing -------------------------------------------------------------------------------------------------------------


async def reconcile(ctx: Context, key: Key) -> Again | None:
    job = ctx.read.get(JOB, key.name, key.namespace)
    if job is None or job.metadata.deleting:
        return None
    now = ctx.clock.now()
    todo = plan(job, ctx.read.owned(POD, job.uid), now)
    if todo.remove:
        await ctx.client.delete(JOB, job.name, job.namespace, uid=job.uid, propagation="Foreground")
        return None
    if todo.status is not None:
        guard = {"resourceVersion": job.metadata.resource_version}
        await ctx.client.patch(JOB, job.name, job.namespace, {"metadata": guard, "status": todo.status}, subresource="status")
    await asyncio.gather(*(release(ctx, pod) for pod in todo.release))
    await create_pods(ctx, JOB, job, todo.create)
    await asyncio.gather(*(_delete(ctx, pod) for pod in todo.delete))
    return None if todo.again is None else Again(max(todo.again - now, 0.001))


async def _delete(ctx: Context, pod: Pod) -> None:
    if _tracked(pod):
        await release(ctx, pod)
    await delete_quietly(ctx, POD, pod, propagation="Background")


async def release(ctx: Context, pod: Pod) -> None:
    """Takes the tracking finalizer off a pod whose end is counted, or whose Job is gone."""
    rest = [each for each in pod.metadata.finalizers if each != TRACKING]
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
    return [Controller("jobs", reconcile, watches=(Watch(JOB, itself), Watch(POD, owner(JOB)))),
            Controller("job-orphans", release_orphan, watches=(
                Watch(POD, itself, when=lambda before, after: after is not None and TRACKING in after.metadata.finalizers),
                Watch(JOB, lambda job, read: [Key(pod.namespace, pod.name) for pod in read.owned(POD, job.uid)],
                      when=lambda before, after: after is None or after.metadata.deleting)), workers=2)]
