"""Checks of what a container asks for: requests, limits, and the claims it uses.

Pure; containers.py and spec_checks.py ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj, Problems, quantity_not_negative, with_paths
from gangline.cluster.kinds.pods.placement import is_misnamed_extended, resource_names
from gangline.errors import Problem
from gangline.rules.values import problems as say

_PLAIN_RESOURCES = ("cpu", "memory", "ephemeral-storage")


Amounts = tuple[tuple[str, Any], ...]


def requirements(about: Obj, path: str, claims: Mapping[str, None]) -> Problems:
    """Requests and limits, and the claims of a container."""
    yield from _amounts(tuple((about.get("limits") or {}).items()), tuple((about.get("requests") or {}).items()), path)
    if about.get("claims"):
        yield from _claims(about["claims"], f"{path}.claims", claims)


@lru_cache(maxsize=4096)
def _amounts(limited: Amounts, requested: Amounts, path: str) -> tuple[Problem, ...]:
    """The containers of a workload ask for the same again and again."""
    return (*_judged(dict(limited), dict(requested), path),)


def _judged(limits: Obj, requests: Obj, path: str) -> Problems:
    for name, amount in sorted(limits.items()):
        yield from _resource(name, amount, f"{path}.limits[{name}]")
    for name, amount in sorted(requests.items()):
        where = f"{path}.requests[{name}]"
        yield from _resource(name, amount, where)
        if name in limits:
            yield from _against_limit(name, amount, limits[name], f"{path}.requests")
        elif not overcommits(name):
            yield say.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    named_here = {*limits, *requests}
    if any(name.startswith("hugepages-") for name in named_here) and not {"cpu", "memory"} & named_here:
        yield say.forbidden(path, "HugePages require cpu or memory")


def overcommits(name: str) -> bool:
    """Native resources other than huge pages may be requested below their limit."""
    return (
        name in _PLAIN_RESOURCES
        or ("/" not in name and not name.startswith("hugepages-"))
        or name.startswith("kubernetes.io/")
    )


def _resource(name: str, amount: Any, path: str) -> Problems:
    yield from resource_names(name, path)
    if is_misnamed_extended(name):
        yield say.invalid(path, name, "doesn't follow extended resource name standard")
    yield from quantity_not_negative(amount, path)
    if name.startswith("hugepages-"):
        yield from _pages(name, amount, path)
    if _whole(name) and resources.nanos(amount) % resources.NANO:
        yield say.invalid(path, amount, "must be an integer")


def _pages(name: str, amount: Any, path: str) -> Problems:
    size, asked = resources.nanos(name.removeprefix("hugepages-")), resources.nanos(amount)
    if size > 0 and asked % size:
        yield say.invalid(path, amount, f"{amount} is not positive integer multiple of {name}")


def _whole(name: str) -> bool:
    """Extended resources are counted in whole units."""
    return "/" in name and not name.partition("/")[0].endswith("kubernetes.io")


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
            told = ": " + ", ".join(islice(sorted(known), say.MOST_SHOWN)) if known else " which is empty"
            yield Problem(
                where,
                f"Not found: {say.show(name)}: must be one of the names in pod.spec.resourceClaims{told}",
                "FieldValueNotFound",
                name,
            )
