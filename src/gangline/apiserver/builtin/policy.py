"""Rules of the small policy kinds: PodDisruptionBudget, PriorityClass, RuntimeClass, Workload, Lease, HorizontalPodAutoscaler."""

from __future__ import annotations

from typing import Any

from gangline.apiserver.builtin.checks import (
    Obj,
    Problems,
    each,
    immutable,
    int_or_percent,
    label,
    label_selector,
    not_negative,
    one_of,
    percent_at_most_100,
)
from gangline.apiserver.builtin.rules import KindRules
from gangline.errors import Problem
from gangline.schema import problems as say

HIGHEST = 1_000_000_000
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


class BudgetRules(KindRules):
    generation = True
    has_status = True
    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_budget(obj.get("spec") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource != "status":
            return self.validate(new)
        status = new.get("status") or {}
        found: list[Problem] = []
        for name in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
            found += not_negative(status.get(name, 0), f"status.{name}")
        return found


def _budget(spec: Obj) -> Problems:
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        yield say.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
    for name in ("minAvailable", "maxUnavailable"):
        if spec.get(name) is not None:
            yield from int_or_percent(spec[name], f"spec.{name}")
            yield from percent_at_most_100(spec[name], f"spec.{name}")
    yield from label_selector(spec.get("selector"), "spec.selector")
    if spec.get("unhealthyPodEvictionPolicy") is not None:
        yield from one_of(spec["unhealthyPodEvictionPolicy"], ("AlwaysAllow", "IfHealthyBudget"), "spec.unhealthyPodEvictionPolicy")


class PriorityClassRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        obj.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        return False

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_priority(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        found = [] if new.get("value", 0) == old.get("value", 0) else [say.forbidden("value", "may not be changed in an update.")]
        return [*found, *immutable(new.get("preemptionPolicy"), old.get("preemptionPolicy"), "preemptionPolicy")]


def _priority(obj: Obj) -> Problems:
    name, value = obj["metadata"].get("name") or "", obj.get("value", 0)
    if name.startswith("system-"):
        if name not in SYSTEM_CLASSES:
            yield say.forbidden("metadata.name", "priority class names with 'system-' prefix are reserved for system use only. error: "
                                f"{name} is not a known system priority class")
        elif value != SYSTEM_CLASSES[name]:
            yield say.forbidden("metadata.name", "priority class names with 'system-' prefix are reserved for system use only. error: "
                                f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}")
    elif value > HIGHEST:
        yield say.forbidden("value", f"maximum allowed value of a user defined priority is {HIGHEST}")
    yield from one_of(obj.get("preemptionPolicy"), ("PreemptLowerPriority", "Never"), "preemptionPolicy", required=True)


class RuntimeClassRules(KindRules):
    create_on_update = True
    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        return [*label(obj.get("handler") or "", "handler")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*immutable(new.get("handler"), old.get("handler"), "handler")]


class WorkloadApiRules(KindRules):
    """scheduling.k8s.io Workload."""

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_workload(obj.get("spec") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        spec, before = new.get("spec") or {}, old.get("spec") or {}
        found = [*_workload(spec)]
        if before.get("controllerRef") is not None:
            found += immutable(spec.get("controllerRef"), before["controllerRef"], "spec.controllerRef")
        return [*found, *immutable(spec.get("podGroups"), before.get("podGroups"), "podGroups")]


def _workload(spec: Obj) -> Problems:
    reference = spec.get("controllerRef")
    if reference is not None:
        for name in ("kind", "name"):
            if not reference.get(name):
                yield say.required(f"spec.controllerRef.{name}")
    groups = spec.get("podGroups") or []
    if not groups:
        yield say.required("spec.podGroups", "must have at least one item")
    if len(groups) > 8:
        yield say.too_many("spec.podGroups", len(groups), 8)
    seen: set[Any] = set()
    for where, group in each(groups, "spec.podGroups"):
        yield from label(group.get("name") or "", f"{where}.name")
        if group.get("name") in seen:
            yield say.duplicate(f"{where}.name", group.get("name"))
        seen.add(group.get("name"))
        yield from _gang_policy(group.get("policy") or {}, f"{where}.policy")


def _gang_policy(policy: Obj, path: str) -> Problems:
    chosen = [name for name in ("basic", "gang") if policy.get(name) is not None]
    if not chosen:
        yield say.required(path, "exactly one of `basic`, `gang` is required")
    elif len(chosen) > 1:
        yield say.invalid(path, "{`basic`, `gang`}", "exactly one of `basic`, `gang` is required, but multiple fields are set")
    gang = policy.get("gang")
    if gang is not None and gang.get("minCount", 0) <= 0:
        yield say.invalid(f"{path}.gang.minCount", gang.get("minCount", 0), "must be greater than zero")


class LeaseRules(KindRules):
    create_on_update = True
    unconditional_update = False

    def prepare_create(self, obj: Obj) -> None:
        _without_strategy(obj)

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        _without_strategy(new)

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        found: list[Problem] = []
        if spec.get("leaseDurationSeconds") is not None and spec["leaseDurationSeconds"] <= 0:
            found.append(say.invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0"))
        if spec.get("leaseTransitions") is not None and spec["leaseTransitions"] < 0:
            found.append(say.invalid("spec.leaseTransitions", spec["leaseTransitions"], "must be greater than or equal to 0"))
        return found


def _without_strategy(obj: Obj) -> None:
    """Coordinated leader election is off: its fields are not kept."""
    for name in ("strategy", "preferredHolder"):
        (obj.get("spec") or {}).pop(name, None)


_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
_SOURCES = {"Object": "object", "Pods": "pods", "Resource": "resource", "ContainerResource": "containerResource", "External": "external"}


class AutoscalerRules(KindRules):
    """HorizontalPodAutoscaler v2."""

    has_status = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if not spec.get("metrics"):
            spec["metrics"] = [{"type": "Resource", "resource": {
                "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]
        for direction in ("scaleUp", "scaleDown"):
            rules = (spec.get("behavior") or {}).get(direction)
            if rules is not None:
                _default_behaviour(rules, direction)

    def prepare_create(self, obj: Obj) -> None:
        obj["status"] = {"desiredReplicas": 0, "currentMetrics": None}

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_autoscaler(obj["spec"])]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [] if subresource else [*_autoscaler(new["spec"])]


def _default_behaviour(rules: Obj, direction: str) -> None:
    rules.setdefault("selectPolicy", "Max")
    if direction == "scaleUp":
        rules.setdefault("stabilizationWindowSeconds", 0)
    if not rules.get("policies"):
        percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
        rules["policies"] = [{"type": "Pods", "value": 4, "periodSeconds": 15}, percent] if direction == "scaleUp" else [percent]


def _autoscaler(spec: Obj) -> Problems:
    least, most, metrics = spec.get("minReplicas"), spec.get("maxReplicas", 0), spec.get("metrics") or []
    if least is not None and least < 1:
        yield say.invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield say.invalid("spec.maxReplicas", most, "must be greater than 0")
    if least is not None and most < least:
        yield say.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    yield from _target_ref(spec.get("scaleTargetRef") or {})
    for where, metric in each(metrics, "spec.metrics"):
        yield from _metric(metric, where)
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        yield say.forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas")


def _target_ref(reference: Obj) -> Problems:
    path = "spec.scaleTargetRef"
    for name in ("kind", "name"):
        if not reference.get(name):
            yield say.required(f"{path}.{name}")
    version = reference.get("apiVersion") or ""
    if not version:
        yield say.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _metric(metric: Obj, path: str) -> Problems:
    kind = metric.get("type") or ""
    if not kind:
        yield say.required(f"{path}.type", "must specify a metric source type")
    elif kind not in _METRICS:
        yield say.unsupported(f"{path}.type", kind, _METRICS)
    given = [name for name in _SOURCES.values() if metric.get(name) is not None]
    if kind in _SOURCES and _SOURCES[kind] not in given:
        yield say.required(f"{path}.{_SOURCES[kind]}", f"must populate the {kind} metric source")
    if kind and kind not in _METRICS:
        yield say.unsupported(f"{path}.type", kind, _METRICS)
    for name in given[1:]:
        yield say.forbidden(f"{path}.{name}", "must populate the given metric source only")
    for name in ("resource", "containerResource"):
        if metric.get(name) is not None:
            yield from _resource_metric(metric[name], f"{path}.{name}")


def _resource_metric(source: Obj, path: str) -> Problems:
    if not source.get("name"):
        yield say.required(f"{path}.name", "must specify a resource name")
    target = source.get("target") or {}
    yield from one_of(target.get("type"), ("AverageValue", "Utilization", "Value"), f"{path}.target.type", required=True)
    if target.get("averageUtilization") is None and target.get("averageValue") is None:
        yield say.required(f"{path}.target.averageUtilization", "must set either a target raw value or a target utilization")
    if target.get("averageUtilization") is not None and target.get("averageValue") is not None:
        yield say.forbidden(f"{path}.target.averageValue", "may not set both a target raw value and a target utilization")
    if target.get("averageUtilization") is not None and target["averageUtilization"] < 1:
        yield say.invalid(f"{path}.target.averageUtilization", target["averageUtilization"], "must be greater than 0")
