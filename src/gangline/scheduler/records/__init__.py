"""The one neutral input form of the decision core: plain records of what stands in a cluster.

`snapshots/whole.py` fills these from API objects, the conformance runner from case files, `load` from a saved snapshot;
`model/cluster.py` turns them into the model. Records are frozen values: to change something, apply a new record with
the same key. Nothing here decides anything.

One file per family; who needs a record takes it from here.

Units, once and for all: cpu in milli-cores, memory and storage in bytes, gpu in devices, pods and MIG profiles as
counts, every other resource in thousandths. GPU memory in MiB. Times in seconds since the epoch. -1 means unlimited
in quotas and limits.
"""

from __future__ import annotations

from typing import TypeAlias

from gangline.scheduler.records.devices import (
    ClaimRecord,
    Counters,
    DeviceClassRecord,
    DeviceConstraint,
    DeviceId,
    DeviceRecord,
    DeviceRequest,
    SliceRecord,
)
from gangline.scheduler.records.gangs import (
    DEFAULT_POD_SET,
    GangRecord,
    GroupRecord,
    PodSetRecord,
    QueueRecord,
    Share,
    TopologyRule,
    plain_gang,
)
from gangline.scheduler.records.nodes import NodeRecord, NumaRecord, TopologyRecord, ZoneRecord
from gangline.scheduler.records.tasks import NO_GPU, BudgetRecord, ContainerRecord, ExtendedNeed, HostPort, TaskRecord
from gangline.scheduler.records.terms import (
    Amounts,
    NodeTerm,
    PodTerm,
    Requirement,
    SpreadTerm,
    TaintRecord,
    TolerationRecord,
)
from gangline.scheduler.records.volumes import ConfigMapRecord, StorageCapacityRecord, VolumeClaimRecord

__all__ = [
    "DEFAULT_POD_SET",
    "NO_GPU",
    "Amounts",
    "BudgetRecord",
    "ClaimRecord",
    "ConfigMapRecord",
    "ContainerRecord",
    "Counters",
    "DeviceClassRecord",
    "DeviceConstraint",
    "DeviceId",
    "DeviceRecord",
    "DeviceRequest",
    "ExtendedNeed",
    "GangRecord",
    "GroupRecord",
    "HostPort",
    "NodeRecord",
    "NodeTerm",
    "NumaRecord",
    "PodSetRecord",
    "PodTerm",
    "QueueRecord",
    "Record",
    "Requirement",
    "Share",
    "SliceRecord",
    "SpreadTerm",
    "StorageCapacityRecord",
    "TaintRecord",
    "TaskRecord",
    "TolerationRecord",
    "TopologyRecord",
    "TopologyRule",
    "VolumeClaimRecord",
    "ZoneRecord",
    "plain_gang",
]

Record: TypeAlias = (
    NodeRecord
    | QueueRecord
    | GangRecord
    | TaskRecord
    | TopologyRecord
    | DeviceClassRecord
    | SliceRecord
    | ClaimRecord
    | VolumeClaimRecord
    | StorageCapacityRecord
    | ConfigMapRecord
    | BudgetRecord
)
