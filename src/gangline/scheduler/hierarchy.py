"""Two readings of the queue tree: as it stands, or flat (`full_hierarchy: false`), where every queue with a parent
shares the cluster directly.

Asked by the session when it opens. The flat tree has one root of its own; queues without a parent only served to
group others and disappear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.queue import QueueInfo
from gangline.scheduler.records import QueueRecord, Share

FLAT_ROOT = "default"
EVERYTHING = Share(quota=-1, limit=-1, weight=1)


def queues_of(cluster: ClusterModel, full: bool) -> dict[str, QueueInfo]:
    """Queues with an unbroken line of ancestors."""
    whole = {name: queue for name, queue in cluster.queues.items() if cluster.path_of(name)}
    return whole if full else flattened(whole)


def flattened(queues: Mapping[str, QueueInfo]) -> dict[str, QueueInfo]:
    root = QueueInfo(QueueRecord(FLAT_ROOT, cpu=EVERYTHING, memory=EVERYTHING, gpu=EVERYTHING))
    below = {name: _moved(queue) for name, queue in queues.items() if queue.parent}
    root.children = sorted(below)
    return {FLAT_ROOT: root, **below}


def _moved(queue: QueueInfo) -> QueueInfo:
    """The same queue directly below the root, with the same sums."""
    copy = QueueInfo(replace(queue.record, parent=FLAT_ROOT))
    copy.gangs = queue.gangs
    copy.held, copy.held_firm = queue.held, queue.held_firm
    copy.asked, copy.asked_gpu_memory = queue.asked, queue.asked_gpu_memory
    return copy
