"""Watch events → changes of the model.

An event only notes *which* thing changed; before the next cycle, `gather` looks each of them up once (on the event
loop, where the caches live) and `apply` reads them into records and puts those into the cluster (in the cycle's thread,
which owns the model). What a cycle decided and the watch does not show yet is laid over what is read (overlay.py), so
nothing is booked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from msgspec import structs

from gangline.api import names
from gangline.api.builtin import Untyped
from gangline.api.core import Node, PersistentVolumeClaim, Pod
from gangline.api.kai import BindRequest, PodGroup, Queue
from gangline.api.kinds import (
    BIND_REQUEST,
    CONFIG_MAP,
    CSI_STORAGE_CAPACITY,
    DEVICE_CLASS,
    NAMESPACE,
    NODE,
    NODE_RESOURCE_TOPOLOGY,
    PDB,
    POD,
    POD_GROUP,
    PRIORITY_CLASS,
    PV,
    PVC,
    QUEUE,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    STORAGE_CLASS,
    TOPOLOGY,
    Kind,
)
from gangline.api.meta import Object, Raw, as_raw
from gangline.rules import requests
from gangline.rules.gangs.bind_requests import orders
from gangline.rules.gangs.memberships import group_name_of, unmarked_for
from gangline.rules.gangs.priorities import priorities
from gangline.rules.selectors import parse_labels
from gangline.rules.volumes import class_of, given_class
from gangline.runtime import Cache, Key, key_of
from gangline.scheduler import objects
from gangline.scheduler.loop.overlay import Overlay
from gangline.scheduler.loop.requests.lookup import RequestLookup
from gangline.scheduler.objects.gangs import gang_uid, level_aliases
from gangline.scheduler.objects.reading import ObjectReading
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
from gangline.scheduler.thought.changes import ModelChange
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.readings import (
    Promise,
    object_reading,
    promises,
    read_claim,
    read_gang,
    read_of,
    read_of_queue,
    read_task,
    turns,
    used_claims,
)

CONFIG_MAP_NAMES: Kind[Object] = replace(cast("Kind[Any]", CONFIG_MAP), type=Object)
"""ConfigMaps by name only: what stands in them is nobody's business here."""
OWN_HANDLERS = (
    BIND_REQUEST,
    PRIORITY_CLASS,
    TOPOLOGY,
    NAMESPACE,
    RESOURCE_CLAIM,
    PV,
    STORAGE_CLASS,
    NODE_RESOURCE_TOPOLOGY,
)
POOLED: tuple[Kind[Any], ...] = (NODE, QUEUE, POD_GROUP)
"""What is divided into node pools: only our own pool's are put into the model."""
UNMARKED = "unmarked"
"""Index of pods that are marked for no group, by the groups they may be in."""
PLAIN = (RESOURCE_SLICE, DEVICE_CLASS, PVC, CSI_STORAGE_CAPACITY, CONFIG_MAP_NAMES)

T = TypeVar("T", bound=Object)
Usage = Callable[[str], dict[str, float]]
"""A queue's part of the cluster in the past, per cpu, memory and gpu."""


