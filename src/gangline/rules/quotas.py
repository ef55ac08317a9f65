"""What one object takes of a ResourceQuota, and which quotas it counts for: written once for admission, which refuses,
and for the controller, which counts.

Objects are plain data, amounts are nano-units. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gangline.api import resources
from gangline.api.meta import Raw
from gangline.api.resources import NANO
from gangline.rules.volumes import given_class

FINAL = ("Succeeded", "Failed")
PODS = "pods"
COUNTED = ("services", "configmaps", "secrets", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas")
"""Core kinds that are also counted under their plain name."""
STATED = frozenset(("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"))
"""What every container must state where it is limited."""
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_WHEN = "DuringSchedulingIgnoredDuringExecution"
_BY_CLASS = ".storageclass.storage.k8s.io/"


def usage(resource: str, obj: Raw) -> dict[str, int]:
    """What an object of a resource (`pods`, `deployments.apps`) takes, by the names that quotas may limit."""
    counted = {f"count/{resource}": NANO}
    spec: Raw = obj.get("spec") or {}
    if resource == PODS:
        return counted | (_pod(spec) if (obj.get("status") or {}).get("phase") not in FINAL else {})
    if resource in COUNTED:
        counted[resource] = NANO
    if resource == "services":
        counted |= _service(spec)
    elif resource == "persistentvolumeclaims":
        counted |= _claim(obj, spec)
    return counted


def matching(resource: str, limits: Iterable[str]) -> list[str]:
    """Those of a quota's limits that are about a resource."""
    return sorted(name for name in limits if _is_about(resource, name))


