"""ResourceQuotas: how much of each limited thing a namespace uses, said in the quota's status.

Enforcement is admission's matter. Counts are taken from the server when something of the namespace changes: quotas are few, and
their numbers should be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangline.api import resources
from gangline.api.core import PersistentVolumeClaim, Pod
from gangline.api.kinds import CONFIG_MAP, POD, PVC, RESOURCE_QUOTA, SECRET, SERVICE, Kind
from gangline.api.meta import Object, Raw
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of
from gangline.world.discovery import discover
from gangline.world.life import FINAL

CORE = ("pods", "services", "configmaps", "secrets", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas")
BINARY = ("memory", "storage", "ephemeral-storage")


# --- thinking ----------------------------------------------------------------------------------------------------------


def counted(limits: Iterable[str]) -> dict[str, str]:
    """Limits on a number of objects → the resource that is counted."""
    found = {}
    for name in limits:
        if name.startswith("count/"):
            found[name] = name.removeprefix("count/").rstrip(".")
        elif name in CORE and name != "pods":
            found[name] = name
    return found


def in_scope(pod: Pod, scopes: Iterable[str]) -> bool:
    asks = any(each.resources.requests or each.resources.limits for each in pod.spec.containers + pod.spec.init_containers)
    truths = {"Terminating": pod.spec.active_deadline_seconds is not None, "NotTerminating": pod.spec.active_deadline_seconds is None,
              "BestEffort": not asks, "NotBestEffort": asks}
    return all(truths.get(scope, True) for scope in scopes)


def pod_use(pods: Iterable[Pod], limits: Iterable[str]) -> dict[str, int]:
    """What living pods take of the limits on pods, in nano-units."""
    living = [pod for pod in pods if pod.status.phase not in FINAL]
    found: dict[str, int] = {}
    for name in limits:
        if name in ("pods", "count/pods"):
            found[name] = len(living) * resources.NANO
        elif name.startswith("limits."):
            found[name] = sum(_asked(pod, name.removeprefix("limits."), "limits") for pod in living)
        elif name in ("cpu", "memory", "ephemeral-storage") or (name.startswith("requests.") and name != "requests.storage"):
            found[name] = sum(_asked(pod, name.removeprefix("requests."), "requests") for pod in living)
    return found


def _asked(pod: Pod, resource: str, side: str) -> int:
    """All containers together, or the largest init container."""
    def of(container: Any) -> int:
        return resources.nanos(getattr(container.resources, side).get(resource, 0))

    return max(sum(of(each) for each in pod.spec.containers), max((of(each) for each in pod.spec.init_containers), default=0))


def storage_use(claims: Iterable[PersistentVolumeClaim]) -> int:
    return sum(resources.nanos(claim.spec.resources.requests.get("storage", 0)) for claim in claims)


def written(use: Mapping[str, int]) -> dict[str, str]:
    return {name: (resources.binary if name.rpartition(".")[2] in BINARY else resources.decimal)(amount)
            for name, amount in sorted(use.items())}


# --- doing -------------------------------------------------------------------------------------------------------------


async def reconcile(ctx: Context, key: Key) -> Again | None:
    quota = ctx.read.get(RESOURCE_QUOTA, key.name, key.namespace)
    if quota is None or quota.metadata.deleting:
        return None
    spec: Raw = quota.spec or {}
    hard: Raw = spec.get("hard") or {}
    pods = [pod for pod in (await ctx.client.list(POD, key.namespace)).items if in_scope(pod, spec.get("scopes") or ())]
    use = pod_use(pods, hard)
    if "requests.storage" in hard:
        use["requests.storage"] = storage_use((await ctx.client.list(PVC, key.namespace)).items)
    use |= await _counts(ctx, key.namespace, counted(name for name in hard if name not in use))
    wanted = {"hard": hard, "used": written(use)}
    if wanted != (quota.status or {}):
        await ctx.client.patch(RESOURCE_QUOTA, key.name, key.namespace, {"status": wanted}, subresource="status")
    return None


async def _counts(ctx: Context, namespace: str, names: Mapping[str, str]) -> dict[str, int]:
    if not names:
        return {}
    served = {each.kind.resource: each.kind for each in await discover(ctx.client) if each.kind.namespaced}
    found = {}
    for limit, resource in names.items():
        kind = served.get(resource)
        items = (await ctx.client.list(Kind(kind.group, kind.version, kind.kind, kind.plural, Object), namespace)).items if kind else []
        found[limit] = len(items) * resources.NANO
    return found


def _quotas_of(obj: Object, read: Reader) -> list[Key]:
    return [key_of(quota) for quota in read.list(RESOURCE_QUOTA, obj.namespace)]


def _came_or_went(before: Object | None, after: Object | None) -> bool:
    return before is None or after is None


def _pod_use_moved(before: Pod | None, after: Pod | None) -> bool:
    return before is None or after is None or (before.status.phase in FINAL) != (after.status.phase in FINAL)


def quotas() -> Controller:
    others = (Watch(kind, _quotas_of, when=_came_or_went) for kind in (SERVICE, CONFIG_MAP, SECRET, PVC))
    return Controller("quotas", reconcile, watches=(
        Watch(RESOURCE_QUOTA, itself), Watch(POD, _quotas_of, when=_pod_use_moved), *others), workers=2)
