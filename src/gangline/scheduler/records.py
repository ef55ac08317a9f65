"""The one neutral input form of the decision core: plain records of what stands in a cluster.

`snapshots/whole.py` fills these from API objects, the conformance runner from case files, `load` from a saved snapshot;
`model/cluster.py` turns them into the model. Records are frozen values: to change something, apply a new record with
the same key. Nothing here decides anything.

Units, once and for all: cpu in milli-cores, memory and storage in bytes, gpu in devices, pods and MIG profiles as
counts, every other resource in thousandths. GPU memory in MiB. Times in seconds since the epoch. -1 means unlimited
in quotas and limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gangline.rules.requests import GpuRequest
from gangline.scheduler.model.status import Status

Amounts: TypeAlias = Mapping[str, float]
"""Resource name → amount, in the units above. The names "cpu", "memory", "gpu" and "pods" are the fixed ones."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of a selector; operators as in Kubernetes: In NotIn Exists DoesNotExist Gt Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """All label and field requirements must hold; a pod's required terms are alternatives."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class PodTerm:
    """One inter-pod (anti-)affinity term. `namespaces` empty and no namespace selector: the pod's own namespace.

    `every_namespace` stands for an empty namespace selector. `weight` is 0 for required terms."""

    topology_key: str
    selector: tuple[Requirement, ...] | None = ()
    namespaces: tuple[str, ...] = ()
    every_namespace: bool = False
    weight: int = 0


@dataclass(frozen=True, slots=True)
class TaintRecord:
    key: str
    effect: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class TolerationRecord:
    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class ZoneRecord:
    """One NUMA zone; a resource that is missing is 0. `available` already excludes running pods."""

    id: int
    allocatable: Amounts
    available: Amounts


@dataclass(frozen=True, slots=True)
class NumaRecord:
    """`policy`: none, best-effort, restricted, single-numa-node. `scope`: container or pod. `resources`: the aligned
    names."""

    policy: str
    scope: str
    resources: tuple[str, ...]
    zones: tuple[ZoneRecord, ...]


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """`ready` is the verdict on the node's conditions and `unschedulable`; `ready_reason` says why not.

    `gpu_memory` is per device, already floored to a multiple of 100; `mig_enabled` None means the label is absent.
    `gpu_resources`: the GPUs of `allocatable` by the resource names under which device plugins offer them; empty: not
    known."""

    name: str
    allocatable: Amounts
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[TaintRecord, ...] = ()
    ready: bool = True
    ready_reason: str = ""
    gpu_memory: int = 100
    gpu_memory_synced: bool = False
    gpu_count: int | None = None
    mig_enabled: bool | None = None
    mig_strategy: str = ""
    numa: NumaRecord | None = None
    gpu_resources: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Share:
    """What a queue is promised of one resource. Memory here is in bytes."""

    quota: float = 0
    limit: float = 0
    weight: float = 0
    usage: float = 0


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """`lost_per_hour`: the most GPU-hours that its gangs may lose by evictions in an hour; `evictions_per_day`: how
    often a gang of it may be evicted; None: as the settings say."""

    name: str
    parent: str = ""
    priority: int = 100
    created: float = 0
    cpu: Share = Share()
    memory: Share = Share()
    gpu: Share = Share()
    display_name: str = ""
    preempt_min_runtime: float | None = None
    reclaim_min_runtime: float | None = None
    lost_per_hour: float | None = None
    evictions_per_day: float | None = None


@dataclass(frozen=True, slots=True)
class TopologyRule:
    """The topology constraint of a gang, group or pod set. Levels are node label keys; "" is not given."""

    topology: str = ""
    required: str = ""
    preferred: str = ""


@dataclass(frozen=True, slots=True)
class PodSetRecord:
    name: str
    min_available: int = 0
    topology: TopologyRule | None = None


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """An inner node of a gang's tree; the root is named "". `min_groups` None: every direct member is needed."""

    name: str = ""
    min_groups: int | None = None
    topology: TopologyRule | None = None
    groups: tuple[GroupRecord, ...] = ()
    pod_sets: tuple[PodSetRecord, ...] = ()


DEFAULT_POD_SET = "default"


def plain_gang(min_available: int = 1, topology: TopologyRule | None = None) -> GroupRecord:
    """The tree of a gang without sub-groups."""
    return GroupRecord(topology=topology, pod_sets=(PodSetRecord(DEFAULT_POD_SET, min_available),))


