"""A node that has idle room for the task now comes before one where it would have to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.scores import AVAILABILITY

if TYPE_CHECKING:
    pass


class NodeAvailabilityPlugin(Plugin):
    name = "nodeavailability"

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        return AVAILABILITY if node.fits_now(task) else 0.0

    shape_score = node_score
