"""Cells of what keeps pods running: sets, Deployments, Jobs, autoscalers, budgets, and pod groups.

Pure; table_cells.py lists them by kind.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.show.cell_parts import NONE, age_of, name_of, selector_cell, template_cells, value_at
from gangline.cluster.server.show.tables import Obj, age
from gangline.cluster.server.verbs.subresources.scale_object import selector_text
from gangline.rules.values.times import brief, seconds


def pod_group_cells(obj: Obj, now: float) -> list[Any]:
    """A PodGroup of kube-scheduler: its policy, its Workload, and how it fares."""
    conditions = {condition.get("type"): condition for condition in (obj.get("status") or {}).get("conditions") or []}
    placed = conditions.get("PodGroupInitiallyScheduled") or conditions.get("PodGroupScheduled")
    status = "Pending"
    if placed is not None:
        status = "Scheduled" if placed.get("status") == "True" else "Unschedulable"
    if "DisruptionTarget" in conditions:
        status = conditions["DisruptionTarget"].get("reason") or ""
    name, policy, workload, old = composite_group_cells(obj, now)
    return [name, policy, workload, status, old]


def composite_group_cells(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    link = spec.get("workloadRef") or (spec.get("podGroupTemplateRef") or {}).get("workload") or {}
    return [
        obj["metadata"].get("name", ""),
        "Gang" if (spec.get("schedulingPolicy") or {}).get("gang") is not None else "Basic",
        link.get("workloadName") or "<none>",
        age(obj["metadata"].get("creationTimestamp"), now),
    ]


def scale_cells(obj: Obj, now: float) -> list[Any]:
    replicas = [(obj.get(part) or {}).get("replicas", 0) for part in ("spec", "status")]
    return [obj["metadata"].get("name", ""), *replicas, age(obj["metadata"].get("creationTimestamp"), now)]


def replica_set_cells(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    return [
        name_of(obj),
        value_at(obj, "spec", "replicas") or 0,
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age_of(obj, now),
        *template_cells(obj),
        selector_cell(obj),
    ]


def deployment_cells(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    return [
        name_of(obj),
        f"{status.get('readyReplicas', 0)}/{value_at(obj, 'spec', 'replicas') or 0}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age_of(obj, now),
        *template_cells(obj),
        selector_cell(obj),
    ]


def stateful_set_cells(obj: Obj, now: float) -> list[Any]:
    ready, wanted = value_at(obj, "status", "readyReplicas") or 0, value_at(obj, "spec", "replicas") or 0
    return [name_of(obj), f"{ready}/{wanted}", age_of(obj, now), *template_cells(obj)]


def daemon_set_cells(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    nodes = value_at(obj, "spec", "template", "spec", "nodeSelector") or {}
    return [
        name_of(obj),
        *(
            status.get(key, 0)
            for key in (
                "desiredNumberScheduled",
                "currentNumberScheduled",
                "numberReady",
                "updatedNumberScheduled",
                "numberAvailable",
            )
        ),
        ",".join(f"{key}={value}" for key, value in sorted(nodes.items())) or NONE,
        age_of(obj, now),
        *template_cells(obj),
        selector_cell(obj),
    ]


def job_cells(job: Obj, now: float) -> list[Any]:
    spec, status = job.get("spec") or {}, job.get("status") or {}
    wanted, done = spec.get("completions"), status.get("succeeded", 0)
    if wanted is not None:
        count = f"{done}/{wanted}"
    else:
        parallel = spec.get("parallelism") or 0
        count = f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"
    begin, end = seconds(status.get("startTime")), seconds(status.get("completionTime"))
    length = "" if begin is None else brief((end if end is not None else now) - begin)
    return [name_of(job), _job_status(job), count, length, age_of(job, now), *template_cells(job), selector_cell(job)]


def _job_status(job: Obj) -> str:
    conditions = {
        item.get("type") for item in value_at(job, "status", "conditions") or [] if item.get("status") == "True"
    }
    for condition, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if condition in conditions:
            return word
    if value_at(job, "metadata", "deletionTimestamp"):
        return "Terminating"
    for condition, word in (
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ):
        if condition in conditions:
            return word
    return "Running"


def cron_job_cells(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    containers = value_at(spec, "jobTemplate", "spec", "template", "spec", "containers") or []
    last = status.get("lastScheduleTime")
    selector = value_at(spec, "jobTemplate", "spec", "selector")
    return [
        name_of(obj),
        spec.get("schedule", ""),
        spec.get("timeZone") or NONE,
        "True" if spec.get("suspend") else "False",
        len(status.get("active") or []),
        age(last, now) if last else NONE,
        age_of(obj, now),
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
        (selector_text(selector) if selector else "") or NONE,
    ]


def autoscaler_cells(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    target = spec.get("scaleTargetRef") or {}
    least = spec.get("minReplicas")
    return [
        name_of(obj),
        f"{target.get('kind')}/{target.get('name')}",
        _metrics(obj),
        "<unset>" if least is None else str(least),
        spec.get("maxReplicas", 0),
        value_at(obj, "status", "currentReplicas") or 0,
        age_of(obj, now),
    ]


def _metrics(obj: Obj) -> str:
    wanted = value_at(obj, "spec", "metrics") or []
    present = value_at(obj, "status", "currentMetrics") or []
    if not wanted:
        return NONE
    texts = [_metric(item, present[index] if index < len(present) else {}) for index, item in enumerate(wanted)]
    return ", ".join(texts[:2]) + (f" + {len(texts) - 2} more..." if len(texts) > 2 else "")


def _metric(metric: Obj, present: Obj) -> str:
    kind = metric.get("type", "")
    key = kind[0].lower() + kind[1:] if kind else ""
    part = metric.get(key) or {}
    target, now = part.get("target") or {}, value_at(present, key, "current") or {}
    label = f"{part.get('name')}: " if kind in ("Resource", "ContainerResource") else ""
    if target.get("averageUtilization") is not None:
        current = now.get("averageUtilization")
        return f"{label}{'<unknown>' if current is None else f'{current}%'}/{target['averageUtilization']}%"
    wanted, average = (target["averageValue"], " (avg)") if target.get("averageValue") else (target.get("value"), "")
    current = now.get("averageValue") if average else now.get("value")
    return f"{label}{current or '<unknown>'}/{wanted}{average if kind in ('Object', 'External') else ''}"


def budget_cells(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}

    def shown(key: str) -> str:
        return "N/A" if spec.get(key) is None else str(spec[key])

    return [
        name_of(obj),
        shown("minAvailable"),
        shown("maxUnavailable"),
        value_at(obj, "status", "disruptionsAllowed") or 0,
        age_of(obj, now),
    ]
