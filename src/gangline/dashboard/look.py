"""What is seen of a cluster at one moment, and the few facts of each pod and node that the pages need.

First in a page's journey: service.py keeps one fact per pod and node, made anew only when that object changes, so that
a look at 10,000 pods costs no second reading of them. What a pod asks for comes from rules/requests.py. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from gangline.api import names
from gangline.api.builtin import Job
from gangline.api.core import Event, Node, Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.kai import PodGroup, Queue, Topology
from gangline.api.meta import OwnerReference
from gangline.dashboard.page_data import PageSource
from gangline.rules import requests
from gangline.rules.capacity.node_facts import gpu_memory, not_ready_because
from gangline.rules.requests import by_name

ENDED = ("Succeeded", "Failed")
MOST = 256
"""Devices of one pod or node that are told apart: an annotation may ask for any number."""


class PodFact(msgspec.Struct, frozen=True):
    """One pod. It `holds` what it asks for while it has a node and has not ended."""

    pod: Pod
    gang: tuple[str, str]
    """Namespace and name of its PodGang; the name is empty without one."""
    group: tuple[str, str]
    """The same of its PodGroup."""
    part: str
    """The group of its gang: its clique, or its sub-group."""
    node: str
    ended: bool
    succeeded: bool
    running: bool
    gpus: float
    """Asked for, parts of GPUs included."""
    whole: int
    """Whole devices that it has to itself."""
    portion: float
    """Of each shared device."""
    memory: int
    """MiB of each shared device, where it asks by memory."""
    shared: tuple[str, ...]
    """The shared devices it sits on; for one that shares but has no device yet, made-up names."""
    reserves: bool
    """It only keeps a device for those who share it."""
    cpu: float
    bytes: float
    slices: dict[str, float]

    @property
    def holds(self) -> bool:
        return bool(self.node) and not self.ended


class NodeFact(msgspec.Struct, frozen=True):
    node: Node
    gpus: int
    gpu_memory: int
    cpu: float
    bytes: float
    slices: dict[str, float]
    closed: str


class IdleGpus(msgspec.Struct, frozen=True):
    """GPUs of a node that nobody uses, for one cause."""

    node: str
    cause: str
    gpus: float
    gang: str = ""
    """Whom they are reserved for, or who waits for this reason."""
    until: float | None = None
    """Until when they are reserved."""


class KnownIdle(msgspec.Struct, frozen=True):
    """Why GPUs are idle, as it was worked out at a moment; None: not yet, or not at all because of a problem."""

    parts: tuple[IdleGpus, ...] = ()
    at: float | None = None
    problem: str = ""


class KnownShares(msgspec.Struct, frozen=True):
    """GPUs that each queue may use, as its scheduler divided them at a moment; None: not yet, or not at all because of
    a problem."""

    gpus: Mapping[str, float] = {}
    at: float | None = None
    problem: str = ""


class ClusterView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the pages are made of."""

    source: PageSource
    pods: Sequence[PodFact] = ()
    nodes: Sequence[NodeFact] = ()
    gangs: Sequence[PodGang] = ()
    groups: Sequence[PodGroup] = ()
    queues: Sequence[Queue] = ()
    sets: Sequence[PodCliqueSet] = ()
    cliques: Sequence[PodClique] = ()
    scaling_groups: Sequence[PodCliqueScalingGroup] = ()
    topologies: Sequence[Topology] = ()
    events: Sequence[Event] = ()
    jobs: Sequence[Job] = ()
    idle: KnownIdle = KnownIdle()
    shares: KnownShares = KnownShares()

    def __post_init__(self) -> None:
        """A pod that asks for memory of a GPU has GPUs only once it has a node: then the part that this is there."""
        if any(_unsized(fact) for fact in self.pods):
            nodes = {fact.node.name: fact for fact in self.nodes}
            sized = [_sized(fact, nodes.get(fact.node)) if _unsized(fact) else fact for fact in self.pods]
            msgspec.structs.force_setattr(self, "pods", sized)


def _unsized(fact: PodFact) -> bool:
    return bool(fact.memory and fact.node) and not fact.gpus


def _sized(fact: PodFact, node: NodeFact | None) -> PodFact:
    if node is None:
        return fact
    return msgspec.structs.replace(fact, gpus=round(portion(fact, node) * len(fact.shared), 2))


def portion(pod: PodFact, node: NodeFact) -> float:
    """The part of each device that a sharing pod has there."""
    return pod.portion or min(pod.memory / node.gpu_memory if node.gpu_memory else 1.0, 1.0)


def pod_fact(pod: Pod) -> PodFact:
    asked = requests.request(pod)
    gpu, groups = asked.gpu, requests.gpu_groups(pod)
    phase = pod.status.phase
    return PodFact(
        pod=pod,
        gang=(pod.namespace, pod.labels.get(names.POD_GANG, "")),
        group=(pod.namespace, pod.annotations.get(names.POD_GROUP_NAME, "")),
        part=pod.labels.get(names.POD_CLIQUE) or pod.labels.get(names.SUB_GROUP, ""),
        node=pod.spec.node_name,
        ended=phase in ENDED,
        succeeded=phase == "Succeeded",
        running=phase == "Running" and not pod.metadata.deleting,
        gpus=asked.amounts.get(requests.GPU, 0.0),
        whole=0 if gpu.shared or groups else gpu.count,
        portion=gpu.portion if gpu.shared else 0.0,
        memory=gpu.memory,
        shared=groups or tuple(f"{pod.uid}/{number}" for number in range(min(gpu.count, MOST) if gpu.shared else 0)),
        reserves=bool(groups) and not gpu.shared,
        cpu=asked.amounts.get("cpu", 0.0) / 1000,
        bytes=asked.amounts.get("memory", 0.0),
        slices={name: value for name, value in asked.amounts.items() if requests.is_mig(name)},
    )


def node_fact(node: Node) -> NodeFact:
    has = by_name(node.status.allocatable)
    return NodeFact(
        node=node,
        gpus=int(has.get(requests.GPU, 0)),
        gpu_memory=gpu_memory(node.labels.get(names.GPU_MEMORY_LABEL))[0],
        cpu=has.get("cpu", 0.0) / 1000,
        bytes=has.get("memory", 0.0),
        slices={name: value for name, value in has.items() if requests.is_mig(name)},
        closed=", ".join(_closed(reason) for reason in not_ready_because(node)),
    )


def _closed(reason: str) -> str:
    """`node has NotReady condition` → `not ready`, as people say it."""
    words = {"node is unschedulable": "cordoned", "node has NotReady condition": "not ready"}
    return words.get(reason, reason.removeprefix("node has ").removesuffix(" condition"))


def first_owner(references: Sequence[OwnerReference]) -> OwnerReference | None:
    return references[0] if references else None
