"""Changes of the model: what loop/feed.py looked up becomes records, and these go into the model.

`apply` runs in the thread of the cycle, which owns the model. Nothing is looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gangline.scheduler import objects
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.queue import QueueInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import (
    BudgetRecord,
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
class GoneRecord:
    """A thing that was taken out of the model."""

    type: type[Record]
    key: Any


TakenChange: TypeAlias = Record | GoneRecord
"""A change as the model took it; what it knew already is none."""


@dataclass(frozen=True, slots=True)
class UnreadRecord:
    """An object that could not be read, and why."""

    type: type[Record]
    key: Any
    reason: str


@dataclass(frozen=True, slots=True)
class AppliedChanges:
    taken: list[TakenChange] = field(default_factory=list)
    unread: list[UnreadRecord] = field(default_factory=list)


def apply(cluster: ClusterModel, changes: Iterable[ModelChange]) -> AppliedChanges:
    """Put changes into the model; an object that cannot be read is left out and hurts nobody else."""
    applied = AppliedChanges()
    for change in changes:
        record: Record | None = None
        try:
            record = change.make() if change.make is not None else None
        except (objects.ObjectUnreadable, ValueError) as error:
            applied.unread.append(UnreadRecord(change.type, change.key, str(error)))
        known = _held(cluster, change.type, change.key)
        if record is not None and record != known:
            take(cluster, record)
            applied.taken.append(record)
        elif record is None and known is not None:
            gone = GoneRecord(change.type, change.key)
            take(cluster, gone)
            applied.taken.append(gone)
    return applied


def take(cluster: ClusterModel, change: TakenChange) -> None:
    if isinstance(change, GoneRecord):
        cluster.remove(change.type, change.key)
    else:
        cluster.apply(change)


def _held(cluster: ClusterModel, kind: type[Record], key: Any) -> Record | None:
    """The record of this name as the model holds it."""
    holders: dict[type[Record], Mapping[Any, Any]] = {
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
        BudgetRecord: cluster.budgets,
    }
    thing = holders[kind].get(key)
    return thing.record if isinstance(thing, TaskInfo | GangInfo | NodeInfo | QueueInfo) else thing
