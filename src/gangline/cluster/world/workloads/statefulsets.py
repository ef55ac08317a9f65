"""apps/v1 StatefulSets: pods with a number and volumes of their own, made, changed and removed in order.

statefulset_plan.py says the next thing only: one pod at a time unless the policy is Parallel. A template's revision is
its hash; pods below `partition` keep what they have, and one of them that is lost comes back with the new template."""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api.builtin import Replicated
from gangline.api.kinds import POD, PVC, STATEFUL_SET
from gangline.api.meta import Raw
from gangline.cluster.world.pods.failed_pod_delay import FailedPodDelay
from gangline.cluster.world.workloads.owned_pods import create_pods, delete_pods, tell_held_back
from gangline.cluster.world.workloads.replicas import WAITING, crowd, waiting_to_begin
from gangline.cluster.world.workloads.statefulset_plan import plan
from gangline.errors import ApiError
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner


@dataclass(slots=True)
class StatefulSets:
    patience: FailedPodDelay = field(default_factory=FailedPodDelay)

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        stateful = ctx.read.get(STATEFUL_SET, key.name, key.namespace)
        if stateful is None or stateful.metadata.deleting:
            return None
        now, pods = ctx.clock.now(), ctx.read.owned(POD, stateful.uid)
        todo = plan(stateful, pods, now, self.patience.waits(pods, now), crowd(ctx.read))
        for claim in todo.claims:
            await _claim(ctx, stateful, claim)
        await create_pods(ctx, STATEFUL_SET, stateful, todo.create)
        tell_held_back(ctx, STATEFUL_SET, stateful, todo.held_back)
        await delete_pods(ctx, STATEFUL_SET, stateful, todo.delete)
        if todo.status is not None:
            await ctx.client.patch(STATEFUL_SET, key.name, key.namespace, {"status": todo.status}, subresource="status")
        return None if todo.again is None else Again(max(todo.again - now, 0.001))


async def _claim(ctx: Context, stateful: Replicated, claim: Raw) -> None:
    """A claim that the server refuses is told on the set, and tried again."""
    name = claim["metadata"]["name"]
    try:
        await ctx.writer.create_unless_there(PVC, claim)
    except ApiError as error:
        why = f"create Claim {name} in StatefulSet {stateful.name} failed error: {error}"
        ctx.events.tell(STATEFUL_SET, stateful, "FailedCreate", why, warning=True)
        raise


def statefulsets() -> Controller:
    return Controller(
        "statefulsets",
        StatefulSets().reconcile,
        watches=(Watch(STATEFUL_SET, itself), Watch(POD, owner(STATEFUL_SET))),
        indexes=((POD, WAITING, waiting_to_begin),),
    )
