"""core/v1: pods, nodes and the other built-in objects that we read.

Only the fields we use. A pod's template is passed on as plain data (`Raw`), never through these types.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api.meta import Condition, Model, Object, Raw


class ResourceRequirements(Model, frozen=True):
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    claims: tuple[Raw, ...] = ()


class Container(Model, frozen=True):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[Raw, ...] = ()
    env_from: tuple[Raw, ...] = ()
    ports: tuple[Raw, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    volume_mounts: tuple[Raw, ...] = ()
    readiness_probe: Raw | None = None
    startup_probe: Raw | None = None


class SchedulingGate(Model, frozen=True):
    name: str


class Toleration(Model, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class PodResourceClaim(Model, frozen=True):
    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(Model, frozen=True):
    node_name: str = ""
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[Container, ...] = ()
    overhead: dict[str, Any] = {}
    node_selector: dict[str, str] = {}
    affinity: Raw | None = None
    tolerations: tuple[Toleration, ...] = ()
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    volumes: tuple[Raw, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    service_account_name: str = ""
    restart_policy: str = ""
    runtime_class_name: str = ""
    hostname: str = ""
    subdomain: str = ""
    termination_grace_period_seconds: int | None = None
    workload_ref: Raw | None = None
    scheduling_group: Raw | None = None
    topology_spread_constraints: tuple[Raw, ...] = ()
    readiness_gates: tuple[Raw, ...] = ()
    host_network: bool = False
    active_deadline_seconds: int | None = None


class ContainerStatus(Model, frozen=True):
    name: str = ""
    ready: bool = False
    started: bool | None = None
    restart_count: int = 0
    state: Raw = {}
    last_state: Raw = {}


class PodStatus(Model, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    start_time: str | None = None
    qos_class: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    ephemeral_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[Raw, ...] = ()
    extended_resource_claim_status: Raw | None = None


class Pod(Object, frozen=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Taint(Model, frozen=True):
    key: str
    effect: str
    value: str = ""
    time_added: str | None = None


class NodeSpec(Model, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeStatus(Model, frozen=True):
    capacity: dict[str, Any] = {}
    allocatable: dict[str, Any] = {}
    conditions: tuple[Condition, ...] = ()


class Node(Object, frozen=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Model, frozen=True):
    phase: str = ""


class NamespaceSpec(Model, frozen=True):
    finalizers: tuple[str, ...] = ()


class Namespace(Object, frozen=True):
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class ConfigMap(Object, frozen=True):
    data: dict[str, str] = {}


class Secret(Object, frozen=True):
    type: str = ""
    data: dict[str, str] = {}


class ServiceSpec(Model, frozen=True):
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    selector: dict[str, str] = {}
    ports: tuple[Raw, ...] = ()
    publish_not_ready_addresses: bool = False


class Service(Object, frozen=True):
    spec: ServiceSpec = ServiceSpec()


class ServiceAccount(Object, frozen=True):
    secrets: tuple[Raw, ...] = ()
    automount_service_account_token: bool | None = None


class VolumeClaimSpec(Model, frozen=True):
    storage_class_name: str | None = None
    volume_name: str = ""
    access_modes: tuple[str, ...] = ()
    volume_mode: str = ""
    volume_attributes_class_name: str | None = None
    selector: Raw | None = None
    resources: ResourceRequirements = ResourceRequirements()


class VolumeClaimStatus(Model, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(Object, frozen=True):
    spec: VolumeClaimSpec = VolumeClaimSpec()
    status: VolumeClaimStatus = VolumeClaimStatus()


class Event(Object, frozen=True):
    involved_object: Raw = {}
    reason: str = ""
    message: str = ""
    type: str = ""
    count: int = 0
    last_timestamp: str | None = None
    event_time: str | None = None
