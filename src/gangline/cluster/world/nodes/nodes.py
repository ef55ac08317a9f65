"""Simulated nodes as a small file: what a user writes → Node objects.

The file (`gangline up --nodes FILE`) is one list of pools; only `name` is required:

    nodes:
    - name: gpu                      # nodes gpu-0, gpu-1 …; without count one node of exactly this name
      count: 4
      gpus: 8                        # nvidia.com/gpu
      gpuMemory: 80Gi                # of each GPU; becomes the label nvidia.com/gpu.memory in MiB
      gpuProduct: NVIDIA-H100
      cpu: 96
      memory: 1Ti
      pods: 110
      labels: {example.com/zone: a}
      topology: {example.com/block: 4, example.com/rack: 2}     # 4 nodes to a block, 2 to a rack, in the order of their
      numbers
      taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
      mig: {1g.5gb: 7}               # nvidia.com/mig-1g.5gb: 7
      numa: 2                        # zones of its NodeResourceTopology, resources shared out evenly
      dra: false                     # true: its GPUs are devices of a ResourceSlice (driver gpu.nvidia.com) instead of
      nvidia.com/gpu
      resources: {rdma/hca: 8}       # anything else a pod may ask for
      annotations: {}
      unschedulable: false
      failures:                      # what goes wrong, in seconds after the node was made
      - {after: 60, seconds: 30, nodes: [0, 2], how: lost}      # or not-ready; without seconds for ever, without nodes
      all
    - name: spare                    # a pool without nodes of its own: a cluster autoscaler adds and removes them
      gpus: 8
      grow: {least: 0, most: 4, delay: 30, idle: 600}            # seconds until a machine comes, and until an idle one
      goes
    provisioners:                    # like Karpenter: of several shapes the smallest that holds all that waits
    - name: flexible
      shapes: [{name: one, gpus: 1}, {name: eight, gpus: 8}]     # each with the fields of a pool
      most: 10
      delay: 30
      batch: 1                       # seconds it waits for more pods before it orders
      empty: 30                      # seconds until a node without pods goes

Pure: heartbeats.py registers what is made here and keeps it alive, kubelet.py plays its pods.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from gangline.api import names, resources
from gangline.api.core import Node
from gangline.api.meta import Raw
from gangline.errors import BadInput
from gangline.rules.values.documents import DocumentUnreadable, read_yaml

READY = "ready"
NOT_READY: Literal["not-ready"] = "not-ready"
LOST: Literal["lost"] = "lost"
NVIDIA_PRODUCT = "nvidia.com/gpu.product"
MIG_STRATEGY = "nvidia.com/mig.strategy"
VERSION = "v1.35.0"
HEALTHY = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)


MOST_NODES = 20_000
"""Nodes that a file may ask for, four times what a Kubernetes cluster may have; those that a pool may grow to count."""
MOST_DEVICES = 10_000
"""GPUs, slices of one size, NUMA nodes or pods of one node."""


class NodesFilePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The base of what the file may hold."""


class NodeTaint(NodesFilePart, frozen=True):
    key: str
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    value: str = ""


class NodeFailure(NodesFilePart, frozen=True):
    after: float
    seconds: float | None = None
    nodes: tuple[int, ...] | None = None
    how: Literal["lost", "not-ready"] = LOST

    def covers(self, age: float) -> bool:
        return self.after <= age and (self.seconds is None or age < self.after + self.seconds)


class GrowthPart(NodesFilePart, frozen=True):
    least: int = 0
    most: int = 10
    delay: float = 30.0
    idle: float = 600.0


class NodePool(NodesFilePart, frozen=True):
    name: str
    count: int | None = None
    gpus: int = 0
    gpu_memory: str | int = "80Gi"
    gpu_product: str = ""
    cpu: str | int | float = "64"
    memory: str | int = "512Gi"
    pods: int = 110
    labels: dict[str, str] = {}
    topology: dict[str, int] = {}
    taints: tuple[NodeTaint, ...] = ()
    mig: dict[str, int] = {}
    numa: int = 0
    dra: bool = False
    resources: dict[str, str | int | float] = {}
    annotations: dict[str, str] = {}
    unschedulable: bool = False
    failures: tuple[NodeFailure, ...] = ()
    grow: GrowthPart | None = None


class ProvisionerPart(NodesFilePart, frozen=True):
    """What the simulated provisioner may add: nodes of any of these shapes, and how it goes about it."""

    name: str
    shapes: tuple[NodePool, ...]
    most: int = 10
    delay: float = 30.0
    """From the wish to a node that is ready."""
    batch: float = 1.0
    """How long it waits for further pods before it orders."""
    empty: float = 30.0
    """A node that has held nothing for so long is taken away."""


