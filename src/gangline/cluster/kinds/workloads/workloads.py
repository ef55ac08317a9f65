"""Rules that workloads share, and those of Deployment, ReplicaSet, ReplicationController, ControllerRevision and
PodTemplate.

StatefulSet and DaemonSet have files of their own.
"""

from __future__ import annotations

import re
from typing import Any

from gangline.cluster.kinds.checks import (
    IMMUTABLE,
    Obj,
    Problems,
    immutable,
    int_or_percent,
    label_selector,
    not_negative,
    percent_at_most_100,
    selector_is_empty,
    selector_matches,
)
from gangline.cluster.kinds.pods.pod_warnings import name_warnings, pod_warnings
from gangline.cluster.kinds.pods.spec_checks import template
from gangline.cluster.kinds.pods.spec_defaults import default_template
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say


class WorkloadRules(KindRules):
    """What they have in common: a selector, a template, replicas."""

    generation = True
    has_status = True
    noun = ""
    keeper = ""
    """Who keeps the pods, as a refusal of an end of their own says."""
    unreadable = "invalid label selector"
    ceilings: tuple[str, ...] = ()
    """Counts of the status that cannot be above its replicas."""
    counts: tuple[str, ...] = ()
    """Counts of the status that cannot be negative."""
    too_available = "cannot be greater than readyReplicas"
    names_pods = True
    """Its name is warned of where a pod's would be."""

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        default_template(spec.setdefault("template", {}))
        self.own_defaults(obj, spec)

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        spec.setdefault("replicas", 1)

    def validate(self, obj: Obj) -> list[Problem]:
        return [*self.checks(obj["spec"])]

    def checks(self, spec: Obj) -> Problems:
        yield from not_negative(spec.get("replicas"), "spec.replicas")
        yield from not_negative(spec.get("minReadySeconds", 0), "spec.minReadySeconds")
        yield from self.selector(spec)
        yield from self.pods(spec)

    def selector(self, spec: Obj) -> Problems:
        if spec.get("selector") is None:
            yield say.required("spec.selector")
            return
        yield from label_selector(spec["selector"], "spec.selector")
        if selector_is_empty(spec["selector"]):
            yield say.invalid("spec.selector", spec["selector"], f"empty selector is invalid for {self.noun}")

    def pods(self, spec: Obj) -> Problems:
        about, selector = spec.get("template") or {}, spec.get("selector")
        if any(label_selector(selector, "")):
            yield say.invalid("spec.selector", selector, self.unreadable)
            return
        if selector is None or not selector_is_empty(selector):
            yield from selects(selector, about)
        yield from template(about, "spec.template")
        yield from self.endless(about)

    def endless(self, about: Obj) -> Problems:
        """Pods that are kept have no end of their own."""
        pod = about.get("spec") or {}
        if pod.get("restartPolicy") not in (None, "", "Always"):
            yield say.unsupported("spec.template.spec.restartPolicy", pod["restartPolicy"], ("Always",))
        if pod.get("activeDeadlineSeconds") is not None:
            yield say.forbidden(
                "spec.template.spec.activeDeadlineSeconds", f"activeDeadlineSeconds in {self.keeper} is not Supported"
            )

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*self.status_checks(new.get("status") or {}, old.get("status") or {})]
        return [
            *self.checks(new["spec"]),
            *immutable(new["spec"].get("selector"), old["spec"].get("selector"), "spec.selector"),
        ]

    def status_checks(self, status: Obj, old: Obj) -> Problems:
        for name in self.counts:
            yield from not_negative(status.get(name, 0), f"status.{name}")
        replicas, ready, available = (
            status.get(name, 0) for name in ("replicas", "readyReplicas", "availableReplicas")
        )
        for name in self.ceilings:
            if status.get(name, 0) > replicas:
                yield say.invalid(f"status.{name}", status.get(name, 0), "cannot be greater than status.replicas")
        if available > ready:
            yield say.invalid("status.availableReplicas", available, self.too_available)
        yield from collisions(status, old)

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        if old is not None and not self.spec_changed(obj, old):
            return []
        name = (obj["metadata"].get("name") or "") if old is None and self.names_pods else ""
        of_name = name_warnings(name) if name else []
        return [*of_name, *pod_warnings((obj.get("spec") or {}).get("template") or {}, "spec.template")]


def selects(selector: Any, about: Obj) -> Problems:
    labels = (about.get("metadata") or {}).get("labels")
    if selector is None or not selector_matches(selector, labels):
        yield say.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")


def collisions(status: Obj, old: Obj) -> Problems:
    """How often a name was taken: never negative, never fewer than before."""
    count, before = status.get("collisionCount"), old.get("collisionCount")
    yield from not_negative(count, "status.collisionCount")
    if before is not None and (count or 0) < before:
        yield say.invalid("status.collisionCount", count, "cannot be decremented")


