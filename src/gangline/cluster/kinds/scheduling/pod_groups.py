"""Rules of kube-scheduler's groups in 1.36 (v1alpha2) and 1.37 (v1beta1, v1alpha3): PodGroup, CompositePodGroup, and
Workloads that are trees of their templates. The flat Workload of 1.35 is in `workload_v1alpha1.py`; the server's
`features.py` drops fields behind gates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangline.cluster.kinds.checks import Obj, Problems, conditions, label, label_key, named, subdomain, with_paths
from gangline.cluster.kinds.declared import DeclaredShape, FieldRule, judge
from gangline.cluster.kinds.rules import WHOLE_METADATA, KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import path_segment_problems

MOST = 8
DEEPEST = 4
HIGHEST = 1_000_000_000
"""The highest priority that is not the system's own."""
_EMPTY = DeclaredShape({})


def _segment(value: Any, path: str) -> Problems:
    yield from named(value, path_segment_problems, path)


_NAME = FieldRule(required=True, form=label)
_POLICY = DeclaredShape(
    {
        "basic": FieldRule(pointer=True, shape=_EMPTY),
        "gang": FieldRule(pointer=True, shape=DeclaredShape({"minCount": FieldRule(required=True, least=1)})),
    },
    ("basic", "gang"),
)
_WHERE = DeclaredShape(
    {
        "topology": FieldRule(
            most_items=1, items=lambda: DeclaredShape({"key": FieldRule(required=True, form=label_key)})
        )
    }
)
_CLAIM = DeclaredShape(
    {
        "name": _NAME,
        "resourceClaimName": FieldRule(pointer=True, form=subdomain),
        "resourceClaimTemplateName": FieldRule(pointer=True, form=subdomain),
    },
    ("resourceClaimName", "resourceClaimTemplateName"),
)
_SEGMENT = FieldRule(required=True, form=_segment)
_CONTROLLER = DeclaredShape({"apiGroup": FieldRule(form=subdomain), "kind": _SEGMENT, "name": _SEGMENT})
_CLAIMS = FieldRule(fixed=True, most_items=4, key="name", items=lambda: _CLAIM)
_PLACE = FieldRule(fixed=True, shape=_WHERE)
_STATUS = DeclaredShape(
    {
        "resourceClaimStatuses": FieldRule(
            most_items=4,
            key="name",
            items=lambda: DeclaredShape({"resourceClaimName": FieldRule(pointer=True, form=subdomain)}),
        )
    }
)


# --- 1.36 -------------------------------------------------------------------------------------------------------------

_MODES = ("Pod", "PodGroup")
_OLD_LINK = DeclaredShape(
    {
        "workload": FieldRule(
            shape=DeclaredShape(
                {"workloadName": FieldRule(required=True, form=subdomain), "podGroupTemplateName": _NAME}
            )
        )
    },
    ("workload",),
)
_OLD_TEMPLATE = DeclaredShape(
    {
        "name": _NAME,
        "schedulingPolicy": FieldRule(shape=_POLICY),
        "schedulingConstraints": FieldRule(shape=_WHERE),
        "resourceClaims": _CLAIMS,
        "disruptionMode": FieldRule(pointer=True, choices=_MODES),
        "priorityClassName": FieldRule(form=subdomain),
        "priority": FieldRule(pointer=True, most=HIGHEST),
    }
)
_OLD_GROUP = DeclaredShape(
    {
        "podGroupTemplateRef": FieldRule(fixed=True, shape=_OLD_LINK),
        "schedulingPolicy": FieldRule(fixed=True, shape=_POLICY),
        "schedulingConstraints": _PLACE,
        "resourceClaims": _CLAIMS,
        "disruptionMode": FieldRule(fixed=True, pointer=True, choices=_MODES),
        "priorityClassName": FieldRule(fixed=True, form=subdomain),
        "priority": FieldRule(fixed=True, pointer=True, most=HIGHEST),
    }
)
_OLD_WORKLOAD = DeclaredShape(
    {
        "controllerRef": FieldRule(fixed=True, shape=_CONTROLLER),
        "podGroupTemplates": FieldRule(
            required=True, fixed=True, most_items=MOST, key="name", items=lambda: _OLD_TEMPLATE
        ),
    }
)


# --- 1.37 -------------------------------------------------------------------------------------------------------------


