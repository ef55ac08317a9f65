"""A claim of access mode ReadWriteOncePod serves one pod at a time: a second pod waits until the first has left.

As kube-scheduler reads it: a pod that holds a node uses its claims, one that leaves does not count. Without this the
second pod would get a node, and hold it while its kubelet waits for the volume. Upstream's scheduler knows none of it,
so only the native list has the plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gangline.errors import Refusal
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import ACTIVE_ALLOCATED
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin

if TYPE_CHECKING:
    from gangline.scheduler.model.cluster import ClusterModel
    from gangline.scheduler.session import Session

NAME = "volumerestrictions"


class VolumeRestrictionsPlugin(Plugin):
    name = NAME

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._cluster = session.cluster

    def before_task(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        taken = taken_claim(self._cluster, task)
        if taken is None:
            return None
        claim, user = taken
        return Refusal(
            self.name, f'persistentvolumeclaim "{claim}" is ReadWriteOncePod and used by pod {user.full_name}'
        )


def taken_claim(cluster: ClusterModel, task: TaskInfo) -> tuple[str, TaskInfo] | None:
    """A claim of the task that serves one pod only, and the other one that uses it."""
    for name in task.record.volumes:
        claim = cluster.volume_claims.get((task.namespace, name))
        if claim is None or not claim.single:
            continue
        for uid in cluster.claim_users.get((task.namespace, name), ()):
            user = cluster.tasks[uid]
            if uid != task.uid and user.status & ACTIVE_ALLOCATED:
                return name, user
    return None
