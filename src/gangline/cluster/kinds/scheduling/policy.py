"""Rules of the small policy kinds: PodDisruptionBudget, PriorityClass, RuntimeClass, Lease."""

from __future__ import annotations

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    conditions,
    immutable,
    int_or_percent,
    label,
    label_selector,
    not_negative,
    one_of,
    percent_at_most_100,
    repeated,
)
from gangline.cluster.kinds.pods.placement import tolerations
from gangline.cluster.kinds.pods.requirements import overhead
from gangline.cluster.kinds.rules import KindRules
from gangline.cluster.schema.labels import check_labels
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import path_segment_problems

HIGHEST = 1_000_000_000
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


class BudgetRules(KindRules):
    generation = True
    has_status = True
    unconditional_update = False

    def name_problems(self, name: str) -> list[str]:
        return path_segment_problems(name)

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_budget(obj.get("spec") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource != "status":
            return self.validate(new)
        status = new.get("status") or {}
        problems: list[Problem] = []
        for name in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
            problems += not_negative(status.get(name, 0), f"status.{name}")
        return [*problems, *conditions(status.get("conditions"), "status.conditions")]


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
        yield from one_of(
            spec["unhealthyPodEvictionPolicy"], ("AlwaysAllow", "IfHealthyBudget"), "spec.unhealthyPodEvictionPolicy"
        )


class PriorityClassRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        obj.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        return False

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_priority(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        problems = (
            []
            if new.get("value", 0) == old.get("value", 0)
            else [say.forbidden("value", "may not be changed in an update.")]
        )
        return [*problems, *immutable(new.get("preemptionPolicy"), old.get("preemptionPolicy"), "preemptionPolicy")]


def _priority(obj: Obj) -> Problems:
    name, value = obj["metadata"].get("name") or "", obj.get("value", 0)
    if name.startswith("system-"):
        if name not in SYSTEM_CLASSES:
            yield say.forbidden(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only. error: "
                f"{name} is not a known system priority class",
            )
        elif value != SYSTEM_CLASSES[name]:
            yield say.forbidden(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only. error: "
                f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}",
            )
    elif value > HIGHEST:
        yield say.forbidden("value", f"maximum allowed value of a user defined priority is {HIGHEST}")
    yield from one_of(obj.get("preemptionPolicy"), ("PreemptLowerPriority", "Never"), "preemptionPolicy", required=True)


class RuntimeClassRules(KindRules):
    create_on_update = True
    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        problems = [*label(obj.get("handler") or "", "handler")]
        problems += overhead((obj.get("overhead") or {}).get("podFixed") or {}, "overhead")
        where = obj.get("scheduling") or {}
        problems += check_labels(where.get("nodeSelector") or {}, "scheduling.nodeSelector")
        return [*problems, *_tolerations(where.get("tolerations") or [], "scheduling.tolerations")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*immutable(new.get("handler"), old.get("handler"), "handler")]


def _tolerations(items: list[Obj], path: str) -> Problems:
    yield from tolerations(items, path)
    yield from (say.duplicate(f"{path}[{index}]", items[index]) for index in repeated(items))


class LeaseRules(KindRules):
    create_on_update = True
    unconditional_update = False

    def prepare_create(self, obj: Obj) -> None:
        _without_strategy(obj)

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        _without_strategy(new)

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        problems: list[Problem] = []
        if spec.get("leaseDurationSeconds") is not None and spec["leaseDurationSeconds"] <= 0:
            problems.append(
                say.invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
            )
        if spec.get("leaseTransitions") is not None and spec["leaseTransitions"] < 0:
            problems.append(
                say.invalid("spec.leaseTransitions", spec["leaseTransitions"], "must be greater than or equal to 0")
            )
        return problems


def _without_strategy(obj: Obj) -> None:
    """Coordinated leader election is off: its fields are not kept."""
    for name in ("strategy", "preferredHolder"):
        (obj.get("spec") or {}).pop(name, None)
