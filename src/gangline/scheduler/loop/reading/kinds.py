"""Which kinds the scheduler follows, and which records of the model they become. Data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from gangline.api.kinds import (
    BIND_REQUEST,
    CONFIG_MAP,
    CSI_STORAGE_CAPACITY,
    DEVICE_CLASS,
    NAMESPACE,
    NODE,
    NODE_RESOURCE_TOPOLOGY,
    PDB,
    POD,
    POD_GROUP,
    PRIORITY_CLASS,
    PV,
    PVC,
    QUEUE,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    STORAGE_CLASS,
    TOPOLOGY,
    Kind,
)
from gangline.api.meta import Object, as_raw
from gangline.rules.objects.lean import lean_group, lean_pod
from gangline.runtime import Key
from gangline.scheduler import objects
from gangline.scheduler.records import (
    BudgetRecord,
    ClaimRecord,
    ConfigMapRecord,
    DeviceClassRecord,
    NodeRecord,
    QueueRecord,
    Record,
    SliceRecord,
    StorageCapacityRecord,
    TopologyRecord,
    VolumeClaimRecord,
)
from gangline.scheduler.thought.readings import read_claim

CONFIG_MAP_NAMES: Kind[Object] = replace(cast("Kind[Any]", CONFIG_MAP), type=Object)
"""ConfigMaps by name only: what stands in them is nobody's business here."""
OWN_HANDLERS = (
    BIND_REQUEST,
    PRIORITY_CLASS,
    TOPOLOGY,
    NAMESPACE,
    RESOURCE_CLAIM,
    PV,
    STORAGE_CLASS,
    NODE_RESOURCE_TOPOLOGY,
)
POOLED: tuple[Kind[Any], ...] = (NODE, QUEUE, POD_GROUP)
"""What is divided into node pools: only our own pool's are put into the model."""
TRIMS: Mapping[Kind[Any], Callable[[Any], Any]] = {POD: lean_pod, POD_GROUP: lean_group}
"""What of each object is kept."""
PLAIN = (RESOURCE_SLICE, DEVICE_CLASS, PVC, CSI_STORAGE_CAPACITY, CONFIG_MAP_NAMES)


def _raw(read: Callable[[Any], Record]) -> Callable[[Any], Record]:
    return lambda obj: read(as_raw(obj))


def _one(key: Key) -> Any:
    return key.name


def _both(key: Key) -> Any:
    return key.namespace, key.name


PLAIN_RECORDS: dict[Kind[Any], tuple[type[Record], Callable[[Key], Any], Callable[..., Record]]] = {
    NODE: (NodeRecord, _one, objects.node_record),
    QUEUE: (QueueRecord, _one, objects.queue_record),
    TOPOLOGY: (TopologyRecord, _one, objects.topology_record),
    RESOURCE_CLAIM: (ClaimRecord, _both, read_claim),
    PVC: (VolumeClaimRecord, _both, objects.volume_claim_record),
    CSI_STORAGE_CAPACITY: (StorageCapacityRecord, str, _raw(objects.storage_capacity_record)),
    CONFIG_MAP_NAMES: (ConfigMapRecord, _both, lambda item: ConfigMapRecord(item.name, item.namespace)),
    RESOURCE_SLICE: (SliceRecord, _one, _raw(objects.slice_record)),
    PDB: (BudgetRecord, _both, _raw(objects.budget_record)),
    DEVICE_CLASS: (DeviceClassRecord, _one, _raw(objects.device_class_record)),
}
