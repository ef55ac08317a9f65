"""LimitRanges that the pods' template does not keep, by their own figures, and the bounds that it would keep."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from gangline.api import kinds, resources
from gangline.api.meta import Raw
from gangline.scheduler.why.verdict import amount
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.workloads import Subject

Breach = tuple[str, str, str, str, str]
"""Bound (max, min or the ratio), resource, type of the limit, what it allows, what is asked."""
RATIO = "maxLimitRequestRatio"
CLAIM = "PersistentVolumeClaim"
BOUNDS = {"max": "may have at most", "min": "must have at least", RATIO: f"may have {RATIO}"}


def outside_limits(objects: ClusterObjects, subject: Subject, message: str, maker: str) -> Cause | None:
    """A LimitRange that the pods' template does not keep, by its own figures."""
    broken = [(raw, list(_breaches(raw, subject))) for raw in objects.raws(kinds.LIMIT_RANGE, subject.namespace)]
    broken = [(raw, breaches) for raw, breaches in broken if breaches]
    if not broken:
        return None
    raw, breaches = broken[0]
    what = "volume claims" if all(per == CLAIM for _, _, per, _, _ in breaches) else "pods"
    bounds = "; ".join(map(_breach_text, breaches))
    fix = tuple(_widened(item, told_here, subject.namespace) for item, told_here in broken)
    return Cause(
        "limit-range",
        f"LimitRange {raw['metadata']['name']} refuses its {what}: {bounds}",
        (f"{maker} cannot make them: {message}",),
        (fix,),
        pods_change=True,
    )


def _breach_text(breach: Breach) -> str:
    bound, resource, per, allowed, asked = breach
    what = per if per == CLAIM else per.lower()
    return f"a {what} {BOUNDS[bound]} {_of(allowed, bound, resource)}, {asked} asked (spec.limits)"


def _of(allowed: str, bound: str, resource: str) -> str:
    """`2 cores of CPU`, `2Gi of memory`; of a ratio `2 of cpu`."""
    if resource != "cpu" or bound == RATIO:
        return f"{allowed} of {resource}"
    return amount(resources.nanos(allowed) / 1e6, resource)


def _breaches(limit_range: Raw, subject: Subject) -> Iterator[Breach]:
    by_container = [largest_asked(container) for container in containers_of(subject)]
    by_pod = [{key: _total(by_container, key) for asked in by_container for key in asked}]
    by_claim = [dig(item, "spec", "resources", "requests") or {} for item in _claim_templates(subject)]
    asked = {"Container": by_container, "Pod": by_pod, CLAIM: by_claim}
    for limit in dig(limit_range, "spec", "limits") or ():
        asks = asked.get(str(limit.get("type")), [])
        for bound, beyond in (("max", 1), ("min", -1)):
            for resource, allowed in (limit.get(bound) or {}).items():
                wrong = next((ask[resource] for ask in asks if _outside(ask.get(resource), allowed, beyond)), None)
                if wrong is not None:
                    yield bound, resource, str(limit["type"]), str(allowed), str(wrong)
        yield from _ratios(limit, subject)


def _claim_templates(subject: Subject) -> list[Raw]:
    """Of a StatefulSet, and those that its pods bring along."""
    volumes = dig(subject.top, "spec", "template", "spec", "volumes") or ()
    brought = [dig(item, "ephemeral", "volumeClaimTemplate") for item in volumes]
    return [item for item in (*(dig(subject.top, "spec", "volumeClaimTemplates") or ()), *brought) if item]


def _ratios(limit: Raw, subject: Subject) -> Iterator[Breach]:
    """Limits that are more than so many times the request."""
    for resource, allowed in (limit.get(RATIO) or {}).items():
        given = [container.get("resources") or {} for container in containers_of(subject)]
        pairs = [(dig(item, "limits", resource), dig(item, "requests", resource)) for item in given]
        worst = max(
            (resources.nanos(most) / resources.nanos(least) for most, least in pairs if most and least), default=0
        )
        if worst * 1e9 > resources.nanos(allowed):
            yield RATIO, resource, str(limit.get("type")), str(allowed), f"{worst:g}"


def _outside(asked: str | None, allowed: str, beyond: int) -> bool:
    return asked is not None and beyond * (resources.nanos(asked) - resources.nanos(allowed)) > 0


def containers_of(subject: Subject) -> list[Raw]:
    """Of every pod template that the workload has."""
    specs = [
        dig(subject.top, "spec", "template", "spec"),
        dig(subject.top, "spec"),
        *(dig(item, "spec", "podSpec") for item in dig(subject.top, "spec", "template", "cliques") or ()),
    ]
    return [container for spec in specs for container in dig(spec, "containers") or ()]


def _total(asks: Sequence[dict[str, str]], key: str) -> str:
    total = sum(resources.nanos(ask.get(key, 0)) for ask in asks)
    return resources.binary(total) if any("i" in str(ask.get(key, "")) for ask in asks) else resources.decimal(total)


def largest_asked(container: Raw) -> dict[str, str]:
    """Request or limit, whichever is larger."""
    given = container.get("resources") or {}
    largest = dict(given.get("requests") or {})
    for key, value in (given.get("limits") or {}).items():
        if key not in largest or resources.nanos(value) > resources.nanos(largest[key]):
            largest[key] = value
    return largest


def _widened(limit_range: Raw, breaches: Sequence[Breach], namespace: str) -> ObjectChange:
    limits = copy.deepcopy(dig(limit_range, "spec", "limits") or [])
    for bound, resource, per, _, asked in breaches:
        for limit in limits:
            if limit.get("type") == per == "Pod" and resource in (limit.get(bound) or {}):
                del limit[bound][resource]
            elif limit.get("type") == per and resource in (limit.get(bound) or {}):
                for field in (bound, "default", "defaultRequest") if bound == "max" else (bound,):
                    if resource in (limit.get(field) or {}):
                        limit[field][resource] = asked
    return ObjectChange(kinds.LIMIT_RANGE, limit_range["metadata"]["name"], {"spec": {"limits": limits}}, namespace)
