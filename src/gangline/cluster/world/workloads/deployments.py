"""apps/v1 Deployments: one ReplicaSet per template, and a step-by-step change from the old ones to the new.

`plan` says which ReplicaSet should have how many replicas now; each change of a ReplicaSet's status asks again, until
the new one has them all. Pods are replicasets.py's matter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from gangline.api.builtin import Replicated
from gangline.api.kinds import DEPLOYMENT, REPLICA_SET, reference
from gangline.api.meta import LabelSelector, Raw, as_raw
from gangline.cluster.world.conditions import merged
from gangline.cluster.world.workloads.owned_pods import adopt
from gangline.cluster.world.workloads.replicas import orphans, share, suffix
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import timestamp

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"


@dataclass(frozen=True, slots=True)
class DeploymentPlan:
    create: Raw | None = None
    scale: tuple[tuple[Replicated, int], ...] = ()
    """ReplicaSets and the number they should have now."""
    delete: tuple[Replicated, ...] = ()
    status: Raw | None = None


def template_hash(template: Raw) -> str:
    return suffix(json.dumps(template, sort_keys=True), length=10)


def plan(deployment: Replicated, sets: Sequence[Replicated], now: str) -> DeploymentPlan:
    wanted = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    mark = template_hash(deployment.spec.template)
    new = next((item for item in sets if item.labels.get(HASH) == mark), None)
    old = sorted((item for item in sets if item is not new), key=lambda item: (_revision(item), item.name))
    status = _status(deployment, wanted, new, sets, now)
    if deployment.spec.paused:
        return DeploymentPlan(scale=_only_scale(wanted, new, old), status=status)
    if new is None:
        first = _room(deployment, wanted, old)
        return DeploymentPlan(
            create=_replica_set(deployment, mark, first, max((_revision(item) for item in old), default=0) + 1),
            status=status,
        )
    steps = _recreate(wanted, new, old) if _recreates(deployment) else _roll(deployment, wanted, new, old)
    return DeploymentPlan(
        scale=tuple(step for step in steps if _replicas(step[0]) != step[1]),
        delete=_outdated(deployment, wanted, new, old),
        status=status,
    )


def _replicas(replicas: Replicated) -> int:
    return replicas.spec.replicas or 0


def _revision(replicas: Replicated) -> int:
    text = replicas.annotations.get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def _recreates(deployment: Replicated) -> bool:
    return deployment.spec.strategy.get("type") == "Recreate"


def _only_scale(wanted: int, new: Replicated | None, old: Sequence[Replicated]) -> tuple[tuple[Replicated, int], ...]:
    """A paused Deployment changes no template, but follows its number as long as only one ReplicaSet has pods."""
    holders = [item for item in (*old, *([new] if new else [])) if _replicas(item)]
    return ((holders[0], wanted),) if len(holders) == 1 and _replicas(holders[0]) != wanted else ()


def _room(deployment: Replicated, wanted: int, old: Sequence[Replicated]) -> int:
    """How many replicas a new ReplicaSet may begin with."""
    there = sum(_replicas(item) for item in old)
    if _recreates(deployment):
        return 0 if there or any(item.status.replicas for item in old) else wanted
    return max(min(wanted, wanted + limits(deployment, wanted)[0] - there), 0)


def limits(deployment: Replicated, wanted: int) -> tuple[int, int]:
    """How many pods more and how many fewer than wanted there may be during a change."""
    rolling = deployment.spec.strategy.get("rollingUpdate") or {}
    surge = share(rolling.get("maxSurge", "25%"), wanted, up=True)
    missing = share(rolling.get("maxUnavailable", "25%"), wanted, up=False)
    return (surge, missing) if surge or missing else (0, 1)


def _recreate(wanted: int, new: Replicated, old: Sequence[Replicated]) -> list[tuple[Replicated, int]]:
    left = any(_replicas(item) or item.status.replicas for item in old)
    return [*((item, 0) for item in old), *([] if left else [(new, wanted)])]


def _roll(
    deployment: Replicated, wanted: int, new: Replicated, old: Sequence[Replicated]
) -> list[tuple[Replicated, int]]:
    """Grow the new within the surge, shrink the old as far as enough stays available, the broken ones first."""
    surge, missing = limits(deployment, wanted)
    there = sum(_replicas(item) for item in old)
    mine = _replicas(new)
    if mine > wanted or not there:
        grown = wanted
    else:
        grown = max(mine, min(wanted, wanted + surge - there))
    spare = there + mine - (wanted - missing) - (mine - new.status.available_replicas)
    steps = [(new, grown)]
    broken_first = {item.name: _replicas(item) - item.status.available_replicas for item in old}
    for item in old:
        drop = min(broken_first[item.name], _replicas(item), max(spare, 0))
        spare -= drop
        rest = _replicas(item) - drop
        further = min(rest, max(spare, 0))
        spare -= further
        steps.append((item, rest - further))
    return steps


def _outdated(
    deployment: Replicated, wanted: int, new: Replicated, old: Sequence[Replicated]
) -> tuple[Replicated, ...]:
    """Empty ReplicaSets beyond the history that is kept; none while a change is under way."""
    keep = 10 if deployment.spec.revision_history_limit is None else deployment.spec.revision_history_limit
    if new.status.available_replicas < wanted:
        return ()
    empty = [item for item in old if not _replicas(item) and not item.status.replicas and not item.metadata.deleting]
    return tuple(empty[: max(len(empty) - keep, 0)])


def _replica_set(deployment: Replicated, mark: str, replicas: int, revision: int) -> Raw:
    template = deepcopy(deployment.spec.template)
    meta = template.setdefault("metadata", {})
    meta["labels"] = (meta.get("labels") or {}) | {HASH: mark}
    selector = as_raw(deployment.spec.selector or LabelSelector())
    selector["matchLabels"] = (selector.get("matchLabels") or {}) | {HASH: mark}
    return {
        "metadata": {
            "name": f"{deployment.name}-{mark}",
            "namespace": deployment.namespace,
            "labels": meta["labels"],
            "annotations": {REVISION: str(revision), DESIRED: str(deployment.spec.replicas or 0)},
            "ownerReferences": [reference(DEPLOYMENT, deployment)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": deployment.spec.min_ready_seconds,
            "selector": selector,
            "template": template,
        },
    }


def _status(
    deployment: Replicated, wanted: int, new: Replicated | None, sets: Sequence[Replicated], now: str
) -> Raw | None:
    total, ready = sum(item.status.replicas for item in sets), sum(item.status.ready_replicas for item in sets)
    available, updated = sum(item.status.available_replicas for item in sets), new.status.replicas if new else 0
    enough = available >= wanted - limits(deployment, wanted)[1]
    complete = updated == total == available == wanted
    name = new.name if new else deployment.name
    conditions = merged(
        deployment.status.conditions,
        (
            ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
            if enough
            else ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
            ("Progressing", "True", "NewReplicaSetAvailable", f'ReplicaSet "{name}" has successfully progressed.')
            if complete
            else ("Progressing", "True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.'),
        ),
        now,
    )
    said = deployment.status
    if (total, ready, available, updated, deployment.metadata.generation, conditions) == (
        said.replicas,
        said.ready_replicas,
        said.available_replicas,
        said.updated_replicas,
        said.observed_generation,
        list(said.conditions),
    ):
        return None
    return {
        "replicas": total or None,
        "readyReplicas": ready or None,
        "availableReplicas": available or None,
        "updatedReplicas": updated or None,
        "unavailableReplicas": max(wanted - available, 0) or None,
        "observedGeneration": deployment.metadata.generation,
        "conditions": conditions,
    }


async def reconcile(ctx: Context, key: Key) -> Again | None:
    deployment = ctx.read.get(DEPLOYMENT, key.name, key.namespace)
    if deployment is None or deployment.metadata.deleting:
        return None
    strays = orphans(deployment.spec.selector, ctx.read.list(REPLICA_SET, key.namespace))
    if strays:
        await adopt(ctx, DEPLOYMENT, deployment, REPLICA_SET, strays)
        return None
    sets = [
        replica_set for replica_set in ctx.read.owned(REPLICA_SET, deployment.uid) if not replica_set.metadata.deleting
    ]
    todo = plan(deployment, sets, timestamp(ctx.clock.now()))
    if todo.create is not None and await ctx.writer.create_unless_there(REPLICA_SET, todo.create):
        _tell(ctx, deployment, "up", todo.create["metadata"]["name"], 0, todo.create["spec"]["replicas"])
    for item, replicas in todo.scale:
        guard = {"resourceVersion": item.metadata.resource_version}
        await ctx.client.patch(
            REPLICA_SET, item.name, item.namespace, {"metadata": guard, "spec": {"replicas": replicas}}
        )
        _tell(ctx, deployment, "up" if replicas > _replicas(item) else "down", item.name, _replicas(item), replicas)
    for item in todo.delete:
        await ctx.writer.delete_unless_gone(REPLICA_SET, item, propagation="Background")
    if todo.status is not None:
        await ctx.client.patch(DEPLOYMENT, key.name, key.namespace, {"status": todo.status}, subresource="status")
    return None


def _tell(ctx: Context, deployment: Replicated, way: str, name: str, before: int, after: int) -> None:
    ctx.events.tell(
        DEPLOYMENT, deployment, "ScalingReplicaSet", f"Scaled {way} replica set {name} from {before} to {after}"
    )


def deployments() -> Controller:
    return Controller(
        "deployments", reconcile, watches=(Watch(DEPLOYMENT, itself), Watch(REPLICA_SET, owner(DEPLOYMENT)))
    )
