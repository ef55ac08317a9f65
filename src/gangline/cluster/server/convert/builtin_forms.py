"""Kinds that are served in two forms and stored in one: events (core and events.k8s.io) and autoscalers (v2 and v1).

Each pair of functions turns an object of the other form into the stored one and back. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversion:
    to_stored: Callable[[Obj], Obj]
    from_stored: Callable[[Obj], Obj]


def _renamed(obj: Obj, names: dict[str, str]) -> Obj:
    return {names.get(key, key): value for key, value in obj.items()}


_EVENT_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_EVENT_BACK = {stored: name for name, stored in _EVENT_NAMES.items()}


def _event_to_stored(event: Obj) -> Obj:
    stored = _renamed(event, _EVENT_NAMES)
    stored.setdefault("involvedObject", {})
    stored.setdefault("source", {})
    for key in ("firstTimestamp", "lastTimestamp"):
        stored.setdefault(key, None)
    return stored


def _event_from_stored(event: Obj) -> Obj:
    shown = _renamed(event, _EVENT_BACK)
    shown = {
        key: value for key, value in shown.items() if value or key not in ("reportingController", "reportingInstance")
    }
    for key in ("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime"):
        shown.setdefault(key, None)
    return shown


DEFAULT_PERCENT = 80


def _autoscaler_to_stored(obj: Obj) -> Obj:
    spec = dict(obj.get("spec") or {})
    percent = spec.pop("targetCPUUtilizationPercentage", None) or DEFAULT_PERCENT
    if not spec.get("metrics"):
        spec["metrics"] = [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}},
            }
        ]
    spec.setdefault("minReplicas", 1)
    status = dict(obj.get("status") or {})
    current = status.pop("currentCPUUtilizationPercentage", None)
    if current is not None:
        status["currentMetrics"] = [
            {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": current}}}
        ]
    return {**obj, "spec": spec, "status": status}


def _autoscaler_from_stored(obj: Obj) -> Obj:
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    spec.pop("behavior", None)
    wanted = _cpu_utilization(spec.pop("metrics", None) or [], "target")
    if wanted is not None:
        spec["targetCPUUtilizationPercentage"] = wanted
    current = _cpu_utilization(status.pop("currentMetrics", None) or [], "current")
    if current is not None:
        status["currentCPUUtilizationPercentage"] = current
    status.pop("conditions", None)
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    return {**obj, "spec": spec, "status": status}


def _cpu_utilization(metrics: list[Obj], part: str) -> Any:
    """The CPU utilization that metrics want or show: what autoscaling/v1 has in a field of its own."""
    percentage = None
    for metric in metrics:
        resource = metric.get("resource") or {}
        value = (resource.get(part) or {}).get("averageUtilization")
        if metric.get("type") == "Resource" and resource.get("name") == "cpu" and value is not None:
            percentage = value
    return percentage


CONVERSIONS: dict[tuple[str, str, str], Conversion] = {
    ("events.k8s.io", "v1", "events"): Conversion(_event_to_stored, _event_from_stored),
    ("autoscaling", "v1", "horizontalpodautoscalers"): Conversion(_autoscaler_to_stored, _autoscaler_from_stored),
}
