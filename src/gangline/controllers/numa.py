"""NUMA placement exporter: in which NUMA zones a pod's GPUs, CPUs and memory are, written on the pod.

What a kubelet assigned to its pods comes in as `Assigned` and becomes the annotation that the scheduler reads
(numa_zones.py). On simulated nodes `assign` plays the kubelet's topology manager over the zones of the node's
NodeResourceTopology. Pods whose zones are unknown are left alone.

Real nodes are not read: their kubelet answers only gRPC on a socket of the node, for which there is no client here.
There, run KAI's own exporter: it writes the same annotation, and our scheduler reads it. A real node that this one
meets is told once."""

from __future__ import annotations

import logging

from gangline.api import names
from gangline.api.kinds import NODE, NODE_RESOURCE_TOPOLOGY, POD
from gangline.api.meta import Object
from gangline.controllers.numa_zones import OBSERVED, assign, placement, zone_gpus
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, key_of

ON_NODE = "node"
NOT_SIMULATED = (
    "node %s is not simulated: its kubelet's pod-resources socket is not read here; run KAI's "
    "numa-placement-exporter on it"
)
log = logging.getLogger(__name__)


def controller() -> Controller:
    """Keeps the annotation right for the pods of simulated nodes."""
    real: set[str] = set()

    async def reconcile(ctx: Context, key: Key) -> Again | None:
        node, topology = ctx.read.get(NODE, key.name), ctx.read.get(NODE_RESOURCE_TOPOLOGY, key.name)
        if node is None or topology is None:
            return None
        if names.SIMULATED not in node.labels:
            if node.name not in real:
                log.warning(NOT_SIMULATED, node.name)
            real.add(node.name)
            return None
        running = [pod for pod in ctx.read.by(POD, ON_NODE, key.name) if pod.status.phase == "Running"]
        noted = {key_of(pod): pod.annotations.get(OBSERVED) for pod in running}
        for assigned in assign(running, zone_gpus(topology)):
            text = placement(assigned, {})
            if text is not None and noted[assigned.pod] != text:
                await _write(ctx, assigned.pod, text)
        return None

    return Controller(
        "numa-placement-exporter",
        reconcile,
        workers=4,
        reads=(NODE,),
        watches=(
            Watch(POD, lambda pod, read: [Key("", pod.spec.node_name)] if pod.spec.node_name else []),
            Watch(NODE_RESOURCE_TOPOLOGY, _same_name),
        ),
        indexes=((POD, ON_NODE, lambda pod: [pod.spec.node_name]),),
    )


def _same_name(topology: Object, read: Reader) -> list[Key]:
    return [Key("", topology.name)]


async def _write(ctx: Context, pod: Key, text: str) -> None:
    patch = {"metadata": {"annotations": {OBSERVED: text}}}
    await ctx.writer.patch_unless_gone(POD, pod.name, pod.namespace, patch)
