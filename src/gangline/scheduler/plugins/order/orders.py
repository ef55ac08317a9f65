"""Who comes first among equals: orders of gangs, of sub-groups and of the tasks inside a gang. Each class is one small
rule.

The rules only give keys (smallest first); what is done in that order is up to the actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin

if TYPE_CHECKING:
    pass


class PriorityPlugin(Plugin):
    """A gang with a higher priority goes first."""

    name = "priority"

    def gang_order(self, gang: GangInfo) -> int:
        return -gang.priority


class ElasticPlugin(Plugin):
    """Gangs below their minimum go before gangs that have exactly it, and those before gangs that have more."""

    name = "elastic"

    def gang_order(self, gang: GangInfo) -> int:
        above = 0
        for leaf in gang.pod_sets.values():
            if leaf.active_allocated < leaf.min_available:
                return 0
            above |= leaf.active_allocated > leaf.min_available
        return 1 + above


class SubGroupOrderPlugin(Plugin):
    """Members below their minimum go first; then the ones that have least of what they need."""

    name = "subgrouporder"

    def sub_group_order(self, member: Group | PodSet) -> tuple[int, int, float]:
        return sub_group_key(member.minimum, member.active_allocated)


def sub_group_key(minimum: int, satisfied: int) -> tuple[int, int, float]:
    if satisfied < minimum:
        return 0, 0, 0
    return (1, 0, satisfied / minimum) if minimum > 0 else (1, 1, satisfied)


class KubeflowPlugin(Plugin):
    """The master or launcher of a training job goes first."""

    name = "kubeflow"

    def task_order(self, task: TaskInfo) -> bool:
        return task.labels.get("training.kubeflow.org/job-role") not in ("master", "launcher")


class RayPlugin(Plugin):
    """The head of a Ray cluster goes first."""

    name = "ray"

    def task_order(self, task: TaskInfo) -> bool:
        return task.labels.get("ray.io/node-type") != "head"


class TaskOrderPlugin(Plugin):
    """Tasks labelled with a priority go before those without, larger numbers first, unreadable ones last."""

    name = "taskorder"
    label = "kai.scheduler/task-priority"

    def task_order(self, task: TaskInfo) -> tuple[int, int]:
        text = task.labels.get(self.label)
        if text is None:
            return 2, 0
        try:
            return 0, -int(text)
        except ValueError:
            return 1, 0
