"""Rules of LimitRange and ResourceQuota: how much of what, in a namespace."""

from __future__ import annotations

from itertools import islice
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import NOT_NEGATIVE, Obj, Problems, immutable, label_key, with_paths
from gangline.cluster.kinds.pods.placement import COUNTED, container_resource_name, resource_name
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say


class LimitRangeRules(KindRules):
    create_on_update = True

    def defaults(self, obj: Obj) -> None:
        for item in (obj.get("spec") or {}).get("limits") or []:
            if item.get("type") == "Container":
                _container_limits(item)

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_limits((obj.get("spec") or {}).get("limits") or [])]


def _container_limits(item: Obj) -> None:
    for target, source in (("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")):
        for name, amount in (item.get(source) or {}).items():
            item.setdefault(target, {}).setdefault(name, amount)


def _limits(items: list[Obj]) -> Problems:
    seen: set[Any] = set()
    for where, item in with_paths(items, "spec.limits"):
        kind = item.get("type") or ""
        wrong = [*label_key(kind, f"{where}.type")]
        yield from wrong
        if not wrong and "/" not in kind and kind not in _LIMITED:
            yield say.invalid(f"{where}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield say.duplicate(f"{where}.type", kind)
        seen.add(kind)
        yield from _limit(item, kind, where)


def _limit(item: Obj, kind: str, path: str) -> Problems:
    for part in ("max", "min"):
        yield from _names(item, part, kind, path)
    for part in ("default", "defaultRequest"):
        if kind == "Pod":
            if item.get(part):
                yield say.forbidden(f"{path}.{part}", "may not be specified when `type` is 'Pod'")
        else:
            yield from _names(item, part, kind, path)
    if kind == "PersistentVolumeClaim" and all("storage" not in (item.get(part) or {}) for part in ("min", "max")):
        yield say.required(
            f"{path}.limits", "either minimum or maximum storage value is required, but neither was provided"
        )
    yield from _names(item, "maxLimitRequestRatio", kind, path)
    for name in sorted(
        {name for field, *_ in _ORDERED for name in item.get(field) or {}} | set(item.get("maxLimitRequestRatio") or {})
    ):
        yield from _in_order(item, name, path)
        yield from _ratio(item, name, path)
        yield from _not_overcommitted(item, name, path)


def _names(item: Obj, part: str, kind: str, path: str) -> Problems:
    for name in sorted(item.get(part) or {}):
        check = container_resource_name if kind in ("Pod", "Container") else resource_name
        yield from check(name, f"{path}.{part}[{name}]")


_LIMITED = ("Pod", "Container", "PersistentVolumeClaim")
_ORDERED = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min value {} is greater than default request value {}",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than max value {}",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than default limit value {}",
    ),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)
"""What may not be greater than what; the field that is blamed, the field whose value is shown, and the words."""


def _in_order(item: Obj, name: str, path: str) -> Problems:
    for lower, higher, blamed, shown, words in _ORDERED:
        low, high = (item.get(lower) or {}).get(name), (item.get(higher) or {}).get(name)
        if low is not None and high is not None and resources.nanos(low) > resources.nanos(high):
            yield say.invalid(f"{path}.{blamed}[{name}]", item[shown][name], words.format(low, high))


def _ratio(item: Obj, name: str, path: str) -> Problems:
    low, high, ratio = ((item.get(part) or {}).get(name) for part in ("min", "max", "maxLimitRequestRatio"))
    if ratio is None:
        return
    where = f"{path}.maxLimitRequestRatio[{name}]"
    if resources.nanos(ratio) < resources.NANO:
        yield say.invalid(where, ratio, f"ratio {ratio} is less than 1")
    if low is not None and high is not None and resources.nanos(low) > 0:
        largest = resources.nanos(high) / resources.nanos(low)
        if resources.nanos(ratio) / resources.NANO > largest:
            yield say.invalid(where, ratio, f"ratio {ratio} is greater than max/min = {largest:f}")


