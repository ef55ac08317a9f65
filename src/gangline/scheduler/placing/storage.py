"""Whether storage drivers have room for the volumes that a task would be the first to use, besides those promised to
others already.

A driver says how much of a class is left for the nodes in its reach (CSIStorageCapacity). It hears of a volume only
when the binder asks for it, so what this cycle and requests on their way promised is subtracted here. Followed by the
predicates plugin through the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gangline.scheduler.matching import node_matches
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import StorageCapacityRecord, VolumeClaimRecord

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

Promise = tuple[str, str, float]
"""Node, storage class, bytes."""


class Storage:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._cluster = session.cluster
        self._promised: dict[tuple[str, str], Promise] | None = None
        """By claim (namespace, name)."""

    def has_room(self, task: TaskInfo, node: NodeInfo) -> bool:
        if not self._cluster.capacities:
            return True
        wanted: dict[str, float] = {}
        for claim in self._new(task):
            wanted[claim.storage_class] = wanted.get(claim.storage_class, 0) + claim.size
        return all(self._class_has(storage_class, size, node) for storage_class, size in wanted.items())

    def _class_has(self, storage_class: str, size: float, node: NodeInfo) -> bool:
        capacities = [
            capacity for capacity in self._cluster.capacities.values() if capacity.storage_class == storage_class
        ]
        return not capacities or any(
            reaches(item, node) and item.free - self._taken(item) >= size for item in capacities
        )

    def _taken(self, capacity: StorageCapacityRecord) -> float:
        nodes = self._cluster.nodes
        return sum(
            size
            for node, storage_class, size in self._promises().values()
            if storage_class == capacity.storage_class and node in nodes and reaches(capacity, nodes[node])
        )

    def _promises(self) -> dict[tuple[str, str], Promise]:
        """What requests on their way were promised before this cycle is looked up once."""
        if self._promised is None:
            self._promised = {}
            for task in self._cluster.tasks.values():
                if task.record.volumes and task.status == Status.BINDING:
                    self._promised |= self._promises_of(task)
        return self._promised

    def _promises_of(self, task: TaskInfo) -> dict[tuple[str, str], Promise]:
        return {
            (claim.namespace, claim.name): (task.node, claim.storage_class, claim.size) for claim in self._new(task)
        }

    def _new(self, task: TaskInfo) -> Iterator[VolumeClaimRecord]:
        """Claims whose volume is still to be made."""
        for name in task.record.volumes:
            claim = self._cluster.volume_claims.get((task.namespace, name))
            if claim is not None and not claim.bound:
                yield claim

    def allocated(self, task: TaskInfo) -> None:
        if task.record.volumes and self._cluster.capacities:
            promises = self._promises()
            for key, promise in self._promises_of(task).items():
                self._session.journal.set_item(promises, key, promise)

    def deallocated(self, task: TaskInfo) -> None:
        if task.record.volumes and self._cluster.capacities:
            promises = self._promises()
            for key in self._promises_of(task):
                if key in promises:
                    self._session.journal.pop_item(promises, key)


def reaches(capacity: StorageCapacityRecord, node: NodeInfo) -> bool:
    return capacity.nodes is None or node_matches(capacity.nodes, node)