class NodeFile(NodesFilePart, frozen=True):
    nodes: tuple[NodePool, ...] = ()
    provisioners: tuple[ProvisionerPart, ...] = ()


DEFAULT_NODES = (
    NodePool(
        name="node",
        count=4,
        gpus=8,
        topology={"topology.kubernetes.io/zone": 4, "gangline.io/block": 2, "gangline.io/rack": 1},
    ),
)


def read_nodes(text: str, source: str = "the nodes file") -> tuple[NodePool, ...]:
    """The pools of a file that stand from the start."""
    return tuple(pool for pool in read_file(text, source).nodes if pool.grow is None)


def read_file(text: str, source: str = "the nodes file") -> NodeFile:
    """All of a file; an error names its place."""
    try:
        file = msgspec.convert(read_yaml(text), NodeFile)
    except DocumentUnreadable as error:
        raise BadInput(f"{source} is not YAML: {error}") from error
    except msgspec.ValidationError as error:
        raise BadInput(f"{source}: {error}; see nodes.yaml of `gangline examples`") from error
    problems = [f"nodes[{at}].{problem}" for at, pool in enumerate(file.nodes) for problem in _problems(pool)]
    wanted = sum(_most(pool) for pool in file.nodes) + sum(provisioner.most for provisioner in file.provisioners)
    if wanted > MOST_NODES:
        raise BadInput(f"{source}: {wanted} nodes are too many; at most {MOST_NODES} can be simulated")
    problems += [
        f"two nodes are called {name}" for name in _twice(name for pool in file.nodes for name in node_names(pool))
    ]
    for at, provisioner in enumerate(file.provisioners):
        problems += [f"provisioners[{at}].shapes{problem}" for problem in _shape_problems(provisioner.shapes)]
    if problems:
        raise BadInput(f"{source}: {'; '.join(problems)}")
    return file


def _shape_problems(shapes: tuple[NodePool, ...]) -> Iterator[str]:
    if not shapes:
        yield ": write at least one"
    for number, shape in enumerate(shapes):
        yield from (f"[{number}].{problem}" for problem in _problems(shape))


def _problems(pool: NodePool) -> Iterator[str]:
    amounts = {
        "gpuMemory": pool.gpu_memory,
        "cpu": pool.cpu,
        "memory": pool.memory,
        **{f"resources.{name}": value for name, value in pool.resources.items()},
    }
    for field, value in amounts.items():
        try:
            resources.nanos(value)
        except resources.QuantityError as error:
            yield f"{field}: {error}"
    counts = {"count": pool.count or 0, "gpus": pool.gpus, "numa": pool.numa, "pods": pool.pods}
    yield from (f"{field}: {value} is below 0" for field, value in counts.items() if value < 0)
    devices = {
        "gpus": pool.gpus,
        "numa": pool.numa,
        "pods": pool.pods,
        **{f"mig.{size}": count for size, count in pool.mig.items()},
    }
    yield from (
        f"{field}: {value} is more than {MOST_DEVICES}" for field, value in devices.items() if value > MOST_DEVICES
    )
    if pool.grow is not None and pool.count is not None:
        yield "count: a pool that grows has none; write grow.least"
    yield from (
        f"topology.{label}: {size} nodes make no level; write 1 or more"
        for label, size in pool.topology.items()
        if size < 1
    )


def _most(pool: NodePool) -> int:
    """How many nodes of a pool there may come to be."""
    if pool.grow is not None:
        return pool.grow.most
    return 1 if pool.count is None else pool.count


def _twice(given: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return sorted({name for name in given if name in seen or seen.add(name)})  # type: ignore[func-returns-value]


def node_names(pool: NodePool) -> list[str]:
    if pool.grow is not None:
        return [f"{pool.name}-{number}" for number in range(pool.grow.most)]
    return [pool.name] if pool.count is None else [f"{pool.name}-{number}" for number in range(pool.count)]


def node_objects(pools: Iterable[NodePool], now: str) -> list[Raw]:
    """Every node of the pools, as it registers itself."""
    return [node_object(pool, number, name, now) for pool in pools for number, name in enumerate(node_names(pool))]


def node_object(pool: NodePool, number: int, name: str, now: str) -> Raw:
    failures = [failure for failure in pool.failures if failure.nodes is None or number in failure.nodes]
    annotations = dict(pool.annotations)
    if failures:
        annotations[names.FAILURES] = json.dumps(
            [{"after": failure.after, "seconds": failure.seconds, "how": failure.how} for failure in failures]
        )
    spec: Raw = {
        "podCIDR": f"10.{number >> 8 & 255}.{number & 255}.0/24",
        "providerID": names.SIMULATED_PROVIDER + name,
    }
    if pool.taints:
        spec["taints"] = [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in pool.taints]
    if pool.unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": _labels(pool, number, name), "annotations": annotations},
        "spec": spec,
        "status": _status(pool, name, now),
    }


