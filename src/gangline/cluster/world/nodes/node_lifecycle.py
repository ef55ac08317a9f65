"""What becomes of nodes that fall silent, and of their pods: unknown, tainted, emptied. Pods whose node is gone:
pod_gc.py.

`Watchman` looks at the leases every few seconds; a node whose lease stands still too long is marked unknown. Taints
follow from the Ready condition, evictions from the taints and what each pod tolerates. The pure functions come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangline.api.core import Node, Pod, Taint
from gangline.api.kinds import LEASE, NODE, POD
from gangline.api.meta import Raw, condition
from gangline.client.wire import STRATEGIC_PATCH
from gangline.cluster.world.conditions import disruption
from gangline.cluster.world.nodes.heartbeats import LEASES
from gangline.cluster.world.nodes.nodes import HEALTHY
from gangline.cluster.world.pods.kubelet import BY_NODE, by_node, pods_on
from gangline.cluster.world.pods.pod_status import patch_status
from gangline.cluster.world.scheduling.place import tolerates
from gangline.cluster.world.settings import WorldSettings
from gangline.errors import ApiError
from gangline.runtime import Again, BackgroundService, Cache, Context, Controller, Key, Watch, itself
from gangline.runtime.clock import seconds_of, timestamp

PERIOD = 5.0
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
OURS = (NOT_READY, UNREACHABLE)


# --- thinking
# ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class LeaseSilence:
    """When each node's lease was last seen to move, by our own clock."""

    period: float
    seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    last: float | None = None

    def silent(self, renewals: Mapping[str, str], grace: Mapping[str, float], now: float) -> list[str]:
        """Nodes whose lease has stood still too long. If we slept ourselves, nobody is judged by what we missed."""
        overslept = self.last is not None and now - self.last > 3 * self.period
        self.last = now
        if overslept:
            self.seen = {name: (renewed, now) for name, (renewed, _) in self.seen.items()}
        for name, renewed in renewals.items():
            if self.seen.get(name, ("", 0.0))[0] != renewed:
                self.seen[name] = (renewed, now)
        for name in [name for name in self.seen if name not in renewals]:
            del self.seen[name]
        return sorted(name for name, (_, since) in self.seen.items() if now - since >= grace[name])


def unknown_conditions(now: str) -> list[Raw]:
    """What a node that stopped talking says from then on."""
    kinds = ["Ready", *(kind for kind, _, _ in HEALTHY)]
    return [
        {
            "type": kind,
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "lastTransitionTime": now,
            "message": "Kubelet stopped posting node status.",
        }
        for kind in kinds
    ]


def wanted_taints(node: Node, now: str) -> list[Raw] | None:
    """The node's taints with those for its readiness; None when they are right already."""
    ready = condition(node.status.conditions, "Ready")
    key = "" if ready is None or ready.status == "True" else UNREACHABLE if ready.status == "Unknown" else NOT_READY
    wanted = [(key, effect) for effect in ("NoSchedule", "NoExecute")] if key else []
    have = [(taint.key, taint.effect) for taint in node.spec.taints if taint.key in OURS]
    if sorted(have) == sorted(wanted):
        return None
    kept = [_raw_taint(taint) for taint in node.spec.taints if taint.key not in OURS]
    return kept + [{"key": key, "effect": effect, "timeAdded": now} for key, effect in wanted]


def _raw_taint(taint: Taint) -> Raw:
    raw: Raw = {"key": taint.key, "effect": taint.effect}
    return (
        raw
        | ({"value": taint.value} if taint.value else {})
        | ({"timeAdded": taint.time_added} if taint.time_added else {})
    )


def leaves_at(pod: Pod, node: Node, now: float) -> float | None:
    """When a pod must leave its node because of a taint; None: it may stay."""
    moments = []
    for taint in node.spec.taints:
        if taint.effect != "NoExecute":
            continue
        matching = [toleration for toleration in pod.spec.tolerations if tolerates((toleration,), taint)]
        if not matching:
            return now
        stays = [item.toleration_seconds for item in matching if item.toleration_seconds is not None]
        if stays:
            moments.append((seconds_of(taint.time_added) if taint.time_added else now) + max(min(stays), 0))
    return min(moments, default=None)


# --- nodes that fall silent
# --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Watchman:
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
            said = condition(pod.status.conditions, "Ready")
            if said is not None and said.status == "True":
                await patch_status(ctx, pod, {"conditions": [unready]})


# --- taints, evictions
# -------------------------------------------------------------------------------------------------


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
    told = disruption("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", timestamp(now))
    await patch_status(ctx, pod, {"conditions": [told]})
    ctx.events.tell(POD, pod, "TaintManagerEviction", f"Marking for deletion Pod {pod.namespace}/{pod.name}")
    await ctx.writer.delete_unless_gone(POD, pod)
    return None


def lifecycle(settings: WorldSettings) -> list[Controller | BackgroundService]:
    watchman = Watchman()
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
