"""Rules of Role, ClusterRole and their bindings."""

from __future__ import annotations

from gangline.cluster.kinds.checks import Obj, Problems, label_selector, one_of, subdomain, with_paths
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import path_segment_problems

GROUP = "rbac.authorization.k8s.io"


class RoleRules(KindRules):
    create_on_update = True

    def validate(self, obj: Obj) -> list[Problem]:
        problems: list[Problem] = []
        for where, rule in with_paths(obj.get("rules"), "rules"):
            problems += _rule(rule, where, self.kind == "Role")
        for where, selector in with_paths(
            (obj.get("aggregationRule") or {}).get("clusterRoleSelectors"), "aggregationRule.clusterRoleSelectors"
        ):
            problems += label_selector(selector, where)
        if obj.get("aggregationRule") is not None and not obj["aggregationRule"].get("clusterRoleSelectors"):
            problems.append(
                say.required(
                    "aggregationRule.clusterRoleSelectors",
                    "at least one clusterRoleSelector required if aggregationRule is non-nil",
                )
            )
        return problems

    def name_problems(self, name: str) -> list[str]:
        return path_segment_problems(name)


def _rule(rule: Obj, path: str, namespaced: bool) -> Problems:
    if not rule.get("verbs"):
        yield say.required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            yield say.invalid(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            yield say.invalid(
                f"{path}.nonResourceURLs", urls, "rules cannot apply to both regular resources and non-resource URLs"
            )
        return
    if not rule.get("apiGroups"):
        yield say.required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield say.required(f"{path}.resources", "resource rules must supply at least one resource")


def _as_go(reference: Obj) -> Obj:
    return {
        "APIGroup": reference.get("apiGroup", ""),
        "Kind": reference.get("kind", ""),
        "Name": reference.get("name", ""),
    }


class BindingRules(KindRules):
    create_on_update = True

    def defaults(self, obj: Obj) -> None:
        reference = obj.setdefault("roleRef", {})
        if not reference.get("apiGroup"):
            reference["apiGroup"] = GROUP
        for subject in obj.get("subjects") or []:
            if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
                subject["apiGroup"] = GROUP

    def validate(self, obj: Obj) -> list[Problem]:
        return [*self._checks(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        problems = [*self._checks(new)]
        if new.get("roleRef") != old.get("roleRef"):
            problems += [say.invalid("roleRef", _as_go(new.get("roleRef") or {}), "cannot change roleRef")]
        return problems

    def _checks(self, obj: Obj) -> Problems:
        reference = obj.get("roleRef") or {}
        if reference.get("apiGroup") != GROUP:
            yield say.unsupported("roleRef.apiGroup", reference.get("apiGroup") or "", (GROUP,))
        kinds = ("Role", "ClusterRole") if self.kind == "RoleBinding" else ("ClusterRole",)
        if reference.get("kind") not in kinds:
            yield say.unsupported("roleRef.kind", reference.get("kind") or "", kinds)
        if not reference.get("name"):
            yield say.required("roleRef.name")
        else:
            yield from (
                say.invalid("roleRef.name", reference["name"], why) for why in path_segment_problems(reference["name"])
            )
        for where, subject in with_paths(obj.get("subjects"), "subjects"):
            yield from self._subject(subject, where)

    def _subject(self, subject: Obj, path: str) -> Problems:
        kind, group = subject.get("kind") or "", subject.get("apiGroup") or ""
        if not subject.get("name"):
            yield say.required(f"{path}.name")
        if kind == "ServiceAccount":
            if group:
                yield say.unsupported(f"{path}.apiGroup", group, ("",))
            if subject.get("name"):
                yield from subdomain(subject["name"], f"{path}.name")
            if not subject.get("namespace") and self.kind == "ClusterRoleBinding":
                yield say.required(f"{path}.namespace")
        elif kind in ("User", "Group"):
            yield from one_of(group, (GROUP,), f"{path}.apiGroup")
        else:
            yield say.unsupported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group"))

    def name_problems(self, name: str) -> list[str]:
        return path_segment_problems(name)
