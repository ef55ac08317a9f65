"""What becomes of nodes that fall silent, and of their pods: unknown, tainted, emptied. Pods whose node is gone:
pod_gc.py.

`LeaseWatcher` looks at the leases every few seconds; a node whose lease stands still too long is marked unknown. Taints
follow from the Ready condition, evictions from the taints and what each pod tolerates (node_taints.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api.core import Node
from gangline.api.kinds import LEASE, NODE, POD
from gangline.api.meta import condition
from gangline.client.wire import STRATEGIC_PATCH
from gangline.cluster.world.conditions import disruption
from gangline.cluster.world.nodes.heartbeats import LEASES
from gangline.cluster.world.nodes.node_taints import LeaseSilence, leaves_at, unknown_conditions, wanted_taints
from gangline.cluster.world.pods.pod_indexes import BY_NODE, by_node, pods_on
from gangline.cluster.world.pods.pod_status import patch_status
from gangline.cluster.world.settings import WorldSettings
from gangline.errors import ApiError
from gangline.runtime import Again, BackgroundService, Cache, Context, Controller, Key, Watch, itself
from gangline.runtime.clock import timestamp

PERIOD = 5.0


# --- thinking ---------------------------------------------------------------------------------------------------------


# --- nodes that fall silent -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class LeaseWatcher:
    silence: LeaseSilence = field(default_factory=lambda: LeaseSilence(PERIOD))
    busy: bool = False

    async def run(self, ctx: Context, cache: Cache) -> None:
        while True:
            await ctx.clock.sleep(PERIOD)
            self.busy = True
            try:
                await self._look(ctx)
            except ApiError:
                continue
            finally:
                self.busy = False

    async def _look(self, ctx: Context) -> None:
        leases = [
            lease
            for lease in (await ctx.client.list(LEASE, LEASES)).items
            if ctx.read.get(NODE, lease.name) is not None
        ]
        renewals = {lease.name: lease.spec.renew_time or "" for lease in leases}
        grace = {lease.name: float(lease.spec.lease_duration_seconds or 40) for lease in leases}
        for name in self.silence.silent(renewals, grace, ctx.clock.now()):
            node = ctx.read.get(NODE, name)
            ready = condition(node.status.conditions, "Ready") if node is not None else None
            if node is not None and (ready is None or ready.status != "Unknown"):
                await self._give_up(ctx, node)

    async def _give_up(self, ctx: Context, node: Node) -> None:
        now = timestamp(ctx.clock.now())
        await ctx.client.patch(
            NODE,
            node.name,
            "",
            {"status": {"conditions": unknown_conditions(now)}},
            subresource="status",
            content_type=STRATEGIC_PATCH,
        )
        ctx.events.tell(NODE, node, "NodeNotReady", f"Node {node.name} status is now: NodeNotReady")
        unready = {"type": "Ready", "status": "False", "reason": "NodeNotReady", "lastTransitionTime": now}
        for pod in ctx.read.by(POD, BY_NODE, node.name):
            ready = condition(pod.status.conditions, "Ready")
            if ready is not None and ready.status == "True":
                await patch_status(ctx, pod, {"conditions": [unready]})


# --- taints, evictions ------------------------------------------------------------------------------------------------


async def taint(ctx: Context, key: Key) -> Again | None:
    node = ctx.read.get(NODE, key.name)
    taints = wanted_taints(node, timestamp(ctx.clock.now())) if node is not None else None
    if node is not None and taints is not None:
        guard = {"resourceVersion": node.metadata.resource_version}
        await ctx.client.patch(NODE, key.name, "", {"metadata": guard, "spec": {"taints": taints or None}})
    return None


async def evict(ctx: Context, key: Key) -> Again | None:
    """Pods leave a node they no longer tolerate; those whose node is gone are pod_gc.py's matter."""
    pod = ctx.read.get(POD, key.name, key.namespace)
    node = ctx.read.get(NODE, pod.spec.node_name) if pod is not None and pod.spec.node_name else None
    if pod is None or node is None or pod.metadata.deleting:
        return None
    now = ctx.clock.now()
    moment = leaves_at(pod, node, now)
    if moment is None:
        return None
    if moment > now:
        return Again(moment - now)
    condition = disruption("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", timestamp(now))
    await patch_status(ctx, pod, {"conditions": [condition]})
    ctx.events.tell(POD, pod, "TaintManagerEviction", f"Marking for deletion Pod {pod.namespace}/{pod.name}")
    await ctx.writer.delete_unless_gone(POD, pod)
    return None


def lifecycle(settings: WorldSettings) -> list[Controller | BackgroundService]:
    watchman = LeaseWatcher()
    return [
        BackgroundService("watchman", watchman.run, idle=lambda: not watchman.busy),
        Controller("taints", taint, watches=(Watch(NODE, itself),), workers=4),
        Controller(
            "evictions",
            evict,
            watches=(
                Watch(
                    POD,
                    itself,
                    when=lambda before, after: (
                        after is not None
                        and bool(after.spec.node_name)
                        and (before is None or not before.spec.node_name)
                    ),
                ),
                Watch(
                    NODE,
                    pods_on,
                    when=lambda before, after: before is not None and after is not None and before.spec != after.spec,
                ),
            ),
            indexes=((POD, BY_NODE, by_node),),
            workers=8,
        ),
    ]
