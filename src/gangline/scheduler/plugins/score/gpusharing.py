"""Where to put tasks that share a GPU: nodes with a shared device that has room first, and on a node the fullest (or
emptiest) device.

The room test looks only at memory, so tasks that ask for no GPU at all are attracted to nodes with shared devices too,
as upstream does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.model.gpu import WHOLE_GPU, device_memory
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.scores import GPU_SHARING

if TYPE_CHECKING:
    pass

SMALLEST_GPU_MEMORY = 100


class GpuSharingOrderPlugin(Plugin):
    """Prefer nodes on which some shared device has room for the task."""

    name = "gpusharingorder"

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        shared = node.shared
        if not shared.used:
            return 0.0
        memory = device_memory(task, node.gpu_memory)
        return GPU_SHARING if any(shared.fits(group, memory) for group in shared.used) else 0.0

    shape_score = node_score


class GpuPackPlugin(Plugin):
    """Prefer the fullest shared device; open a new one last."""

    name = "gpupack"

    def gpu_score(self, task: TaskInfo, node: NodeInfo, group: str) -> float:
        return 0.0 if group == WHOLE_GPU else used_portion(node, group) or 0.0


class GpuSpreadPlugin(Plugin):
    """Prefer a whole free device, then the emptiest shared one."""

    name = "gpuspread"

    def gpu_score(self, task: TaskInfo, node: NodeInfo, group: str) -> float:
        if group == WHOLE_GPU:
            return 1.0
        used = used_portion(node, group)
        return 0.0 if used is None else 1.0 - used


def used_portion(node: NodeInfo, group: str) -> float | None:
    """How full a shared device is; None when the node's GPU memory makes no sense."""
    return node.shared.used_portion(group) if node.record.gpu_memory >= SMALLEST_GPU_MEMORY else None
