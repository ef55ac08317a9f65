"""A gang: a PodGroup with its tree of groups and pod sets, and the rules on how many members it needs.

Gangs are filled from records by the cluster. Their counts follow the tasks' statuses through the journal. A *partial
view* (`with_tasks`) is another Gang over some of the same tasks; it is used in what-if questions and never changes
the tasks' membership. What to allocate or evict next is decided in `placing/order.py`, on top of the minima given here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gangline.rules.gangs.priorities import preemptible_by_priority
from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.status import ACTIVE_ALLOCATED, ACTIVE_USED, ALLOCATED, Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import DEFAULT_POD_SET, GangRecord, GroupRecord, PodSetRecord, TopologyRule

_STATUSES = tuple(int(status) for status in Status)
_PLACE = {status: place for place, status in enumerate(_STATUSES)}
_COUNTED = {
    status: (_PLACE[status], int(bool(status & ACTIVE_ALLOCATED)), int(bool(status & ACTIVE_USED))) for status in Status
}
_GATED = _PLACE[Status.GATED]
_PENDING, _PIPELINED = _PLACE[Status.PENDING], _PLACE[Status.PIPELINED]
_RELEASING, _SUCCEEDED = _PLACE[Status.RELEASING], _PLACE[Status.SUCCEEDED]


class PodSet:
    """A leaf of the tree: tasks, and how many of them are needed (`min_available`).

    `counts_succeeded`: tasks that have succeeded are part of the minimum, so the others need only be the rest of it."""

    __slots__ = (
        "_active_allocated",
        "_active_used",
        "counts",
        "counts_succeeded",
        "min_available",
        "name",
        "parent",
        "tasks",
        "topology",
        "whole_minimum",
    )

    def __init__(
        self,
        name: str,
        min_available: int,
        topology: TopologyRule | None,
        parent: Group | None,
        counts_succeeded: bool = False,
    ) -> None:
        self.name = name
        self.min_available = self.whole_minimum = min_available
        self.counts_succeeded = counts_succeeded
        self.topology = topology
        self.parent = parent
        self.tasks: dict[str, TaskInfo] = {}
        self.counts = [0] * len(_STATUSES)
        self._active_allocated = 0
        self._active_used = 0

    def count(self, statuses: int) -> int:
        return sum(number for number, status in zip(self.counts, _STATUSES, strict=True) if status & statuses)

    def shift(self, old: Status | None, new: Status | None) -> None:
        """Count one task from one status to another; None stands for not being a member."""
        if old is not None:
            place, allocated, used = _COUNTED[old]
            self.counts[place] -= 1
            self._active_allocated -= allocated
            self._active_used -= used
        if new is not None:
            place, allocated, used = _COUNTED[new]
            self.counts[place] += 1
            self._active_allocated += allocated
            self._active_used += used
        if self.counts_succeeded and Status.SUCCEEDED in (old, new):
            self.min_available = max(self.whole_minimum - self.counts[_SUCCEEDED], 0)

    @property
    def active_allocated(self) -> int:
        return self._active_allocated

    @property
    def active_used(self) -> int:
        return self._active_used

    @property
    def minimum(self) -> int:
        return self.min_available

    @property
    def satisfied(self) -> bool:
        return self._active_allocated >= self.min_available

    @property
    def pending(self) -> int:
        return self.counts[_PENDING]

    @property
    def pipelined(self) -> int:
        return self.counts[_PIPELINED]

    @property
    def succeeded(self) -> int:
        return self.counts[_SUCCEEDED]

    @property
    def ready(self) -> bool:
        """Enough living members that no gate holds back."""
        return self._active_allocated + self.counts[_PENDING] >= self.min_available

    def pod_sets(self) -> Iterator[PodSet]:
        yield self


class Group:
    """An inner node of the tree. `min_groups` None: every direct member is needed."""

    __slots__ = ("groups", "leaves", "min_groups", "name", "parent", "topology")

    def __init__(self, name: str, min_groups: int | None, topology: TopologyRule | None, parent: Group | None) -> None:
        self.name = name
        self.min_groups = min_groups
        self.topology = topology
        self.parent = parent
        self.groups: list[Group] = []
        self.leaves: list[PodSet] = []

    @property
    def members(self) -> list[Group | PodSet]:
        """Direct members, groups before pod sets."""
        return [*self.groups, *self.leaves]

    @property
    def minimum(self) -> int:
        return len(self.groups) + len(self.leaves) if self.min_groups is None else self.min_groups

    @property
    def active_allocated(self) -> int:
        """How many direct members are satisfied: what sub-group order compares with the minimum."""
        return sum(member.satisfied for member in self.members)

    @property
    def satisfied(self) -> bool:
        return self.active_allocated >= self.minimum

    @property
    def ready(self) -> bool:
        return sum(member.ready for member in self.members) >= self.minimum

    def pod_sets(self) -> Iterator[PodSet]:
        for group in self.groups:
            yield from group.pod_sets()
        yield from self.leaves


def build_tree(record: GroupRecord, parent: Group | None = None, counts_succeeded: bool = False) -> Group:
    group = Group(record.name, record.min_groups, record.topology, parent)
    group.groups = [build_tree(child, group, counts_succeeded) for child in record.groups]
    group.leaves = [_build_leaf(leaf, group, counts_succeeded) for leaf in record.pod_sets]
    return group


def _build_leaf(record: PodSetRecord, parent: Group, counts_succeeded: bool) -> PodSet:
    return PodSet(record.name, max(record.min_available, 0), record.topology, parent, counts_succeeded)


class GangInfo:
    """`invalid` holds tasks that name a pod set which does not exist: they are reported, not scheduled."""

    __slots__ = (
        "created",
        "held",
        "invalid",
        "last_eviction",
        "last_start",
        "name",
        "namespace",
        "order_key",
        "original",
        "pod_sets",
        "preemptible",
        "priority",
        "problems",
        "queue",
        "record",
        "root",
        "signature_key",
        "stale",
        "stale_since",
        "step",
        "tasks",
        "uid",
        "version",
        "wanted",
    )

    def __init__(self, record: GangRecord, root: Group | None = None) -> None:
        self.record = record
        self.uid = record.uid
        self.name = record.name or record.uid
        self.namespace = record.namespace
        self.queue = record.queue
        self.priority = record.priority
        self.preemptible = (
            preemptible_by_priority(record.priority) if record.preemptible is None else record.preemptible
        )
        self.created = record.created
        self.last_start = record.last_start
        self.last_eviction = record.last_eviction
        self.stale_since = record.stale_since
        self.stale = record.stale_since is not None
        self.problems = record.problems
        self.root = build_tree(record.tree, counts_succeeded=record.counts_succeeded) if root is None else root
        self.pod_sets: dict[str, PodSet] = {leaf.name: leaf for leaf in self.root.pod_sets()}
        self.tasks: dict[str, TaskInfo] = {}
        self.invalid: dict[str, TaskInfo] = {}
        self.version = 0
        self.order_key: tuple[Any, ...] | None = None
        self.wanted: tuple[Any, Any] | None = None
        self.signature_key: tuple[int, str] | None = None
        self.held: tuple[int, Any] | None = None
        self.step: tuple[int, Any] | None = None
        self.original: GangInfo = self

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"

    def join(self, task: TaskInfo) -> None:
        """Make the task a member (an event, not a decision)."""
        leaf = self.pod_sets.get(task.record.pod_set or DEFAULT_POD_SET)
        task.gang = self
        self.version += 1
        self.order_key = None
        if leaf is None:
            self.invalid[task.uid] = task
            return
        self.tasks[task.uid] = task
        leaf.tasks[task.uid] = task
        leaf.shift(None, task.status)
        task.pod_set = leaf

    def leave(self, task: TaskInfo) -> None:
        self.version += 1
        self.order_key = None
        if self.invalid.pop(task.uid, None) is None:
            del self.tasks[task.uid]
            assert task.pod_set is not None
            del task.pod_set.tasks[task.uid]
            task.pod_set.shift(task.status, None)
        task.gang = task.pod_set = None

    def count(self, statuses: int) -> int:
        return sum(leaf.count(statuses) for leaf in self.pod_sets.values())

    @property
    def active_allocated(self) -> int:
        return sum([leaf._active_allocated for leaf in self.pod_sets.values()])

    @property
    def active_used(self) -> int:
        return sum([leaf._active_used for leaf in self.pod_sets.values()])

    @property
    def pending(self) -> int:
        return sum([leaf.counts[_PENDING] for leaf in self.pod_sets.values()])

    @property
    def gated(self) -> int:
        return sum([leaf.counts[_GATED] for leaf in self.pod_sets.values()])

    @property
    def releasing(self) -> int:
        return sum([leaf.counts[_RELEASING] for leaf in self.pod_sets.values()])

    @property
    def allocated(self) -> int:
        return self.count(ALLOCATED)

    @property
    def ready(self) -> bool:
        """Enough living, ungated members to be worth scheduling."""
        return self.root.ready

    @property
    def gang_satisfied(self) -> bool:
        """Every pod set holds its minimum; the minima of groups are not considered."""
        return all(leaf.active_used >= leaf.min_available for leaf in self.pod_sets.values())

    @property
    def is_stale(self) -> bool:
        """Some pods hold resources, none has succeeded, and some pod set is below its minimum."""
        return (
            not self.gang_satisfied
            and self.active_used > 0
            and not any(leaf.succeeded for leaf in self.pod_sets.values())
        )

    @property
    def elastic(self) -> bool:
        """Some pod set has more members than it needs; those that succeeded count on both sides."""
        return any(leaf.whole_minimum < len(leaf.tasks) for leaf in self.pod_sets.values())

    @property
    def allocated_tasks(self) -> list[TaskInfo]:
        return [task for task in self.tasks.values() if task.status & ACTIVE_ALLOCATED]

    def with_tasks(self, tasks: Iterable[TaskInfo]) -> GangInfo:
        """The same gang with only these of its tasks, counted as they are now."""
        view = GangInfo.__new__(GangInfo)
        for slot in GangInfo.__slots__:
            setattr(view, slot, getattr(self, slot))
        view.original = self.original
        view.root = _copy_tree(self.root, None)
        view.pod_sets = {leaf.name: leaf for leaf in view.root.pod_sets()}
        view.tasks, view.invalid = {}, {}
        view.order_key = view.wanted = view.signature_key = view.held = view.step = None
        for task in tasks:
            view.tasks[task.uid] = task
            leaf = view.pod_sets[task.pod_set.name if task.pod_set else DEFAULT_POD_SET]
            leaf.tasks[task.uid] = task
            leaf.shift(None, task.status)
        return view

    def __repr__(self) -> str:
        return f"<gang {self.uid}: {len(self.tasks)} tasks>"


def _copy_tree(group: Group, parent: Group | None) -> Group:
    copy = Group(group.name, group.min_groups, group.topology, parent)
    copy.groups = [_copy_tree(child, copy) for child in group.groups]
    copy.leaves = [PodSet(leaf.name, leaf.min_available, leaf.topology, copy) for leaf in group.leaves]
    return copy


def _put_status(task: TaskInfo, old: tuple[Status, bool]) -> None:
    _move(task, old[0])
    task.virtual = old[1]


def _move(task: TaskInfo, status: Status) -> None:
    if task.pod_set is not None:
        task.pod_set.shift(task.status, status)
    task.status = status
    if task.gang is not None:
        task.gang.version += 1
        task.gang.order_key = None


def set_status(task: TaskInfo, status: Status, journal: UndoJournal, virtual: bool = True) -> None:
    """Change a task's status as part of a decision: counts follow, and the journal can undo it."""
    journal.note(_put_status, task, (task.status, task.virtual))
    _move(task, status)
    task.virtual = virtual
