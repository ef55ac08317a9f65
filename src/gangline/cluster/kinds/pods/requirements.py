"""Checks of what a container asks for: requests, limits, and the claims it uses.

Pure; containers.py and spec_checks.py ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, Problems, quantity_not_negative, with_paths
from gangline.cluster.kinds.pods.placement import container_resource_name, is_extended, is_native, resource_name
from gangline.errors import Problem
from gangline.rules.values import problems as say

Amounts = tuple[tuple[str, Any], ...]


def requirements(about: Obj, path: str, claims: Mapping[str, None]) -> Problems:
    """Requests and limits, and the claims of a container."""
    yield from _amounts(*_lists(about), path)
    if about.get("claims"):
        yield from _claims(about["claims"], f"{path}.claims", claims)


def pod_requirements(about: Obj, path: str) -> Problems:
    """What the containers of a pod share."""
    yield from _judged(about.get("limits") or {}, about.get("requests") or {}, path, _pod_resource_name)


def overhead(amounts: Obj, path: str) -> Problems:
    """What a pod takes beside its containers: judged as if it were a container's limits."""
    yield from _amounts(tuple(amounts.items()), (), path)


def _lists(about: Obj) -> tuple[Amounts, Amounts]:
    return tuple((about.get("limits") or {}).items()), tuple((about.get("requests") or {}).items())


@lru_cache(maxsize=4096)
def _amounts(limited: Amounts, requested: Amounts, path: str) -> tuple[Problem, ...]:
    """The containers of a workload ask for the same again and again."""
    return (*_judged(dict(limited), dict(requested), path, container_resource_name),)


NameRule = Callable[[str, str], Problems]


def _judged(limits: Obj, requests: Obj, path: str, check: NameRule) -> Problems:
    for name, amount in sorted(limits.items()):
        where = f"{path}.limits[{name}]"
        yield from _resource(name, amount, where, check)
        yield from _pages(name, amount, where)
    for name, amount in sorted(requests.items()):
        where = f"{path}.requests[{name}]"
        yield from _resource(name, amount, where, check)
        if name in limits:
            yield from _against_limit(name, amount, limits[name], f"{path}.requests")
        elif not overcommits(name):
            yield say.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        yield from _pages(name, amount, where)
    named_here = {*limits, *requests}
    if any(name.startswith("hugepages-") for name in named_here) and not {"cpu", "memory"} & named_here:
        yield say.forbidden(path, "HugePages require cpu or memory")


def overcommits(name: str) -> bool:
    """Native resources other than huge pages may be requested below their limit."""
    return is_native(name) and not name.startswith("hugepages-")


_SHARED = ("cpu", "hugepages-", "memory")


def _pod_resource_name(name: str, path: str) -> Problems:
    wrong = list(resource_name(name, path))
    yield from wrong
    if not wrong and name not in ("cpu", "memory") and not name.startswith("hugepages-"):
        yield say.unsupported(path, name, _SHARED)


def _resource(name: str, amount: Any, path: str, check: NameRule) -> Problems:
    yield from check(name, path)
    yield from quantity_not_negative(amount, path)
    if is_extended(name) and resources.nanos(amount) % resources.NANO:
        yield say.invalid(path, amount, "must be an integer")


def _pages(name: str, amount: Any, path: str) -> Problems:
    if not name.startswith("hugepages-"):
        return
    try:
        size = resources.nanos(name.removeprefix("hugepages-"))
    except resources.QuantityError:
        size = 0
    if size <= 0 or size % resources.NANO or resources.units(amount) * resources.NANO % size:
        yield say.invalid(path, amount, f"{amount} is not positive integer multiple of {name}")


def _against_limit(name: str, amount: Any, limit: Any, path: str) -> Problems:
    asked, most = resources.nanos(amount), resources.nanos(limit)
    if asked != most and not overcommits(name):
        yield say.invalid(path, amount, f"must be equal to {name} limit of {limit}")
    elif asked > most:
        yield say.invalid(path, amount, f"must be less than or equal to {name} limit of {limit}")


def _claims(items: list[Obj], path: str, known: Mapping[str, None]) -> Problems:
    seen: set[tuple[Any, Any]] = set()
    for where, item in with_paths(items, path):
        name = item.get("name") or ""
        if not name:
            yield say.required(where)
            continue
        if (name, item.get("request")) in seen:
            yield say.duplicate(where, name)
        seen.add((name, item.get("request")))
        if name not in known:
            choices = ": " + ", ".join(islice(sorted(known), say.MOST_SHOWN)) if known else " which is empty"
            yield Problem(
                where,
                f"Not found: {say.show(name)}: must be one of the names in pod.spec.resourceClaims{choices}",
                "FieldValueNotFound",
                name,
            )
