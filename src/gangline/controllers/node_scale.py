"""Node-scale adjuster: pods that wait for a part of a GPU, as whole-GPU pods that a cluster autoscaler understands.

An autoscaler adds a node for a pod that asks for GPUs and does not fit. A pod that asks for half a GPU in an annotation
it cannot see. So a *scaling pod* asks in its place, and goes when the pod was placed or is gone. scaling_pods.py
says which there should be. The waiting pods themselves are never touched.
"""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.client.wire import STRATEGIC_PATCH
from gangline.controllers.scaling_pods import NodeScaleSettings, concerns, plan, scaling_pod
from gangline.errors import AlreadyExists
from gangline.runtime import Again, Context, Controller, Key, Watch
from gangline.runtime.clock import timestamp

EVERYTHING = Key("", "all")
CONCERNED = "node scale"


def controller(settings: NodeScaleSettings | None = None) -> Controller:
    chosen = settings or NodeScaleSettings()
    last_removed = [float("-inf")]

    async def reconcile(ctx: Context, key: Key) -> Again | None:
        rest = last_removed[0] + chosen.cool_down - ctx.clock.now()
        todo = plan(ctx.read.by(POD, CONCERNED, CONCERNED), chosen, rest > 0)
        for pod in todo.delete:
            last_removed[0] = ctx.clock.now()
            await ctx.writer.delete_unless_gone(POD, pod)
        for pod in todo.create:
            await _create(ctx, pod, chosen)
        return Again(chosen.cool_down if todo.delete else rest) if rest > 0 or todo.delete else None

    def when(before: Pod | None, after: Pod | None) -> bool:
        return any(pod is not None and concerns(pod, chosen) for pod in (before, after))

    def concerned(pod: Pod) -> list[str]:
        return [CONCERNED] if concerns(pod, chosen) else []

    return Controller(
        "node-scale-adjuster",
        reconcile,
        (Watch(POD, lambda pod, read: [EVERYTHING], when),),
        indexes=((POD, CONCERNED, concerned),),
        workers=1,
    )


async def _create(ctx: Context, pod: Pod, settings: NodeScaleSettings) -> None:
    """Made, and marked as unschedulable at once, so that an autoscaler need not wait for a scheduler to say so."""
    body = scaling_pod(pod, settings)
    try:
        made = await ctx.client.create(POD, body)
    except AlreadyExists:
        return
    unschedulable = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "lastTransitionTime": timestamp(ctx.clock.now()),
        "message": f"stands for pod {pod.namespace}/{pod.name}, which waits for a part of a GPU",
    }
    await ctx.client.patch(
        POD,
        made.name,
        made.namespace,
        {"status": {"conditions": [unschedulable]}},
        subresource="status",
        content_type=STRATEGIC_PATCH,
    )
