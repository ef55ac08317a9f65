"""core/v1: pods, nodes and the other built-in objects that we read.

Only the fields we use. A pod's template is passed on as plain data (`Raw`), never through these types.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gangline.api.meta import Condition, Model, Object, Raw


class ResourceRequirements(Model):
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    claims: tuple[Raw, ...] = ()


class Container(Model):
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


class SchedulingGate(Model):
    name: str


class Toleration(Model):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class PodResourceClaim(Model):
    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(Model):
    node_name: str = ""
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
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


class ContainerStatus(Model):
    name: str = ""
    ready: bool = False
    started: bool | None = None
    restart_count: int = 0
    state: Raw = {}
    last_state: Raw = {}


class PodStatus(Model):
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
    resource_claim_statuses: tuple[Raw, ...] = ()
    extended_resource_claim_status: Raw | None = None


class Pod(Object):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Taint(Model):
    key: str
    effect: str
    value: str = ""
    time_added: str | None = None


class NodeSpec(Model):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeStatus(Model):
    capacity: dict[str, Any] = {}
    allocatable: dict[str, Any] = {}
    conditions: tuple[Condition, ...] = ()


class Node(Object):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Model):
    phase: str = ""


class NamespaceSpec(Model):
    finalizers: tuple[str, ...] = ()


class Namespace(Object):
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class ConfigMap(Object):
    data: dict[str, str] = {}


class Secret(Object):
    type: str = ""
    data: dict[str, str] = {}


class ServiceSpec(Model):
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    selector: dict[str, str] = {}
    ports: tuple[Raw, ...] = ()
    publish_not_ready_addresses: bool = False


class Service(Object):
    spec: ServiceSpec = ServiceSpec()


class ServiceAccount(Object):
    secrets: tuple[Raw, ...] = ()


class VolumeClaimSpec(Model):
    storage_class_name: str | None = None
    volume_name: str = ""
    resources: ResourceRequirements = ResourceRequirements()


class VolumeClaimStatus(Model):
    phase: str = ""


class PersistentVolumeClaim(Object):
    spec: VolumeClaimSpec = VolumeClaimSpec()
    status: VolumeClaimStatus = VolumeClaimStatus()


class Event(Object):
    involved_object: Raw = {}
    reason: str = ""
    message: str = ""
    type: str = ""
    count: int = 0
