"""Rules of scheduling.k8s.io's Workload as 1.35 has it (v1alpha1): which pods start together. Later generations:
`pod_groups.py`."""

from __future__ import annotations

from typing import Any

from gangline.cluster.kinds.checks import Obj, Problems, immutable, label, named, subdomain, with_paths
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import path_segment_problems


class WorkloadApiRules(KindRules):
    """scheduling.k8s.io Workload."""

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_workload(obj.get("spec") or {})]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        spec, before = new.get("spec") or {}, old.get("spec") or {}
        problems = [*_workload(spec)]
        if before.get("controllerRef") is not None:
            problems += immutable(spec.get("controllerRef"), before["controllerRef"], "controllerRef")
        return [*problems, *immutable(spec.get("podGroups"), before.get("podGroups"), "podGroups")]


def controller_ref(spec: Obj) -> Problems:
    """Who the pods of a Workload belong to."""
    reference = spec.get("controllerRef")
    if reference is None:
        return
    if reference.get("apiGroup"):
        yield from subdomain(reference["apiGroup"], "spec.controllerRef.apiGroup")
    for name in ("kind", "name"):
        if not reference.get(name):
            yield say.required(f"spec.controllerRef.{name}")
        else:
            yield from named(reference[name], path_segment_problems, f"spec.controllerRef.{name}")


def _workload(spec: Obj) -> Problems:
    yield from controller_ref(spec)
    groups = spec.get("podGroups") or []
    if not groups:
        yield say.required("spec.podGroups", "must have at least one item")
    if len(groups) > 8:
        yield say.too_many("spec.podGroups", len(groups), 8)
    seen: set[Any] = set()
    for where, group in with_paths(groups, "spec.podGroups"):
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
        yield say.invalid(
            path, "{`basic`, `gang`}", "exactly one of `basic`, `gang` is required, but multiple fields are set"
        )
    gang = policy.get("gang")
    if gang is not None and gang.get("minCount", 0) <= 0:
        yield say.invalid(f"{path}.gang.minCount", gang.get("minCount", 0), "must be greater than zero")
