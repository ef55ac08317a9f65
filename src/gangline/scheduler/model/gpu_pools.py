"""GPUs in pools: what a node's device plugins offer by resource name, apart from the devices that only resource claims
reach.

Quotas, scores and upper bounds count all GPUs of a node as one number, as upstream does. Whether a pod can start there
is asked here: a kubelet gives `nvidia.com/gpu` from that device plugin only, never from DRA devices or from another
maker's GPUs. Where a DeviceClass has the name as its `extendedResourceName` and the node does not offer it, the devices
plugin finds devices instead. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.status import Status

if TYPE_CHECKING:
    from gangline.scheduler.model.node import NodeInfo, PlacedTask
    from gangline.scheduler.model.task import TaskInfo

UNNAMED = ""
"""GPUs of which no resource name is known: any will do."""


def enough(node: NodeInfo, task: TaskInfo, leaving: bool) -> bool:
    """Whether the node's device plugins have what the task asks of them. `leaving`: what is being freed counts as
    free."""
    return all(free(node, name, leaving) >= count for name, count in asked(node, task))


def asked(node: NodeInfo, task: TaskInfo) -> Iterator[tuple[str, float]]:
    """Resource name and number of whole GPUs that the task would take from the node's device plugins."""
    if not task.gpus or task.shared:
        return
    named = task.record.gpu_resources
    if named and (node.gpu_names or not offered(node, UNNAMED)):
        yield from ((name, count) for name, count in named.items() if offered(node, name) or not node.backs(name))
    elif offered(node, UNNAMED) or GPU not in task.backed:
        yield UNNAMED, task.gpus


def offered(node: NodeInfo, name: str) -> float:
    """GPUs that the node's device plugins have under this name, in use or not."""
    return node.record.gpu_resources.get(name, 0) if name else node.record.allocatable.get("gpu", 0)


def free(node: NodeInfo, name: str, leaving: bool) -> float:
    """GPUs that the node's device plugins still have under this name."""
    total = offered(node, name)
    if not total:
        return 0
    apart = Status.RELEASING if leaving else Status.PIPELINED
    return total - sum(_taken(node, placed, name) for placed in node.placed.values() if placed.status != apart)


def _taken(node: NodeInfo, placed: PlacedTask, name: str) -> float:
    return sum(count for other, count in asked(node, placed.task) if UNNAMED in (name, other) or name == other)


def absent(node: NodeInfo, task: TaskInfo) -> str | None:
    """That the node offers none of the GPUs that the task asks for by name, in words; None when it does offer them."""
    for name, _ in asked(node, task):
        shown = name or next(iter(task.gpu_names), "a device plugin's resource")
        if not offered(node, name):
            return (
                f"node(s) offer GPUs to resource claims (DRA) only, not as {shown}"
                if node.dra_gpus
                else f"node(s) offer no {shown}"
            )
    return None


def lacking(node: NodeInfo, task: TaskInfo) -> str | None:
    """Why the node's device plugins cannot serve the task now, in words; None when they can."""
    return absent(node, task) or (
        None if enough(node, task, leaving=False) else "node(s) didn't have enough resources: GPUs"
    )
