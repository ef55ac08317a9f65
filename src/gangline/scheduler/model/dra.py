"""Dynamic resources: device classes, the devices that nodes reach, and who holds which of them.

Kept by the cluster from records; the dynamic-resources plugin reserves and allocates claims virtually through the same
journal as everything else. A device is held by the claims that were given it, and by tasks whose extended resources it
backs. Only drivers with "gpu" in their name count as GPUs of a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gangline.rules.requests import is_gpu_driver
from gangline.scheduler.matching import node_matches
from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import ClaimRecord, DeviceClassRecord, DeviceId, DeviceRecord, NodeTerm, SliceRecord

if TYPE_CHECKING:
    from gangline.scheduler.model.node import NodeInfo

IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""Every class backs the extended resource of this prefix and its name."""


@dataclass(frozen=True, slots=True)
class ClaimState:
    """What a claim holds now: allocated devices (None: not allocated) and the uids it is reserved for, in order."""

    allocated: tuple[DeviceId, ...] | None = None
    reserved_for: tuple[str, ...] = ()


class PublishedDevice(NamedTuple):
    """A device where its driver published it. `complete`: all slices of its pool are known."""

    key: str
    slice: SliceRecord
    device: DeviceRecord
    complete: bool = True


def device_key(device: DeviceId) -> str:
    return f"{device.driver}/{device.pool}/{device.device}"


