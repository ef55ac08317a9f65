"""The cluster: every node, queue, gang, task, topology and claim, kept up to date by records in time proportional to
the change.

`ClusterModel.build(records)` makes one from scratch; `apply(record)` adds or replaces one thing, `remove(RecordType,
key)` takes it away, in any order: a task may come before its gang or its node and is linked when they appear. A cluster
fed event by event is equal (`state()`) to one built from scratch. What can be asked of it stands in `cluster_state.py`,
how tasks are counted on nodes and in queues in `cluster_books.py`. Decisions are made on it by a Session, which
restores it when it is closed. No clock, no input or output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gangline.scheduler.collector import undisturbed
from gangline.scheduler.model.cluster_books import ClusterBooks, drop_user, listed
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.queue import QueueInfo
from gangline.scheduler.model.status import ACTIVE_USED, ALLOCATED, Status
from gangline.scheduler.records import (
    BudgetRecord,
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


class ClusterModel(ClusterBooks):
    """How records change what is known."""

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
        listed(self.shunning, task.uid, bool(record.pod_anti_affinity))
        listed(self.spreading, task.uid, bool(record.spread))
        for name in record.volumes:
            self.claim_users.setdefault((record.namespace, name), {})[task.uid] = None
        listed(
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
        listed(self.shunning, task.uid, False)
        listed(self.liking, task.uid, False)
        listed(self.spreading, task.uid, False)
        for name in task.record.volumes:
            drop_user(self.claim_users, (task.namespace, name), task.uid)
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
        ends_anew = old is not None and _end_of(old.record) != _end_of(record)
        for task in self._tasks_of_gang.get(record.uid, {}).values():
            gang.join(task)
            self._book(task)
            if ends_anew and self.futures.pop(task.node, None) is not None and task.node in self.nodes:
                self.touched.append(self.nodes[task.node].number)
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

    def _apply_budget(self, record: BudgetRecord) -> None:
        self.budgets[record.namespace, record.name] = record

    def _remove_budget(self, key: Key) -> None:
        assert isinstance(key, tuple)
        del self.budgets[key]

    def _apply_config_map(self, record: ConfigMapRecord) -> None:
        self.config_maps[record.namespace, record.name] = record

    def _remove_config_map(self, key: Key) -> None:
        assert isinstance(key, tuple)
        del self.config_maps[key]


def _end_of(record: GangRecord) -> tuple[float | None, ...]:
    """All of a gang's own that says when it ends."""
    return record.last_start, record.expected_runtime, record.learned_runtime


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
    BudgetRecord: ClusterModel._apply_budget,
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
    BudgetRecord: ClusterModel._remove_budget,
    GangRecord: ClusterModel._remove_gang,
    TaskRecord: ClusterModel._remove_task,
}
