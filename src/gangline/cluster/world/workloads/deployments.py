"""apps/v1 Deployments: one ReplicaSet per template, and a step-by-step change from the old ones to the new.

deployment_plan.py says which ReplicaSet should have how many replicas now; each change of a ReplicaSet's status asks
again, until the new one has them all. Pods are replicasets.py's matter."""

from __future__ import annotations

from gangline.api.builtin import Replicated
from gangline.api.kinds import DEPLOYMENT, REPLICA_SET
from gangline.cluster.world.workloads.deployment_plan import plan, replicas_of
from gangline.cluster.world.workloads.owned_pods import adopt
from gangline.cluster.world.workloads.replicas import orphans
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import timestamp


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
        _tell(ctx, deployment, "up" if replicas > replicas_of(item) else "down", item.name, replicas_of(item), replicas)
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
