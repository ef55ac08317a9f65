"""apps/v1 DaemonSets: one pod on every node that will have it.

daemonset_plan.py says which nodes lack a pod and which pods are too many or out of date; this controller writes it."""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api.core import Node
from gangline.api.kinds import DAEMON_SET, NODE, POD
from gangline.api.meta import Object
from gangline.cluster.world.pods.failed_pod_delay import FailedPodDelay
from gangline.cluster.world.workloads.daemonset_plan import plan
from gangline.cluster.world.workloads.owned_pods import create_pods, delete_pods
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of, owner


@dataclass(slots=True)
class Daemons:
    patience: FailedPodDelay = field(default_factory=FailedPodDelay)

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        daemon = ctx.read.get(DAEMON_SET, key.name, key.namespace)
        if daemon is None or daemon.metadata.deleting:
            return None
        now, pods = ctx.clock.now(), ctx.read.owned(POD, daemon.uid)
        todo = plan(
            daemon, sorted(ctx.read.list(NODE), key=lambda node: node.name), pods, self.patience.waits(pods, now)
        )
        await create_pods(ctx, DAEMON_SET, daemon, todo.create)
        await delete_pods(ctx, DAEMON_SET, daemon, todo.delete)
        if todo.status is not None:
            await ctx.client.patch(DAEMON_SET, key.name, key.namespace, {"status": todo.status}, subresource="status")
        return None if todo.again is None else Again(max(todo.again - now, 0.001))


def _every_daemon(node: Object, read: Reader) -> list[Key]:
    return [key_of(daemon) for daemon in read.list(DAEMON_SET)]


def _node_moved(before: Node | None, after: Node | None) -> bool:
    return before is None or after is None or before.labels != after.labels or before.spec != after.spec


def daemonsets() -> Controller:
    return Controller(
        "daemonsets",
        Daemons().reconcile,
        watches=(
            Watch(DAEMON_SET, itself),
            Watch(POD, owner(DAEMON_SET)),
            Watch(NODE, _every_daemon, when=_node_moved),
        ),
        workers=2,
    )
