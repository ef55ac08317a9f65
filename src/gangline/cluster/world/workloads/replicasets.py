"""apps/v1 ReplicaSets: as many pods of a template as are asked for, no more and no fewer.

`plan` is pure; the controller creates, deletes and tells. Names of pods are not chance (replicas.py), so a late cache
makes none twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gangline.api.builtin import Replicated
from gangline.api.core import Pod
from gangline.api.kinds import POD, REPLICA_SET
from gangline.api.meta import Raw
from gangline.cluster.world.workloads.owned_pods import adopt, create_pods, delete_pods, tell_held_back
from gangline.cluster.world.workloads.replicas import (
    BURST,
    BY_LABEL,
    CROWD_SECONDS,
    WAITING,
    active,
    allowed,
    available_at,
    by_label,
    by_worth,
    crowd,
    found_by,
    fresh_names,
    is_ready,
    orphans,
    pod_from,
    replaced_at,
    waiting_to_begin,
)
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner


@dataclass(frozen=True, slots=True)
class ReplicaSetPlan:
    create: tuple[Raw, ...] = ()
    delete: tuple[Pod, ...] = ()
    status: Raw | None = None
    again: float | None = None
    held_back: str = ""


def plan(replicas: Replicated, pods: Sequence[Pod], now: float, crowd: int = 0) -> ReplicaSetPlan:
    """`crowd`: how many pods of the whole cluster wait for a node."""
    wanted = 1 if replicas.spec.replicas is None else replicas.spec.replicas
    live = [pod for pod in pods if active(pod)]
    missing = wanted - len(live)
    room, held_back = allowed(missing, live, crowd)
    due = replaced_at(pods)
    names = fresh_names(replicas.name, replicas.uid, {pod.name for pod in pods}, room if due <= now else 0)
    create = tuple(pod_from(replicas.spec.template, REPLICA_SET, replicas, name) for name in names)
    moments = [moment for pod in live if (moment := available_at(pod, replicas.spec.min_ready_seconds)) is not None]
    status = _status(replicas, live, sum(moment <= now for moment in moments))
    look_again = now + CROWD_SECONDS if held_back else 0.0
    later = [moment for moment in (*moments, due if missing > 0 else 0.0, look_again) if moment > now]
    return ReplicaSetPlan(
        create, tuple(by_worth(live)[: min(max(-missing, 0), BURST)]), status, min(later, default=None), held_back
    )


def _status(replicas: Replicated, live: Sequence[Pod], available: int) -> Raw | None:
    labels = ((replicas.spec.template.get("metadata") or {}).get("labels") or {}).items()
    wanted = (
        len(live),
        sum(labels <= pod.labels.items() for pod in live),
        sum(is_ready(pod) for pod in live),
        available,
        replicas.metadata.generation,
    )
    stored = replicas.status
    if wanted == (
        stored.replicas,
        stored.fully_labeled_replicas,
        stored.ready_replicas,
        stored.available_replicas,
        stored.observed_generation,
    ):
        return None
    names = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
    return {name: value or (None if name != "replicas" else 0) for name, value in zip(names, wanted, strict=True)}


async def reconcile(ctx: Context, key: Key) -> Again | None:
    replicas = ctx.read.get(REPLICA_SET, key.name, key.namespace)
    if replicas is None or replicas.metadata.deleting:
        return None
    selector = replicas.spec.selector
    strays = orphans(selector, found_by(selector.match_labels, key.namespace, POD, ctx.read)) if selector else []
    if strays:
        await adopt(ctx, REPLICA_SET, replicas, POD, strays)
        return None
    now = ctx.clock.now()
    todo = plan(replicas, ctx.read.owned(POD, replicas.uid), now, crowd(ctx.read))
    await create_pods(ctx, REPLICA_SET, replicas, todo.create)
    tell_held_back(ctx, REPLICA_SET, replicas, todo.held_back)
    await delete_pods(ctx, REPLICA_SET, replicas, todo.delete)
    if todo.status is not None:
        await ctx.client.patch(REPLICA_SET, key.name, key.namespace, {"status": todo.status}, subresource="status")
    return None if todo.again is None else Again(max(todo.again - now, 0.001))


def replicasets() -> Controller:
    return Controller(
        "replicasets",
        reconcile,
        watches=(Watch(REPLICA_SET, itself), Watch(POD, owner(REPLICA_SET))),
        indexes=((POD, BY_LABEL, by_label), (POD, WAITING, waiting_to_begin)),
    )