class Devices:
    """`records` are claims as given, `claims` their present (possibly virtual) state; both by (namespace, name). `held`
    counts the holders of a device, `extended` says which devices back extended resources of which task."""

    def __init__(self, journal: UndoJournal) -> None:
        self.journal = journal
        self.classes: dict[str, DeviceClassRecord] = {}
        self.slices: dict[str, SliceRecord] = {}
        self.records: dict[tuple[str, str], ClaimRecord] = {}
        self.claims: dict[tuple[str, str], ClaimState] = {}
        self.extended: dict[str, tuple[DeviceId, ...]] = {}
        self.held: dict[str, int] = {}
        self.answers: dict[Any, Any] = {}
        """Answers of selectors; forgotten when classes or devices change."""
        self._made_for: dict[str, tuple[str, str]] = {}
        self._backed: dict[str, str] = {}
        self._pools: (
            tuple[dict[str, list[PublishedDevice]], list[tuple[PublishedDevice, tuple[NodeTerm, ...] | None]]] | None
        ) = None

    # ── claims ──

    def put(self, record: ClaimRecord) -> None:
        key = (record.namespace, record.name)
        if key in self.records:
            self.drop(key)
        self.records[key] = record
        if record.pod:
            self._made_for[record.pod] = key
        self._set(key, ClaimState(record.allocated, record.reserved_for))

    def drop(self, key: tuple[str, str]) -> None:
        self._set(key, ClaimState())
        record = self.records.pop(key)
        self._made_for.pop(record.pod, None)
        del self.claims[key]

    def change(self, key: tuple[str, str], state: ClaimState) -> None:
        """Set a claim's state as part of a decision."""
        self._set(key, state)

    def _set(self, key: tuple[str, str], state: ClaimState) -> None:
        old = self.claims.get(key)
        if self.records[key].pod not in self.extended:
            self._hold(old.allocated or () if old is not None else (), -1)
            self._hold(state.allocated or (), +1)
        self.journal.set_item(self.claims, key, state)

    def _hold(self, devices: Iterable[DeviceId], sign: int) -> None:
        for device in devices:
            if not device.admin:
                key = device_key(device)
                self.journal.set_item(self.held, key, self.held.get(key, 0) + sign)

    # ── extended resources ──

    def give(self, uid: str, devices: tuple[DeviceId, ...]) -> None:
        """The task has these devices for its extended resources. The claim that says the same does not count beside
        it."""
        claim = self._made_for.get(uid)
        self._hold(self.extended[uid] if uid in self.extended else self._allocated(claim), -1)
        self._hold(devices, +1)
        self.journal.set_item(self.extended, uid, devices)

    def forget(self, uid: str) -> None:
        """The task is gone; a claim that was made for it counts again until it goes too."""
        if uid in self.extended:
            self._hold(self.extended[uid], -1)
            self.journal.pop_item(self.extended, uid)
            self._hold(self._allocated(self._made_for.get(uid)), +1)

    def _allocated(self, claim: tuple[str, str] | None) -> tuple[DeviceId, ...]:
        return self.claims[claim].allocated or () if claim is not None else ()

    def class_of(self, resource: str) -> str | None:
        """The device class behind an extended resource."""
        if resource.startswith(IMPLICIT):
            name = resource[len(IMPLICIT) :]
            return name if name in self.classes else None
        return self._backed.get(resource)

    def classes_changed(self) -> None:
        """Where two classes back the same resource, the newer one does."""
        ordered = sorted(self.classes.values(), key=lambda class_: (-class_.created, class_.name), reverse=True)
        self._backed = {item.resource: item.name for item in ordered if item.resource}
        self.answers.clear()

    # ── devices ──

    def slices_changed(self) -> None:
        self._pools = None
        self.answers.clear()

    def on(self, node: NodeInfo) -> list[PublishedDevice]:
        """Every device within the node's reach: its own by pool and slice, then those of its part of the cluster."""
        local, others = self._arranged()
        reached = [item for item, terms in others if terms is None or node_matches(terms, node)]
        return [*local.get(node.name, ()), *reached]

    def _arranged(
        self,
    ) -> tuple[dict[str, list[PublishedDevice]], list[tuple[PublishedDevice, tuple[NodeTerm, ...] | None]]]:
        if self._pools is None:
            self._pools = {}, []
            for item in self._published():
                place: SliceRecord | DeviceRecord = item.device if item.slice.by_device else item.slice
                if place.node:
                    self._pools[0].setdefault(place.node, []).append(item)
                elif place.everywhere or place.nodes is not None:
                    self._pools[1].append((item, None if place.everywhere else place.nodes))
        return self._pools

    def _published(self) -> Iterable[PublishedDevice]:
        """Devices of the newest generation of every pool."""
        pools: dict[tuple[str, str], list[SliceRecord]] = {}
        for record in sorted(self.slices.values(), key=lambda slice_: (slice_.pool, slice_.name)):
            pools.setdefault((record.driver, record.pool), []).append(record)
        for (driver, pool), members in pools.items():
            newest = max(member.generation for member in members)
            current = [member for member in members if member.generation == newest]
            complete = len(current) >= current[0].slices
            for record in current:
                for device in record.devices:
                    yield PublishedDevice(f"{driver}/{pool}/{device.name}", record, device, complete)

    def pool(self, driver: str, name: str) -> list[SliceRecord]:
        return [slice_ for slice_ in self.slices.values() if (slice_.driver, slice_.pool) == (driver, name)]

    def gpus_on(self, node: str) -> int:
        """Only what is the node's own counts."""
        return sum(is_gpu_driver(item.slice.driver) for item in self._arranged()[0].get(node, ()))

    def held_by(self, task: TaskInfo) -> tuple[str, ...]:
        """Keys of the GPU devices that the task's claims already have."""
        names = task.record.claims
        if not names:
            return ()
        keys: list[str] = []
        for name in names:
            state = self.claims.get((task.namespace, name))
            keys += [
                device_key(device)
                for device in (state.allocated or () if state else ())
                if is_gpu_driver(device.driver)
            ]
        return tuple(keys)

    def nodes_of_users(self, key: tuple[str, str], tasks: Mapping[str, TaskInfo]) -> set[str]:
        """Nodes of the tasks that hold this claim."""
        state = self.claims.get(key)
        users = [tasks[uid] for uid in state.reserved_for if uid in tasks] if state else []
        return {task.node for task in users if task.node}

    def state(self) -> dict[str, Any]:
        return {
            "claims": dict(sorted(self.claims.items())),
            "extended": dict(sorted(self.extended.items())),
            "held": {key: count for key, count in sorted(self.held.items()) if count},
        }
