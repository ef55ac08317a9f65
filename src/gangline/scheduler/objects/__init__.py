"""API objects → records, one object at a time: the scheduler's reading of a cluster.

    reading.py    what reading depends on besides the object: the shard, the time, names that stand for values
    pods.py       Pod and its BindRequest → TaskRecord
    affinity.py   selectors, affinity, tolerations → the forms the predicates use
    nodes.py      Node, NodeResourceTopology → NodeRecord
    gangs.py      PodGroup, Queue, Topology → GangRecord, QueueRecord, TopologyRecord
    devices.py    DeviceClass, ResourceSlice, ResourceClaim → their records
    budgets.py    PodDisruptionBudget → BudgetRecord
    storage.py    PersistentVolumeClaim, CSIStorageCapacity, ConfigMap → their records

The service calls these for each watch event, `snapshots/whole.py` for a whole cluster. An object that cannot be read
raises `ObjectUnreadable` and hurts nobody else. Nothing here decides anything."""

from __future__ import annotations

from gangline.scheduler.objects.budgets import budget_record
from gangline.scheduler.objects.devices import claim_record, device_class_record, slice_record
from gangline.scheduler.objects.gangs import gang_record, queue_record, topology_record
from gangline.scheduler.objects.nodes import node_record, numa_record
from gangline.scheduler.objects.pods import task_record
from gangline.scheduler.objects.reading import ObjectReading, ObjectUnreadable
from gangline.scheduler.objects.storage import config_map_record, storage_capacity_record, volume_claim_record

__all__ = [
    "ObjectReading",
    "ObjectUnreadable",
    "budget_record",
    "claim_record",
    "config_map_record",
    "device_class_record",
    "gang_record",
    "node_record",
    "numa_record",
    "queue_record",
    "slice_record",
    "storage_capacity_record",
    "task_record",
    "topology_record",
    "volume_claim_record",
]