def _policy(minimum: str) -> DeclaredShape:
    return DeclaredShape(
        {
            "basic": FieldRule(fixed=True, pointer=True, shape=_EMPTY),
            "gang": FieldRule(
                stays=True, pointer=True, shape=DeclaredShape({minimum: FieldRule(required=True, least=1)})
            ),
        },
        ("basic", "gang"),
    )


_MODE = DeclaredShape(
    {"single": FieldRule(pointer=True, shape=_EMPTY), "all": FieldRule(pointer=True, shape=_EMPTY)}, ("single", "all")
)
_LINK = DeclaredShape({"workloadName": FieldRule(required=True, form=subdomain), "templateName": _NAME})
_PRIORITY = {
    "priorityClassName": FieldRule(fixed=True, form=subdomain),
    "priority": FieldRule(fixed=True, pointer=True, most=HIGHEST),
    "preemptionPolicy": FieldRule(fixed=True, pointer=True, choices=("Never", "PreemptLowerPriority")),
}
_PARENT = FieldRule(fixed=True, pointer=True, form=subdomain)
_TEMPLATE = DeclaredShape(
    {
        "name": _NAME,
        "schedulingPolicy": FieldRule(shape=_policy("minCount")),
        "schedulingConstraints": _PLACE,
        "resourceClaims": _CLAIMS,
        "disruptionMode": FieldRule(fixed=True, shape=_MODE),
        **_PRIORITY,
    }
)
_TEMPLATES = FieldRule(closed=True, most_items=MOST, key="name", items=lambda: _TEMPLATE)
_COMPOSITES = FieldRule(closed=True, most_items=MOST, key="name", items=lambda: _COMPOSITE_TEMPLATE)
_COMPOSITE_TEMPLATE: DeclaredShape = DeclaredShape(
    {
        "name": _NAME,
        "schedulingPolicy": FieldRule(shape=_policy("minGroupCount")),
        "schedulingConstraints": _PLACE,
        "disruptionMode": FieldRule(fixed=True, shape=_MODE),
        **_PRIORITY,
        "podGroupTemplates": _TEMPLATES,
        "compositePodGroupTemplates": _COMPOSITES,
    }
)
_GROUP = DeclaredShape(
    {
        "parentCompositePodGroupName": _PARENT,
        "workloadRef": FieldRule(fixed=True, shape=_LINK),
        "schedulingPolicy": FieldRule(shape=_policy("minCount")),
        "schedulingConstraints": _PLACE,
        "resourceClaims": _CLAIMS,
        "disruptionMode": FieldRule(required=True, fixed=True, shape=_MODE),
        **_PRIORITY,
    }
)
_COMPOSITE = DeclaredShape(
    {
        "parentCompositePodGroupName": _PARENT,
        "workloadRef": FieldRule(required=True, fixed=True, shape=_LINK),
        "schedulingPolicy": FieldRule(fixed=True, shape=_policy("minGroupCount")),
        "schedulingConstraints": _PLACE,
        "disruptionMode": FieldRule(required=True, fixed=True, shape=_MODE),
        **_PRIORITY,
    }
)
_WORKLOAD = DeclaredShape(
    {
        "controllerRef": FieldRule(fixed=True, shape=_CONTROLLER),
        "podGroupTemplates": _TEMPLATES,
        "compositePodGroupTemplates": _COMPOSITES,
    },
    ("podGroupTemplates", "compositePodGroupTemplates"),
)


# --- kinds ------------------------------------------------------------------------------------------------------------


