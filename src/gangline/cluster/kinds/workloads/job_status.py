"""What a Job's status may say: its counters, its conditions and its times agree with each other, and none goes back.

A status is only held to a rule that the status before it kept, so that a job which broke one can still be finished.
"""

from __future__ import annotations

from collections.abc import Iterator

from gangline.cluster.kinds.checks import Obj, Problems, not_negative, with_paths
from gangline.errors import Problem
from gangline.rules.values import problems as say

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_ENDS = ("Complete", "Failed")


def job_status(new: Obj, old: Obj) -> list[Problem]:
    """Everything wrong with a job whose status was written."""
    spec, status, before = new["spec"], new.get("status") or {}, old.get("status") or {}
    return [
        *_counters(status),
        *_times(status),
        *_indexes(spec, status),
        *_finish(status),
        *_steps(spec, status, before),
    ]


def _counters(status: Obj) -> Problems:
    for name in _COUNTS:
        yield from not_negative(status.get(name), f"status.{name}")
    if status.get("ready") is not None and status["ready"] > (status.get("active") or 0):
        yield say.invalid("status.ready", status["ready"], "cannot set more ready pods than active")
    seen: set[str] = set()
    for name in ("succeeded", "failed"):
        for where, uid in with_paths(
            (status.get("uncountedTerminatedPods") or {}).get(name), f"status.uncountedTerminatedPods.{name}"
        ):
            if uid in seen:
                yield say.duplicate(where, uid)
            elif not uid:
                yield say.required(where)
            seen.add(uid)


def _times(status: Obj) -> Problems:
    done, begun = status.get("completionTime"), status.get("startTime")
    if done is not None and not is_true(status, "Complete"):
        yield say.invalid(
            "status.completionTime", done, "cannot set completionTime when there is no Complete=True condition"
        )
    elif done is None and is_true(status, "Complete"):
        yield say.required("status.completionTime", "completionTime is required for Complete jobs")
    if done and begun and done < begun:
        yield say.invalid("status.completionTime", done, "must be equal to or after `startTime`")


def _indexes(spec: Obj, status: Obj) -> Problems:
    if status.get("completedIndexes") and spec.get("completionMode") != "Indexed":
        yield say.invalid(
            "status.completedIndexes",
            status["completedIndexes"],
            "cannot set non-empty completedIndexes when non-indexed completion mode",
        )
    if status.get("failedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield say.invalid(
            "status.failedIndexes",
            status["failedIndexes"],
            "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
        )


def _finish(status: Obj) -> Problems:
    for end, reason in (("Complete", "SuccessCriteriaMet"), ("Failed", "FailureTarget")):
        if is_true(status, end) and not is_true(status, reason):
            yield say.invalid(
                "status.conditions", say.OMIT, f"cannot set {end}=True condition without the {reason}=true condition"
            )
    for first, second in (
        ("Complete", "Failed"),
        ("Complete", "FailureTarget"),
        ("SuccessCriteriaMet", "Failed"),
        ("SuccessCriteriaMet", "FailureTarget"),
    ):
        if is_true(status, first) and is_true(status, second):
            yield say.invalid("status.conditions", say.OMIT, f"cannot set {first}=True and {second}=true conditions")
            break
    if any(is_true(status, end) for end in _ENDS):
        if status.get("startTime") is None:
            yield say.required("status.startTime", "startTime is required for finished job")
        for name in ("active", "terminating"):
            if (status.get(name) or 0) > 0:
                yield say.invalid(f"status.{name}", status[name], f"{name}>0 is invalid for finished job")


def _steps(spec: Obj, status: Obj, before: Obj) -> Problems:
    if (status.get("failed") or 0) < (before.get("failed") or 0):
        yield say.invalid("status.failed", status.get("failed") or 0, "cannot decrease the failed counter")
    if spec.get("completionMode") != "Indexed" and (status.get("succeeded") or 0) < (before.get("succeeded") or 0):
        yield say.invalid("status.succeeded", status.get("succeeded") or 0, "cannot decrease the succeeded counter")
    for condition in _lost(status, before):
        yield say.invalid("status.conditions", say.OMIT, f"cannot disable the terminal {condition}=True condition")
    done = before.get("completionTime")
    if done is not None and is_true(before, "Complete") and status.get("completionTime") != done:
        yield say.invalid("status.completionTime", status.get("completionTime"), "completionTime cannot be mutated")


def _lost(status: Obj, before: Obj) -> Iterator[str]:
    for condition in (*_ENDS, "SuccessCriteriaMet", "FailureTarget"):
        if is_true(before, condition) and not is_true(status, condition):
            yield condition


def is_true(status: Obj, condition: str) -> bool:
    return any(
        item.get("type") == condition and item.get("status") == "True" for item in status.get("conditions") or []
    )
