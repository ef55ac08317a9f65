"""The other built-in groups that we read: batch, apps, scheduling, coordination, resource, storage, autoscaling.

Only the fields we use; pod templates stay plain data.
"""

from __future__ import annotations

from typing import Any

from gangline.api.meta import LabelSelector, Model, Object, Raw


class JobSpec(Model, frozen=True):
    parallelism: int | None = None
    completions: int | None = None
    backoff_limit: int | None = None
    suspend: bool = False
    completion_mode: str = ""
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    selector: LabelSelector | None = None
    template: Raw = {}
    managed_by: str | None = None
    pod_failure_policy: Raw | None = None
    pod_replacement_policy: str | None = None
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None


class JobStatus(Model, frozen=True):
    active: int = 0
    ready: int | None = None
    succeeded: int = 0
    failed: int = 0
    conditions: tuple[Raw, ...] = ()
    start_time: str | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    terminating: int | None = None
    uncounted_terminated_pods: Raw = {}


class Job(Object, frozen=True):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class ReplicatedSpec(Model, frozen=True):
    """Deployment, ReplicaSet and StatefulSet as far as we read them."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: Raw = {}
    service_name: str = ""
    pod_management_policy: str = ""
    min_ready_seconds: int = 0
    paused: bool = False
    strategy: Raw = {}
    update_strategy: Raw = {}
    revision_history_limit: int | None = None
    volume_claim_templates: tuple[Raw, ...] = ()
    ordinals: Raw = {}
    persistent_volume_claim_retention_policy: Raw = {}


class ReplicatedStatus(Model, frozen=True):
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int = 0
    fully_labeled_replicas: int = 0
    updated_replicas: int = 0
    unavailable_replicas: int = 0
    current_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    conditions: tuple[Raw, ...] = ()


class Replicated(Object, frozen=True):
    spec: ReplicatedSpec = ReplicatedSpec()
    status: ReplicatedStatus = ReplicatedStatus()


class PriorityClass(Object, frozen=True):
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""


class LeaseSpec(Model, frozen=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Lease(Object, frozen=True):
    spec: LeaseSpec = LeaseSpec()


class WorkloadSpec(Model, frozen=True):
    """scheduling.k8s.io Workload, the form kube-scheduler 1.35 reads."""

    pod_groups: tuple[Raw, ...] = ()
    controller_ref: Raw | None = None


class Workload(Object, frozen=True):
    spec: WorkloadSpec = WorkloadSpec()


class Untyped(Object, frozen=True):
    """A kind of which we read no more than its spec and status as plain data."""

    spec: Any = None
    status: Any = None


class Rights(Object, frozen=True):
    """A Role, or who has one."""

    rules: tuple[Raw, ...] | None = None
    subjects: tuple[Raw, ...] | None = None


class StorageClass(Object, frozen=True):
    provisioner: str = ""
    volume_binding_mode: str = ""
    allowed_topologies: tuple[Raw, ...] = ()


class StorageCapacity(Object, frozen=True):
    """CSIStorageCapacity: what is left of a class on the nodes that match."""

    storage_class_name: str = ""
    node_topology: Raw | None = None
    capacity: Any = None
    maximum_volume_size: Any = None


class NodeResourceTopology(Object, frozen=True):
    zones: tuple[Raw, ...] = ()
    attributes: tuple[Raw, ...] = ()
    topology_policies: tuple[str, ...] = ()


class EndpointSlice(Object, frozen=True):
    address_type: str = ""
    endpoints: tuple[Raw, ...] | None = ()
    ports: tuple[Raw, ...] | None = ()
