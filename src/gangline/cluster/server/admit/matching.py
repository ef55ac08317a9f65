"""Whether an admission rule is about a write: what webhooks and admission policies have in common.

Rules, namespace and object selectors, and matchConditions in CEL. Pure, apart from the namespace it is handed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from gangline.api.kept import kept
from gangline.client.wire import User
from gangline.cluster.server.access.identity import account_user
from gangline.cluster.server.access.rbac import Action
from gangline.cluster.server.admit.chain import ScaleFace, WriteReview
from gangline.cluster.server.call import is_number
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.selectors import selector_test
from gangline.rules.cel import CALL_LIMIT, DYN, CelError, CelProgram, Env, StepBudget
from gangline.rules.cel import compile as compile_cel
from gangline.rules.cel.functions.access import AccessQuestion, CelAuthorizer

Obj = dict[str, Any]
May = Callable[[User, Action], bool]
"""Whether a user may do something."""
NAMES = ("object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer")
_EXEMPT = {
    ("admissionregistration.k8s.io", plural)
    for plural in (
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    )
}


def exempt(review: WriteReview) -> bool:
    """Nobody may lock out what could lock him out."""
    return (review.resource.group, review.resource.plural) in _EXEMPT


@kept(4096, 16 * 1024)
def program(text: str) -> CelProgram:
    return compile_cel(text, Env(dict.fromkeys(NAMES, DYN)))


def rule_matches(rule: Obj, review: WriteReview) -> bool:
    resource = review.resource
    named = f"{resource.plural}/{review.subresource}" if review.subresource else resource.plural
    wanted = rule.get("resources") or []
    fits = any(_resource_fits(item, resource.plural, review.subresource, named) for item in wanted)
    scope = rule.get("scope") or "*"
    names = rule.get("resourceNames") or []
    return (
        fits
        and _listed(rule.get("operations"), review.operation)
        and _listed(rule.get("apiGroups"), resource.group)
        and _listed(rule.get("apiVersions"), resource.version)
        and scope in ("*", "Namespaced" if resource.namespaced else "Cluster")
        and (not names or review.name in names)
    )


def _resource_fits(pattern: str, plural: str, subresource: str, named: str) -> bool:
    if pattern in ("*/*", named):
        return True
    if not subresource:
        return pattern == "*"
    return pattern in (f"*/{subresource}", f"{plural}/*")


def _listed(allowed: list[str] | None, wanted: str) -> bool:
    return bool(allowed) and ("*" in allowed or wanted in allowed)  # type: ignore[operator]


def told_as(review: WriteReview, other: Resource) -> WriteReview:
    """A review in an equivalent version of its resource, for a rule that names only that one."""
    mine = review.resource
    return replace(
        review,
        resource=other,
        requested=mine,
        face=ScaleFace(lambda obj: _converted(obj, mine, other), lambda _, changed: _converted(changed, other, mine)),
    )


def _converted(obj: Obj, source: Resource, target: Resource) -> Obj:
    stored = source.conversion.to_stored(obj) if source.conversion else obj
    converted = target.conversion.from_stored(stored) if target.conversion else stored
    return {**converted, "apiVersion": target.api_version, "kind": target.kind}


def selectors_match(owner: Obj, review: WriteReview, namespace: Obj | None) -> bool:
    wanted = owner.get("namespaceSelector")
    if wanted and not _namespace_fits(wanted, review, namespace):
        return False
    wanted = owner.get("objectSelector")
    if not wanted:
        return True
    test = selector_test(wanted)
    return any(
        test((obj.get("metadata") or {}).get("labels") or {}) for obj in (review.object, review.old) if obj is not None
    )


def _namespace_fits(selector: Obj, review: WriteReview, namespace: Obj | None) -> bool:
    if review.resource.shelf == ("", "namespaces"):
        namespace = review.object or review.old
    elif not review.resource.namespaced:
        return True
    return selector_test(selector)(((namespace or {}).get("metadata") or {}).get("labels") or {})


def variables(review: WriteReview, namespace: Obj | None, may: May, params: Any = None) -> dict[str, Any]:
    """What CEL expressions of admission see."""
    return {
        "object": review.shown(review.object),
        "oldObject": review.shown(review.old),
        "request": request_of(review),
        "params": params,
        "namespaceObject": namespace,
        "variables": {},
        "authorizer": _authority(review, may),
    }


def _authority(review: WriteReview, may: May) -> CelAuthorizer:
    """Who asks is the user of the request, or a service account that an expression names."""

    def decide(question: AccessQuestion, verb: str) -> tuple[bool, str]:
        user = review.user if question.account is None else account_user(*question.account)
        action = (
            Action(verb, path=question.path)
            if question.path
            else Action(
                verb, question.group, question.resource, question.subresource, question.namespace, question.name
            )
        )
        return may(user, action), ""

    resource = review.resource
    return CelAuthorizer(
        AccessQuestion(decide),
        AccessQuestion(
            decide, None, "", resource.group, resource.plural, review.subresource, review.namespace, review.name
        ),
    )


def request_of(review: WriteReview) -> Obj:
    resource, user = review.resource, review.user
    asked = review.requested or resource
    kind = _kind(review)
    about = {
        "name": review.name,
        "namespace": review.namespace,
        "subResource": review.subresource,
        "requestSubResource": review.subresource,
    }
    return {
        "kind": kind,
        "resource": _place(resource),
        "requestKind": _named(asked) if review.requested else kind,
        "requestResource": _place(asked),
        "operation": review.operation,
        "dryRun": review.dry_run,
        "options": _options(review),
        "userInfo": {"username": user.name, **({"uid": user.uid} if user.uid else {}), "groups": list(user.groups)},
        **{key: value for key, value in about.items() if value},
    }


def _place(resource: Resource) -> Obj:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}


def _named(resource: Resource) -> Obj:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _kind(review: WriteReview) -> Obj:
    """Of what was sent: some subresources take another kind than their object's."""
    sent = review.shown(review.object) if review.subresource else None
    if sent is None:
        return _named(review.resource)
    group, _, version = str(sent.get("apiVersion", "")).rpartition("/")
    return {"group": group, "version": version, "kind": sent.get("kind", "")}