class DeclaredRules(KindRules):
    """A kind whose spec is judged by its shape."""

    shape: DeclaredShape
    repeated_at = ""
    """Below a condition: where a second one of its type is reported."""
    unconditional_update = False

    def validate(self, obj: Obj) -> list[Problem]:
        return [*self.beside(obj), *judge(self.shape, obj.get("spec") or {}, None, "spec")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return [*self.judge_status(new, old)]
        return [
            *self.beside(new),
            *judge(self.shape, new.get("spec") or {}, old.get("spec") or {}, "spec", update=True),
        ]

    def beside(self, obj: Obj) -> Problems:
        """What no shape can say."""
        return iter(())

    def judge_status(self, new: Obj, old: Obj) -> Problems:
        status, before = new.get("status") or {}, old.get("status") or {}
        yield from conditions(status.get("conditions"), "status.conditions", self.repeated_at)
        claims = {claim.get("name") for claim in (new.get("spec") or {}).get("resourceClaims") or []}
        for where, item in with_paths(status.get("resourceClaimStatuses"), "status.resourceClaimStatuses"):
            if item.get("name") not in claims:
                yield say.invalid(
                    f"{where}.name", item.get("name") or "", "must match the name of an entry in `spec.resourceClaims`"
                )
        yield from judge(_STATUS, status, before, "status", update=True)


class GroupRules(DeclaredRules):
    """PodGroup of 1.36: nothing of it changes."""

    has_status = True
    status_keeps = WHOLE_METADATA
    shape = _OLD_GROUP
    repeated_at = ".type"

    def defaults(self, obj: Obj) -> None:
        obj.setdefault("spec", {}).setdefault("disruptionMode", "Pod")


class NewGroupRules(GroupRules):
    """PodGroup of 1.37: its minimum may change."""

    shape = _GROUP
    repeated_at = ""

    def defaults(self, obj: Obj) -> None:
        obj.setdefault("spec", {}).setdefault("disruptionMode", {"single": {}})

    def beside(self, obj: Obj) -> Problems:
        spec = obj.get("spec") or {}
        if spec.get("parentCompositePodGroupName") is not None and spec.get("workloadRef") is None:
            yield say.required("spec.workloadRef", "must be set when parentCompositePodGroupName is set")


class CompositeRules(NewGroupRules):
    """CompositePodGroup: nothing of it changes."""

    shape = _COMPOSITE

    def beside(self, obj: Obj) -> Problems:
        return iter(())


class TemplatesRules(DeclaredRules):
    """Workload of 1.36: a list of templates that never changes."""

    shape = _OLD_WORKLOAD


class TreeRules(DeclaredRules):
    """Workload of 1.37: templates, or composites of templates, of one priority."""

    shape = _WORKLOAD

    def beside(self, obj: Obj) -> Problems:
        spec = obj.get("spec") or {}
        composites = [*with_paths(spec.get("compositePodGroupTemplates"), "spec.compositePodGroupTemplates")]
        yield from _names(composites, {item.get("name") for item in spec.get("podGroupTemplates") or []})
        for where, item in composites:
            if _depth(item) >= DEEPEST:
                yield say.invalid(
                    where, item.get("compositePodGroupTemplates"), f"maximum template hierarchy depth is {DEEPEST}"
                )
        yield from _priorities(spec)
        for where, item in composites:
            yield from _childless(item, where)


def _names(composites: list[tuple[str, Obj]], taken: set[Any]) -> Problems:
    """Names are unique in the whole tree; those of one list are compared by its shape."""
    for where, item in composites:
        if item.get("name") in taken:
            yield say.duplicate(f"{where}.name", item.get("name") or "")
    taken |= {item.get("name") for _, item in composites}
    for where, item in composites:
        for below, child in with_paths(item.get("podGroupTemplates"), f"{where}.podGroupTemplates"):
            if child.get("name") in taken:
                yield say.duplicate(f"{below}.name", child.get("name") or "")
        taken |= {child.get("name") for child in item.get("podGroupTemplates") or []}
        yield from _names(
            [*with_paths(item.get("compositePodGroupTemplates"), f"{where}.compositePodGroupTemplates")], taken
        )


def _depth(composite: Obj) -> int:
    return 1 + max((_depth(child) for child in composite.get("compositePodGroupTemplates") or []), default=0)


def _priorities(spec: Obj) -> Problems:
    messages = {
        False: "detected multiple priority configurations",
        True: "all priority and priorityClassName values must be identical, detected multiple values",
    }
    for composite, templates in ((False, spec.get("podGroupTemplates") or []), (True, [*_below(spec)])):
        if len({(item.get("priorityClassName") or "", item.get("priority")) for item in templates}) > 1:
            yield say.invalid("spec", None, messages[composite])
            return


def _below(about: Obj) -> Iterator[Obj]:
    """Every composite, and every template in one."""
    for composite in about.get("compositePodGroupTemplates") or []:
        yield composite
        yield from composite.get("podGroupTemplates") or []
        yield from _below(composite)


def _childless(composite: Obj, path: str) -> Problems:
    children = composite.get("compositePodGroupTemplates") or []
    if not children and not composite.get("podGroupTemplates"):
        yield say.invalid(
            path,
            composite.get("name") or "",
            "must have at least one child PodGroupTemplate or CompositePodGroupTemplate",
        )
    for where, child in with_paths(children, f"{path}.compositePodGroupTemplates"):
        yield from _childless(child, where)
