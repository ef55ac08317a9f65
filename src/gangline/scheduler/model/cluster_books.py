"""The books of a cluster: tasks are counted on their nodes, in the sums of their queues, and by shape.

Between what is known (`cluster_state.py`) and how records change it (`cluster.py`). Every count can be taken back
exactly. Knows no record but that of a task.
"""

from __future__ import annotations

from gangline.scheduler.model.cluster_state import ClusterState
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.queue import NOTHING, Booking, amount_of
from gangline.scheduler.model.status import ACTIVE_USED, ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo, TaskShape, is_plain, shape_key
from gangline.scheduler.records import TaskRecord

MOST_SHAPES = 5000
"""Beyond this many, shapes are forgotten: tasks keep theirs, new tasks start anew."""


class ClusterBooks(ClusterState):
    """How tasks are counted."""

    # ── on nodes ──

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

    # ── by shape ──

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

    def know_shape(self, record: TaskRecord) -> TaskShape:
        """The shape of such a task, which need not be here."""
        return self._new_task(record).shape

    def _backed(self, record: TaskRecord) -> tuple[int, ...]:
        """Places in the vectors of resources that devices may back."""
        resources = [need.resource for need in record.extended if self.devices.class_of(need.resource) is not None]
        return tuple(sorted({self.names.index(name) for name in resources}))

    # ── in sums per queue, and gangs worth a look ──

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
        listed(self.waiting, uid, gang is not None and gang.pending > 0)
        listed(self.gated, uid, gang is not None and gang.gated > 0)
        listed(self.suspects, uid, gang is not None and (gang.stale_since is not None or gang.is_stale))


def _is_foreign(task: TaskInfo) -> bool:
    return not task.record.gang and not task.record.utility


def _seating_order(task: TaskInfo) -> tuple[bool, str]:
    return task.record.utility != "reservation", task.uid


def drop_user(users: dict[tuple[str, str], dict[str, None]], claim: tuple[str, str], task: str) -> None:
    """A claim that nobody names any more is forgotten."""
    named = users.get(claim, {})
    named.pop(task, None)
    if not named:
        users.pop(claim, None)


def listed(names: dict[str, None], name: str, wanted: bool) -> None:
    if wanted:
        names[name] = None
    else:
        names.pop(name, None)
