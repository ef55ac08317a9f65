"""The collector of pods that nobody ends otherwise: their node is gone, they never had one, or too many have ended.

As upstream's: a pod is failed before it is deleted, so that its owner sees an end; one whose node is gone says so in
the condition `DisruptionTarget`. Ended pods are kept until there are very many of them; then the oldest go."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.core import Pod
from gangline.api.kinds import NODE, POD
from gangline.api.meta import Raw
from gangline.cluster.world.conditions import disruption
from gangline.cluster.world.pods.pod_indexes import BY_NODE, by_node, pods_on
from gangline.cluster.world.pods.pod_status import patch_status
from gangline.cluster.world.pods.pod_step import FINAL
from gangline.errors import NotFound
from gangline.runtime import Again, BackgroundService, Cache, Context, Controller, Key, Watch, itself
from gangline.runtime.clock import timestamp

GONE_NODE = 5.0
"""A pod is not given up at once when its node is not there: it may be about to register again."""
MOST_ENDED = 5000
"""Ended pods that are kept; upstream keeps 12,500 (`--terminated-pod-gc-threshold`), on disk instead of in memory."""
PERIOD = 20.0


def is_lost(pod: Pod) -> bool:
    """On its way out, and no kubelet will ever end it."""
    return pod.metadata.deleting and not pod.spec.node_name


def surplus(pods: Iterable[Pod], most: int) -> list[Pod]:
    """Ended pods beyond the number that is kept, the oldest first."""
    ended = sorted(
        (pod for pod in pods if pod.status.phase in FINAL and not pod.metadata.deleting),
        key=lambda pod: (pod.metadata.creation_timestamp or "", pod.namespace, pod.name),
    )
    return ended[: max(len(ended) - most, 0)]


async def collect(ctx: Context, key: Key) -> Again | None:
    pod = ctx.read.get(POD, key.name, key.namespace)
    if pod is None:
        return None
    if is_lost(pod):
        await _end(ctx, pod, {})
    elif pod.spec.node_name and ctx.read.get(NODE, pod.spec.node_name) is None:
        return await _orphaned(ctx, pod)
    return None


async def _orphaned(ctx: Context, pod: Pod) -> Again | None:
    try:
        await ctx.client.get(NODE, pod.spec.node_name)
        return Again(GONE_NODE)
    except NotFound:
        condition = disruption("DeletionByPodGC", "PodGC: node no longer exists", timestamp(ctx.clock.now()))
        await _end(ctx, pod, {"conditions": [condition]})
    return None


async def _end(ctx: Context, pod: Pod, status: Raw) -> None:
    """Failed first, unless it has ended; then deleted at once. One that a finalizer keeps is left to whoever put it
    there."""
    if pod.status.phase not in FINAL:
        await patch_status(ctx, pod, status | {"phase": "Failed"})
    if not (pod.metadata.deleting and pod.metadata.deletion_grace_period_seconds == 0 and pod.metadata.finalizers):
        await ctx.writer.delete_unless_gone(POD, pod, grace=0)


class Sweeper:
    """Looks now and then whether too many pods have ended."""

    busy = False

    async def run(self, ctx: Context, cache: Cache) -> None:
        while True:
            await ctx.clock.sleep(PERIOD)
            self.busy = True
            for pod in surplus(ctx.read.list(POD), MOST_ENDED):
                await ctx.writer.delete_unless_gone(POD, pod, grace=0)
            self.busy = False


def _unplaced(before: Pod | None, after: Pod | None) -> bool:
    """Came, got a node, or is to go without one."""
    if after is None:
        return False
    return before is None or before.spec.node_name != after.spec.node_name or (is_lost(after) and not is_lost(before))


def podgc() -> list[Controller | BackgroundService]:
    sweeper = Sweeper()
    return [
        BackgroundService("pod-sweeper", sweeper.run, idle=lambda: not sweeper.busy),
        Controller(
            "pod-gc",
            collect,
            watches=(
                Watch(POD, itself, when=_unplaced),
                Watch(NODE, pods_on, when=lambda before, after: after is None),
            ),
            indexes=((POD, BY_NODE, by_node),),
            workers=4,
        ),
    ]
