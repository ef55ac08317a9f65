"""Dynamic resources: device classes, the devices that nodes publish, and claims with what they were given.

Kept by the cluster from records; the dynamic-resources plugin reserves and allocates claims virtually through the
same journal as everything else. Only drivers with "gpu" in their name count as GPUs of a node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..records import ClaimRecord, Device, DeviceClassRecord, DeviceId, SliceRecord
from .journal import Journal
from .task import Task


@dataclass(frozen=True, slots=True)
class ClaimState:
    """What a claim holds now: allocated devices (None: not allocated) and the uids it is reserved for, in order."""

    allocated: tuple[DeviceId, ...] | None = None
    reserved_for: tuple[str, ...] = ()


def is_gpu_driver(driver: str) -> bool:
    return "gpu" in driver.lower()


def device_key(device: DeviceId) -> str:
    return f"{device.driver}/{device.pool}/{device.device}"


class Devices:
    """`records` are claims as given, `claims` their present (possibly virtual) state; both by (namespace, name)."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.classes: dict[str, DeviceClassRecord] = {}
        self.slices: dict[str, SliceRecord] = {}
        self.records: dict[tuple[str, str], ClaimRecord] = {}
        self.claims: dict[tuple[str, str], ClaimState] = {}
        self._pools: dict[str, list[tuple[SliceRecord, Device]]] | None = None

    def put(self, record: ClaimRecord) -> None:
        key = (record.namespace, record.name)
        self.records[key] = record
        self.claims[key] = ClaimState(record.allocated, record.reserved_for)

    def drop(self, key: tuple[str, str]) -> None:
        del self.records[key]
        del self.claims[key]

    def slices_changed(self) -> None:
        self._pools = None

    def on(self, node: str) -> list[tuple[SliceRecord, Device]]:
        """Every device that the node publishes, by pool and slice."""
        if self._pools is None:
            pools: dict[str, list[tuple[SliceRecord, Device]]] = {}
            for record in sorted(self.slices.values(), key=lambda each: (each.pool, each.name)):
                pools.setdefault(record.node, []).extend((record, device) for device in record.devices)
            self._pools = pools
        return self._pools.get(node, [])

    def gpus_on(self, node: str) -> int:
        return sum(is_gpu_driver(record.driver) for record, _ in self.on(node))

    def held_by(self, task: Task) -> tuple[str, ...]:
        """Keys of the GPU devices that the task's claims already have."""
        names = task.record.claims
        if not names:
            return ()
        keys: list[str] = []
        for name in names:
            state = self.claims.get((task.namespace, name))
            keys += [device_key(device) for device in (state.allocated or () if state else ()) if is_gpu_driver(device.driver)]
        return tuple(keys)

    def nodes_of_users(self, key: tuple[str, str], tasks: Mapping[str, Task]) -> set[str]:
        """Nodes of the tasks that hold this claim."""
        state = self.claims.get(key)
        users = [tasks[uid] for uid in state.reserved_for if uid in tasks] if state else []
        return {task.node for task in users if task.node}

    def taken(self) -> set[str]:
        """Keys of all devices that some claim holds."""
        return {device_key(device) for state in self.claims.values() for device in state.allocated or ()}

    def change(self, key: tuple[str, str], state: ClaimState) -> None:
        """Set a claim's state as part of a decision."""
        self.journal.set_item(self.claims, key, state)

    def state(self) -> dict[tuple[str, str], Any]:
        return dict(sorted(self.claims.items()))
