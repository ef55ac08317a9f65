"""Checks of where a pod may go: affinity, tolerations, spread, gates, and the names of resources."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gangline.cluster.kinds.checks import (
    Obj,
    Problems,
    label_key,
    label_selector,
    named,
    one_of,
    operator_values,
    qualified,
    with_paths,
)
from gangline.rules.values import problems as say
from gangline.rules.values.names import label_problems, label_value_problems, qualified_name_problems

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_STANDARD_CONTAINER = ("cpu", "memory", "ephemeral-storage")
_WEIGHT = "must be in the range 1-100"


COUNTED = frozenset(
    (
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    )
)
_STANDARD = COUNTED | {"storage"}


def resource_name(name: str, path: str) -> Problems:
    """A resource by its name: qualified, or one of the standard ones."""
    wrong = [say.invalid(path, name, why) for why in qualified_name_problems(name)]
    yield from wrong
    standard = name in _STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))
    if not wrong and "/" not in name and not standard:
        yield say.invalid(path, name, "must be a standard resource type or fully qualified")


def container_resource_name(name: str, path: str) -> Problems:
    """A resource that a container may ask for."""
    yield from resource_name(name, path)
    if "/" not in name:
        if name not in _STANDARD_CONTAINER and not name.startswith("hugepages-"):
            yield say.invalid(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield say.invalid(path, name, "doesn't follow extended resource name standard")


def is_native(name: str) -> bool:
    """One of Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Somebody else's, by a name that a quota can also write."""
    return not is_native(name) and not name.startswith("requests.") and not qualified_name_problems(f"requests.{name}")


def affinity(about: Obj | None, path: str) -> Problems:
    if not about:
        return
    if about.get("nodeAffinity") is not None:
        yield from node_affinity(about["nodeAffinity"], f"{path}.nodeAffinity")
    for name in ("podAffinity", "podAntiAffinity"):
        if about.get(name) is not None:
            yield from _pod_affinity(about[name], f"{path}.{name}")


def node_affinity(about: Obj, path: str) -> Problems:
    if about.get(_REQUIRED) is not None:
        yield from node_selector(about[_REQUIRED], f"{path}.{_REQUIRED}")
    for where, term in with_paths(about.get(_PREFERRED), f"{path}.{_PREFERRED}"):
        if not 0 < term.get("weight", 0) <= 100:
            yield say.invalid(f"{where}.weight", term.get("weight", 0), _WEIGHT)
        yield from node_term(term.get("preference") or {}, f"{where}.preference")


def node_selector(about: Obj, path: str) -> Problems:
    if not about.get("nodeSelectorTerms"):
        yield say.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for where, term in with_paths(about.get("nodeSelectorTerms"), f"{path}.nodeSelectorTerms"):
        yield from node_term(term, where)


def node_term(term: Obj, path: str) -> Problems:
    for where, rule in with_paths(term.get("matchExpressions"), f"{path}.matchExpressions"):
        yield from _node_rule(rule, where)
    for where, rule in with_paths(term.get("matchFields"), f"{path}.matchFields"):
        yield from _field_rule(rule, where)


def _node_rule(rule: Obj, path: str) -> Problems:
    yield from operator_values(rule, path, compares=True)
    for where, value in with_paths(rule.get("values"), f"{path}.values"):
        yield from named(value, label_value_problems, where)
    yield from label_key(rule.get("key") or "", f"{path}.key")


