"""The objects behind the model's names: the pod of a task, the PodGroup of a gang, its members, as the cache shows
them. Only looks."""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import POD, POD_GROUP
from gangline.runtime import Cache
from gangline.scheduler.model.cluster import ClusterModel


class ModelObjects:
    """`cluster` is replaced when the model is built anew."""

    def __init__(self, cache: Cache, cluster: ClusterModel) -> None:
        self._cache, self.cluster = cache, cluster

    def pod(self, task_uid: str) -> Pod | None:
        task = self.cluster.tasks.get(task_uid)
        pod = self._cache.get(POD, task.name, task.namespace) if task is not None else None
        return pod if pod is not None and pod.uid == task_uid else None

    def group(self, gang: str) -> PodGroup | None:
        namespace, _, name = gang.partition("/")
        return self._cache.get(POD_GROUP, name, namespace)

    def members(self, gang: str) -> dict[str, Pod]:
        """Pods of a gang by uid, as far as they are known."""
        held = self.cluster.gangs.get(gang)
        uids = [*held.tasks, *held.invalid] if held is not None else []
        return {uid: pod for uid in uids if (pod := self.pod(uid)) is not None}
