"""The scheduler half's own kinds: Queue, PodGroup, BindRequest, Topology, Config, SchedulingShard.

Wire-compatible with the KAI scheduler; defaults that upstream applies in code are applied by whoever reads (rules/), not here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api.meta import Model, Object, Raw


class QueueResource(Model):
    quota: float = 0
    over_quota_weight: float = 0
    limit: float = 0


class QueueResources(Model):
    gpu: QueueResource = QueueResource()
    cpu: QueueResource = QueueResource()
    memory: QueueResource = QueueResource()


class QueueSpec(Model):
    display_name: str = ""
    parent_queue: str = ""
    priority: int | None = None
    preempt_min_runtime: str | None = None
    reclaim_min_runtime: str | None = None
    resources: QueueResources | None = None


class QueueStatus(Model):
    child_queues: tuple[str, ...] = ()
    allocated: dict[str, Any] = {}
    allocated_non_preemptible: dict[str, Any] = {}
    requested: dict[str, Any] = {}


class Queue(Object):
    spec: QueueSpec = QueueSpec()
    status: QueueStatus = QueueStatus()


class TopologyConstraint(Model):
    topology: str = ""
    required_topology_level: str = ""
    preferred_topology_level: str = ""


class SubGroup(Model):
    name: str
    min_member: int | None = None
    min_sub_group: int | None = None
    parent: str | None = None
    topology_constraint: TopologyConstraint | None = None


class PodGroupSpec(Model):
    min_member: int | None = None
    min_sub_group: int | None = None
    queue: str = ""
    priority_class_name: str = ""
    preemptibility: str = ""
    topology_constraint: TopologyConstraint = TopologyConstraint()
    sub_groups: tuple[SubGroup, ...] = ()
    mark_unschedulable: bool | None = None
    scheduling_backoff: int | None = None
    preemption_delay: str | None = None
    staleness_grace_period: str | None = None


class PodGroupResources(Model):
    allocated: dict[str, Any] = {}
    allocated_non_preemptible: dict[str, Any] = {}
    requested: dict[str, Any] = {}


class SchedulingCondition(Model):
    type: str = ""
    node_pool: str = ""
    reason: str = ""
    message: str = ""
    reasons: tuple[Raw, ...] = ()
    last_transition_time: str | None = None
    status: str = ""
    transition_id: str = msgspec.field(default="", name="transitionID")


class PodGroupStatus(Model):
    resources_status: PodGroupResources = PodGroupResources()
    scheduling_conditions: tuple[SchedulingCondition, ...] = ()


class PodGroup(Object):
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class ReceivedGpu(Model):
    count: int = 0
    portion: str = ""


class BindRequestSpec(Model):
    pod_name: str = ""
    selected_node: str = ""
    received_resource_type: str = ""
    received_gpu: ReceivedGpu | None = msgspec.field(default=None, name="receivedGPU")
    selected_gpu_groups: tuple[str, ...] = msgspec.field(default=(), name="selectedGPUGroups")
    resource_claim_allocations: tuple[Raw, ...] = ()
    extended_resource_claim_allocation: Raw | None = None
    predicted_numa_zones: tuple[Raw, ...] = msgspec.field(default=(), name="predictedNUMAZones")
    backoff_limit: int | None = None


class BindRequestStatus(Model):
    phase: str = ""
    reason: str = ""
    failed_attempts: int = 0


class BindRequest(Object):
    spec: BindRequestSpec = BindRequestSpec()
    status: BindRequestStatus = BindRequestStatus()


class TopologyLevel(Model):
    node_label: str
    alias: str = ""


class TopologySpec(Model):
    levels: tuple[TopologyLevel, ...] = ()


class Topology(Object):
    spec: TopologySpec = TopologySpec()


class ShardSpec(Model):
    partition_label_value: str = ""
    placement_strategy: Raw = {}
    args: dict[str, str] = {}
    min_runtime: Raw = {}


class SchedulingShard(Object):
    spec: ShardSpec = ShardSpec()
    status: Raw = {}


class Config(Object):
    spec: Raw = {}
    status: Raw = {}