def _field_rule(rule: Obj, path: str) -> Problems:
    if rule.get("operator") not in ("In", "NotIn"):
        yield say.invalid(f"{path}.operator", rule.get("operator") or "", "not a valid selector operator")
    elif len(rule.get("values") or []) != 1:
        yield say.required(
            f"{path}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
    if rule.get("key") != "metadata.name":
        yield say.invalid(f"{path}.key", rule.get("key") or "", "not a valid field selector key")


def _pod_affinity(about: Obj, path: str) -> Problems:
    for where, term in with_paths(about.get(_REQUIRED), f"{path}.{_REQUIRED}"):
        yield from _pod_term(term, where)
    for where, term in with_paths(about.get(_PREFERRED), f"{path}.{_PREFERRED}"):
        if not 0 < term.get("weight", 0) <= 100:
            yield say.invalid(f"{where}.weight", term.get("weight", 0), _WEIGHT)
        yield from _pod_term(term.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")


def _pod_term(term: Obj, path: str) -> Problems:
    yield from label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    yield from label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for namespace in term.get("namespaces") or []:
        yield from named(namespace, label_problems, f"{path}.namespace")
    if not term.get("topologyKey"):
        yield say.required(f"{path}.topologyKey", "can not be empty")
    yield from qualified(term.get("topologyKey") or "", f"{path}.topologyKey")
    yield from _label_keys(term, path, ("matchLabelKeys", "mismatchLabelKeys"))


def _label_keys(term: Obj, path: str, names: tuple[str, ...]) -> Problems:
    """Labels by which a selector follows the pod's own: only beside a selector."""
    if term.get("labelSelector") is None:
        yield from (
            say.forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
            for name in names
            if term.get(name)
        )
        return
    for name in names:
        for where, key in with_paths(term.get(name), f"{path}.{name}"):
            yield from label_key(key, where)


def tolerations(items: list[Obj], path: str) -> Problems:
    for where, item in with_paths(items, path):
        key, operator = item.get("key") or "", item.get("operator") or ""
        if key:
            yield from label_key(key, f"{where}.key")
        if not key and operator != "Exists":
            yield say.invalid(
                f"{where}.operator",
                operator,
                'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            )
        if item.get("tolerationSeconds") is not None and item.get("effect") != "NoExecute":
            yield say.invalid(
                f"{where}.effect",
                item.get("effect") or "",
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            )
        yield from _toleration_operator(operator, item.get("value") or "", f"{where}.operator")
        if item.get("effect"):
            yield from one_of(item["effect"], EFFECTS, f"{where}.effect")


def _toleration_operator(operator: str, value: str, path: str) -> Problems:
    if operator in ("", "Equal"):
        if why := label_value_problems(value):
            yield say.invalid(path, value, ";".join(why))
    elif operator == "Exists":
        if value:
            yield say.invalid(path, value, "value must be empty when `operator` is 'Exists'")
    else:
        compared = ("Lt", "Gt") if operator in ("Lt", "Gt") else ()
        yield say.unsupported(path, operator, ("Equal", "Exists", *compared))


def spread(items: list[Obj], path: str) -> Problems:
    left = Counter(map(_spread_key, items))
    for where, item in with_paths(items, path):
        yield from _label_keys(item, where, ("matchLabelKeys",))
        if item.get("maxSkew", 0) <= 0:
            yield say.invalid(f"{where}.maxSkew", item.get("maxSkew", 0), "must be greater than zero")
        if not item.get("topologyKey"):
            yield say.required(f"{where}.topologyKey", "can not be empty")
        else:
            yield from label_key(item["topologyKey"], f"{where}.topologyKey")
        if item.get("whenUnsatisfiable") not in ("DoNotSchedule", "ScheduleAnyway"):
            yield say.unsupported(
                f"{where}.whenUnsatisfiable", item.get("whenUnsatisfiable") or "", ("DoNotSchedule", "ScheduleAnyway")
            )
        key = _spread_key(item)
        left[key] -= 1
        if left[key]:
            yield say.duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{key[0]}, {key[1]}}}")
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if item.get(name) is not None:
                yield from one_of(item[name], ("Honor", "Ignore"), f"{where}.{name}")
        yield from _min_domains(item, where)
        yield from label_selector(item.get("labelSelector"), f"{where}.labelSelector")


def _spread_key(item: Obj) -> tuple[Any, Any]:
    return item.get("topologyKey"), item.get("whenUnsatisfiable")


def _min_domains(item: Obj, path: str) -> Problems:
    least = item.get("minDomains")
    if least is None:
        return
    if least <= 0:
        yield say.invalid(f"{path}.minDomains", least, "must be greater than zero")
    if item.get("whenUnsatisfiable") != "DoNotSchedule":
        yield say.invalid(
            f"{path}.minDomains",
            least,
            f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {item.get('whenUnsatisfiable') or ''}",
        )


def gates(items: list[Obj], path: str) -> Problems:
    seen: set[Any] = set()
    for where, item in with_paths(items, path):
        yield from qualified(item.get("name") or "", where)
        if item.get("name") in seen:
            yield say.duplicate(where, item.get("name"))
        seen.add(item.get("name"))


def only_deleted(new: list[Obj], old: list[Obj], path: str) -> Problems:
    """Gates may only be taken away."""
    before = {item.get("name") for item in old}
    for where, item in with_paths(new, path):
        if item.get("name") not in before:
            yield say.forbidden(
                f"{where}.name", f"only deletion is allowed, but found new scheduling gate '{item.get('name')}'"
            )


def only_added(new: list[Obj], old: list[Obj], path: str) -> Problems:
    """Tolerations may only be added, and an existing one may only get other seconds."""
    kept = {_without_seconds(item) for item in new}
    if not all(_without_seconds(item) in kept for item in old):
        yield say.forbidden(path, "existing toleration can not be modified except its tolerationSeconds")
        return
    yield from tolerations(new, path)


def _without_seconds(toleration: Obj) -> str:
    return say.compact({**toleration, "tolerationSeconds": None})
