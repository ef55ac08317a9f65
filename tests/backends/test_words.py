"""What a scheduler says only on a pod still explains its gang."""

from __future__ import annotations

from gangline.api.kinds import POD
from gangline.api.meta import condition
from operator_world import NAMESPACE, clique, operator_world, pod_clique_set

WHY = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."


async def test_what_the_scheduler_wrote_on_a_pod_explains_the_gang() -> None:
    async with operator_world() as here:
        await here.apply(pod_clique_set("llm", clique("a", 2, scheduler="")))
        pods = await here.pods()
        refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": WHY}
        await here.client.patch(
            POD, pods[1].name, NAMESPACE, {"status": {"conditions": [refused]}}, subresource="status"
        )
        await here.settles()
        found = condition((await here.gang("llm-0")).status.conditions, "Scheduled")
        assert (
            found is not None
            and found.message == f"waiting for the scheduler: llm-0-a 0/2; it says of pod {pods[1].name}: {WHY}"
        )
