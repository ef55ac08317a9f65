"""How the controllers of the world write a pod's status: for this pod only, not for a later one of its name. Acts."""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.api.meta import Raw
from gangline.client.wire import STRATEGIC_PATCH
from gangline.runtime import Context


async def patch_status(ctx: Context, pod: Pod, status: Raw, *, in_turn: bool = False) -> None:
    """Unless the pod is gone. `in_turn`: as a report, which nobody waits for."""
    patch = {"metadata": {"uid": pod.uid}, "status": status}
    send = ctx.writer.report if in_turn else ctx.writer.patch_unless_gone
    await send(POD, pod.name, pod.namespace, patch, subresource="status", content_type=STRATEGIC_PATCH)
