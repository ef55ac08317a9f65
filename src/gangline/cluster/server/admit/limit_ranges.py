"""The LimitRanger: containers without requests or limits get those of the namespace's LimitRanges, and pods and claims
stay within them.

An admission step like those of plugins.py. It runs as a pod or claim is created; running pods are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gangline.api.resources import decimal, nanos
from gangline.cluster.server.admit.chain import CREATE, WriteReview
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import forbidden
from gangline.errors import Problem

Obj = dict[str, Any]
NOTE = "kubernetes.io/limit-ranger"


class Limits:
    def __init__(self, core: Core) -> None:
        self._core = core
        core.admission.add("", "pods", (CREATE,), mutate=self.fill_in, name="LimitRanger")
        core.admission.add("", "pods", (CREATE,), validate=self.check, name="LimitRanger")
        core.admission.add("", "persistentvolumeclaims", (CREATE,), validate=self.check, name="LimitRanger")

    def _limits(self, namespace: str) -> Iterator[Obj]:
        for record in self._core.store.shelf(("", "limitranges")).listing(namespace):
            yield from record.object()["spec"].get("limits") or []

    def fill_in(self, review: WriteReview) -> None:
        """Defaults of type Container, noted in an annotation."""
        obj = review.object
        assert obj is not None
        if review.subresource:
            return
        for limit in self._limits(review.namespace):
            if limit.get("type") == "Container":
                filled = [*_filled(obj["spec"], limit)]
                if filled:
                    obj["metadata"].setdefault("annotations", {})[NOTE] = "LimitRanger plugin set: " + "; ".join(filled)

    def check(self, review: WriteReview) -> Iterable[Problem]:
        obj = review.object
        assert obj is not None
        if review.subresource:
            return ()
        violations = [
            text
            for limit in self._limits(review.namespace)
            for text in _broken(review.resource.plural, obj["spec"], limit)
        ]
        if violations:
            why = violations[0] if len(violations) == 1 else f"[{', '.join(violations)}]"
            raise forbidden("", review.resource.plural, review.told_name, why)
        return ()


def _filled(spec: Obj, limit: Obj) -> Iterator[str]:
    for part, word in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(part) or []:
            asks = container.setdefault("resources", {})
            for field, given, noun in (("requests", "defaultRequest", "request"), ("limits", "default", "limit")):
                absent = {
                    name: amount
                    for name, amount in sorted((limit.get(given) or {}).items())
                    if name not in (asks.get(field) or {})
                }
                if absent:
                    asks[field] = {**(asks.get(field) or {}), **absent}
                    yield f"{', '.join(absent)} {noun} for {word} {container['name']}"


def _broken(plural: str, spec: Obj, limit: Obj) -> Iterator[str]:
    kind = limit.get("type")
    if plural == "persistentvolumeclaims":
        if kind == "PersistentVolumeClaim":
            yield from _outside(kind, {}, (spec.get("resources") or {}).get("requests") or {}, limit, claims=True)
        return
    if kind == "Container":
        for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
            asks = container.get("resources") or {}
            yield from _outside(kind, asks.get("limits") or {}, asks.get("requests") or {}, limit)
    elif kind == "Pod":
        yield from _outside(kind, _total(spec, "limits"), _total(spec, "requests"), limit)


def _outside(kind: str, limits: Obj, requests: Obj, limit: Obj, claims: bool = False) -> Iterator[str]:
    """What goes below the minimum, above the maximum, or too far from limit to request."""
    for name, least in sorted((limit.get("min") or {}).items()):
        yield from _below(kind, name, least, limits, requests, claims)
    for name, most in sorted((limit.get("max") or {}).items()):
        yield from _above(kind, name, most, limits, requests, claims)
    for name, most in sorted((limit.get("maxLimitRequestRatio") or {}).items()):
        if name not in requests or name not in limits or not nanos(requests[name]):
            yield f"{name} max limit to request ratio per {kind} is {most}, but no request is specified or request is 0"
        elif (ratio := nanos(limits[name]) / nanos(requests[name])) > nanos(most) / 10**9:
            yield f"{name} max limit to request ratio per {kind} is {most}, but provided ratio is {ratio:f}"


def _below(kind: str, name: str, least: str, limits: Obj, requests: Obj, claims: bool) -> Iterator[str]:
    rule = f"minimum {name} usage per {kind} is {least}"
    if name not in requests:
        yield f"{rule}.  No request is specified"
    elif nanos(requests[name]) < nanos(least):
        yield f"{rule}, but request is {requests[name]}"
    elif not claims and name in limits and nanos(limits[name]) < nanos(least):
        yield f"{rule}, but limit is {limits[name]}"


def _above(kind: str, name: str, most: str, limits: Obj, requests: Obj, claims: bool) -> Iterator[str]:
    rule = f"maximum {name} usage per {kind} is {most}"
    if not claims and name not in limits:
        yield f"{rule}.  No limit is specified"
    elif not claims and nanos(limits[name]) > nanos(most):
        yield f"{rule}, but limit is {limits[name]}"
    elif name in requests and nanos(requests[name]) > nanos(most):
        yield f"{rule}, but request is {requests[name]}"


def _total(spec: Obj, field: str) -> Obj:
    """A pod's sum over its containers, at least what the largest init container asks."""
    sums: dict[str, int] = {}
    for container in spec.get("containers") or []:
        for name, amount in ((container.get("resources") or {}).get(field) or {}).items():
            sums[name] = sums.get(name, 0) + nanos(amount)
    for container in spec.get("initContainers") or []:
        for name, amount in ((container.get("resources") or {}).get(field) or {}).items():
            sums[name] = max(sums.get(name, 0), nanos(amount))
    return {name: decimal(total) for name, total in sums.items()}