class DeploymentRules(WorkloadRules):
    noun = "deployment"
    keeper = "ReplicaSet"
    status_keeps = ("labels",)
    counts = (
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
    )
    ceilings = ("updatedReplicas", "readyReplicas", "availableReplicas")

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        """Annotations count too: that is how a rollback is asked for."""
        return super().spec_changed(new, old) or new["metadata"].get("annotations") != old["metadata"].get(
            "annotations"
        )

    def keep_other_half(self, new: Obj, old: Obj, subresource: str) -> None:
        super().keep_other_half(new, old, subresource)
        if subresource == "status":
            new["metadata"]["labels"] = old["metadata"].get("labels") or {}

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        spec.setdefault("replicas", 1)
        strategy = spec.setdefault("strategy", {})
        strategy.setdefault("type", "RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            rolling.setdefault("maxUnavailable", "25%")
            rolling.setdefault("maxSurge", "25%")
        spec.setdefault("revisionHistoryLimit", 10)
        spec.setdefault("progressDeadlineSeconds", 600)

    def checks(self, spec: Obj) -> Problems:
        yield from not_negative(spec.get("replicas"), "spec.replicas")
        yield from self.selector(spec)
        yield from self.pods(spec)
        yield from _strategy(spec.get("strategy") or {})
        ready = spec.get("minReadySeconds", 0)
        yield from not_negative(ready, "spec.minReadySeconds")
        yield from not_negative(spec.get("revisionHistoryLimit"), "spec.revisionHistoryLimit")
        deadline = spec.get("progressDeadlineSeconds")
        yield from not_negative(deadline, "spec.progressDeadlineSeconds")
        if deadline is not None and deadline <= ready:
            yield say.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def _strategy(strategy: Obj) -> Problems:
    path, kind, rolling = "spec.strategy", strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield say.forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind == "RollingUpdate":
        if rolling is None:
            yield say.required(f"{path}.rollingUpdate", "this should be defaulted and never be nil")
        else:
            yield from _rolling(rolling, f"{path}.rollingUpdate")
    else:
        dumped = f'{{"Type":"{kind or ""}","RollingUpdate":null}}'
        yield Problem(
            path,
            f'Unsupported value: {dumped}: supported values: "Recreate", "RollingUpdate"',
            "FieldValueNotSupported",
            kind,
        )


def _rolling(rolling: Obj, path: str) -> Problems:
    for name in ("maxUnavailable", "maxSurge"):
        yield from int_or_percent(rolling.get(name), f"{path}.{name}")
    if all(rolling.get(name) in (0, "0%") for name in ("maxUnavailable", "maxSurge")):
        yield say.invalid(f"{path}.maxUnavailable", rolling.get("maxUnavailable"), "may not be 0 when `maxSurge` is 0")
    yield from percent_at_most_100(rolling.get("maxUnavailable"), f"{path}.maxUnavailable")


class ReplicaSetRules(WorkloadRules):
    noun = "deployment"
    keeper = "ReplicaSet"
    counts = (
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
        "observedGeneration",
    )
    ceilings = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")


def is_some(value: Any) -> bool:
    """A count or a share that is more than nothing; what cannot be read is nothing."""
    return bool(re.fullmatch(r"0*[1-9][0-9]*%", value)) if isinstance(value, str) else bool(value)


class ControllerRules(WorkloadRules):
    """ReplicationController: its selector is a plain map, and comes from the template when absent."""

    keeper = "ReplicationController"
    counts = ReplicaSetRules.counts
    ceilings = ReplicaSetRules.ceilings

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("template") is not None:
            default_template(spec["template"])
        self.own_defaults(obj, spec)

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            if not obj["metadata"].get("labels"):
                obj["metadata"]["labels"] = dict(labels)
        spec.setdefault("replicas", 1)

    def selector(self, spec: Obj) -> Problems:
        if not spec.get("selector"):
            yield say.required("spec.selector")

    def pods(self, spec: Obj) -> Problems:
        about, selector = spec.get("template"), spec.get("selector")
        if about is None:
            yield say.required("spec.template")
            return
        if selector:
            yield from selects({"matchLabels": selector}, about)
        yield from template(about, "spec.template")
        yield from self.endless(about)

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*self.status_checks(new.get("status") or {}, old.get("status") or {})]
        return [*self.checks(new["spec"])]


class RevisionRules(KindRules):
    """ControllerRevision: data that never changes."""

    def validate(self, obj: Obj) -> list[Problem]:
        problems = [*not_negative(obj.get("revision", 0), "revision")]
        data = obj.get("data")
        if isinstance(data, dict):
            return problems
        text = "data is mandatory" if data is None else "data must be a valid JSON object"
        return [*problems, say.required("data", text)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*not_negative(new.get("revision", 0), "revision"), *_data_unchanged(new.get("data"), old.get("data"))]


def _data_unchanged(new: Any, old: Any) -> Problems:
    if new != old:
        yield say.invalid("data", new, IMMUTABLE)


class PodTemplateRules(KindRules):
    generation = True

    def defaults(self, obj: Obj) -> None:
        default_template(obj.setdefault("template", {}))

    def validate(self, obj: Obj) -> list[Problem]:
        return [*template(obj.get("template") or {}, "template")]

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        return new.get("template") != old.get("template")

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        changed = old is None or self.spec_changed(obj, old)
        return pod_warnings(obj.get("template") or {}, "template") if changed else []
