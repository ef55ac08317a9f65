"""batch/v1 CronJobs: a Job at each moment its schedule names.

rules/values/cron.py says when a schedule comes; the controller makes the Jobs, keeps a history of them and says when
the last one was. Times are UTC unless the CronJob names a time zone."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gangline.api.builtin import Job, Untyped
from gangline.api.kinds import CRON_JOB, JOB, reference
from gangline.api.meta import Raw
from gangline.cluster.world.workloads.jobs.job_plan import finished
from gangline.errors import BadInput
from gangline.rules.values import cron
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import seconds_of, timestamp


def zone_of(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput(f"time zone {name!r} is not known") from error


def due(spec: Raw, since: float, now: float) -> tuple[float | None, float | None]:
    """The last moment of the schedule that has come since then, and the next one."""
    deadline = spec.get("startingDeadlineSeconds")
    start = max(since, now - float(deadline)) if deadline is not None else since
    return cron.due(cron.parse(str(spec["schedule"])), start, now, zone_of(spec.get("timeZone")))


# --- jobs -------------------------------------------------------------------------------------------------------------


def job_for(asked: Untyped, moment: float) -> Raw:
    template = deepcopy(asked.spec["jobTemplate"])
    meta = dict(template.get("metadata") or {})
    meta |= {
        "name": f"{asked.name[:52]}-{int(moment // 60)}",
        "namespace": asked.namespace,
        "ownerReferences": [reference(CRON_JOB, asked)],
        "annotations": (meta.get("annotations") or {})
        | {"batch.kubernetes.io/cronjob-scheduled-timestamp": timestamp(moment)},
    }
    return {"metadata": meta, "spec": template["spec"]}


def surplus(spec: Raw, jobs: Sequence[Job]) -> list[Job]:
    """Finished Jobs beyond the history that is kept, the oldest."""
    ended = sorted(
        (job for job in jobs if finished(job)), key=lambda job: (job.metadata.creation_timestamp or "", job.name)
    )
    good, bad = [job for job in ended if _completed(job)], [job for job in ended if not _completed(job)]
    keep_good, keep_bad = int(spec.get("successfulJobsHistoryLimit", 3)), int(spec.get("failedJobsHistoryLimit", 1))
    return good[: max(len(good) - keep_good, 0)] + bad[: max(len(bad) - keep_bad, 0)]


def _completed(job: Job) -> bool:
    return any(condition.get("type") == "Complete" for condition in job.status.conditions)


async def reconcile(ctx: Context, key: Key) -> Again | None:
    asked = ctx.read.get(CRON_JOB, key.name, key.namespace)
    if asked is None or asked.metadata.deleting:
        return None
    jobs = ctx.read.owned(JOB, asked.uid)
    for job in surplus(asked.spec, jobs):
        await ctx.writer.delete_unless_gone(JOB, job, propagation="Background")
    running = [job for job in jobs if not finished(job) and not job.metadata.deleting]
    status: Raw = asked.status or {}
    since = str(status.get("lastScheduleTime") or asked.metadata.creation_timestamp)
    now = ctx.clock.now()
    try:
        last, following = due(asked.spec, seconds_of(since), now)
    except cron.CronError as wrong:
        ctx.events.tell(
            CRON_JOB,
            asked,
            "UnparseableSchedule",
            f"unparseable schedule: {asked.spec['schedule']!r} : {wrong}",
            warning=True,
        )
        return None
    except BadInput as wrong:
        ctx.events.tell(CRON_JOB, asked, "UnknownTimeZone", str(wrong), warning=True)
        return None
    scheduled = None
    if last is not None and not asked.spec.get("suspend"):
        scheduled = await _start(ctx, asked, running, last)
    await _write_status(ctx, asked, running, timestamp(last) if scheduled and last is not None else None)
    return None if following is None else Again(max(following - now, 0.001))


async def _start(ctx: Context, asked: Untyped, running: Sequence[Job], moment: float) -> bool:
    """A Job for this moment, unless the policy says that one that still runs is enough."""
    policy = asked.spec.get("concurrencyPolicy")
    if running and policy == "Forbid":
        ctx.events.tell(
            CRON_JOB, asked, "JobAlreadyActive", "no new job: an earlier one still runs and concurrencyPolicy is Forbid"
        )
        return False
    for job in running if policy == "Replace" else ():
        await ctx.writer.delete_unless_gone(JOB, job, propagation="Background")
    made = job_for(asked, moment)
    if await ctx.writer.create_unless_there(JOB, made):
        ctx.events.tell(CRON_JOB, asked, "SuccessfulCreate", f"Created job {made['metadata']['name']}")
    return True


async def _write_status(ctx: Context, asked: Untyped, running: Sequence[Job], scheduled: str | None) -> None:
    before: Raw = asked.status or {}
    wanted: Raw = {
        "active": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": job.name, "namespace": job.namespace, "uid": job.uid}
            for job in sorted(running, key=lambda job: job.name)
        ]
        or None
    }
    if scheduled:
        wanted["lastScheduleTime"] = scheduled
    if wanted != {name: before.get(name) for name in wanted}:
        await ctx.client.patch(CRON_JOB, asked.name, asked.namespace, {"status": wanted}, subresource="status")


def cronjobs() -> Controller:
    return Controller("cronjobs", reconcile, watches=(Watch(CRON_JOB, itself), Watch(JOB, owner(CRON_JOB))), workers=2)