class Feed:
    """What changed since the last cycle. `woken` is called at every event."""

    def __init__(self, cache: Cache, options: SchedulerOptions, overlay: Overlay, woken: Callable[[], None]) -> None:
        self._cache, self._options, self._overlay, self._woken = cache, options, overlay, woken
        self._changed: dict[tuple[Kind[Any], Key], None] = {}
        self._uids: dict[Key, str] = {}
        self._turns: dict[Key, float] = {}
        self._usage: Usage = lambda queue: {}
        self._requests = RequestLookup(cache)
        self._pool = parse_labels(options.selector)

    @staticmethod
    def prepare(cache: Cache, options: SchedulerOptions) -> None:
        """The informers the scheduler reads."""
        for kind in POOLED:
            cache.informer(kind)
        cache.informer(POD).add_index("claim", _claims_of)
        cache.informer(POD).add_index(UNMARKED, unmarked_for)
        RequestLookup.prepare(cache)
        for other in (*OWN_HANDLERS, *PLAIN, *_budgets(options)):
            cache.informer(other)
        cache.informer(PVC).add_index("volume", lambda claim: [claim.spec.volume_name])
        cache.informer(PVC).add_index("class", lambda claim: [class_of(claim)])

    def start(self) -> None:
        handlers: dict[Kind[Any], Callable[[Any, Any], None]] = {
            BIND_REQUEST: self._request_changed,
            PRIORITY_CLASS: self._every_gang,
            TOPOLOGY: self._topology_changed,
            QUEUE: self._queue_changed,
            POD_GROUP: self._group_changed,
            RESOURCE_CLAIM: self._claim_changed,
            NAMESPACE: self._namespace_changed,
            NODE_RESOURCE_TOPOLOGY: self._zones_changed,
            PV: partial(self._storage_changed, "volume"),
            STORAGE_CLASS: partial(self._storage_changed, "class"),
        }
        for kind in (NODE, POD, *handlers, *PLAIN, *_budgets(self._options)):
            self._cache.informer(kind).on_change(handlers.get(kind) or partial(self._changed_itself, kind))

    @property
    def pending(self) -> bool:
        return bool(self._changed)

    def note(self, kind: Kind[Any], key: Key) -> None:
        self._changed[kind, key] = None
        self._woken()

    def usage_changed(self, usage: Usage) -> None:
        """New figures of past use; every queue is read again."""
        self._usage = usage
        for queue in self._cache.list(QUEUE):
            self.note(QUEUE, key_of(queue))

    # --- events: which things changed ------------------------------------------------------------------------------

    def _changed_itself(self, kind: Kind[Any], before: Object | None, after: Object | None) -> None:
        obj = after or before
        if obj is not None:
            self.note(kind, key_of(obj))

    def _request_changed(self, before: BindRequest | None, after: BindRequest | None) -> None:
        """That a request was fulfilled is told by its pod."""
        request = after or before
        if request is not None and (before is None or after is None or promises(before) != promises(after)):
            for order in orders(request):
                if after is not None or not self._requests.has_its_node(request, order):
                    self.note_pod(Key(request.namespace, order.pod_name))

    def _group_changed(self, before: PodGroup | None, after: PodGroup | None) -> None:
        """What others write into its status changes nothing here."""
        if before is None or after is None or read_of(before) != read_of(after):
            self._changed_itself(POD_GROUP, before, after)
        if after is not None and (before is None or _whose(before) != _whose(after)):
            for pod in self._cache.by(POD, UNMARKED, f"{after.namespace}/{after.name}"):
                self.note(POD, key_of(pod))

    def _queue_changed(self, before: Queue | None, after: Queue | None) -> None:
        """What others write into its status changes nothing here."""
        if before is None or after is None or read_of_queue(before) != read_of_queue(after):
            self._changed_itself(QUEUE, before, after)

    def note_pod(self, key: Key) -> None:
        """A pod, and the claims whose devices were promised to it."""
        self.note(POD, key)
        pod = self._cache.get(POD, key.name, key.namespace)
        for name in requests.claim_names(pod).values() if pod is not None else ():
            self.note(RESOURCE_CLAIM, Key(key.namespace, name))

    def _every_gang(self, before: Object | None, after: Object | None) -> None:
        for group in self._cache.list(POD_GROUP):
            self.note(POD_GROUP, key_of(group))

    def _topology_changed(self, before: Object | None, after: Object | None) -> None:
        self._changed_itself(TOPOLOGY, before, after)
        self._every_gang(before, after)

    def _claim_changed(self, before: Object | None, after: Object | None) -> None:
        self._changed_itself(RESOURCE_CLAIM, before, after)
        claim = after or before
        if claim is not None:
            for pod in self._cache.by(POD, "claim", f"{claim.namespace}/{claim.name}"):
                self.note(POD, key_of(pod))

    def _zones_changed(self, before: Object | None, after: Object | None) -> None:
        zones = after or before
        if zones is not None:
            self.note(NODE, Key("", zones.name))

    def _storage_changed(self, index: str, before: Object | None, after: Object | None) -> None:
        obj = after or before
        if obj is None:
            return
        claims = self._cache.by(PVC, index, obj.name)
        if isinstance(obj, Untyped) and index == "volume":
            claims = [*claims, *self._cache.by(PVC, "class", given_class(as_raw(obj)))]
        for claim in claims:
            self.note(PVC, key_of(claim))

    def _namespace_changed(self, before: Object | None, after: Object | None) -> None:
        if before is not None and after is not None and before.labels != after.labels:
            for pod in self._cache.list(POD):
                if pod.spec.affinity:
                    self.note(POD, key_of(pod))

    # --- before a cycle: look them up --------------------------------------------------------------------------------

    def gather(self, now: float) -> list[ModelChange]:
        """Everything noted since the last time, looked up once each."""
        noted, self._changed = self._changed, {}
        reading = self._reading(now)
        known = priorities(self._cache.list(PRIORITY_CLASS))
        aliases = level_aliases(self._cache.list(TOPOLOGY))
        changes: list[ModelChange] = []
        for kind, key in noted:
            if kind is POD:
                changes += self._pod(key, reading, now)
            elif kind is POD_GROUP:
                group = self._mine(self._cache.get(POD_GROUP, key.name, key.namespace))
                over = self._overlay.of_gang(gang_uid(*key))
                make = None if group is None else partial(read_gang, group, known, aliases, reading, over)
                changes.append(ModelChange(GangRecord, gang_uid(*key), make))
            else:
                changes.append(self._plain(kind, key, reading))
        return changes

    def _mine(self, obj: T | None) -> T | None:
        return obj if obj is not None and self._pool.matches(obj.metadata.labels) else None

    def _reading(self, now: float) -> ObjectReading:
        labels = {namespace.name: namespace.labels for namespace in self._cache.list(NAMESPACE)}
        return object_reading(self._options, now, labels)

    def _pod(self, key: Key, reading: ObjectReading, now: float) -> Iterable[ModelChange]:
        pod = self._cache.get(POD, key.name, key.namespace)
        pod = None if pod is not None and pod.status.phase == "Failed" else pod
        before = self._uids.get(key)
        if before is not None and (pod is None or pod.uid != before):
            self._overlay.forget(before)
            del self._uids[key]
            yield ModelChange(TaskRecord, before, None)
        self._turns.pop(key, None)
        if pod is None:
            return
        self._uids[key] = pod.uid
        pod = self._in_its_group(pod)
        when = turns(pod, self._options.stuck_releasing)
        if when is not None and when > now:
            self._turns[key] = when
        request = self._requests.of(pod)
        claims = [
            claim
            for name in used_claims(pod)
            if (claim := self._cache.get(RESOURCE_CLAIM, name, pod.namespace)) is not None
        ]
        over = self._overlay.of_pod(pod, request)
        yield ModelChange(TaskRecord, pod.uid, partial(read_task, pod, request, claims, reading, over, now))

    def _in_its_group(self, pod: Pod) -> Pod:
        """A pod whose group is known is a member of it, whether or not it is marked yet."""
        if names.POD_GROUP_NAME in pod.annotations:
            return pod
        group = group_name_of(pod, lambda name: self._cache.get(POD_GROUP, name, pod.namespace))
        if not group:
            return pod
        marked = {**pod.annotations, names.POD_GROUP_NAME: group}
        return structs.replace(pod, metadata=structs.replace(pod.metadata, annotations=marked))

    def _plain(self, kind: Kind[Any], key: Key, reading: ObjectReading) -> ModelChange:
        obj = self._cache.get(kind, key.name, key.namespace)
        obj = self._mine(obj) if kind in POOLED else obj
        type_, name, make = _PLAIN[kind]
        if obj is None or (kind is NODE and not self._usable(obj)):
            return ModelChange(type_, name(key), None)
        if kind is QUEUE:
            return ModelChange(type_, name(key), partial(make, obj, self._usage(key.name)))
        if kind is NODE:
            zones = self._cache.get(NODE_RESOURCE_TOPOLOGY, key.name)
            return ModelChange(type_, name(key), partial(make, obj, None if zones is None else as_raw(zones), reading))
        if kind is RESOURCE_CLAIM:
            return ModelChange(type_, name(key), partial(make, obj, self._promised(key)))
        if kind is PVC:
            return ModelChange(type_, name(key), partial(make, obj, *self._storage_of(obj)))
        return ModelChange(type_, name(key), partial(make, obj))

    def _promised(self, key: Key) -> Promise | None:
        """Devices that a request on its way gives the claim, before the binder has written them down."""
        for pod in self._cache.by(POD, "claim", f"{key.namespace}/{key.name}"):
            devices = self._overlay.promise(pod.uid, key.name)
            if devices is not None:
                return pod.uid, devices
            given = self._requests.devices(pod, key.name)
            if given is not None:
                return pod.uid, given
        return None

    def _storage_of(self, claim: PersistentVolumeClaim) -> tuple[dict[str, Raw], dict[str, Raw]]:
        """The claim's volume, or those it could have, and its class, by name."""
        volume = self._cache.get(PV, claim.spec.volume_name)
        every = () if claim.spec.volume_name else self._cache.list(PV)
        volumes = every if volume is None else (volume,)
        storage = self._cache.get(STORAGE_CLASS, claim.spec.storage_class_name or "")
        return {item.name: as_raw(item) for item in volumes}, (
            {} if storage is None else {storage.name: as_raw(storage)}
        )

    def _usable(self, node: Node) -> bool:
        options = self._options
        return (
            not options.restrict_nodes
            or options.cpu_worker_label in node.labels
            or options.gpu_worker_label in node.labels
        )

    def note_all(self) -> None:
        """Read everything again, into an empty model."""
        self._uids.clear()
        for kind in (NODE, QUEUE, TOPOLOGY, POD_GROUP, *PLAIN, *_budgets(self._options), RESOURCE_CLAIM, POD):
            for obj in self._cache.list(kind):
                self.note(kind, key_of(obj))

    def next_turn(self, now: float) -> float | None:
        """When the next pod's reading changes without any event: a back-off ends, or a deletion turns out to be
        stuck."""
        return min((when for when in self._turns.values() if when > now), default=None)

    def note_turned(self, now: float) -> None:
        for key in [key for key, when in self._turns.items() if when <= now]:
            self.note(POD, key)


