"""Devices by claim: a task with resource claims goes only where its claims' devices are, or where free devices can fill
them.

Before any node: the claims must exist, have room for one more consumer, and a GPU claim that is shared between pods
must belong to the gang's queue. On a node: allocated claims must be usable there, unallocated ones must find devices,
and so must extended resources that the node does not have itself but a device class backs. When a task is placed its
claims are reserved and allocated virtually; when it is evicted they are given back, and allocated again as they were if
it stays after all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gangline.errors import Refusal
from gangline.scheduler.matching import node_matches
from gangline.scheduler.model.dra import ClaimState, device_key
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.devices import CannotTell, choose
from gangline.scheduler.placing.extended import ExtendedClaim, extended_claim
from gangline.scheduler.plugin import Plugin
from gangline.scheduler.records import ClaimRecord, DeviceId

if TYPE_CHECKING:
    from gangline.scheduler.session import Session

MOST_CONSUMERS = 256
Key = tuple[str, str]
EXTENDED: Key = ("", "<extended-resources>")
NOBODY = ClaimRecord("")


class DynamicResourcesPlugin(Plugin):
    name = "dynamicresources"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        self._session = session
        self._devices = session.cluster.devices
        self._nodes = session.cluster.nodes
        self._remembered: dict[tuple[str, Key], tuple[DeviceId, ...]] = {}

    # ── may it run at all ──

    def before_task(self, task: TaskInfo, gang: GangInfo) -> Refusal | None:
        record = task.record
        if not record.missing_claims and not self._concerned(task):
            return None
        text = self._problem(task, gang)
        return None if text is None else Refusal(self.name, text, resolvable=False)

    def _problem(self, task: TaskInfo, gang: GangInfo) -> str | None:
        record = task.record
        if not self._session.settings.dynamic_resources:
            names = ", ".join([*record.claims, *record.missing_claims])
            return (
                f"pod {task.full_name} cannot be scheduled, it references resource claims <{names}> "
                "while dynamic resource allocation feature is not enabled in cluster"
            )
        if record.missing_claims:
            return f"failed to get resource claim {task.namespace}/{record.missing_claims[0]}: not created yet"
        for name in record.claims:
            claim = self._devices.records.get((task.namespace, name))
            if claim is None:
                return f"failed to get resource claim {task.namespace}/{name}: not found"
            text = self._claim_problem(task, gang, claim)
            if text is not None:
                return text
        return None

    def _claim_problem(self, task: TaskInfo, gang: GangInfo, claim: ClaimRecord) -> str | None:
        state = self._devices.claims[claim.namespace, claim.name]
        if len(state.reserved_for) >= MOST_CONSUMERS and task.uid not in state.reserved_for:
            return (
                f"resource claim {claim.namespace}/{claim.name} has reached its maximum number of consumers "
                f"({MOST_CONSUMERS})"
            )
        if state.allocated is None:
            missing = next(
                (
                    request.device_class
                    for request in claim.requests
                    if not request.choices and request.device_class not in self._devices.classes
                ),
                None,
            )
            if missing is not None:
                return f"pod {task.full_name} cannot be scheduled: device class {missing} does not exist"
        if claim.template or claim.name in task.record.template_claims or not is_gpu_claim(claim):
            return None
        return self._queue_problem(task, gang, claim)

    def _queue_problem(self, task: TaskInfo, gang: GangInfo, claim: ClaimRecord) -> str | None:
        label = self._session.settings.queue_label
        queue = claim.labels.get(label, "")
        prefix = f"pod {task.full_name} cannot be scheduled: DRA claim {claim.name} is a shared GPU claim"
        if not queue:
            return f"{prefix} but does not have a queue label ({label})"
        if queue != gang.queue:
            return f"{prefix} with wrong queue label (expected queue: {gang.queue}, claim queue label: {queue})"
        return None

    # ── on a node ──

    def predicate(self, task: TaskInfo, node: NodeInfo) -> Refusal | None:
        if not self._concerned(task):
            return None
        wanted: list[ClaimRecord] = []
        for key in self._keys(task):
            state, record = self._devices.claims[key], self._devices.records[key]
            if state.allocated is None:
                wanted.append(record)
            elif not self._usable(record, state.allocated, node):
                return Refusal(self.name, "resourceclaim not available on the node")
        extended = self._extended(task, node)
        wanted += [extended.claim] if extended is not None else []
        try:
            met = not wanted or choose(self._devices, node, wanted) is not None
        except CannotTell as error:
            return Refusal(self.name, f"cannot allocate all claims: {error}")
        return None if met else Refusal(self.name, "cannot allocate all claims")

    def _concerned(self, task: TaskInfo) -> bool:
        return bool(task.record.claims) or bool(task.backed)

    def _extended(self, task: TaskInfo, node: NodeInfo) -> ExtendedClaim | None:
        return extended_claim(self._devices, task.record, node) if task.backed else None

    def _usable(self, record: ClaimRecord, allocated: tuple[DeviceId, ...], node: NodeInfo) -> bool:
        if record.nodes is not None and record.allocated == allocated:
            return node_matches(record.nodes, node)
        here = {(item.slice.driver, item.slice.pool) for item in self._devices.on(node)}
        return all((device.driver, device.pool) in here for device in allocated)

    # ── following allocations ──

    def allocated(self, task: TaskInfo) -> None:
        node = self._nodes.get(task.node)
        if node is None or not self._concerned(task):
            return
        for key in self._keys(task):
            state = self._devices.claims[key]
            devices = state.allocated
            if devices is None:
                devices = self._remembered_on(task, key, node) or self._chosen(self._devices.records[key], node)
            if devices is not None:
                self._session.journal.set_item(self._remembered, (task.uid, key), devices)
                reserved = state.reserved_for if task.uid in state.reserved_for else (*state.reserved_for, task.uid)
                self._devices.change(key, ClaimState(devices, reserved))
        self._allocate_extended(task, node)

    def _allocate_extended(self, task: TaskInfo, node: NodeInfo) -> None:
        extended = self._extended(task, node)
        if extended is not None:
            devices = self._remembered_on(task, EXTENDED, node) or self._chosen(extended.claim, node)
            if devices is not None:
                self._devices.give(task.uid, devices)

    def _chosen(self, record: ClaimRecord, node: NodeInfo) -> tuple[DeviceId, ...] | None:
        devices = choose(self._devices, node, [record])
        return None if devices is None else devices[0]

    def _remembered_on(self, task: TaskInfo, key: Key, node: NodeInfo) -> tuple[DeviceId, ...] | None:
        """What the claim had before this task was evicted, if that is on this node and still free."""
        devices = self._remembered.get((task.uid, key))
        record = self._devices.records.get(key, NOBODY)
        if devices is None or not self._usable(record, devices, node):
            return None
        return None if any(self._devices.held.get(device_key(device)) for device in devices) else devices

    def deallocated(self, task: TaskInfo) -> None:
        for key in self._keys(task):
            state = self._devices.claims[key]
            if state.allocated is not None:
                self._session.journal.set_item(self._remembered, (task.uid, key), state.allocated)
            left = tuple(uid for uid in state.reserved_for if uid != task.uid)
            self._devices.change(key, ClaimState(state.allocated if left else None, left))
        if self._devices.extended.get(task.uid):
            self._session.journal.set_item(self._remembered, (task.uid, EXTENDED), self._devices.extended[task.uid])
            self._devices.give(task.uid, ())

    def _keys(self, task: TaskInfo) -> list[Key]:
        return [(task.namespace, name) for name in task.record.claims if (task.namespace, name) in self._devices.claims]


def is_gpu_claim(claim: ClaimRecord) -> bool:
    return any("gpu" in request.device_class.lower() for request in claim.requests)
