"""Rules of the workloads that keep pods: Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, ControllerRevision."""

from __future__ import annotations

from typing import Any

from gangline.apiserver.builtin.checks import (
    IMMUTABLE,
    Obj,
    Problems,
    immutable,
    int_or_percent,
    label_selector,
    not_negative,
    one_of,
    percent_at_most_100,
    selector_is_empty,
    selector_matches,
)
from gangline.apiserver.builtin.podchecks import template
from gangline.apiserver.builtin.pods import spec_warnings
from gangline.apiserver.builtin.podspec import default_template
from gangline.apiserver.builtin.rules import KindRules
from gangline.errors import Problem
from gangline.schema import problems as say


class WorkloadRules(KindRules):
    """What they have in common: a selector, a template, replicas."""

    generation = True
    has_status = True
    noun = ""

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
        about = spec.get("template") or {}
        labels = (about.get("metadata") or {}).get("labels")
        selector = spec.get("selector")
        if selector is None or (not selector_is_empty(selector) and not selector_matches(selector, labels)):
            yield say.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
        yield from template(about, "spec.template")
        yield from self.restart(about)

    def restart(self, about: Obj) -> Problems:
        policy = (about.get("spec") or {}).get("restartPolicy")
        if policy and policy != "Always":
            yield say.unsupported("spec.template.spec.restartPolicy", policy, ("Always",))

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*self.status_checks(new.get("status") or {})]
        return [*self.checks(new["spec"]), *immutable(new["spec"].get("selector"), old["spec"].get("selector"), "spec.selector")]

    def status_checks(self, status: Obj) -> Problems:
        for name in ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "fullyLabeledReplicas", "observedGeneration"):
            yield from not_negative(status.get(name, 0), f"status.{name}")
        for name in ("readyReplicas", "availableReplicas", "fullyLabeledReplicas", "updatedReplicas"):
            if status.get(name, 0) > status.get("replicas", 0):
                yield say.invalid(f"status.{name}", status.get(name), "cannot be greater than status.replicas")

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        if old is not None and not self.spec_changed(obj, old):
            return []
        return spec_warnings(((obj.get("spec") or {}).get("template") or {}).get("spec") or {}, "spec.template.spec")


class DeploymentRules(WorkloadRules):
    noun = "deployment"
    status_keeps = ("labels",)

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        """Annotations count too: that is how a rollback is asked for."""
        return super().spec_changed(new, old) or new["metadata"].get("annotations") != old["metadata"].get("annotations")

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
        yield Problem(path, f'Unsupported value: {dumped}: supported values: "Recreate", "RollingUpdate"', "FieldValueNotSupported", kind)


def _rolling(rolling: Obj, path: str) -> Problems:
    for name in ("maxUnavailable", "maxSurge"):
        yield from int_or_percent(rolling.get(name), f"{path}.{name}")
    if all(rolling.get(name) in (0, "0%") for name in ("maxUnavailable", "maxSurge")):
        yield say.invalid(f"{path}.maxUnavailable", rolling.get("maxUnavailable"), "may not be 0 when `maxSurge` is 0")
    yield from percent_at_most_100(rolling.get("maxUnavailable"), f"{path}.maxUnavailable")


class ReplicaSetRules(WorkloadRules):
    noun = "deployment"


class StatefulSetRules(WorkloadRules):
    noun = "statefulset"

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        spec.setdefault("podManagementPolicy", "OrderedReady")
        strategy = spec.setdefault("updateStrategy", {})
        strategy.setdefault("type", "RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
        retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
        retention.setdefault("whenDeleted", "Retain")
        retention.setdefault("whenScaled", "Retain")
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        for claim in spec.get("volumeClaimTemplates") or []:
            claim.setdefault("apiVersion", "v1")
            claim.setdefault("kind", "PersistentVolumeClaim")
            claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
            claim.setdefault("status", {}).setdefault("phase", "Pending")

    def checks(self, spec: Obj) -> Problems:
        policy = spec.get("podManagementPolicy")
        if not policy:
            yield say.required("spec.podManagementPolicy")
        elif policy not in ("OrderedReady", "Parallel"):
            yield say.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
        yield from _update_strategy(spec.get("updateStrategy") or {})
        retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
        for name in ("whenScaled", "whenDeleted"):
            yield from one_of(retention.get(name), ("Retain", "Delete"), f"spec.persistentVolumeClaimRetentionPolicy.{name}")
        yield from not_negative(spec.get("replicas"), "spec.replicas")
        yield from not_negative(spec.get("minReadySeconds", 0), "spec.minReadySeconds")
        yield from not_negative((spec.get("ordinals") or {}).get("start"), "spec.ordinals.start")
        yield from self.selector(spec)
        yield from self.pods(spec)

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*self.status_checks(new.get("status") or {})]
        free = ("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
                "minReadySeconds")
        fixed = [{name: value for name, value in spec.items() if name not in free} for spec in (new["spec"], old["spec"])]
        found = [*self.checks(new["spec"])]
        if fixed[0] != fixed[1]:
            found.append(say.forbidden("spec", "updates to statefulset spec for fields other than " + ", ".join(
                f"'{name}'" for name in free[:-1]) + " and 'minReadySeconds' are forbidden"))
        return found


def _update_strategy(strategy: Obj) -> Problems:
    path, kind = "spec.updateStrategy", strategy.get("type")
    if not kind:
        yield say.required(path)
    elif kind == "OnDelete":
        if strategy.get("rollingUpdate") is not None:
            yield say.invalid(f"{path}.rollingUpdate", strategy["rollingUpdate"], "only allowed for updateStrategy 'RollingUpdate'")
    elif kind == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        yield from not_negative(rolling.get("partition", 0), f"{path}.rollingUpdate.partition")
        if rolling.get("maxUnavailable") is not None:
            yield from int_or_percent(rolling["maxUnavailable"], f"{path}.rollingUpdate.maxUnavailable")
    else:
        yield say.invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")


class DaemonSetRules(WorkloadRules):
    noun = "daemonset"

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        strategy = spec.setdefault("updateStrategy", {})
        strategy.setdefault("type", "RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            rolling.setdefault("maxUnavailable", 1)
            rolling.setdefault("maxSurge", 0)
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


class ControllerRules(WorkloadRules):
    """ReplicationController: its selector is a plain map, and comes from the template when absent."""

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        labels = (spec["template"].get("metadata") or {}).get("labels")
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
        about, selector = spec.get("template") or {}, spec.get("selector") or {}
        labels = (about.get("metadata") or {}).get("labels") or {}
        if selector and any(labels.get(name) != value for name, value in selector.items()):
            yield say.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
        yield from template(about, "spec.template")
        yield from self.restart(about)

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*self.status_checks(new.get("status") or {})] if subresource == "status" else [*self.checks(new["spec"])]


class RevisionRules(KindRules):
    """ControllerRevision: data that never changes."""

    def validate(self, obj: Obj) -> list[Problem]:
        found = [*not_negative(obj.get("revision", 0), "revision")]
        return found if obj.get("data") is not None else [say.required("data", "data is mandatory"), *found]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [*self.validate(new), *_data_unchanged(new.get("data"), old.get("data"))]


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