_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


def _options(review: WriteReview) -> Obj:
    """What was asked beside the object, in the kind that says such things."""
    given: dict[str, Any] = {}
    if review.operation == "DELETE":
        numbers = {key: int(value) for key, value in review.query if key == "gracePeriodSeconds" and is_number(value)}
        given = {key: value for key, value in review.query if key == "propagationPolicy"} | numbers | review.options
    else:
        given = {key: value for key, value in review.query if key in ("fieldManager", "fieldValidation")}
    if review.dry_run:
        given["dryRun"] = ["All"]
    return {**given, "kind": _OPTIONS.get(review.operation, ""), "apiVersion": "meta.k8s.io/v1"}


class Unanswerable(CelError):
    """A condition that cannot be evaluated, with its text."""


def evaluated(text: str, seen: dict[str, Any], review: WriteReview) -> Any:
    """What an expression says; it spends what the write has left for all of them."""
    most = max(0, min(CALL_LIMIT, review.budget.left))
    call = StepBudget(most)
    try:
        return program(text).evaluate(seen, call)
    finally:
        review.budget.left -= most - max(call.left, 0)


def conditions_hold(conditions: list[Obj], review: WriteReview, namespace: Obj | None, may: May) -> bool:
    """All matchConditions; one that is false decides, otherwise one that cannot be evaluated raises CelError."""
    failed: CelError | None = None
    seen = variables(review, namespace, may)
    for condition in conditions:
        try:
            if evaluated(condition["expression"], seen, review) is not True:
                return False
        except CelError as error:
            failed = failed or Unanswerable(f"expression '{condition['expression']}' resulted in error: {error}")
    if failed is not None:
        raise failed
    return True


def seen_by(hook: Obj, review: WriteReview, catalogue: Iterable[Resource]) -> WriteReview | None:
    """The write as the webhook's rules name it; None if they do not."""
    rules = hook.get("rules") or []
    if any(rule_matches(rule, review) for rule in rules):
        return review
    if hook.get("matchPolicy") == "Exact" or review.face is not None:
        return None
    for other in catalogue:
        if other.shelf == review.resource.shelf and other is not review.resource and other.stored:
            seen = told_as(review, other)
            if any(rule_matches(rule, seen) for rule in rules):
                return seen
    return None
