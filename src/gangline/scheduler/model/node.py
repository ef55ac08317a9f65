"""A node: what it has, what is used, what is leaving, and whether a task's resources fit now or later.

`idle` is free now; `later` (idle + releasing) is free once leaving pods are gone, minus what is already promised to
waiting ones. Vectors are replaced, never changed in place, so that the journal can keep the old ones. Every change is
noted in `touched`, from which the node index of `placing/rank.py` learns what to look at again. Rules about labels,
taints or quotas are plugins, not here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from gangline.scheduler.model import gpu_pools
from gangline.scheduler.model.dra import Devices
from gangline.scheduler.model.gpu import SharedGpus, device_memory
from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.resources import (
    GPU,
    PODS,
    ResourceNames,
    Vector,
    at,
    fits,
    is_mig,
    minus,
    plain_name,
    plus,
)
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo, ZoneShare, share_of
from gangline.scheduler.records import NodeRecord, TaskRecord

UNKNOWN_GPU_MEMORY = 100
"""MiB that stand for a device of which nothing is known: shares then are percents."""


ON_THE_WAY = (Status.ALLOCATED, Status.PIPELINED, Status.BINDING)


class PlacedTask:
    """A task as one node counts it: the status, charge and GPU groups with which it was added."""

    __slots__ = ("charge", "devices", "groups", "memory", "status", "task")

    def __init__(self, task: TaskInfo, charge: Vector, memory: int, devices: tuple[str, ...]) -> None:
        self.task = task
        self.status = task.status
        self.charge = charge
        self.groups = task.gpu_groups if task.shared else ()
        self.memory = memory
        self.devices = devices


class NodeInfo:
    """`touched` is the cluster's log of node numbers whose state changed; `number` is this node's place in it."""

    __slots__ = (
        "_claims",
        "_names",
        "allocatable",
        "devices",
        "dra_gpus",
        "gpu_names",
        "has_mig",
        "idle",
        "journal",
        "labels",
        "later",
        "legacy_mig",
        "name",
        "numa",
        "number",
        "placed",
        "record",
        "releasing",
        "shared",
        "touched",
        "used",
    )

    def __init__(
        self,
        record: NodeRecord,
        names: ResourceNames,
        journal: UndoJournal,
        number: int,
        touched: list[int],
        claims: Devices | None = None,
    ) -> None:
        self.record = record
        self.name = record.name
        self.labels: Mapping[str, str] = record.labels
        self.number = number
        self.journal = journal
        self.touched = touched
        self._names = names
        self._claims = Devices(journal) if claims is None else claims
        self.dra_gpus = self._claims.gpus_on(record.name)
        vector = names.vector(record.allocatable)
        self.allocatable: Vector = (*vector[:GPU], vector[GPU] + self.dra_gpus, *vector[GPU + 1 :])
        self.gpu_names = tuple(sorted(record.gpu_resources))
        self.has_mig = any(is_mig(name) and amount > 0 for name, amount in record.allocatable.items())
        self.numa = record.numa
        self.clear()

    def clear(self) -> None:
        """Forget every task; what follows is adding them again."""
        self.idle: Vector = self.allocatable
        self.later: Vector = self.allocatable
        self.used: Vector = (0,) * len(self.allocatable)
        self.releasing: Vector = (0,) * len(self.allocatable)
        self.placed: dict[str, PlacedTask] = {}
        self.shared = SharedGpus(self.gpu_count, self.gpu_memory, self.journal)
        self.devices: dict[str, int] = {}
        self.legacy_mig: dict[str, None] = {}
        self.touched.append(self.number)

    # ── what it is ──

    @property
    def ready(self) -> bool:
        return self.record.ready

    @property
    def gpu_memory(self) -> int:
        return self.record.gpu_memory if self.record.gpu_memory > 0 else UNKNOWN_GPU_MEMORY

    @property
    def gpu_count(self) -> int:
        return int(self.allocatable[GPU]) if self.record.gpu_count is None else self.record.gpu_count

    @property
    def mig_enabled(self) -> bool:
        return self.has_mig if self.record.mig_enabled is None else self.record.mig_enabled

    @property
    def cpu_only(self) -> bool:
        return self.allocatable[GPU] <= 0 and not self.dra_gpus and not self.mig_enabled

    def zones_of(self, record: TaskRecord) -> tuple[ZoneShare, ...] | None:
        """The NUMA zones that a task is recorded to be in; a record that names a zone which is not here is ignored."""
        if self.numa is None or record.numa_zones is None:
            return None
        places = {zone.id: place for place, zone in enumerate(self.numa.zones)}
        if any(zone not in places for zone in record.numa_zones):
            return None
        amounts = record.numa_amounts or ({},) * len(record.numa_zones)
        return tuple(
            (places[zone], tuple(sorted((plain_name(name), size) for name, size in amount.items())))
            for zone, amount in zip(record.numa_zones, amounts, strict=True)
        )

    # ── counting tasks in and out ──

    def add(self, task: TaskInfo) -> None:
        """Count the task with its present status and GPU groups; an earlier entry of it is replaced but stays
        charged."""
        self.accept(task)
        devices = self._claims.held_by(task)
        placed = PlacedTask(task, self._charge(task, devices), device_memory(task, self.gpu_memory), devices)
        self.journal.set_item(self.placed, task.uid, placed)
        if task.gpu.legacy_mig:
            self.journal.set_item(self.legacy_mig, task.uid, None)
        self._count(placed, +1)
        for key in devices:
            self.journal.set_item(self.devices, key, self.devices.get(key, 0) + 1)
        for group in placed.groups:
            self._move_gpus(*self.shared.add(group, placed.memory, placed.status, self.idle[GPU], self.used[GPU]))

    def remove(self, task: TaskInfo) -> None:
        """Undo `add`, with the status, charge and groups that the task had then."""
        placed: PlacedTask = self.journal.pop_item(self.placed, task.uid)
        if task.uid in self.legacy_mig:
            self.journal.pop_item(self.legacy_mig, task.uid)
        for key in placed.devices:
            self.journal.set_item(self.devices, key, self.devices[key] - 1)
        self._count(placed, -1)
        for group in placed.groups:
            self._move_gpus(*self.shared.remove(group, placed.memory, placed.status, self.idle[GPU], self.used[GPU]))

    def accept(self, task: TaskInfo) -> None:
        """Note what this node would really give to the task; whole devices are the same everywhere."""
        if task.accepted is not None and not task.shared:
            return
        old = (task.accepted, task.accepted_portion, task.accepted_memory)
        task.accept(self.gpu_memory)
        if old[0] is not task.accepted or old[1] != task.accepted_portion or old[2] != task.accepted_memory:
            self.journal.note(_put_accepted, task, old)

    def _charge(self, task: TaskInfo, devices: tuple[str, ...]) -> Vector:
        """The accepted vector without shared GPUs, without devices that others hold already, without what this node
        does not have."""
        accepted = task.given
        gpu = accepted[GPU]
        opened = self._opens(task) if task.shared and task.status in ON_THE_WAY else 0
        if opened:
            accepted = (*accepted[:PODS], accepted[PODS] + opened, *accepted[PODS + 1 :])
        if task.shared or task.record.utility == "reservation":
            gpu = 0
        elif devices:
            gpu = max(0, gpu - self._shared(devices))
        room = self.allocatable
        if gpu == accepted[GPU] and len(accepted) == len(room) and 0 not in room:
            return accepted
        charge = [need if at(room, place) else 0 for place, need in enumerate(accepted)]
        charge[GPU] = gpu if room[GPU] else 0
        return tuple(charge)

    def _opens(self, task: TaskInfo) -> int:
        """How many devices the task opens for sharing here: each gets a reservation pod, which needs a slot too."""
        reserved = {
            group
            for placed in self.placed.values()
            if placed.task.record.utility == "reservation"
            for group in placed.task.record.gpu_groups
        }
        return sum(not self.shared.used.get(group) and group not in reserved for group in task.gpu_groups)

    def _count(self, placed: PlacedTask, sign: int) -> None:
        self.journal.note(_put_vectors, self, (self.idle, self.later, self.used, self.releasing))
        self.touched.append(self.number)
        charge, status = placed.charge, placed.status
        add, take = (plus, minus) if sign > 0 else (minus, plus)
        self.used = add(self.used, charge)
        if status == Status.PIPELINED:
            self.releasing = take(self.releasing, charge)
            self.later = take(self.later, charge)
            return
        self.idle = take(self.idle, charge)
        if status == Status.RELEASING:
            self.releasing = add(self.releasing, charge)
        else:
            self.later = take(self.later, charge)

    def _move_gpus(self, idle: int, releasing: int) -> None:
        if not idle and not releasing:
            return
        self.journal.note(_put_vectors, self, (self.idle, self.later, self.used, self.releasing))
        self.idle = _shifted(self.idle, idle)
        self.releasing = _shifted(self.releasing, releasing)
        self.later = _shifted(self.later, idle + releasing)

    # ── does it fit ──

    def fits_now(self, task: TaskInfo) -> bool:
        """Allocatable on what is idle."""
        return self._fits(task, self.idle) and (
            not self.other_gpus(task) or gpu_pools.enough(self, task, leaving=False)
        )

    def fits_later(self, task: TaskInfo) -> bool:
        """Allocatable on what is idle or leaving."""
        return self._fits(task, self.later) and (
            not self.other_gpus(task) or gpu_pools.enough(self, task, leaving=True)
        )

    def other_gpus(self, task: TaskInfo) -> bool:
        """Whether there are GPUs here that are none of those the task asks for, so that counting all together is not
        exact."""
        return self.dra_gpus > 0 or (task.gpu_names != self.gpu_names and bool(task.gpu_names) and bool(self.gpu_names))

    def _fits(self, task: TaskInfo, room: Vector) -> bool:
        asked = self._without_device_amounts(task) if task.backed else task.request
        if not task.shared:
            devices = self._claims.held_by(task)
            return fits(asked, _shifted(room, self._shared(devices)) if devices else room)
        gpu = task.gpu
        demand = (*asked[:GPU], 0, *asked[GPU + 1 :])
        if not fits(demand, (*room[:GPU], 0, *room[GPU + 1 :])) or not self._valid_portion(task):
            return False
        whole = int(room[GPU] // 1)
        return whole + min(len(self.shared.fitting(device_memory(task, self.gpu_memory))), gpu.count) >= gpu.count

    def _without_device_amounts(self, task: TaskInfo) -> Vector:
        """The request without what this node has only as devices: those are found one by one. GPUs of devices are
        counted here too."""
        return tuple(
            [
                0 if place in task.backed and place != GPU and not at(self.allocatable, place) else need
                for place, need in enumerate(task.request)
            ]
        )

    def backs(self, resource: str) -> bool:
        """Whether a device class backs this extended resource."""
        return self._claims.class_of(resource) is not None

    def _valid_portion(self, task: TaskInfo) -> bool:
        portion = share_of(task.gpu.memory, self.gpu_memory) if task.gpu.memory > 0 else task.gpu.portion
        return portion <= 1 or portion == int(portion)

    def _shared(self, devices: tuple[str, ...]) -> int:
        """How many of these devices others on this node hold already."""
        return sum(self.devices.get(key, 0) > 0 for key in devices)

    # ── sums ──

    def idle_gpus(self) -> float:
        """Free GPUs, the free parts of shared ones included."""
        return self.shared.idle_portions() + self._names.total_gpus(self.idle)

    def releasing_gpus(self) -> float:
        return self.shared.releasing_portions() + self._names.total_gpus(self.releasing)

    def idle_gpu_memory(self) -> float:
        return self.shared.idle_memory() + self.idle[GPU] * self.gpu_memory

    def releasing_gpu_memory(self) -> float:
        return self.shared.releasing_memory() + self.releasing[GPU] * self.gpu_memory

    def state(self) -> dict[str, Any]:
        """Everything that changes, for comparing two nodes."""
        return {
            "idle": self.idle,
            "later": self.later,
            "used": self.used,
            "releasing": self.releasing,
            "placed": {
                uid: (placed.status, placed.charge, placed.groups, placed.devices)
                for uid, placed in sorted(self.placed.items())
            },
            "shared": (self.shared.used, self.shared.releasing, self.shared.allocated, self.shared.marked),
            "devices": self.devices,
        }

    def __repr__(self) -> str:
        return f"<node {self.name} idle={self.idle} releasing={self.releasing}>"


class NodeList(Sequence[NodeInfo]):
    """Nodes to choose from, listed only when somebody looks. `whole`: this is every node. `whole_for_gpus`: for tasks
    with whole GPUs, searching the whole cluster finds the same node, because the others have no room."""

    __slots__ = ("_nodes", "_source", "whole", "whole_for_gpus")

    def __init__(self, nodes: Iterable[NodeInfo], whole: bool = False, whole_for_gpus: bool = False) -> None:
        self._source = nodes
        self._nodes: list[NodeInfo] | None = None
        self.whole = whole
        self.whole_for_gpus = whole_for_gpus

    def _listed(self) -> list[NodeInfo]:
        if self._nodes is None:
            self._nodes = list(self._source)
        return self._nodes

    @overload
    def __getitem__(self, place: int) -> NodeInfo: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[NodeInfo]: ...

    def __getitem__(self, place: int | slice) -> NodeInfo | Sequence[NodeInfo]:
        return self._listed()[place]

    def __iter__(self) -> Iterator[NodeInfo]:
        return iter(self._listed())

    def __len__(self) -> int:
        return len(self._listed())


def _shifted(vector: Vector, gpus: int) -> Vector:
    return (*vector[:GPU], vector[GPU] + gpus, *vector[GPU + 1 :]) if gpus else vector


def _put_vectors(node: NodeInfo, old: tuple[Vector, Vector, Vector, Vector]) -> None:
    node.idle, node.later, node.used, node.releasing = old
    node.touched.append(node.number)


def _put_accepted(task: TaskInfo, old: tuple[Vector | None, float, int]) -> None:
    task.accepted, task.accepted_portion, task.accepted_memory = old