@dataclass(frozen=True, slots=True)
class GangRecord:
    """A PodGroup. `preemptible` None: decided by the priority (< 100). `expected_runtime`: seconds from its start to
    its end, where somebody said so or it was learned. What it did before `last_checkpoint` is safe;
    `checkpoint_interval`: seconds from one to the next where they come regularly, 0 where they do not."""

    uid: str
    queue: str
    name: str = ""
    namespace: str = ""
    priority: int = 50
    preemptible: bool | None = None
    created: float = 0
    tree: GroupRecord = field(default_factory=plain_gang)
    preemption_delay: float = 0
    staleness_grace: float | None = None
    stale_since: float | None = None
    last_start: float | None = None
    last_eviction: float | None = None
    skipped: bool = False
    problems: tuple[str, ...] = ()
    expected_runtime: float | None = None
    last_checkpoint: float | None = None
    checkpoint_interval: float = 0


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
class TaskRecord:
    """A pod. `gang` "" means that it belongs to nobody we schedule. `request` is the effective pod request without
    GPUs; GPUs are in `gpu`. `node` counts only in statuses that hold resources. `extended_devices`: what it has of
    devices that back its extended resources. `gpu_resources`: the whole GPUs of `gpu` by resource name; empty: not
    known, or not asked for by name. `expected_runtime`: seconds from its start to its end, where its annotation or
    deadline says so."""

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


@dataclass(frozen=True, slots=True)
class TopologyRecord:
    """Levels are node label keys from coarse to fine."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeviceClassRecord:
    """`resource`: the extended resource that this class backs, if any. `driver`: the only driver whose devices it
    selects ("": any). `selectors`: CEL expressions that must all hold for a device. `config` goes to the driver as it
    is."""

    name: str
    resource: str = ""
    driver: str = ""
    selectors: tuple[str, ...] = ()
    config: tuple[Mapping[str, object], ...] = ()
    created: float = 0


Counters: TypeAlias = Mapping[str, Mapping[str, float]]
"""Counter set → counter → amount."""


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """`attributes` and `capacity` by `domain/name`; an attribute is {type: value} as its driver wrote it. `counters`:
    what the device takes of its pool's shared counters. `node`, `nodes`, `everywhere` count only in slices that leave
    it to devices."""

    name: str
    device_class: str = ""
    attributes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[TaintRecord, ...] = ()
    counters: Counters = field(default_factory=dict)
    node: str = ""
    nodes: tuple[NodeTerm, ...] | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class SliceRecord:
    """Devices of one driver on one node, on the nodes that match `nodes`, or `everywhere`; slices of the same pool are
    one pool, of which only the newest generation counts and is complete with so many `slices`. `by_device`: each device
    says where it is."""

    name: str
    node: str
    driver: str
    pool: str
    devices: tuple[DeviceRecord, ...] = ()
    nodes: tuple[NodeTerm, ...] | None = None
    everywhere: bool = False
    by_device: bool = False
    generation: int = 0
    slices: int = 0
    counters: Counters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeviceId:
    driver: str
    pool: str
    device: str
    request: str = ""
    admin: bool = False


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """`count` None: every matching device of the node. `admin`: looks at devices without taking them. `choices`: the
    first of these that can be met stands for the request."""

    name: str
    device_class: str
    count: int | None = 1
    selectors: tuple[str, ...] = ()
    tolerations: tuple[TolerationRecord, ...] = ()
    admin: bool = False
    choices: tuple[DeviceRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceConstraint:
    """The devices of these requests (none named: of all) have the same value of one attribute, or all different
    ones."""

    requests: tuple[str, ...] = ()
    same: str = ""
    different: str = ""


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """A ResourceClaim. `allocated` None: not allocated yet. `nodes`: where the allocation is usable (None:
    everywhere). `pod`: uid of the pod for whose extended resources the binder made the claim."""

    name: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    requests: tuple[DeviceRequest, ...] = ()
    allocated: tuple[DeviceId, ...] | None = None
    nodes: tuple[NodeTerm, ...] | None = None
    reserved_for: tuple[str, ...] = ()
    template: bool = False
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[Mapping[str, object], ...] = ()
    pod: str = ""


@dataclass(frozen=True, slots=True)
class VolumeClaimRecord:
    """A PersistentVolumeClaim. `nodes`: the node affinity of its bound volume. `waits`: its class binds on first
    use."""

    name: str
    namespace: str = ""
    bound: bool = False
    waits: bool = True
    nodes: tuple[NodeTerm, ...] | None = None
    storage_class: str = ""
    size: float = 0
    deleted: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class StorageCapacityRecord:
    """What is left of a storage class on the nodes that match."""

    name: str
    storage_class: str
    free: float
    nodes: tuple[NodeTerm, ...] | None = None


@dataclass(frozen=True, slots=True)
class ConfigMapRecord:
    name: str
    namespace: str = ""


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
)
