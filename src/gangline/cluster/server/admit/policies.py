"""ValidatingAdmissionPolicies: CEL expressions that lie in the store and judge every write they are bound to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from gangline.cluster.server.admit.chain import WriteReview
from gangline.cluster.server.admit.matching import (
    conditions_hold,
    evaluated,
    exempt,
    rule_matches,
    selectors_match,
    variables,
)
from gangline.cluster.server.core import Core
from gangline.cluster.server.selectors import selector_test
from gangline.cluster.server.status import forbidden
from gangline.cluster.server.store.shelf import ShelfKey, StoreChange
from gangline.errors import Problem
from gangline.rules.cel import CelError

GROUP = "admissionregistration.k8s.io"
POLICIES, BINDINGS = "validatingadmissionpolicies", "validatingadmissionpolicybindings"
Obj = dict[str, Any]
_CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}


class _Composed(Mapping[str, Any]):
    """A policy's own variables, each evaluated when first asked for."""

    def __init__(self, given: list[Obj], seen: dict[str, Any], review: WriteReview) -> None:
        self._texts = {item["name"]: item["expression"] for item in given}
        self._seen, self._review = seen, review
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            try:
                self._known[name] = evaluated(self._texts[name], self._seen, self._review)
            except CelError as error:
                raise CelError(f'composited variable "{name}" fails to evaluate: {error}') from None
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class Policies:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._bound: list[tuple[Obj, Obj]] = []
        self._read()
        core.store.listeners.append(self._note)
        core.admission.add(
            "*",
            "*",
            ("CREATE", "UPDATE", "DELETE"),
            validate=self.judge,
            name="ValidatingAdmissionPolicy",
            subresources=("*",),
        )

    def _note(self, key: ShelfKey, change: StoreChange) -> None:
        if key in ((GROUP, POLICIES), (GROUP, BINDINGS)):
            self._read()

    def _read(self) -> None:
        store = self._core.store
        policies = {record.place[1]: record.object() for record in store.shelf((GROUP, POLICIES)).listing()}
        bindings = [record.object() for record in store.shelf((GROUP, BINDINGS)).listing()]
        self._bound = [
            (policies[name], binding) for binding in bindings if (name := binding["spec"].get("policyName")) in policies
        ]

    def judge(self, review: WriteReview) -> list[Problem]:
        if self._bound and not exempt(review):
            record = self._core.store.get(("", "namespaces"), ("", review.namespace)) if review.namespace else None
            namespace = record.object() if record else None
            for policy, binding in self._bound:
                if _is_about(policy, binding, review, namespace):
                    self._apply(policy, binding, review, namespace)
        return []

    def _apply(self, policy: Obj, binding: Obj, review: WriteReview, namespace: Obj | None) -> None:
        spec = policy["spec"]
        fails = spec.get("failurePolicy") != "Ignore"
        try:
            if not conditions_hold(spec.get("matchConditions") or [], review, namespace, self._core.may):
                return
        except CelError as error:
            if fails:
                self._refuse(policy, binding, review, str(error), "")
            return
        for params in self._params(policy, binding, review):
            seen = variables(review, namespace, self._core.may, params)
            seen["variables"] = _Composed(spec.get("variables") or [], seen, review)
            for validation in spec.get("validations") or []:
                why = _judge_one(validation, seen, review, fails)
                if why is not None:
                    self._refuse(policy, binding, review, why, validation.get("reason") or "")

    def _params(self, policy: Obj, binding: Obj, review: WriteReview) -> list[Any]:
        kind, ref = policy["spec"].get("paramKind"), binding["spec"].get("paramRef")
        if not kind or not ref:
            return [None]
        group, _, version = kind["apiVersion"].rpartition("/")
        resource = self._core.catalogue.by_kind(group, version, kind["kind"])
        if resource is None:
            return []
        namespace = (ref.get("namespace") or review.namespace) if resource.namespaced else ""
        test = selector_test(ref["selector"]) if ref.get("selector") is not None else None
        params = [
            record.object()
            for record in self._core.store.shelf(resource.shelf).listing(namespace)
            if (test(record.labels) if test else record.place[1] == ref.get("name"))
        ]
        if not params and ref.get("parameterNotFoundAction") != "Allow":
            self._refuse(
                policy,
                binding,
                review,
                "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
                "",
            )
        return params

    def _refuse(self, policy: Obj, binding: Obj, review: WriteReview, why: str, reason: str) -> None:
        name, bound = policy["metadata"]["name"], binding["metadata"]["name"]
        actions = binding["spec"].get("validationActions") or []
        if "Warn" in actions:
            review.warnings.append(
                f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{bound}': {why}"
            )
        if "Deny" not in actions:
            return
        message = f"ValidatingAdmissionPolicy '{name}' with binding '{bound}' denied request: {why}"
        error = forbidden(review.resource.shelf[0], review.resource.plural, review.told_name, message)
        status = dict(error.status)
        status["reason"] = reason or "Invalid"
        status["code"] = _CODES.get(status["reason"], 422)
        status["details"] = {**status["details"], "causes": [{"message": message}]}
        raise type(error)(status, status["code"])


def _judge_one(validation: Obj, seen: dict[str, Any], review: WriteReview, fails: bool) -> str | None:
    """Why a validation does not hold; None if it does."""
    try:
        if evaluated(validation["expression"], seen, review) is True:
            return None
    except CelError as error:
        return f"expression '{validation['expression']}' resulted in error: {error}" if fails else None
    message = validation.get("message")
    if validation.get("messageExpression"):
        with suppress(CelError):
            message = evaluated(validation["messageExpression"], seen, review) or message
    return str(message).strip() if message else f"failed expression: {validation['expression'].strip()}"


def _is_about(policy: Obj, binding: Obj, review: WriteReview, namespace: Obj | None) -> bool:
    """Both the policy's constraints and the binding's, where given, take in the write."""
    for where in (policy["spec"].get("matchConstraints"), binding["spec"].get("matchResources")):
        if where is None:
            continue
        rules = where.get("resourceRules")
        if rules and not any(rule_matches(rule, review) for rule in rules):
            return False
        if any(rule_matches(rule, review) for rule in where.get("excludeResourceRules") or []):
            return False
        if not selectors_match(where, review, namespace):
            return False
    return True
