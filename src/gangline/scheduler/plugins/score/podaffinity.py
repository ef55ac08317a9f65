"""Prefer nodes whose domain holds pods that this one likes, or that like this one; the raw score, not normalised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.plugins.fit.affinity import Pair, preferred_scores
from gangline.scheduler.scores import POD_AFFINITY

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class PodAffinityPlugin(Plugin):
    name = "podaffinity"
    beyond_shape = True

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._cluster = session.cluster
        self._pairs: Counter[Pair] = Counter()

    def scores(self, task: TaskInfo) -> bool:
        record = task.record
        return bool(record.preferred_affinity or record.preferred_anti_affinity or self._cluster.liking)

    def before_scoring(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> None:
        self._pairs = preferred_scores(self._cluster, task) if self.scores(task) else Counter()

    def node_score(self, task: TaskInfo, node: NodeInfo) -> float:
        if not self._pairs:
            return 0.0
        return POD_AFFINITY * sum(self._pairs.get(pair, 0) for pair in node.labels.items())
