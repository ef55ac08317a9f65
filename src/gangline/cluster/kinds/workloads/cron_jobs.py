"""Rules of CronJob: when it starts its Jobs, and what they look like."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gangline.cluster.kinds.checks import Obj, Problems, not_negative, one_of
from gangline.cluster.kinds.pods.pod_warnings import name_warnings
from gangline.cluster.kinds.pods.spec_defaults import default_template
from gangline.cluster.kinds.rules import KindRules
from gangline.cluster.kinds.workloads.jobs import default_failure_policy, job_spec, job_warnings
from gangline.cluster.kinds.workloads.schedules import schedule_problems
from gangline.errors import Problem
from gangline.rules.values import problems as say


class CronJobRules(KindRules):
    generation = True
    has_status = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("concurrencyPolicy", "Allow")
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", 3)
        spec.setdefault("failedJobsHistoryLimit", 1)
        default_template(
            spec.setdefault("jobTemplate", {}).setdefault("spec", {}).setdefault("template", {}), restart=""
        )
        default_failure_policy(spec["jobTemplate"]["spec"])

    def validate(self, obj: Obj) -> list[Problem]:
        return [*self._checks(obj["spec"]), *_short_name(obj["metadata"].get("name") or "")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [] if subresource else [*self._checks(new["spec"], str(old["spec"].get("schedule") or ""))]

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        job, path = (obj["spec"].get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec"
        if old is None:
            return [*name_warnings(obj["metadata"].get("name") or ""), *job_warnings(job, path)]
        deprecated = (
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )
        return [
            *(job_warnings(job, path) if self.spec_changed(obj, old) else ()),
            *([deprecated] if "TZ" in (obj["spec"].get("schedule") or "") else ()),
        ]

    def _checks(self, spec: Obj, before: str = "") -> Problems:
        schedule = spec.get("schedule") or ""
        if not schedule:
            yield say.required("spec.schedule")
        else:
            yield from (say.invalid("spec.schedule", schedule, why) for why in schedule_problems(schedule, before))
        yield from one_of(
            spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace"), "spec.concurrencyPolicy", required=True
        )
        yield from not_negative(spec.get("startingDeadlineSeconds"), "spec.startingDeadlineSeconds")
        if spec.get("timeZone") is not None:
            yield from _time_zone(spec["timeZone"], "spec.timeZone")
        yield from _job_template((spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec")
        for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
            yield from not_negative(spec.get(name), f"spec.{name}")


def _job_template(spec: Obj, path: str) -> Problems:
    yield from job_spec(spec, path)
    if spec.get("selector") is not None:
        yield say.invalid(f"{path}.selector", spec["selector"], "`selector` will be auto-generated")
    if spec.get("manualSelector"):
        yield say.unsupported(f"{path}.manualSelector", True, ("nil", "false"))


def _time_zone(name: str, path: str) -> Problems:
    if not name:
        yield say.invalid(path, name, "timeZone must be nil or non-empty string")
    elif name.lower() == "local":
        yield say.invalid(
            path, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    else:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            yield say.invalid(path, name, f"unknown time zone {name}")


def _short_name(name: str) -> Problems:
    if len(name) > 52:
        yield say.invalid("metadata.name", name, "must be no more than 52 characters")
