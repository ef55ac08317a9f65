"""The cluster: every node, queue, gang, task, topology and claim, kept up to date by records in time proportional to
the change.

`Cluster.build(records)` makes one from scratch; `apply(record)` adds or replaces one thing, `remove(RecordType, key)`
takes it away, in any order: a task may come before its gang or its node and is linked when they appear. A cluster fed
event by event is equal (`state()`) to one built from scratch. Decisions are made on it by a Session, which restores
it when it is closed. No clock, no input or output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gangline.scheduler.collector import undisturbed
from gangline.scheduler.model.dra import Devices
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.queue import NOTHING, Booking, QueueInfo, amount_of
from gangline.scheduler.model.resources import ResourceNames, Vector, minus, plus, summed
from gangline.scheduler.model.status import ACTIVE_USED, ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo, TaskShape, is_plain, shape_key
from gangline.scheduler.model.topology import TopologyTree
from gangline.scheduler.records import (
    ClaimRecord,
    ConfigMapRecord,
    DeviceClassRecord,
    GangRecord,
    NodeRecord,
    QueueRecord,
    Record,
    SliceRecord,
    StorageCapacityRecord,
    TaskRecord,
    TopologyRecord,
    VolumeClaimRecord,
)

Key = str | tuple[str, str]

MOST_SHAPES = 5000
"""Beyond this many, shapes are forgotten: tasks keep theirs, new tasks start anew."""
LONGEST_LOG = 200_000


class ClusterModel:
    """`nodes`, `queues`, `gangs`, `tasks` are by name or uid. `waiting` are the uids of gangs with pending tasks,
    `suspects` those that may be stale. `touched` is the log of changed node numbers; `epoch` changes when numbers are
    given anew. `generation` counts changes of nodes themselves (not of what runs on them), `ranks` changes of what
    nodes are worth, `pods_seen` pods that came, `gpus_started` GPUs of pods that got a place. `looks` is the log of
    gangs that changed, by uid; `looks_epoch` changes when it begins anew."""

    def __init__(self) -> None:
        self.names = ResourceNames()
        self.journal = UndoJournal()
        self.nodes: dict[str, NodeInfo] = {}
        self.queues: dict[str, QueueInfo] = {}
        self.gangs: dict[str, GangInfo] = {}
        self.tasks: dict[str, TaskInfo] = {}
        self.topologies: dict[str, TopologyRecord] = {}
        self.volume_claims: dict[tuple[str, str], VolumeClaimRecord] = {}
        self.capacities: dict[str, StorageCapacityRecord] = {}
        self.config_maps: dict[tuple[str, str], ConfigMapRecord] = {}
        self.devices = Devices(self.journal)
        self.touched: list[int] = []
        self.by_number: list[NodeInfo | None] = []
        self.epoch = 0
        self.generation = 0
        self.ranks = 0
        self.pods_seen = 0
        self.gpus_started = 0.0
        self.waiting: dict[str, None] = {}
        self.suspects: dict[str, None] = {}
        self.looks: list[str] = []
        self.looks_epoch = 0
        self.shunning: dict[str, None] = {}
        self.liking: dict[str, None] = {}
        self.shapes: dict[tuple[Any, ...], TaskShape] = {}
        self.memo: dict[Any, Any] = {}
        self._shape_number = 0
        self._tasks_of_gang: dict[str, dict[str, TaskInfo]] = {}
        self._tasks_on: dict[str, dict[str, TaskInfo]] = {}
        self._foreign_on: dict[str, dict[str, TaskInfo]] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._gangs_of: dict[str, dict[str, None]] = {}
        self._trees: dict[str, TopologyTree] = {}

    @classmethod
    @undisturbed()
    def build(cls, records: Iterable[Record]) -> ClusterModel:
        """A cluster from scratch; records may come in any order."""
        cluster = cls()
        ordered = sorted(records, key=lambda record: _BUILD_ORDER[type(record)])
        for record in ordered:
            cluster.apply(record)
        return cluster

    def apply(self, record: Record) -> None:
        """Add the thing this record describes, or replace it."""
        _APPLY[type(record)](self, record)
        self.journal.clear()

    def remove(self, kind: type[Record], key: Key) -> None:
        """Take away the thing of this record type with this name (tasks and gangs: uid; claims and config maps:
        (namespace, name))."""
        _REMOVE[kind](self, key)
        self.journal.clear()

    def trim(self) -> None:
        """Cut the log of touched nodes when it is long; who follows it starts anew. Called between cycles."""
        if len(self.touched) > LONGEST_LOG:
            self.touched.clear()
            self.epoch += 1
        if len(self.looks) > LONGEST_LOG:
            self.looks.clear()
            self.looks_epoch += 1

    # ── nodes ──

    def _apply_node(self, record: NodeRecord) -> None:
        old = self.nodes.get(record.name)
        if old is not None and old.record == record:
            return
        number = len(self.by_number) if old is None else old.number
        node = NodeInfo(record, self.names, self.journal, number, self.touched, self.devices)
        if old is None:
            self.by_number.append(node)
        else:
            self.by_number[number] = node
        self.nodes[record.name] = node
        self._nodes_changed()
        self._refill(node)

    def _remove_node(self, name: Key) -> None:
        node = self.nodes.pop(str(name))
        self.by_number[node.number] = None
        self.touched.append(node.number)
        self._nodes_changed()
        for task in self._tasks_on.get(node.name, {}).values():
            task.accepted = task.numa = None
            self._book(task)

    def _nodes_changed(self) -> None:
        self.generation += 1
        self._trees.clear()

    def _refill(self, node: NodeInfo) -> None:
        """Count the node's tasks from scratch, in the order that a fresh snapshot would: reservations first, then by
        uid."""
        tasks = sorted(self._tasks_on.get(node.name, {}).values(), key=_seating_order)
        node.clear()
        for task in tasks:
            task.numa = node.zones_of(task.record)
            node.add(task)
            self._book(task)

    # ── tasks ──

    def _apply_task(self, record: TaskRecord) -> None:
        old = self.tasks.get(record.uid)
        if old is not None:
            if old.record == record:
                return
            self._remove_task(record.uid)
        task = self._new_task(record)
        if old is not None and old.status == Status.PENDING and task.status & ALLOCATED:
            self.gpus_started += task.gpus
        if old is None:
            self.pods_seen += 1
            task.shape.seen += 1
        self.tasks[task.uid] = task
        if record.gang:
            self._tasks_of_gang.setdefault(record.gang, {})[task.uid] = task
            if record.gang in self.gangs:
                self.gangs[record.gang].join(task)
        _listed(self.shunning, task.uid, bool(record.pod_anti_affinity))
        _listed(
            self.liking,
            task.uid,
            bool(record.pod_affinity or record.preferred_affinity or record.preferred_anti_affinity),
        )
        if record.extended_devices and task.status & ACTIVE_USED:
            self.devices.give(task.uid, record.extended_devices)
        self._seat(task)
        self._book(task)
        self._look_at(record.gang)

    def _remove_task(self, uid: Key) -> None:
        task = self.tasks.pop(str(uid))
        gang = task.record.gang
        _listed(self.shunning, task.uid, False)
        _listed(self.liking, task.uid, False)
        self._unbook(task)
        self._unseat(task)
        self.devices.forget(task.uid)
        if gang:
            del self._tasks_of_gang[gang][task.uid]
            if not self._tasks_of_gang[gang]:
                del self._tasks_of_gang[gang]
        if task.gang is not None:
            task.gang.leave(task)
        self._look_at(gang)

    def _seat(self, task: TaskInfo) -> None:
        """Put a task that holds resources on its node."""
        if not task.node or not task.status & ACTIVE_USED:
            return
        self._tasks_on.setdefault(task.node, {})[task.uid] = task
        if _is_foreign(task):
            self._foreign_on.setdefault(task.node, {})[task.uid] = task
        node = self.nodes.get(task.node)
        if node is None:
            return
        if self._order_matters(node, task):
            self._refill(node)
        else:
            task.numa = node.zones_of(task.record)
            node.add(task)

    def _unseat(self, task: TaskInfo) -> None:
        seated = self._tasks_on.get(task.node)
        if seated is None or seated.pop(task.uid, None) is None:
            return
        if not seated:
            del self._tasks_on[task.node]
        self._foreign_on.get(task.node, {}).pop(task.uid, None)
        node = self.nodes.get(task.node)
        if node is None:
            return
        if self._order_matters(node, task):
            self._refill(node)
        else:
            node.remove(task)

    def _order_matters(self, node: NodeInfo, task: TaskInfo) -> bool:
        """Shared GPUs and shared devices are counted differently in different orders: such a node is counted anew."""
        return task.shared or bool(task.record.claims) or bool(node.shared.used) or bool(node.devices)

    def _new_task(self, record: TaskRecord) -> TaskInfo:
        """A task with its shape; tasks of a known shape take over what was computed for it."""
        backed = self._backed(record) if record.extended else ()
        plain = is_plain(record) and not backed
        key = shape_key(record)
        shape = self.shapes.get(key) if plain else None
        if shape is not None:
            task = TaskInfo(record, self.names, shape.sample)
        else:
            task = TaskInfo(record, self.names)
            self._shape_number += 1
            shape = TaskShape(key, self._shape_number, task.request, task.gpu, task, plain)
            if plain:
                if len(self.shapes) >= MOST_SHAPES:
                    self.shapes.clear()
                self.shapes[key] = shape
        task.shape = shape
        task.backed = backed
        return task

    # ── sums per queue, and gangs worth a look ──

    def _book(self, task: TaskInfo) -> None:
        """Count the task in its queue's sums as it is now, instead of how it was counted before."""
        self._unbook(task)
        gang = task.gang
        queue = self.queues.get(gang.queue) if gang is not None and task.pod_set is not None else None
        if gang is None or queue is None:
            return
        if task.status & ALLOCATED:
            amount = amount_of(task.given, self.names)
            task.booked = Booking(queue, held=amount, firm=NOTHING if gang.preemptible else amount)
        elif task.status == Status.PENDING:
            task.booked = Booking(
                queue, asked=amount_of(task.request, self.names), gpu_memory=task.gpu.count * task.gpu.memory
            )
        else:
            return
        task.booked.apply(+1)

    def _unbook(self, task: TaskInfo) -> None:
        if task.booked is not None:
            task.booked.apply(-1)
            task.booked = None

    def _look_at(self, uid: str) -> None:
        """Keep the lists of waiting and possibly stale gangs right for this gang."""
        gang = self.gangs.get(uid)
        self.looks.append(uid)
        _listed(self.waiting, uid, gang is not None and gang.pending > 0)
        _listed(self.suspects, uid, gang is not None and (gang.stale_since is not None or gang.is_stale))

    # ── gangs ──

    def _apply_gang(self, record: GangRecord) -> None:
        old = self.gangs.get(record.uid)
        if old is not None:
            if old.record == record:
                return
            self._remove_gang(record.uid)
        gang = self.gangs[record.uid] = GangInfo(record)
        self._gangs_of.setdefault(record.queue, {})[gang.uid] = None
        if record.queue in self.queues:
            self.queues[record.queue].gangs[gang.uid] = None
        for task in self._tasks_of_gang.get(record.uid, {}).values():
            gang.join(task)
            self._book(task)
        self._look_at(record.uid)

    def _remove_gang(self, uid: Key) -> None:
        gang = self.gangs[str(uid)]
        for task in [*gang.tasks.values(), *gang.invalid.values()]:
            self._unbook(task)
            gang.leave(task)
        del self.gangs[gang.uid]
        del self._gangs_of[gang.queue][gang.uid]
        if not self._gangs_of[gang.queue]:
            del self._gangs_of[gang.queue]
        if gang.queue in self.queues:
            del self.queues[gang.queue].gangs[gang.uid]
        self._look_at(gang.uid)

    # ── queues ──

    def _apply_queue(self, record: QueueRecord) -> None:
        if record.name in self.queues:
            if self.queues[record.name].record == record:
                return
            self._remove_queue(record.name)
        queue = self.queues[record.name] = QueueInfo(record)
        self._children.setdefault(record.parent, {})[queue.name] = None
        if record.parent in self.queues:
            self._list_children(record.parent)
        self._list_children(queue.name)
        for uid in self._gangs_of.get(queue.name, {}):
            queue.gangs[uid] = None
            for task in self.gangs[uid].tasks.values():
                self._book(task)

    def _remove_queue(self, name: Key) -> None:
        queue = self.queues.pop(str(name))
        del self._children[queue.parent][queue.name]
        if not self._children[queue.parent]:
            del self._children[queue.parent]
        if queue.parent in self.queues:
            self._list_children(queue.parent)

    def _list_children(self, name: str) -> None:
        self.queues[name].children = sorted(self._children.get(name, {}))

    # ── topologies, devices, volumes, config maps ──

    def _apply_topology(self, record: TopologyRecord) -> None:
        self.topologies[record.name] = record
        self._trees.pop(record.name, None)

    def _remove_topology(self, name: Key) -> None:
        del self.topologies[str(name)]
        self._trees.pop(str(name), None)

    def topology(self, name: str) -> TopologyTree | None:
        """The tree of domains of a topology over the present nodes; None when there is no such topology."""
        record = self.topologies.get(name)
        if record is None:
            return None
        tree = self._trees.get(name)
        if tree is None:
            tree = self._trees[name] = TopologyTree(record, self.nodes.values())
        return tree

    def _apply_class(self, record: DeviceClassRecord) -> None:
        if self.devices.classes.get(record.name) != record:
            self.devices.classes[record.name] = record
            self._classes_changed()

    def _remove_class(self, name: Key) -> None:
        del self.devices.classes[str(name)]
        self._classes_changed()

    def _classes_changed(self) -> None:
        """Tasks with extended resources may now be served by devices, or no longer."""
        self.devices.classes_changed()
        concerned = [
            task.record
            for task in self.tasks.values()
            if task.record.extended and task.backed != self._backed(task.record)
        ]
        for record in concerned:
            self._remove_task(record.uid)
            self._apply_task(record)

    def _backed(self, record: TaskRecord) -> tuple[int, ...]:
        """Places in the vectors of resources that devices may back."""
        resources = [need.resource for need in record.extended if self.devices.class_of(need.resource) is not None]
        return tuple(sorted({self.names.index(name) for name in resources}))

    def _apply_slice(self, record: SliceRecord) -> None:
        old = self.devices.slices.get(record.name)
        self.devices.slices[record.name] = record
        for name in sorted({record.node} | ({old.node} if old else set())):
            self._devices_changed(name)

    def _remove_slice(self, name: Key) -> None:
        self._devices_changed(self.devices.slices.pop(str(name)).node)

    def _devices_changed(self, name: str) -> None:
        self.devices.slices_changed()
        node = self.nodes.pop(name, None)
        if node is not None:
            self._rebuild_node(node)

    def _rebuild_node(self, node: NodeInfo) -> None:
        fresh = NodeInfo(node.record, self.names, self.journal, node.number, self.touched, self.devices)
        self.nodes[node.name] = self.by_number[node.number] = fresh
        self._nodes_changed()
        self._refill(fresh)

    def _apply_claim(self, record: ClaimRecord) -> None:
        key = (record.namespace, record.name)
        if self.devices.records.get(key) == record:
            return
        before = self.devices.nodes_of_users(key, self.tasks)
        self.devices.put(record)
        for name in sorted(before | self.devices.nodes_of_users(key, self.tasks)):
            if name in self.nodes:
                self._refill(self.nodes[name])

    def _remove_claim(self, key: Key) -> None:
        assert isinstance(key, tuple)
        users = self.devices.nodes_of_users(key, self.tasks)
        self.devices.drop(key)
        for name in sorted(users):
            if name in self.nodes:
                self._refill(self.nodes[name])

    def _apply_volume_claim(self, record: VolumeClaimRecord) -> None:
        self.volume_claims[record.namespace, record.name] = record

    def _remove_volume_claim(self, key: Key) -> None:
        assert isinstance(key, tuple)
        del self.volume_claims[key]

    def _apply_capacity(self, record: StorageCapacityRecord) -> None:
        self.capacities[record.name] = record

    def _remove_capacity(self, name: Key) -> None:
        del self.capacities[str(name)]

    def _apply_config_map(self, record: ConfigMapRecord) -> None:
        self.config_maps[record.namespace, record.name] = record

    def _remove_config_map(self, key: Key) -> None:
        assert isinstance(key, tuple)
        del self.config_maps[key]

    # ── questions ──

    def path_of(self, queue: str) -> list[QueueInfo]:
        """The queue and its ancestors up to the top; empty when the queue or an ancestor is missing or the parents
        run in a circle."""
        path: list[QueueInfo] = []
        name = queue
        while name:
            found = self.queues.get(name)
            if found is None or len(path) > len(self.queues):
                return []
            path.append(found)
            name = found.parent
        return path

    def gpu_memory_range(self) -> tuple[int | None, int | None]:
        """The smallest and largest memory per GPU over nodes that report a real one (> 100 MiB)."""
        kept = self.memo.get("GPU memory")
        if kept is None or kept[0] != self.generation:
            sizes = [node.gpu_memory for node in self.nodes.values() if node.gpu_memory > 100]
            kept = self.memo["GPU memory"] = (self.generation, (min(sizes), max(sizes)) if sizes else (None, None))
        found: tuple[int | None, int | None] = kept[1]
        return found

    @property
    def has_foreign(self) -> bool:
        return any(self._foreign_on.values())

    def foreign_on(self, node: NodeInfo) -> Vector:
        """Requests of pods on the node that no gang of ours holds and that are not our helpers."""
        return summed(task.request for task in self._foreign_on.get(node.name, {}).values())

    def total(self, count_gpus: Callable[[NodeInfo], bool] = lambda node: True) -> Vector:
        """What the top queues divide: allocatable of ready nodes without what foreign pods ask for."""
        total: Vector = (0, 0, 0, 0)
        for node in self.nodes.values():
            if node.ready:
                share = node.allocatable
                if self._foreign_on.get(node.name):
                    share = minus(share, self.foreign_on(node))
                total = plus(total, share if count_gpus(node) else (*share[:2], 0, *share[3:]))
        return total

    def state(self) -> dict[str, Any]:
        """Everything that changes, for comparing two clusters."""
        return {
            "nodes": {name: node.state() for name, node in sorted(self.nodes.items())},
            "queues": {
                name: (
                    queue.held,
                    queue.held_firm,
                    queue.asked,
                    queue.asked_gpu_memory,
                    queue.children,
                    sorted(queue.gangs),
                )
                for name, queue in sorted(self.queues.items())
            },
            "gangs": {
                uid: (
                    {name: tuple(leaf.counts) for name, leaf in gang.pod_sets.items()},
                    sorted(gang.tasks),
                    gang.last_start,
                    gang.last_eviction,
                    gang.stale_since,
                    gang.stale,
                )
                for uid, gang in sorted(self.gangs.items())
            },
            "tasks": {
                uid: (task.status, task.node, task.gpu_groups, task.virtual, task.accepted, task.numa)
                for uid, task in sorted(self.tasks.items())
            },
            "devices": self.devices.state(),
            "waiting": sorted(self.waiting),
            "suspects": sorted(self.suspects),
        }


