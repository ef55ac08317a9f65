"""The scheduler half's own kinds: Queue, PodGroup, BindRequest, Topology, Config, SchedulingShard.

Wire-compatible with the KAI scheduler; defaults that upstream applies in code are applied by whoever reads (rules/),
not here."""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api.meta import Model, Object, Raw


class QueueResource(Model, frozen=True):
    quota: float = 0
    over_quota_weight: float = 0
    limit: float = 0


class QueueResources(Model, frozen=True):
    gpu: QueueResource = QueueResource()
    cpu: QueueResource = QueueResource()
    memory: QueueResource = QueueResource()


class QueueSpec(Model, frozen=True):
    display_name: str = ""
    parent_queue: str = ""
    priority: int | None = None
    preempt_min_runtime: str | None = None
    reclaim_min_runtime: str | None = None
    resources: QueueResources | None = None


class QueueStatus(Model, frozen=True):
    child_queues: tuple[str, ...] = ()
    allocated: dict[str, Any] = {}
    allocated_non_preemptible: dict[str, Any] = {}
    requested: dict[str, Any] = {}


class Queue(Object, frozen=True):
    spec: QueueSpec = QueueSpec()
    status: QueueStatus = QueueStatus()


class TopologyConstraint(Model, frozen=True):
    topology: str = ""
    required_topology_level: str = ""
    preferred_topology_level: str = ""


class SubGroup(Model, frozen=True):
    name: str
    min_member: int | None = None
    min_sub_group: int | None = None
    parent: str | None = None
    topology_constraint: TopologyConstraint | None = None


class PodGroupSpec(Model, frozen=True):
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


class PodGroupResources(Model, frozen=True):
    allocated: dict[str, Any] = {}
    allocated_non_preemptible: dict[str, Any] = {}
    requested: dict[str, Any] = {}


class SchedulingCondition(Model, frozen=True):
    type: str = ""
    node_pool: str = ""
    reason: str = ""
    message: str = ""
    reasons: tuple[Raw, ...] = ()
    last_transition_time: str | None = None
    status: str = ""
    transition_id: str = msgspec.field(default="", name="transitionID")


class StartStatus(Model, frozen=True):
    """When a waiting gang starts, as the scheduler promised it; ours, upstream has none."""

    expected: str | None = None
    latest: str | None = None
    waits_for: str = ""
    reason: str = ""


class PodGroupStatus(Model, frozen=True):
    conditions: tuple[Raw, ...] = ()
    resources_status: PodGroupResources = PodGroupResources()
    scheduling_conditions: tuple[SchedulingCondition, ...] = ()
    start: StartStatus | None = None


class PodGroup(Object, frozen=True):
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class ReceivedGpu(Model, frozen=True):
    count: int = 0
    portion: str = ""


class BindTarget(Model, frozen=True):
    """Where one pod goes, and what it gets there."""

    pod_name: str = ""
    selected_node: str = ""
    received_resource_type: str = ""
    received_gpu: ReceivedGpu | None = msgspec.field(default=None, name="receivedGPU")
    selected_gpu_groups: tuple[str, ...] = msgspec.field(default=(), name="selectedGPUGroups")
    resource_claim_allocations: tuple[Raw, ...] = ()
    extended_resource_claim_allocation: Raw | None = None
    predicted_numa_zones: tuple[Raw, ...] = msgspec.field(default=(), name="predictedNUMAZones")


class BindOrder(BindTarget, frozen=True):
    """One pod of a request that speaks for several."""

    pod_uid: str = msgspec.field(default="", name="podUID")
    annotations: dict[str, str] = {}
    """Written onto the pod by the bind."""


class BindRequestSpec(BindTarget, frozen=True):
    """Of one pod, as upstream writes it; or of `pods`, and then the fields of the one are empty."""

    backoff_limit: int | None = None
    gang: str = ""
    """The PodGroup; empty: pods that stand for themselves."""
    pods: tuple[BindOrder, ...] = ()


class BindRequestStatus(Model, frozen=True):
    phase: str = ""
    reason: str = ""
    failed_attempts: int = 0


class BindRequest(Object, frozen=True):
    spec: BindRequestSpec = BindRequestSpec()
    status: BindRequestStatus = BindRequestStatus()


class TopologyLevel(Model, frozen=True):
    node_label: str
    alias: str = ""


class TopologySpec(Model, frozen=True):
    levels: tuple[TopologyLevel, ...] = ()


class Topology(Object, frozen=True):
    spec: TopologySpec = TopologySpec()


class SchedulingShard(Object, frozen=True):
    spec: Raw = {}
    status: Raw = {}


class Config(Object, frozen=True):
    spec: Raw = {}
    status: Raw = {}
