"""What is known of a cluster, and what can be asked of it: the state that `cluster.py` keeps up to date by records.

Read by sessions, plugins and explanations. Nothing here changes anything but its own logs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.scheduler.model.dra import Devices
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.queue import QueueInfo
from gangline.scheduler.model.resources import GPU, ResourceNames, Vector, minus, plus, summed
from gangline.scheduler.model.task import TaskInfo, TaskShape
from gangline.scheduler.model.topology import TopologyTree
from gangline.scheduler.records import (
    BudgetRecord,
    ConfigMapRecord,
    StorageCapacityRecord,
    TopologyRecord,
    VolumeClaimRecord,
)

LONGEST_LOG = 200_000
"""So many changes are logged before who follows the log must start anew."""


class ClusterState:
    """`nodes`, `queues`, `gangs`, `tasks` are by name or uid. `waiting` are the uids of gangs with pending tasks,
    `gated` of those with tasks behind gates, `suspects` those that may be stale. `touched` is the log of changed node
    numbers; `epoch` changes when numbers are given anew. `generation` counts changes of nodes themselves (not of what
    runs on them), `ranks` changes of what nodes are worth, `pods_seen` pods that came, `gpus_started` GPUs of pods
    that got a place. `looks` is the log of gangs that changed, by uid; `looks_epoch` changes when it begins anew."""

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
        self.budgets: dict[tuple[str, str], BudgetRecord] = {}
        self.devices = Devices(self.journal)
        self.touched: list[int] = []
        self.by_number: list[NodeInfo | None] = []
        self.epoch = 0
        self.generation = 0
        self.ranks = 0
        self.pods_seen = 0
        self.gpus_started = 0.0
        self.waiting: dict[str, None] = {}
        self.gated: dict[str, None] = {}
        self.suspects: dict[str, None] = {}
        self.looks: list[str] = []
        self.looks_epoch = 0
        self.shunning: dict[str, None] = {}
        self.liking: dict[str, None] = {}
        self.spreading: dict[str, None] = {}
        self.claim_users: dict[tuple[str, str], dict[str, None]] = {}
        """By PersistentVolumeClaim: the tasks that name it."""
        self.shapes: dict[tuple[Any, ...], TaskShape] = {}
        self.memo: dict[Any, Any] = {}
        self.futures: dict[str, Any] = {}
        """By node: what was worked out about when it is free; dropped when that of a gang on it is told anew."""
        self._shape_number = 0
        self._tasks_of_gang: dict[str, dict[str, TaskInfo]] = {}
        self._tasks_on: dict[str, dict[str, TaskInfo]] = {}
        self._foreign_on: dict[str, dict[str, TaskInfo]] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._gangs_of: dict[str, dict[str, None]] = {}
        self._trees: dict[str, TopologyTree] = {}

    def trim(self) -> None:
        """Cut the log of touched nodes when it is long; who follows it starts anew. Called between cycles."""
        if len(self.touched) > LONGEST_LOG:
            self.touched.clear()
            self.epoch += 1
        if len(self.looks) > LONGEST_LOG:
            self.looks.clear()
            self.looks_epoch += 1

    def topology(self, name: str) -> TopologyTree | None:
        """The tree of domains of a topology over the present nodes; None when there is no such topology."""
        record = self.topologies.get(name)
        if record is None:
            return None
        tree = self._trees.get(name)
        if tree is None:
            tree = self._trees[name] = TopologyTree(record, self.nodes.values())
        return tree

    def path_of(self, queue: str) -> list[QueueInfo]:
        """The queue and its ancestors up to the top; empty when the queue or an ancestor is missing or the parents
        run in a circle."""
        path: list[QueueInfo] = []
        name = queue
        while name:
            ancestor = self.queues.get(name)
            if ancestor is None or len(path) > len(self.queues):
                return []
            path.append(ancestor)
            name = ancestor.parent
        return path

    def gpu_memory_range(self) -> tuple[int | None, int | None]:
        """The smallest and largest memory per GPU over nodes that report a real one (> 100 MiB)."""
        kept = self.memo.get("GPU memory")
        if kept is None or kept[0] != self.generation:
            sizes = [node.gpu_memory for node in self.nodes.values() if node.gpu_memory > 100]
            kept = self.memo["GPU memory"] = (self.generation, (min(sizes), max(sizes)) if sizes else (None, None))
        bounds: tuple[int | None, int | None] = kept[1]
        return bounds

    def largest_node(self) -> float:
        """GPUs of the node with the most of them."""
        kept = self.memo.get("largest node")
        if kept is None or kept[0] != self.generation:
            gpus = max([node.allocatable[GPU] for node in self.nodes.values()], default=0.0)
            kept = self.memo["largest node"] = (self.generation, gpus)
        largest: float = kept[1]
        return largest

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
