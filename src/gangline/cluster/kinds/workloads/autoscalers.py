"""Rules of HorizontalPodAutoscaler: what it scales, between which bounds, by which metrics and how fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, Problems, named, not_negative, one_of, positive, with_paths
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import path_segment_problems

_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
_SOURCES = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_TARGETS = ("Utilization", "Value", "AverageValue")


class AutoscalerRules(KindRules):
    """autoscaling/v2."""

    has_status = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if not spec.get("metrics"):
            spec["metrics"] = [_cpu(80)]
        if spec.get("behavior") is not None:
            for direction in ("scaleUp", "scaleDown"):
                _default_behaviour(spec["behavior"].setdefault(direction, {}), direction)

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"desiredReplicas": 0, "currentMetrics": None}

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_autoscaler(obj["spec"])]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource != "status":
            return [*_autoscaler(new["spec"])]
        status = new.get("status") or {}
        return [
            problem
            for name in ("currentReplicas", "desiredReplicas")
            for problem in not_negative(status.get(name, 0), f"status.{name}")
        ]


class OldAutoscalerRules(KindRules):
    """autoscaling/v1: judged in the words of v2, whose only metric is the share of CPU."""

    has_status = True

    def defaults(self, obj: Obj) -> None:
        obj.setdefault("spec", {}).setdefault("minReplicas", 1)

    def validate(self, obj: Obj) -> list[Problem]:
        percent = obj["spec"].get("targetCPUUtilizationPercentage")
        return [*_autoscaler({**obj["spec"], "metrics": [_cpu(80 if percent is None else percent)]})]


def _cpu(percent: int) -> Obj:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}},
    }


def _default_behaviour(rules: Obj, direction: str) -> None:
    rules.setdefault("selectPolicy", "Max")
    if direction == "scaleUp":
        rules.setdefault("stabilizationWindowSeconds", 0)
    if rules.get("policies") is None:
        percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
        rules["policies"] = (
            [{"type": "Pods", "value": 4, "periodSeconds": 15}, percent] if direction == "scaleUp" else [percent]
        )


def _autoscaler(spec: Obj) -> Problems:
    metrics = spec.get("metrics") or []
    yield from _replica_bounds(spec.get("minReplicas"), spec.get("maxReplicas", 0))
    yield from _reference(spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef")
    if not (spec.get("scaleTargetRef") or {}).get("apiVersion"):
        yield say.invalid("spec.scaleTargetRef.apiVersion", "", "apiVersion must specify API group")
    for where, metric in with_paths(metrics, "spec.metrics"):
        yield from _metric(metric, where)
    if spec.get("minReplicas") == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        yield say.forbidden(
            "spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas"
        )
    for direction in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(direction)
        if rules is not None:
            yield from _behaviour(rules, f"spec.behavior.{direction}")


def _replica_bounds(least: int | None, most: int) -> Problems:
    if least is not None and least < 1:
        yield say.invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield say.invalid("spec.maxReplicas", most, "must be greater than 0")
    if least is not None and most < least:
        yield say.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")


def _reference(reference: Obj, path: str) -> Problems:
    for name in ("kind", "name"):
        if not reference.get(name):
            yield say.required(f"{path}.{name}")
        else:
            yield from named(reference[name], path_segment_problems, f"{path}.{name}")
    version = reference.get("apiVersion") or ""
    if version.count("/") > 1:
        yield say.invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")


def _metric(metric: Obj, path: str) -> Problems:
    kind = metric.get("type") or ""
    if not kind:
        yield say.required(f"{path}.type", "must specify a metric source type")
    if kind not in _METRICS:
        yield say.unsupported(f"{path}.type", kind, _METRICS)
    given = [name for name in _SOURCES.values() if metric.get(name) is not None]
    if given:
        yield from _CHECKS[given[0]](metric[given[0]], f"{path}.{given[0]}")
    wanted = _SOURCES.get(kind, "")
    if not wanted:
        yield say.unsupported(f"{path}.type", kind, _METRICS)
    elif wanted not in given:
        yield say.required(f"{path}.{wanted}", "must populate information for the given metric source")
    if len(given) > 1:
        yield from (
            say.forbidden(f"{path}.{name}", "must populate the given metric source only")
            for name in given
            if name != wanted
        )


def _identifier(metric: Obj, path: str) -> Problems:
    if not metric.get("name"):
        yield say.required(f"{path}.name", "must specify a metric name")
    else:
        yield from named(metric["name"], path_segment_problems, f"{path}.name")


def _target(target: Obj, path: str) -> Problems:
    kind = target.get("type") or ""
    if not kind:
        yield say.required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        yield say.invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for name in ("value", "averageValue"):
        if target.get(name) is not None and resources.nanos(target[name]) <= 0:
            yield say.invalid(f"{path}.{name}", target[name], "must be positive")
    if target.get("averageUtilization") is not None and target["averageUtilization"] < 1:
        yield say.invalid(f"{path}.averageUtilization", target["averageUtilization"], "must be greater than 0")


def _object(source: Obj, path: str) -> Problems:
    target = source.get("target") or {}
    yield from _reference(source.get("describedObject") or {}, f"{path}.describedObject")
    yield from _identifier(source.get("metric") or {}, f"{path}.metric")
    yield from _target(target, f"{path}.target")
    if target.get("value") is None and target.get("averageValue") is None:
        yield say.required(f"{path}.target.averageValue", "must set either a target value or averageValue")


def _external(source: Obj, path: str) -> Problems:
    target = source.get("target") or {}
    yield from _identifier(source.get("metric") or {}, f"{path}.metric")
    yield from _target(target, f"{path}.target")
    if target.get("value") is None and target.get("averageValue") is None:
        yield say.required(
            f"{path}.target.averageValue", "must set either a target value for metric or a per-pod target"
        )
    if target.get("value") is not None and target.get("averageValue") is not None:
        yield say.forbidden(f"{path}.target.value", "may not set both a target value for metric and a per-pod target")


def _pods(source: Obj, path: str) -> Problems:
    target = source.get("target") or {}
    yield from _identifier(source.get("metric") or {}, f"{path}.metric")
    yield from _target(target, f"{path}.target")
    if target.get("averageValue") is None:
        yield say.required(f"{path}.target.averageValue", "must specify a positive target averageValue")


def _container(source: Obj, path: str) -> Problems:
    if not source.get("container"):
        yield say.required(f"{path}.container", "must specify a container")
    yield from _resource(source, path)


def _resource(source: Obj, path: str) -> Problems:
    if not source.get("name"):
        yield say.required(f"{path}.name", "must specify a resource name")
    target = source.get("target") or {}
    yield from _target(target, f"{path}.target")
    share, amount = target.get("averageUtilization"), target.get("averageValue")
    if share is None and amount is None:
        yield say.required(
            f"{path}.target.averageUtilization", "must set either a target raw value or a target utilization"
        )
    if share is not None and amount is not None:
        yield say.forbidden(
            f"{path}.target.averageValue", "may not set both a target raw value and a target utilization"
        )


_CHECKS: dict[str, Callable[[Any, str], Problems]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container,
}


def _behaviour(rules: Obj, path: str) -> Problems:
    window = rules.get("stabilizationWindowSeconds")
    if window is not None and window < 0:
        yield say.invalid(f"{path}.stabilizationWindowSeconds", window, "must be greater than or equal to zero")
    if window is not None and window > 3600:
        yield say.invalid(f"{path}.stabilizationWindowSeconds", window, "must be less than or equal to 3600")
    yield from one_of(rules.get("selectPolicy"), ("Disabled", "Max", "Min"), f"{path}.selectPolicy")
    if not rules.get("policies"):
        yield say.required(f"{path}.policies", "must specify at least one Policy")
    for where, policy in with_paths(rules.get("policies"), f"{path}.policies"):
        yield from one_of(policy.get("type"), ("Percent", "Pods"), f"{where}.type", required=True)
        for name in ("value", "periodSeconds"):
            yield from positive(policy.get(name, 0), f"{where}.{name}")
        if policy.get("periodSeconds", 0) > 1800:
            yield say.invalid(f"{where}.periodSeconds", policy["periodSeconds"], "must be less than or equal to 1800")
