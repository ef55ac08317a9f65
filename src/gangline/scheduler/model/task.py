"""A task: one pod as the core sees it — what it asks for, where it is, and what it was really given.

A Task is changed only by the cluster (events) and by a statement (decisions), always through the journal. What it
asks for never changes; tasks that ask for the same thing in the same way share one `TaskShape`, so that nodes are
filtered and scored once for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gangline.rules.requests import GpuRequest
from gangline.scheduler.matching import counts
from gangline.scheduler.model.resources import GPU, ResourceNames, Vector, half_up, mig_portion, plain
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import TaskRecord

if TYPE_CHECKING:
    from gangline.scheduler.model.gang import GangInfo, PodSet
    from gangline.scheduler.model.queue import Booking


ZoneShare = tuple[int, tuple[tuple[str, float], ...]]
"""A NUMA zone (its place on the node) and what a task takes of it."""


def gpus_of(request: GpuRequest) -> float:
    """Whole and fractional devices asked for, to the hundredth; GPU memory, MIG and DRA count 0 here."""
    return plain(request.gpus)


def _hundredths(portion: float, count: int) -> float:
    return plain(half_up(portion * 100) * count / 100)


def share_of(memory: int, gpu_memory: int) -> float:
    """The portion of a device that so much memory takes, rounded up to the hundredth."""
    return math.ceil(memory / gpu_memory * 100) / 100


def gpu_quota(request: GpuRequest) -> float:
    """Devices as quotas count them: MIG instances by portion, DRA devices, whole and fractional devices."""
    mig = sum(mig_portion(name) * amount for name, amount in request.mig.items())
    return mig + request.dra_gpus + gpus_of(request)


def request_vector(record: TaskRecord, names: ResourceNames) -> Vector:
    amounts: dict[str, float] = dict(record.request)
    amounts["pods"] = 1
    amounts["gpu"] = gpus_of(record.gpu) + record.gpu.dra_gpus
    amounts.update(record.gpu.mig)
    return names.vector(amounts)


@dataclass(slots=True, eq=False)
class TaskShape:
    """What filters and scores may look at besides the node: tasks with the same shape get the same answers.

    `plain` is false for tasks whose answers depend on more than the shape and the node's own state (claims, volumes,
    inter-pod affinity)."""

    key: tuple[Any, ...]
    number: int
    request: Vector
    gpu: GpuRequest
    sample: TaskInfo
    plain: bool
    answers: dict[Any, Any] = field(default_factory=dict)
    seen: int = 0
    """How many tasks of this shape came."""


class TaskInfo:
    """`status`, `node`, `gpu_groups`, `virtual`, `accepted`… are the changing part; `record` holds everything else.

    `backed` are the places of resources that device classes back: a node without them may still have the devices.
    `accepted` is the vector the task was really given (set when it is placed); queues account by it."""

    __slots__ = (
        "accepted",
        "accepted_memory",
        "accepted_portion",
        "backed",
        "booked",
        "created",
        "gang",
        "gpu",
        "gpu_groups",
        "gpu_names",
        "gpus",
        "labels",
        "name",
        "namespace",
        "needs_gpu",
        "node",
        "numa",
        "order_key",
        "pod_set",
        "quota_gpus",
        "record",
        "request",
        "shape",
        "shared",
        "status",
        "uid",
        "virtual",
    )

    def __init__(self, record: TaskRecord, names: ResourceNames, like: TaskInfo | None = None) -> None:
        """`like`: another task that asks for the same; what was computed for it is taken over."""
        gpu = record.gpu
        self.record = record
        self.uid = record.uid
        self.name = record.name or record.uid
        self.namespace = record.namespace
        self.labels = record.labels
        self.created = record.created
        self.gpu = gpu
        self.gpus: float
        self.quota_gpus: float
        self.request: Vector
        self.gpu_names: tuple[str, ...]
        self.shared: bool
        self.needs_gpu: bool
        if like is not None:
            self.gpus, self.quota_gpus, self.request = like.gpus, like.quota_gpus, like.request
            self.shared, self.needs_gpu, self.gpu_names = like.shared, like.needs_gpu, like.gpu_names
        else:
            self.gpus, self.quota_gpus, self.request = gpus_of(gpu), gpu_quota(gpu), request_vector(record, names)
            self.gpu_names = tuple(sorted(record.gpu_resources))
            self.shared = gpu.kind in ("Fraction", "GpuMemory")
            self.needs_gpu = self.gpus > 0 or bool(gpu.dra) or gpu.kind in ("GpuMemory", "MigInstance")
        self.status = record.status
        self.node = record.node
        self.gpu_groups = record.gpu_groups
        self.virtual = False
        self.gang: GangInfo | None = None
        self.pod_set: PodSet | None = None
        self.accepted: Vector | None = None
        self.accepted_portion: float = 0
        self.accepted_memory: int = 0
        self.numa: tuple[ZoneShare, ...] | None = None
        self.shape: TaskShape
        self.backed: tuple[int, ...] = ()
        self.order_key: tuple[Any, ...] | None = None
        self.booked: Booking | None = None

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def given(self) -> Vector:
        """What the task occupies once placed, what it asks for before."""
        return self.request if self.accepted is None else self.accepted

    @property
    def accepted_gpus(self) -> float:
        """Whole and fractional devices that the task was given, to the hundredth."""
        if self.accepted is None:
            return 0
        return (
            self.gpus
            if self.accepted_portion == self.gpu.portion
            else _hundredths(self.accepted_portion, self.gpu.count)
        )

    def allocatable(self, simulation: bool) -> bool:
        """Whether an attempt may place this task: waiting, or (in a simulation) evicted by it."""
        return self.status == Status.PENDING or (simulation and self.status == Status.RELEASING and self.virtual)

    def accept(self, gpu_memory: int) -> None:
        """Compute what a node with this much memory per GPU really gives to the task."""
        gpu = self.gpu
        if gpu.kind == "MigInstance":
            self.accepted, self.accepted_portion, self.accepted_memory = self.request, 0, 0
            return
        portion, memory = gpu.portion, gpu.memory
        if self.shared:
            if gpu.memory:
                portion = share_of(gpu.memory, gpu_memory)
            else:
                memory = int(gpu.portion * gpu_memory)
        self.accepted_portion, self.accepted_memory = portion, memory
        if gpu.memory:
            given = list(self.request)
            given[GPU] = _hundredths(portion, gpu.count) + gpu.dra_gpus
            self.accepted = tuple(given)
        else:
            self.accepted = self.request

    def __repr__(self) -> str:
        return f"<{self.uid} {self.status.label}{' on ' + self.node if self.node else ''}>"


def shape_key(record: TaskRecord) -> tuple[Any, ...]:
    gpu = record.gpu
    return (
        tuple(record.request.items()),
        gpu.kind,
        gpu.count,
        gpu.portion,
        gpu.memory,
        _items(gpu.dra),
        _items(gpu.mig),
        gpu.legacy_mig,
        _items(record.gpu_resources),
        _items(record.node_selector),
        record.node_affinity,
        record.tolerations,
        (record.namespace, *[(term, counts(term, record.labels)) for term in record.spread]) if record.spread else (),
        record.host_ports,
        record.nominated_node,
        record.utility,
        record.qos,
        tuple([(_items(container.requests), container.init, container.sidecar) for container in record.containers])
        if record.containers
        else (),
    )


def _items(amounts: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(amounts.items())) if amounts else ()


def is_plain(record: TaskRecord) -> bool:
    """Whether filters and scores depend on nothing but the shape and the node."""
    return not (
        record.claims
        or record.missing_claims
        or record.volumes
        or record.pod_affinity
        or record.pod_anti_affinity
        or record.preferred_affinity
        or record.preferred_anti_affinity
        or record.config_maps
    )
