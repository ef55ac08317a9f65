"""A pod that was nominated for a node goes there if it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.scores import NOMINATED_NODE

if TYPE_CHECKING:
    pass


class NominatedNodePlugin(Plugin):
    name = "nominatednode"

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        return NOMINATED_NODE if task.record.nominated_node == node.name else 0.0

    shape_score = node_score