def covers(spec: Raw, resource: str, obj: Raw) -> bool:
    """Whether an object is within the scopes of a quota."""
    wanted = [(scope, "Exists", ()) for scope in spec.get("scopes") or ()]
    wanted += [
        (match_expression.get("scopeName"), match_expression.get("operator"), match_expression.get("values") or ())
        for match_expression in (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    ]
    return not wanted or (resource == PODS and all(_in_scope(obj.get("spec") or {}, *item) for item in wanted))


def unstated(pod: Raw, limits: Iterable[str]) -> dict[str, list[str]]:
    """Limited amounts that containers do not state → their names."""
    spec: Raw = pod.get("spec") or {}
    missing: dict[str, list[str]] = {}
    if spec.get("resources"):
        return missing
    for name in sorted(STATED.intersection(limits)):
        side, _, amount = name.rpartition(".")
        silent = [
            container["name"] for container in _containers(spec) if amount not in _side(container, side or "requests")
        ]
        if silent:
            missing[name] = sorted(set(silent))
    return missing


def added(used: str, more: int, like: str = "") -> str:
    """A quantity and an amount together, written as the quantity is, or like another where it is nothing."""
    total = resources.nanos(used) + more
    form = used if resources.nanos(used) else like
    return resources.binary(total) if form.endswith("i") else resources.decimal(total)


def written(use: Mapping[str, int]) -> dict[str, str]:
    """Amounts as a status tells them."""
    return {
        name: (resources.binary if name.rpartition(".")[2] in _BINARY else resources.decimal)(amount)
        for name, amount in sorted(use.items())
    }


_BINARY = ("memory", "storage", "ephemeral-storage")


def _is_about(resource: str, name: str) -> bool:
    if name == f"count/{resource}" or (name == resource and (resource in COUNTED or resource == PODS)):
        return True
    if resource == "services":
        return name in ("services.nodeports", "services.loadbalancers")
    if resource == "persistentvolumeclaims":
        return name == "requests.storage" or _BY_CLASS in name
    compute = name in _COMPUTE or name.startswith(("requests.", "limits.", "hugepages-"))
    return resource == PODS and compute and name != "requests.storage"


def _pod(spec: Raw) -> dict[str, int]:
    counted = {PODS: NANO}
    for name, amount in _together(spec, "requests").items():
        counted[f"requests.{name}"] = amount
        if name in _COMPUTE or name.startswith("hugepages-"):
            counted[name] = amount
    return counted | {
        f"limits.{name}": amount for name, amount in _together(spec, "limits").items() if name in _COMPUTE
    }


def _together(spec: Raw, side: str) -> dict[str, int]:
    """All containers with those that stay beside them, or an init container with those before it that stay; and the
    overhead."""
    if (spec.get("resources") or {}).get(side):
        return {name: resources.nanos(value) for name, value in spec["resources"][side].items()}
    sums, peaks = _init_containers(spec, side)
    for container in spec.get("containers") or ():
        for name, value in _side(container, side).items():
            sums[name] = sums.get(name, 0) + resources.nanos(value)
    over = spec.get("overhead") or {}
    most = {name: max(sums.get(name, 0), peaks.get(name, 0)) for name in (*sums, *peaks)}
    return {
        name: most.get(name, 0) + resources.nanos(over.get(name, 0))
        for name in (*most, *(over if side == "requests" else ()))
    }


def _init_containers(spec: Raw, side: str) -> tuple[dict[str, int], dict[str, int]]:
    """What those ask for that stay, and the most that is asked for while one after the other runs."""
    sums: dict[str, int] = {}
    peaks: dict[str, int] = {}
    for init_container in spec.get("initContainers") or ():
        stays = init_container.get("restartPolicy") == "Always"
        for name, value in _side(init_container, side).items():
            needed = sums.get(name, 0) + resources.nanos(value)
            peaks[name] = max(peaks.get(name, 0), needed)
            if stays:
                sums[name] = needed
    return sums, peaks


def _containers(spec: Raw) -> Iterator[Raw]:
    yield from spec.get("containers") or ()
    yield from spec.get("initContainers") or ()


def _side(container: Raw, side: str) -> Raw:
    amounts: Raw = (container.get("resources") or {}).get(side) or {}
    return amounts


def _service(spec: Raw) -> dict[str, int]:
    kind, ports = spec.get("type") or "ClusterIP", len(spec.get("ports") or ())
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        ports = sum(bool(port.get("nodePort")) for port in spec.get("ports") or ())
    return {
        "services.nodeports": ports * NANO if kind in ("NodePort", "LoadBalancer") else 0,
        "services.loadbalancers": NANO if kind == "LoadBalancer" else 0,
    }


def _claim(obj: Raw, spec: Raw) -> dict[str, int]:
    asked = resources.nanos(((spec.get("resources") or {}).get("requests") or {}).get("storage", 0))
    name = given_class(obj)
    by_class = (
        {f"{name}{_BY_CLASS}requests.storage": asked, f"{name}{_BY_CLASS}persistentvolumeclaims": NANO} if name else {}
    )
    return {"requests.storage": asked} | by_class


def _in_scope(spec: Raw, scope: Any, operator: Any, values: Iterable[str]) -> bool:
    asks = any(_side(container, side) for container in _containers(spec) for side in ("requests", "limits"))
    ends = (spec.get("activeDeadlineSeconds") or -1) >= 0
    if scope == "PriorityClass":
        return _chosen(spec.get("priorityClassName") or "", operator, values)
    return {
        "Terminating": ends,
        "NotTerminating": not ends,
        "BestEffort": not asks,
        "NotBestEffort": asks,
        "CrossNamespacePodAffinity": _looks_elsewhere(spec),
    }.get(scope, False)


def _chosen(name: str, operator: Any, values: Iterable[str]) -> bool:
    return {"Exists": bool(name), "DoesNotExist": not name, "In": name in values, "NotIn": name not in values}.get(
        operator, False
    )


def _looks_elsewhere(spec: Raw) -> bool:
    """It chooses neighbours in other namespaces."""
    sides = [(spec.get("affinity") or {}).get(side) or {} for side in ("podAffinity", "podAntiAffinity")]
    terms = [term for side in sides for term in side.get(f"required{_WHEN}") or ()]
    terms += [term.get("podAffinityTerm") or {} for side in sides for term in side.get(f"preferred{_WHEN}") or ()]
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)
