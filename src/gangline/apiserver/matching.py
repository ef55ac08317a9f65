"""Whether an admission rule is about a write: what webhooks and admission policies have in common.

Rules, namespace and object selectors, and matchConditions in CEL. Pure, apart from the namespace it is handed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gangline.apiserver.admission import Review
from gangline.apiserver.selectors import selector_test
from gangline.schema.cel import DYN, CelError, Env, Program
from gangline.schema.cel import compile as compile_cel

Obj = dict[str, Any]
NAMES = ("object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer")
_EXEMPT = {("admissionregistration.k8s.io", plural) for plural in (
    "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies",
    "validatingadmissionpolicybindings")}


def exempt(review: Review) -> bool:
    """Nobody may lock out what could lock him out."""
    return (review.resource.group, review.resource.plural) in _EXEMPT


@lru_cache(maxsize=4096)
def program(text: str) -> Program:
    return compile_cel(text, Env(dict.fromkeys(NAMES, DYN)))


def rule_matches(rule: Obj, review: Review) -> bool:
    resource = review.resource
    named = f"{resource.plural}/{review.subresource}" if review.subresource else resource.plural
    wanted = rule.get("resources") or []
    fits = any(_resource_fits(each, resource.plural, review.subresource, named) for each in wanted)
    scope = rule.get("scope") or "*"
    names = rule.get("resourceNames") or []
    return (fits and _listed(rule.get("operations"), review.operation) and _listed(rule.get("apiGroups"), resource.group)
            and _listed(rule.get("apiVersions"), resource.version)
            and scope in ("*", "Namespaced" if resource.namespaced else "Cluster") and (not names or review.name in names))


def _resource_fits(pattern: str, plural: str, subresource: str, named: str) -> bool:
    if pattern in ("*/*", named):
        return True
    if not subresource:
        return pattern == "*"
    return pattern in (f"*/{subresource}", f"{plural}/*")


def _listed(allowed: list[str] | None, wanted: str) -> bool:
    return bool(allowed) and ("*" in allowed or wanted in allowed)  # type: ignore[operator]


def selectors_match(owner: Obj, review: Review, namespace: Obj | None) -> bool:
    wanted = owner.get("namespaceSelector")
    if wanted and not _namespace_fits(wanted, review, namespace):
        return False
    wanted = owner.get("objectSelector")
    if not wanted:
        return True
    test = selector_test(wanted)
    return any(test((obj.get("metadata") or {}).get("labels") or {}) for obj in (review.object, review.old) if obj is not None)


def _namespace_fits(selector: Obj, review: Review, namespace: Obj | None) -> bool:
    if review.resource.shelf == ("", "namespaces"):
        namespace = review.object or review.old
    elif not review.resource.namespaced:
        return True
    return selector_test(selector)(((namespace or {}).get("metadata") or {}).get("labels") or {})


def variables(review: Review, namespace: Obj | None, params: Any = None, further: Any = None) -> dict[str, Any]:
    """What CEL expressions of admission see."""
    return {"object": review.object, "oldObject": review.old, "request": request_of(review), "params": params,
            "namespaceObject": namespace, "variables": further if further is not None else {}, "authorizer": {}}


def request_of(review: Review) -> Obj:
    resource, user = review.resource, review.user
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    place = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    found: Obj = {"kind": kind, "resource": place, "requestKind": kind, "requestResource": place, "name": review.name,
                  "namespace": review.namespace, "operation": review.operation, "dryRun": review.dry_run,
                  "userInfo": {"username": user.name, "uid": user.uid, "groups": list(user.groups)}, "options": review.options or None}
    if review.subresource:
        found["subResource"] = found["requestSubResource"] = review.subresource
    return found


def conditions_hold(conditions: list[Obj], review: Review, namespace: Obj | None) -> bool:
    """All matchConditions; one that is false decides, otherwise one that cannot be evaluated raises CelError."""
    failed: CelError | None = None
    seen = variables(review, namespace)
    for condition in conditions:
        try:
            if program(condition["expression"]).evaluate(seen) is not True:
                return False
        except CelError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return True