def _is_foreign(task: TaskInfo) -> bool:
    return not task.record.gang and not task.record.utility


def _seating_order(task: TaskInfo) -> tuple[bool, str]:
    return task.record.utility != "reservation", task.uid


def _listed(names: dict[str, None], name: str, wanted: bool) -> None:
    if wanted:
        names[name] = None
    else:
        names.pop(name, None)


_APPLY: dict[type[Any], Callable[[ClusterModel, Any], None]] = {
    QueueRecord: ClusterModel._apply_queue,
    DeviceClassRecord: ClusterModel._apply_class,
    SliceRecord: ClusterModel._apply_slice,
    NodeRecord: ClusterModel._apply_node,
    TopologyRecord: ClusterModel._apply_topology,
    ClaimRecord: ClusterModel._apply_claim,
    VolumeClaimRecord: ClusterModel._apply_volume_claim,
    StorageCapacityRecord: ClusterModel._apply_capacity,
    ConfigMapRecord: ClusterModel._apply_config_map,
    GangRecord: ClusterModel._apply_gang,
    TaskRecord: ClusterModel._apply_task,
}
_BUILD_ORDER = {kind: place for place, kind in enumerate(_APPLY)}
_REMOVE: dict[type[Any], Callable[[ClusterModel, Key], None]] = {
    QueueRecord: ClusterModel._remove_queue,
    DeviceClassRecord: ClusterModel._remove_class,
    SliceRecord: ClusterModel._remove_slice,
    NodeRecord: ClusterModel._remove_node,
    TopologyRecord: ClusterModel._remove_topology,
    ClaimRecord: ClusterModel._remove_claim,
    VolumeClaimRecord: ClusterModel._remove_volume_claim,
    StorageCapacityRecord: ClusterModel._remove_capacity,
    ConfigMapRecord: ClusterModel._remove_config_map,
    GangRecord: ClusterModel._remove_gang,
    TaskRecord: ClusterModel._remove_task,
}