def _budgets(options: SchedulerOptions) -> tuple[Kind[Any], ...]:
    return (PDB,) if options.honours_budgets else ()


def _whose(group: PodGroup) -> str | None:
    return group.annotations.get(names.MEMBERS)


def _claims_of(pod: Pod) -> list[str]:
    return [f"{pod.namespace}/{name}" for name in used_claims(pod)]


def _raw(read: Callable[[Any], Record]) -> Callable[[Any], Record]:
    return lambda obj: read(as_raw(obj))


def _one(key: Key) -> Any:
    return key.name


def _both(key: Key) -> Any:
    return key.namespace, key.name


_PLAIN: dict[Kind[Any], tuple[type[Record], Callable[[Key], Any], Callable[..., Record]]] = {
    NODE: (NodeRecord, _one, objects.node_record),
    QUEUE: (QueueRecord, _one, objects.queue_record),
    TOPOLOGY: (TopologyRecord, _one, objects.topology_record),
    RESOURCE_CLAIM: (ClaimRecord, _both, read_claim),
    PVC: (VolumeClaimRecord, _both, objects.volume_claim_record),
    CSI_STORAGE_CAPACITY: (StorageCapacityRecord, str, _raw(objects.storage_capacity_record)),
    CONFIG_MAP_NAMES: (ConfigMapRecord, _both, lambda item: ConfigMapRecord(item.name, item.namespace)),
    RESOURCE_SLICE: (SliceRecord, _one, _raw(objects.slice_record)),
    PDB: (BudgetRecord, _both, _raw(objects.budget_record)),
    DEVICE_CLASS: (DeviceClassRecord, _one, _raw(objects.device_class_record)),
}
