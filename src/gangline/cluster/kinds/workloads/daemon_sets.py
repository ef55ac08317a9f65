"""Rules of DaemonSet: one pod on each node."""

from __future__ import annotations

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    immutable,
    int_or_percent,
    label_selector,
    not_negative,
    percent_at_most_100,
    selector_is_empty,
)
from gangline.cluster.kinds.pods.spec_checks import template
from gangline.cluster.kinds.workloads.workloads import WorkloadRules, collisions, is_some, selects
from gangline.errors import Problem
from gangline.rules.values import problems as say

_PLACED = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
)


class DaemonSetRules(WorkloadRules):
    names_pods = False
    noun = "daemonset"
    keeper = "DaemonSet"

    def checks(self, spec: Obj) -> Problems:
        about, selector = spec.get("template") or {}, spec.get("selector")
        yield from label_selector(selector, "spec.selector")
        if not any(label_selector(selector, "")):
            yield from selects(selector, about)
        if selector is not None and selector_is_empty(selector):
            yield say.invalid("spec.selector", selector, f"empty selector is invalid for {self.noun}")
        yield from template(about, "spec.template")
        yield from self.endless(about)
        yield from not_negative(spec.get("minReadySeconds", 0), "spec.minReadySeconds")
        yield from _node_by_node(spec.get("updateStrategy") or {})
        yield from not_negative(spec.get("revisionHistoryLimit"), "spec.revisionHistoryLimit")

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*self.status_checks(new.get("status") or {}, old.get("status") or {})]
        return [
            *immutable(new["spec"].get("selector"), old["spec"].get("selector"), "spec.selector"),
            *self.checks(new["spec"]),
        ]

    def status_checks(self, status: Obj, old: Obj) -> Problems:
        for name in _PLACED:
            yield from not_negative(status.get(name, 0), f"status.{name}")
        yield from collisions(status, old)

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        strategy = spec.setdefault("updateStrategy", {})
        strategy.setdefault("type", "RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            strategy.setdefault("rollingUpdate", {})
        if strategy.get("rollingUpdate") is not None:
            strategy["rollingUpdate"].setdefault("maxUnavailable", 1)
            strategy["rollingUpdate"].setdefault("maxSurge", 0)
        spec.setdefault("revisionHistoryLimit", 10)

    def prepare_create(self, obj: Obj) -> None:
        super().prepare_create(obj)
        obj["metadata"].setdefault("annotations", {}).setdefault("deprecated.daemonset.template.generation", "1")

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        super().prepare_update(new, old, subresource)
        name = "deprecated.daemonset.template.generation"
        count = int((old["metadata"].get("annotations") or {}).get(name, "0"))
        if not subresource and new["spec"].get("template") != old["spec"].get("template"):
            count += 1
        if count:
            new["metadata"].setdefault("annotations", {})[name] = str(count)


def _node_by_node(strategy: Obj) -> Problems:
    path, kind = "spec.updateStrategy", strategy.get("type")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        dumped = f'{{"Type":"{kind or ""}","RollingUpdate":null}}'
        yield Problem(
            path,
            f'Unsupported value: {dumped}: supported values: "RollingUpdate", "OnDelete"',
            "FieldValueNotSupported",
            kind,
        )
        return
    rolling, path = strategy.get("rollingUpdate") or {}, f"{path}.rollingUpdate"
    for name in ("maxUnavailable", "maxSurge"):
        yield from int_or_percent(rolling.get(name), f"{path}.{name}")
        yield from percent_at_most_100(rolling.get(name), f"{path}.{name}")
    without, extra = (is_some(rolling.get(name)) for name in ("maxUnavailable", "maxSurge"))
    if without and extra:
        yield say.invalid(f"{path}.maxSurge", rolling.get("maxSurge"), "may not be set when maxUnavailable is non-zero")
    elif not without and not extra:
        yield say.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")
