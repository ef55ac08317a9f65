"""Pods that have ended → pods that are gone: takes off the finalizers that a scheduler leaves for the owner of its
group.

Stands at the end of a pod's journey, beside the controller of cliques, which may have no clique any more to look at.
Only what a backend lists in `finalizers` is taken off, one that is switched off included, only from pods of ours, and
only when they run no more."""

from __future__ import annotations

from functools import partial

from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.errors import NotFound
from gangline.operator.desired.pods import FINISHED
from gangline.operator.memory.trims import TRIMS
from gangline.operator.operator import Operator
from gangline.rules.objects.finalizers import patch_that_removes
from gangline.runtime import Again, Context, Controller, Key, Watch, itself


async def reconcile(op: Operator, ctx: Context, key: Key) -> Again | None:
    pod = ctx.read.get(POD, key.name, key.namespace)
    if pod is None or not _over(pod):
        return None
    for finalizer in op.registry.finalizers:
        patch = patch_that_removes(pod, finalizer)
        if patch is not None:
            try:
                await ctx.client.patch(POD, pod.name, pod.namespace, patch)
            except NotFound:
                return None
    return None


def _over(pod: Pod) -> bool:
    """Whether a pod is deleted and nothing of it runs: it never started, it has ended, or its node has let it go."""
    ended = not pod.spec.node_name or pod.status.phase in FINISHED or pod.metadata.deletion_grace_period_seconds == 0
    return pod.metadata.deleting and ended


def _leaves(before: Pod | None, after: Pod | None) -> bool:
    return after is not None and bool(after.metadata.finalizers) and _over(after)


def controller(op: Operator) -> Controller:
    return Controller(
        "finalizers", partial(reconcile, op), (Watch(POD, itself, _leaves),), selectors=op.selectors, trims=TRIMS
    )
