"""The quality-of-service class of a pod, from what its containers ask for."""

from __future__ import annotations

from gangline.api import resources
from gangline.cluster.kinds.checks import Obj


def quality(spec: Obj) -> str:
    """The quality-of-service class: guaranteed only when every container's cpu and memory limits equal its requests."""
    shared = spec.get("resources") or {}
    if shared.get("requests") or shared.get("limits"):
        needs = [shared]
    else:
        containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
        needs = [container.get("resources") or {} for container in containers]
    pairs = [(_compute(need.get("requests")), _compute(need.get("limits"))) for need in needs]
    if not any(requests or limits for requests, limits in pairs):
        return "BestEffort"
    guaranteed = all(set(limits) == {"cpu", "memory"} and requests == limits for requests, limits in pairs)
    return "Guaranteed" if guaranteed else "Burstable"


def _compute(amounts: Obj | None) -> dict[str, int]:
    nanos = {name: resources.nanos(value) for name, value in (amounts or {}).items() if name in ("cpu", "memory")}
    return {name: value for name, value in nanos.items() if value > 0}
