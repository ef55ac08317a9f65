"""A task that needs no GPU prefers nodes that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.scores import RESOURCE_TYPE

if TYPE_CHECKING:
    pass


class ResourceTypePlugin(Plugin):
    name = "resourcetype"

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        return RESOURCE_TYPE if not task.needs_gpu and node.cpu_only else 0.0

    shape_score = node_score
