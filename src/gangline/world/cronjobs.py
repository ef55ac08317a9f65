"""batch/v1 CronJobs: a Job at each moment its schedule names.

A small reader of the five-field schedule is pure and stands first; the shell makes the Jobs, keeps a history of them and says when
the last one was. Times are UTC unless the CronJob names a time zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gangline.api.builtin import Job, Untyped
from gangline.api.kinds import CRON_JOB, JOB, reference
from gangline.api.meta import Raw
from gangline.errors import BadInput
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import seconds_of, timestamp
from gangline.world.jobs import finished
from gangline.world.writes import create_quietly, delete_quietly

LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
NAMED = {"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
         "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}
FARTHEST = timedelta(days=5 * 366)


# --- schedules ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    """Day of month and day of week are joined by "or" unless one of them is `*`."""

    def on(self, moment: datetime) -> bool:
        day, weekday = moment.day in self.days, (moment.isoweekday() % 7) in self.weekdays
        return moment.month in self.months and (day and weekday if self.any_day else day or weekday)


def read_schedule(text: str) -> Schedule:
    fields = NAMED.get(text.strip(), text).split()
    if len(fields) != 5:
        raise BadInput(f"{text!r} is not a schedule: write minute, hour, day, month and weekday, such as `*/5 * * * *`")
    minutes, hours, days, months, weekdays = (_field(field, *limits) for field, limits in zip(fields, LIMITS, strict=True))
    return Schedule(minutes, hours, days, months, frozenset(day % 7 for day in weekdays), "*" in (fields[2][0], fields[4][0]))


def _field(text: str, low: int, high: int) -> frozenset[int]:
    found: set[int] = set()
    for part in text.lower().split(","):
        span, _, every = part.partition("/")
        first, _, last = span.partition("-")
        start = low if first in ("*", "?") else _number(first, text)
        end = high if first in ("*", "?") or (every and not last) else _number(last or first, text)
        if not low <= start <= end <= high:
            raise BadInput(f"{text!r} is not between {low} and {high}")
        found |= set(range(start, end + 1, int(every or 1)))
    return frozenset(found)


def _number(text: str, field: str) -> int:
    for table, first in ((MONTHS, 1), (DAYS, 0)):
        if text in table:
            return table.index(text) + first
    if not text.isdigit():
        raise BadInput(f"{field!r} is not a field of a schedule")
    return int(text)


def next_after(schedule: Schedule, moment: datetime) -> datetime | None:
    """The first moment of the schedule after this one; None when it never comes."""
    found = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
    last = found + FARTHEST
    while found < last:
        if not schedule.on(found):
            found = found.replace(hour=0, minute=0) + timedelta(days=1)
        elif found.hour not in schedule.hours:
            found = found.replace(minute=0) + timedelta(hours=1)
        elif found.minute not in schedule.minutes:
            found += timedelta(minutes=1)
        else:
            return found
    return None


def zone_of(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise BadInput(f"time zone {name!r} is not known") from error


def due(spec: Raw, since: float, now: float) -> tuple[float | None, float | None]:
    """The last moment of the schedule that has come since then, and the next one."""
    schedule, zone = read_schedule(str(spec["schedule"])), zone_of(spec.get("timeZone"))
    deadline = spec.get("startingDeadlineSeconds")
    start = max(since, now - float(deadline)) if deadline is not None else since
    last: float | None = None
    moment = next_after(schedule, datetime.fromtimestamp(start, zone))
    while moment is not None and moment.timestamp() <= now:
        last = moment.timestamp()
        moment = next_after(schedule, moment)
    return last, moment.timestamp() if moment is not None else None


# --- jobs --------------------------------------------------------------------------------------------------------------


def job_for(cron: Untyped, moment: float) -> Raw:
    template = deepcopy(cron.spec["jobTemplate"])
    meta = dict(template.get("metadata") or {})
    meta |= {"name": f"{cron.name[:52]}-{int(moment // 60)}", "namespace": cron.namespace, "ownerReferences": [reference(CRON_JOB, cron)],
             "annotations": (meta.get("annotations") or {}) | {"batch.kubernetes.io/cronjob-scheduled-timestamp": timestamp(moment)}}
    return {"metadata": meta, "spec": template["spec"]}


def surplus(spec: Raw, jobs: Sequence[Job]) -> list[Job]:
    """Finished Jobs beyond the history that is kept, the oldest."""
    ended = sorted((job for job in jobs if finished(job)), key=lambda job: (job.metadata.creation_timestamp or "", job.name))
    good = [job for job in ended if any(each.get("type") == "Complete" for each in job.status.conditions)]
    bad = [job for job in ended if job not in good]
    keep_good, keep_bad = int(spec.get("successfulJobsHistoryLimit", 3)), int(spec.get("failedJobsHistoryLimit", 1))
    return good[:max(len(good) - keep_good, 0)] + bad[:max(len(bad) - keep_bad, 0)]


async def reconcile(ctx: Context, key: Key) -> Again | None:
    cron = ctx.read.get(CRON_JOB, key.name, key.namespace)
    if cron is None or cron.metadata.deleting:
        return None
    jobs = ctx.read.owned(JOB, cron.uid)
    for job in surplus(cron.spec, jobs):
        await delete_quietly(ctx, JOB, job, propagation="Background")
    running = [job for job in jobs if not finished(job) and not job.metadata.deleting]
    status: Raw = cron.status or {}
    since = str(status.get("lastScheduleTime") or cron.metadata.creation_timestamp)
    now = ctx.clock.now()
    last, following = due(cron.spec, seconds_of(since), now)
    scheduled = None
    if last is not None and not cron.spec.get("suspend"):
        scheduled = await _start(ctx, cron, running, last)
    await _say(ctx, cron, running, timestamp(last) if scheduled and last is not None else None)
    return None if following is None else Again(max(following - now, 0.001))


async def _start(ctx: Context, cron: Untyped, running: Sequence[Job], moment: float) -> bool:
    """A Job for this moment, unless the policy says that one that still runs is enough."""
    policy = cron.spec.get("concurrencyPolicy")
    if running and policy == "Forbid":
        ctx.events.tell(CRON_JOB, cron, "JobAlreadyActive", "no new job: an earlier one still runs and concurrencyPolicy is Forbid")
        return False
    for job in running if policy == "Replace" else ():
        await delete_quietly(ctx, JOB, job, propagation="Background")
    made = job_for(cron, moment)
    if await create_quietly(ctx, JOB, made):
        ctx.events.tell(CRON_JOB, cron, "SuccessfulCreate", f"Created job {made['metadata']['name']}")
    return True


async def _say(ctx: Context, cron: Untyped, running: Sequence[Job], scheduled: str | None) -> None:
    before: Raw = cron.status or {}
    wanted: Raw = {"active": [{"apiVersion": "batch/v1", "kind": "Job", "name": job.name, "namespace": job.namespace, "uid": job.uid}
                              for job in sorted(running, key=lambda job: job.name)] or None}
    if scheduled:
        wanted["lastScheduleTime"] = scheduled
    if wanted != {name: before.get(name) for name in wanted}:
        await ctx.client.patch(CRON_JOB, cron.name, cron.namespace, {"status": wanted}, subresource="status")


def cronjobs() -> Controller:
    return Controller("cronjobs", reconcile, watches=(Watch(CRON_JOB, itself), Watch(JOB, owner(CRON_JOB))), workers=2)
