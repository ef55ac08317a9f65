"""Rules of ValidatingAdmissionPolicy and its bindings: what it matches, and expressions that must compile with what
they may speak of."""

from __future__ import annotations

import re
from typing import Any

from gangline.cluster.kinds.admin.webhooks import expression, match_conditions, resource_rule
from gangline.cluster.kinds.checks import Obj, Problems, given, label_selector, one_of, repeated, subdomain, with_paths
from gangline.cluster.kinds.rules import WHOLE_METADATA, KindRules
from gangline.errors import Problem
from gangline.rules import cel
from gangline.rules.values import problems as say
from gangline.rules.values.names import qualified_name_problems

_NAMES = ("object", "oldObject", "request", "namespaceObject")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_NOTHING = "validations or auditAnnotations must contain at least one item"
_ONE_OF_THEM = "name and selector are mutually exclusive"


class PolicyRules(KindRules):
    """ValidatingAdmissionPolicy."""

    generation = True
    has_status = True
    unconditional_update = False
    status_keeps = WHOLE_METADATA

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("failurePolicy", "Fail")
        _default_match(spec.get("matchConstraints"))

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_policy(obj.get("spec") or {}, obj["metadata"].get("name") or "")]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return [] if subresource else self.validate(new)


def _default_match(match: Obj | None) -> None:
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    match.setdefault("namespaceSelector", {})
    match.setdefault("objectSelector", {})
    for name in ("resourceRules", "excludeResourceRules"):
        for rule in match.get(name) or []:
            rule.setdefault("scope", "*")


def _policy(spec: Obj, name: str) -> Problems:
    yield from one_of(spec.get("failurePolicy"), ("Fail", "Ignore"), "spec.failurePolicy")
    if spec.get("paramKind") is not None:
        yield from _param_kind(spec["paramKind"], "spec.paramKind")
    match = spec.get("matchConstraints")
    if match is None:
        yield say.required("spec.matchConstraints")
    else:
        if not match.get("resourceRules"):
            yield say.required("spec.matchConstraints.resourceRules")
        yield from _match(match, "spec.matchConstraints")
    names = dict.fromkeys((*_NAMES, "params") if spec.get("paramKind") is not None else _NAMES, cel.DYN) | {
        "authorizer": cel.AUTHORIZER
    }
    yield from match_conditions(spec.get("matchConditions") or [], "spec.matchConditions", cel.Env(names))
    known: dict[str, cel.CelType] = {}
    for where, variable in with_paths(spec.get("variables"), "spec.variables"):
        yield from _variable(variable, where, names, known)
    env = cel.Env({**names, "variables": cel.variables_of(known)})
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield say.required("spec.validations", _NOTHING)
        yield say.required("spec.auditAnnotations", _NOTHING)
    for where, item in with_paths(spec.get("validations"), "spec.validations"):
        yield from _validation(item, where, env)
    yield from _annotations(spec.get("auditAnnotations") or [], name, env)


def _param_kind(kind: Obj, path: str) -> Problems:
    yield from given(kind, path, "apiVersion", "kind")
    version = kind.get("apiVersion") or ""
    if version.count("/") > 1:
        yield say.invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")


def _match(match: Obj, path: str) -> Problems:
    yield from one_of(match.get("matchPolicy"), ("Equivalent", "Exact"), f"{path}.matchPolicy")
    for name in ("namespaceSelector", "objectSelector"):
        yield from label_selector(match.get(name), f"{path}.{name}")
    for part in ("resourceRules", "excludeResourceRules"):
        for where, rule in with_paths(match.get(part), f"{path}.{part}"):
            yield from resource_rule(rule, where)


def _variable(variable: Obj, path: str, names: dict[str, cel.CelType], known: dict[str, cel.CelType]) -> Problems:
    """A variable may speak of those before it; its kind is noted for those after it."""
    name, text = variable.get("name") or "", variable.get("expression") or ""
    if not name:
        yield say.required(f"{path}.name")
    elif not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        yield say.invalid(f"{path}.name", name, "must be a valid CEL identifier")
    known_kind = cel.DYN
    if not text.strip():
        yield say.required(f"{path}.expression")
    else:
        try:
            known_kind = cel.compile(text, cel.Env({**names, "variables": cel.variables_of(known)})).kind
        except cel.CelSyntaxError as error:
            yield say.invalid(f"{path}.expression", text, f"compilation failed: {error}")
    known[name] = known_kind


def _validation(item: Obj, path: str, env: cel.Env) -> Problems:
    text, message = (item.get("expression") or "").strip(), item.get("message") or ""
    if not text:
        yield say.required(f"{path}.expression", "expression is not specified")
    else:
        yield from expression(item["expression"], f"{path}.expression", env)
    if message and not message.strip():
        yield say.invalid(f"{path}.message", message, "message must be non-empty if specified")
    if "\n" in message.strip():
        yield say.invalid(f"{path}.message", message, "must not contain line breaks")
    if item.get("messageExpression"):
        yield from expression(item["messageExpression"], f"{path}.messageExpression", env, ("string",))
    if item.get("reason") is not None:
        yield from one_of(item["reason"], _REASONS, f"{path}.reason")


def _annotations(items: list[Obj], policy: str, env: cel.Env) -> Problems:
    seen: set[Any] = set()
    for where, item in with_paths(items, "spec.auditAnnotations"):
        key = item.get("key") or ""
        if not key:
            yield say.required(f"{where}.key")
        else:
            yield from (
                say.invalid(f"{where}.key", f"{policy}/{key}", why)
                for why in qualified_name_problems(f"{policy}/{key}")
            )
        yield from expression(
            item.get("valueExpression") or "", f"{where}.valueExpression", env, ("string", "null_type")
        )
        if key in seen:
            yield say.duplicate(f"{where}.key", key)
        seen.add(key)


class PolicyBindingRules(KindRules):
    """ValidatingAdmissionPolicyBinding."""

    generation = True
    unconditional_update = False

    def defaults(self, obj: Obj) -> None:
        _default_match((obj.get("spec") or {}).get("matchResources"))

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_binding(obj.get("spec") or {})]


def _binding(spec: Obj) -> Problems:
    if not spec.get("policyName"):
        yield say.required("spec.policyName")
    else:
        yield from subdomain(spec["policyName"], "spec.policyName")
    if spec.get("paramRef") is not None:
        yield from _param_ref(spec["paramRef"], "spec.paramRef")
    if spec.get("matchResources") is not None:
        yield from _match(spec["matchResources"], "spec.matchResources")
    actions = spec.get("validationActions") or []
    if not actions:
        yield say.required("spec.validationActions", "at least one validation action is required")
    again = set(repeated(actions))
    for index, (where, action) in enumerate(with_paths(actions, "spec.validationActions")):
        yield from one_of(action, ("Audit", "Deny", "Warn"), where)
        if index in again:
            yield say.duplicate(where, action)
    if "Deny" in actions and "Warn" in actions:
        yield say.invalid(
            "spec.validationActions",
            actions,
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)",
        )


def _param_ref(reference: Obj, path: str) -> Problems:
    name, selector, action = reference.get("name"), reference.get("selector"), reference.get("parameterNotFoundAction")
    if name and selector is not None:
        yield say.forbidden(f"{path}.name", _ONE_OF_THEM)
        yield say.forbidden(f"{path}.selector", _ONE_OF_THEM)
    elif not name and selector is None:
        yield say.required(path, "one of name or selector must be specified")
    if selector is not None:
        yield from label_selector(selector, f"{path}.selector")
    yield from one_of(action, ("Deny", "Allow"), f"{path}.parameterNotFoundAction", required=True)
