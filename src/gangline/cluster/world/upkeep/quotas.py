"""ResourceQuotas: how much of each limited thing a namespace uses, written in the quota's status.

Enforcement is admission's matter. Counts are taken from the server when something of the namespace changes: quotas are
few, and their numbers should be right."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.builtin import Untyped
from gangline.api.core import Pod
from gangline.api.kinds import CONFIG_MAP, POD, PVC, RESOURCE_QUOTA, SECRET, SERVICE, Kind
from gangline.api.meta import Object, Raw
from gangline.cluster.world.discovery import discover
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.rules import quotas as rules
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of


async def reconcile(ctx: Context, key: Key) -> Again | None:
    quota = ctx.read.get(RESOURCE_QUOTA, key.name, key.namespace)
    if quota is None or quota.metadata.deleting:
        return None
    hard: Raw = (quota.spec or {}).get("hard") or {}
    kinds = await _counted(ctx, hard)
    use = {name: 0 for kind in kinds for name in rules.matching(kind.resource, hard)}
    for kind in kinds:
        for obj in await _objects(ctx, kind, key.namespace):
            if rules.covers(quota.spec or {}, kind.resource, obj):
                use |= {
                    name: use[name] + amount for name, amount in rules.usage(kind.resource, obj).items() if name in use
                }
    wanted = {"hard": hard, "used": rules.written(use)}
    if wanted != (quota.status or {}):
        guard = {"resourceVersion": quota.metadata.resource_version}
        await ctx.client.patch(
            RESOURCE_QUOTA, key.name, key.namespace, {"metadata": guard, "status": wanted}, subresource="status"
        )
    return None


async def _counted(ctx: Context, limits: Iterable[str]) -> list[Kind[Object]]:
    """The kinds that some limit is about, each once."""
    served = {item.kind.resource: item.kind for item in await discover(ctx.client) if item.kind.namespaced}
    return [kind for resource, kind in sorted(served.items()) if rules.matching(resource, limits)]


async def _objects(ctx: Context, kind: Kind[Object], namespace: str) -> list[Raw]:
    untyped = Kind(kind.group, kind.version, kind.kind, kind.plural, Untyped)
    return [{"spec": item.spec, "status": item.status} for item in (await ctx.client.list(untyped, namespace)).items]


def _quotas_of(obj: Object, read: Reader) -> list[Key]:
    return [key_of(quota) for quota in read.list(RESOURCE_QUOTA, obj.namespace)]


def _came_or_went(before: Object | None, after: Object | None) -> bool:
    return before is None or after is None


def _pod_use_moved(before: Pod | None, after: Pod | None) -> bool:
    return before is None or after is None or (before.status.phase in FINAL) != (after.status.phase in FINAL)


def quotas() -> Controller:
    others = (Watch(kind, _quotas_of, when=_came_or_went) for kind in (SERVICE, CONFIG_MAP, SECRET, PVC))
    return Controller(
        "quotas",
        reconcile,
        watches=(Watch(RESOURCE_QUOTA, itself), Watch(POD, _quotas_of, when=_pod_use_moved), *others),
        workers=2,
    )