def _labels(pool: NodePool, number: int, name: str) -> dict[str, str]:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        names.SIMULATED: "true",
        names.POOL: pool.name,
    }
    if pool.gpus or pool.mig:
        labels |= {
            names.GPU_COUNT_LABEL: str(pool.gpus or 1),
            "nvidia.com/gpu.present": "true",
            names.GPU_MEMORY_LABEL: str(resources.units(pool.gpu_memory) >> 20),
        }
    if pool.gpu_product:
        labels[NVIDIA_PRODUCT] = pool.gpu_product
    if pool.mig:
        labels[MIG_STRATEGY] = "mixed"
    levels = {label: f"{label.rpartition('/')[2]}-{number // size}" for label, size in pool.topology.items()}
    return labels | levels | pool.labels


def _status(pool: NodePool, name: str, now: str) -> Raw:
    capacity = amounts(pool)
    return {
        "capacity": capacity,
        "allocatable": capacity,
        "phase": "Running",
        "addresses": [{"type": "InternalIP", "address": address(name)}, {"type": "Hostname", "address": name}],
        "conditions": [*healthy_conditions(now), ready_condition(READY, now)],
        "nodeInfo": {
            "architecture": "amd64",
            "operatingSystem": "linux",
            "osImage": "gangline",
            "kernelVersion": "0",
            "kubeletVersion": VERSION,
            "kubeProxyVersion": VERSION,
            "containerRuntimeVersion": "gangline://0",
            "machineID": name,
            "systemUUID": name,
            "bootID": name,
        },
    }


def amounts(pool: NodePool) -> dict[str, str]:
    """What a node of the pool offers."""
    offered: dict[str, Any] = {"cpu": pool.cpu, "memory": pool.memory, "pods": pool.pods, "ephemeral-storage": "1Ti"}
    if pool.gpus and not pool.dra:
        offered[names.NVIDIA_GPU] = pool.gpus
    offered |= {names.MIG_PREFIX + profile: count for profile, count in pool.mig.items()}
    return {name: resources.canonical(value) for name, value in (offered | pool.resources).items()}


def healthy_conditions(now: str) -> list[Raw]:
    return [
        {
            "type": kind,
            "status": "False",
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        for kind, reason, message in HEALTHY
    ]


def ready_condition(health: str, now: str) -> Raw:
    ready = health == READY
    return {
        "type": "Ready",
        "status": "True" if ready else "False",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
        "reason": "KubeletReady" if ready else "KubeletNotReady",
        "message": "the simulated kubelet is ready" if ready else "the simulated kubelet plays a failure",
    }


def address(name: str) -> str:
    """A private address that belongs to a node's name."""
    number = zlib.crc32(name.encode()) & 0xFFFFF
    return f"172.{16 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def simulated(node: Node) -> bool:
    return names.SIMULATED in node.labels or node.spec.provider_id.startswith(names.SIMULATED_PROVIDER)


def claims_too_much(node: Node) -> bool:
    """More pods than a simulated kubelet plays."""
    return any(
        resources.units(amounts.get("pods", 0)) > MOST_DEVICES
        for amounts in (node.status.capacity, node.status.allocatable)
    )


def health(node: Node, age: float) -> tuple[str, float | None]:
    """How a node is at an age in seconds, and the age at which that may change by itself."""
    state = node.annotations.get(names.HEALTH)
    if state in (LOST, NOT_READY):
        return state, None
    failures = planned_failures(node)
    edges = [
        edge for failure in failures for edge in (failure.after, failure.after + (failure.seconds or 0)) if edge > age
    ]
    now = next((failure.how for failure in failures if failure.covers(age)), READY)
    return now, min(edges, default=None)


def planned_failures(node: Node) -> list[NodeFailure]:
    """What the node's annotation says will go wrong; an annotation that cannot be read plans nothing."""
    text = node.annotations.get(names.FAILURES)
    if not text:
        return []
    try:
        return msgspec.json.decode(text, type=list[NodeFailure])
    except msgspec.DecodeError:
        return []