def _not_overcommitted(item: Obj, name: str, path: str) -> Problems:
    """What is counted in whole devices is asked for and limited alike."""
    limit, request = (item.get("default") or {}).get(name), (item.get("defaultRequest") or {}).get(name)
    if "/" in name and limit is not None and request is not None and resources.nanos(limit) != resources.nanos(request):
        yield say.invalid(
            f"{path}.defaultRequest[{name}]",
            request,
            f"default value {limit} must equal to defaultRequest value {request} in {name}",
        )


_COMPUTE = frozenset(
    (
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
    )
)
_SCOPES = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)
_PLAIN_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")
_ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


class QuotaRules(KindRules):
    has_status = True

    def validate(self, obj: Obj) -> list[Problem]:
        spec = obj.get("spec") or {}
        hard = spec.get("hard") or {}
        return [
            *_amounts(hard, "spec.hard"),
            *_scopes(spec.get("scopes") or [], hard),
            *_selector(spec.get("scopeSelector"), hard),
        ]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            status = new.get("status") or {}
            return [
                problem for part in ("hard", "used") for problem in _amounts(status.get(part) or {}, f"status.{part}")
            ]
        scopes = [(obj.get("spec") or {}).get("scopes") for obj in (new, old)]
        changed = sorted(scopes[0] or []) != sorted(scopes[1] or [])
        return [*self.validate(new), *(immutable(scopes[0], scopes[1], "spec.scopes") if changed else ())]


def _amounts(amounts: Obj, path: str) -> Problems:
    for name, amount in sorted(amounts.items()):
        where = f"{path}[{name}]"
        yield from resource_name(name, where)
        if "/" not in name and not name.startswith(("hugepages-", "requests.hugepages-")) and name not in COUNTED:
            yield say.invalid(where, name, "must be a standard resource for quota")
        if resources.nanos(amount) < 0:
            yield say.invalid(where, amount, NOT_NEGATIVE)
        elif name in ("pods", "services", "secrets", "configmaps") and resources.nanos(amount) % resources.NANO:
            yield say.invalid(where, amount, "must be an integer")


def _scopes(scopes: list[str], hard: Obj) -> Problems:
    yield from islice(_scope_problems(scopes, hard), say.MOST_TOLD)
    if _conflict(scopes):
        yield say.invalid("spec.scopes", scopes, "conflicting scopes")


def _scope_problems(scopes: list[str], hard: Obj) -> Problems:
    for scope in scopes:
        if scope not in _SCOPES:
            yield say.invalid("spec.scopes", scopes, "unsupported scope")
        elif not _all_fit(scope, hard):
            yield say.invalid("spec.scopes", scopes, "unsupported scope applied to resource")


def _selector(selector: Obj | None, hard: Obj) -> Problems:
    path, terms = "spec.scopeSelector.matchExpressions", (selector or {}).get("matchExpressions") or []
    for term in terms:
        scope, operator, values = term.get("scopeName") or "", term.get("operator") or "", term.get("values") or []
        if scope not in _SCOPES:
            yield say.invalid(f"{path}.scopeName", scope, "unsupported scope")
        elif not _all_fit(scope, hard):
            yield say.invalid(path, selector, "unsupported scope applied to resource")
        if scope in _PLAIN_SCOPES and operator != "Exists":
            yield say.invalid(f"{path}.operator", operator, _ONLY_EXISTS)
        yield from _scope_values(operator, values, path)
    if _conflict([term.get("scopeName") or "" for term in terms]):
        yield say.invalid(path, None, "conflicting scopes")


def _scope_values(operator: str, values: list[str], path: str) -> Problems:
    if operator in ("In", "NotIn"):
        if not values:
            yield say.required(
                f"{path}.values", "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield say.invalid(
                f"{path}.values",
                values,
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            )
    else:
        yield say.invalid(f"{path}.operator", operator, "not a valid selector operator")


def _all_fit(scope: str, hard: Obj) -> bool:
    """Whether every counted thing has this scope."""
    if scope == "BestEffort":
        return set(hard) <= {"pods"}
    if scope == "VolumeAttributesClass":
        return all(name.endswith(("persistentvolumeclaims", "requests.storage")) for name in hard)
    return all(name in _COMPUTE or "/" in name or "hugepages-" in name for name in hard)


def _conflict(scopes: list[str]) -> bool:
    return any(
        {first, second} <= set(scopes)
        for first, second in (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
    )
