"""Rules of kube-scheduler's groups in 1.36 (v1alpha2) and 1.37 (v1beta1, v1alpha3): PodGroup, CompositePodGroup, and Workloads that are
trees of their templates. The flat Workload of 1.35 is in `gangs.py`; fields behind gates are dropped by the server's `features.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gangline.apiserver.builtin.checks import IMMUTABLE, Obj, Problems, each, given, immutable, label, label_key, one_of, subdomain
from gangline.apiserver.builtin.gangs import controller_ref
from gangline.apiserver.builtin.rules import WHOLE_METADATA, KindRules
from gangline.errors import Problem
from gangline.schema import problems as say

MOST = 8
DEEPEST = 4


class GroupRules(KindRules):
    """PodGroup of 1.36: nothing of it changes."""

    has_status = True
    status_keeps = WHOLE_METADATA
    modes: tuple[str, ...] = ("Pod", "PodGroup")

    def defaults(self, obj: Obj) -> None:
        obj.setdefault("spec", {}).setdefault("disruptionMode", "Pod")

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        return [*_link(spec), *group(spec, "spec", "minCount"), *self.mode(spec, "spec")]

    def mode(self, spec: Obj, path: str) -> Problems:
        yield from one_of(spec.get("disruptionMode"), self.modes, f"{path}.disruptionMode")

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return []
        return [*self.validate(new), *self.unchanged(new.get("spec") or {}, old.get("spec") or {})]

    def unchanged(self, new: Obj, old: Obj) -> Problems:
        yield from immutable(new, old, "spec")


class NewGroupRules(GroupRules):
    """PodGroup of 1.37: its minimum may change."""

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        if not spec.get("disruptionMode"):
            spec["disruptionMode"] = {"single": {}}

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        return [*_parent(spec), *group(spec, "spec", "minCount"), *self.mode(spec, "spec")]

    def mode(self, spec: Obj, path: str) -> Problems:
        yield from _one_of(spec.get("disruptionMode") or {}, ("single", "all"), f"{path}.disruptionMode")

    def unchanged(self, new: Obj, old: Obj) -> Problems:
        if _without_minimum(new) != _without_minimum(old):
            yield say.invalid("spec", new, IMMUTABLE)


class CompositeRules(NewGroupRules):
    """CompositePodGroup: nothing of it changes."""

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        required = [] if spec.get("workloadRef") is not None else [say.required("spec.workloadRef")]
        return [*required, *_parent(spec), *group(spec, "spec", "minGroupCount"), *self.mode(spec, "spec")]

    def unchanged(self, new: Obj, old: Obj) -> Problems:
        yield from immutable(new, old, "spec")


class TemplatesRules(KindRules):
    """Workload of 1.36: a list of templates that never changes."""

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        found = [*controller_ref(spec)]
        if not spec.get("podGroupTemplates"):
            found.append(say.required("spec.podGroupTemplates", "must have at least one item"))
        return [*found, *_templates(spec, "spec", set())]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        spec, before = new.get("spec") or {}, old.get("spec") or {}
        found = [*self.validate(new)]
        if before.get("controllerRef") is not None:
            found += immutable(spec.get("controllerRef"), before["controllerRef"], "controllerRef")
        return [*found, *immutable(_shape(spec), _shape(before), "spec")]


class TreeRules(TemplatesRules):
    """Workload of 1.37: templates, or composites of templates, of one priority."""

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        found = [*controller_ref(spec), *_one_of(spec, ("podGroupTemplates", "compositePodGroupTemplates"), "spec")]
        found += _tree(spec, "spec", 1, set())
        for name in ("priorityClassName", "priority"):
            if len({repr(each_one.get(name)) for each_one in _all_templates(spec)}) > 1:
                found.append(say.invalid("spec", say.OMIT, f"{name} must be the same in all templates"))
        return found


def group(about: Obj, path: str, minimum: str) -> Problems:
    """What a group, a composite and their templates have in common: a policy and where it may run."""
    policy = about.get("schedulingPolicy") or {}
    yield from _one_of(policy, ("basic", "gang"), f"{path}.schedulingPolicy")
    gang = policy.get("gang")
    if gang is not None and gang.get(minimum, 0) <= 0:
        yield say.invalid(f"{path}.schedulingPolicy.gang.{minimum}", gang.get(minimum, 0), "must be greater than zero")
    keys = (about.get("schedulingConstraints") or {}).get("topology") or []
    if len(keys) > 1:
        yield say.too_many(f"{path}.schedulingConstraints.topology", len(keys), 1)
    for where, key in each(keys, f"{path}.schedulingConstraints.topology"):
        yield from label_key(key.get("key") or "", f"{where}.key")
    claims = about.get("resourceClaims") or []
    if len(claims) > 4:
        yield say.too_many(f"{path}.resourceClaims", len(claims), 4)
    if about.get("priorityClassName"):
        yield from subdomain(about["priorityClassName"], f"{path}.priorityClassName")
    yield from one_of(about.get("preemptionPolicy"), ("PreemptLowerPriority", "Never"), f"{path}.preemptionPolicy")


def _one_of(about: Obj, names: tuple[str, ...], path: str) -> Problems:
    chosen = [name for name in names if about.get(name) not in (None, [])]
    told = "exactly one of " + ", ".join(f"`{name}`" for name in names) + " is required"
    if not chosen:
        yield say.required(path, told)
    elif len(chosen) > 1:
        yield say.invalid(path, "{" + ", ".join(f"`{name}`" for name in chosen) + "}", f"{told}, but multiple fields are set")


def _link(spec: Obj) -> Problems:
    """The template that a group of 1.36 was made from."""
    reference = spec.get("podGroupTemplateRef")
    if reference is None:
        return
    path = "spec.podGroupTemplateRef.workload"
    if reference.get("workload") is None:
        yield say.required(path)
    else:
        yield from given(reference["workload"], path, "workloadName", "podGroupTemplateName")


def _parent(spec: Obj) -> Problems:
    """Where a group of 1.37 belongs."""
    reference, parent = spec.get("workloadRef"), spec.get("parentCompositePodGroupName")
    if reference is not None:
        yield from given(reference, "spec.workloadRef", "workloadName", "templateName")
    if parent is not None:
        yield from subdomain(parent, "spec.parentCompositePodGroupName")
        if reference is None:
            yield say.required("spec.workloadRef", "when parentCompositePodGroupName is set")


def _without_minimum(spec: Obj) -> Obj:
    policy = dict(spec.get("schedulingPolicy") or {})
    if policy.get("gang") is not None:
        policy["gang"] = {}
    return {**spec, "schedulingPolicy": policy}


def _templates(about: Obj, path: str, names: set[str]) -> Problems:
    items = about.get("podGroupTemplates") or []
    if len(items) > MOST:
        yield say.too_many(f"{path}.podGroupTemplates", len(items), MOST)
    for where, item in each(items, f"{path}.podGroupTemplates"):
        yield from _named(item, where, names)
        yield from group(item, where, "minCount")


def _tree(about: Obj, path: str, depth: int, names: set[str]) -> Problems:
    yield from _templates(about, path, names)
    items = about.get("compositePodGroupTemplates") or []
    if len(items) > MOST:
        yield say.too_many(f"{path}.compositePodGroupTemplates", len(items), MOST)
    for where, item in each(items, f"{path}.compositePodGroupTemplates"):
        yield from _named(item, where, names)
        yield from group(item, where, "minGroupCount")
        if depth + 1 >= DEEPEST and item.get("compositePodGroupTemplates"):
            yield say.invalid(f"{where}.compositePodGroupTemplates", say.OMIT, f"a tree of groups is at most {DEEPEST} levels deep")
        elif not item.get("podGroupTemplates") and not item.get("compositePodGroupTemplates"):
            yield say.required(where, "a composite has at least one template below it")
        else:
            yield from _tree(item, where, depth + 1, names)


def _named(item: Obj, path: str, names: set[str]) -> Problems:
    name = item.get("name") or ""
    yield from label(name, f"{path}.name")
    if name in names:
        yield say.duplicate(f"{path}.name", name)
    names.add(name)


def _all_templates(about: Obj) -> Iterator[Obj]:
    for name in ("podGroupTemplates", "compositePodGroupTemplates"):
        for item in about.get(name) or []:
            yield item
            yield from _all_templates(item)


def _shape(about: Obj) -> list[object]:
    """Which templates there are; in 1.36 and 1.37 alike none comes or goes, and none changes."""
    return [item for name in ("podGroupTemplates", "compositePodGroupTemplates") for item in about.get(name) or []]
