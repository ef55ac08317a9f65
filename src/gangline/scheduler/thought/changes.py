"""Changes of the model: what loop/feed.py looked up becomes records, and these go into the model.

`apply` runs in the thread of the cycle, which owns the model. Nothing is looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gangline.scheduler import objects
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.records import (
    ClaimRecord,
    ConfigMapRecord,
    DeviceClassRecord,
    GangRecord,
    NodeRecord,
    QueueRecord,
    Record,
    SliceRecord,
    StorageCapacityRecord,
    TaskRecord,
    TopologyRecord,
    VolumeClaimRecord,
)


@dataclass(frozen=True, slots=True)
class ModelChange:
    """One thing to put into the model, or to take away (`make` None)."""

    type: type[Record]
    key: Any
    make: Callable[[], Record] | None


@dataclass(frozen=True, slots=True)
class UnreadRecord:
    """An object that could not be read, and why."""

    type: type[Record]
    key: Any
    reason: str


def apply(cluster: ClusterModel, changes: Iterable[ModelChange]) -> list[UnreadRecord]:
    """Put changes into the model; an object that cannot be read is left out and hurts nobody else."""
    unread = []
    for change in changes:
        record: Record | None = None
        try:
            record = change.make() if change.make is not None else None
        except (objects.ObjectUnreadable, ValueError) as error:
            unread.append(UnreadRecord(change.type, change.key, str(error)))
        if record is not None:
            cluster.apply(record)
        elif _there(cluster, change):
            cluster.remove(change.type, change.key)
    return unread


def _there(cluster: ClusterModel, change: ModelChange) -> bool:
    held: dict[type[Record], Any] = {
        TaskRecord: cluster.tasks,
        GangRecord: cluster.gangs,
        NodeRecord: cluster.nodes,
        QueueRecord: cluster.queues,
        TopologyRecord: cluster.topologies,
        ClaimRecord: cluster.devices.records,
        SliceRecord: cluster.devices.slices,
        DeviceClassRecord: cluster.devices.classes,
        VolumeClaimRecord: cluster.volume_claims,
        StorageCapacityRecord: cluster.capacities,
        ConfigMapRecord: cluster.config_maps,
    }
    return change.key in held[change.type]
