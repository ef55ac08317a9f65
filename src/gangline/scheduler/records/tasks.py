"""Pods as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.status import Status
from gangline.scheduler.records.devices import DeviceId
from gangline.scheduler.records.gangs import DEFAULT_POD_SET, MoveWish
from gangline.scheduler.records.terms import Amounts, NodeTerm, PodTerm, Requirement, SpreadTerm, TolerationRecord

NO_GPU = GpuRequest()


@dataclass(frozen=True, slots=True)
class ContainerRecord:
    """What NUMA alignment needs to know of one container, in start order. `sidecar`: an init container that keeps
    running."""

    requests: Amounts
    init: bool = False
    sidecar: bool = False


@dataclass(frozen=True, slots=True)
class ExtendedNeed:
    """So many of an extended resource for one container: `place` is the container's among init and other containers,
    `number` the resource's among its sorted requests. `lasting`: the container keeps running."""

    container: str
    place: int
    number: int
    resource: str
    count: int
    lasting: bool = True


@dataclass(frozen=True, slots=True)
class HostPort:
    port: int
    protocol: str = "TCP"
    ip: str = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class BudgetRecord:
    """A PodDisruptionBudget: how many of the pods of its namespace that match may go now. `selector` None: it is about
    no pod."""

    name: str
    namespace: str = ""
    selector: tuple[Requirement, ...] | None = None
    allowed: int = 0


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A pod. `gang` "" means that it belongs to nobody we schedule. `request` is the effective pod request without
    GPUs; GPUs are in `gpu`. `node` counts only in statuses that hold resources. `extended_devices`: what it has of
    devices that back its extended resources. `gpu_resources`: the whole GPUs of `gpu` by resource name; empty: not
    known, or not asked for by name. `expected_runtime`: seconds from its start to its end, where its annotation or
    deadline says so. `started`: when its node took it on. `move`: how consolidation may move it, where its gang says
    nothing; `replaceable`: its owner can start another pod in its place first, and `replaces`: it is such a pod."""

    uid: str
    gang: str = ""
    name: str = ""
    namespace: str = ""
    pod_set: str = DEFAULT_POD_SET
    status: Status = Status.PENDING
    node: str = ""
    created: float = 0
    request: Amounts = field(default_factory=dict)
    overhead: Amounts = field(default_factory=dict)
    gpu: GpuRequest = NO_GPU
    gpu_groups: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    node_affinity: tuple[NodeTerm, ...] | None = None
    pod_affinity: tuple[PodTerm, ...] = ()
    pod_anti_affinity: tuple[PodTerm, ...] = ()
    preferred_affinity: tuple[PodTerm, ...] = ()
    preferred_anti_affinity: tuple[PodTerm, ...] = ()
    spread: tuple[SpreadTerm, ...] = ()
    tolerations: tuple[TolerationRecord, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    priority_class: str = ""
    priority: int = 0
    volumes: tuple[str, ...] = ()
    config_maps: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    missing_claims: tuple[str, ...] = ()
    template_claims: tuple[str, ...] = ()
    extended: tuple[ExtendedNeed, ...] = ()
    extended_devices: tuple[DeviceId, ...] = ()
    numa_zones: tuple[int, ...] | None = None
    numa_amounts: tuple[Amounts, ...] = ()
    containers: tuple[ContainerRecord, ...] = ()
    qos: str = ""
    nominated_node: str = ""
    utility: Literal["", "reservation", "scaling"] = ""
    signature: str = ""
    gpu_resources: Amounts = field(default_factory=dict)
    expected_runtime: float | None = None
    last_checkpoint: float | None = None
    started: float | None = None
    move: MoveWish = ""
    replaceable: bool = False
    replaces: bool = False
