"""Watch events → changes of the model.

An event only notes *which* object changed. Before the next cycle, `gather` looks up each of these once, on the event
loop, where the caches live. Then `apply` reads them into records and puts the records into the cluster, in the cycle's
thread, which owns the model. What a cycle decided and the watch does not show yet is laid over what is read
(overlay.py), so nothing is booked twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from msgspec import structs

from gangline.api import names
from gangline.api.builtin import Untyped
from gangline.api.core import Node, PersistentVolumeClaim, Pod
from gangline.api.kai import BindRequest, PodGroup, Queue
from gangline.api.kinds import (
    BIND_REQUEST,
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
from gangline.scheduler.loop.overlay import Overlay
from gangline.scheduler.loop.reading.coming import ComingGangs
from gangline.scheduler.loop.reading.kinds import OWN_HANDLERS, PLAIN, PLAIN_RECORDS, POOLED, TRIMS
from gangline.scheduler.loop.reading.singles import UngroupedSingles
from gangline.scheduler.loop.requests.lookup import RequestLookup
from gangline.scheduler.objects.gangs import gang_uid, level_aliases
from gangline.scheduler.objects.reading import ObjectReading
from gangline.scheduler.records import GangRecord, TaskRecord
from gangline.scheduler.thought.changes import ModelChange
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.readings import (
    Promise,
    object_reading,
    promises,
    read_gang,
    read_of,
    read_of_queue,
    read_task,
    turns,
    used_claims,
)

UNMARKED = "unmarked"
"""Index of pods that are marked for no group, by the groups they may be in."""
T = TypeVar("T", bound=Object)
ReadGang = Callable[..., GangRecord]
Usage = Callable[[str], dict[str, float]]
"""A queue's part of the cluster in the past, per cpu, memory and gpu."""


class Feed:
    """What changed since the last cycle. `woken` is called at every event; `coming` instead, where gangs are given time
    to gather, at a new pod of one that still lacks others."""

    def __init__(
        self,
        cache: Cache,
        options: SchedulerOptions,
        overlay: Overlay,
        woken: Callable[[], None],
        coming: Callable[[], None],
    ) -> None:
        self._cache, self._options, self._overlay = cache, options, overlay
        self._woken, self._coming = woken, coming if options.gathering else woken
        self._gangs = ComingGangs(cache)
        self._changed: dict[tuple[Kind[Any], Key], None] = {}
        self._uids: dict[Key, str] = {}
        self._turns: dict[Key, float] = {}
        self._usage: Usage = lambda queue: {}
        self._requests = RequestLookup(cache)
        self._singles = UngroupedSingles(cache, options.group_of_single)
        self._pool = parse_labels(options.selector)

    @staticmethod
    def prepare(cache: Cache, options: SchedulerOptions) -> None:
        """The informers the scheduler reads."""
        for kind, trim in TRIMS.items():
            cache.informer(kind, trim=trim)
        for kind in POOLED:
            cache.informer(kind)
        cache.informer(POD).add_index("claim", _claims_of)
        cache.informer(POD).add_index(UNMARKED, unmarked_for)
        RequestLookup.prepare(cache)
        ComingGangs.prepare(cache)
        for other in (*OWN_HANDLERS, *PLAIN, *_budgets(options)):
            cache.informer(other)
        cache.informer(PVC).add_index("volume", lambda claim: [claim.spec.volume_name])
        cache.informer(PVC).add_index("class", lambda claim: [class_of(claim)])

    def start(self) -> None:
        handlers: dict[Kind[Any], Callable[[Any, Any], None]] = {
            POD: self._pod_changed,
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
        for kind in (NODE, *handlers, *PLAIN, *_budgets(self._options)):
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

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        if before is None and after is not None and self._gangs.lacks_others(after):
            self._changed[POD, key_of(after)] = None
            self._coming()
        else:
            self._changed_itself(POD, before, after)

    def _request_changed(self, before: BindRequest | None, after: BindRequest | None) -> None:
        """The pod itself shows that its request was fulfilled, and a request that we made says what was decided."""
        request = after or before
        if request is not None and (before is None or after is None or promises(before) != promises(after)):
            for order in orders(request):
                known = before is None and self._overlay.says(order.pod_uid, order.selected_node)
                if not known and (after is not None or not self._requests.has_its_node(request, order)):
                    self.note_pod(Key(request.namespace, order.pod_name))

    def _group_changed(self, before: PodGroup | None, after: PodGroup | None) -> None:
        """What others write into its status changes nothing here."""
        if before is None or after is None or read_of(before) != read_of(after):
            self._changed_itself(POD_GROUP, before, after)
        if after is None and before is not None:
            for key in self._singles.of_lost_group(before):
                self.note(POD, key)
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
        for key in self._singles.think_anew():
            self.note(POD, key)

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
        read = partial(read_gang, known=known, aliases=level_aliases(self._cache.list(TOPOLOGY)), reading=reading)
        changes: list[ModelChange] = []
        for kind, key in noted:
            if kind is POD:
                changes += self._pod(key, reading, read, now)
            elif kind is POD_GROUP:
                changes.append(self._gang(key, self._cache.get(POD_GROUP, key.name, key.namespace), read))
            else:
                changes.append(self._plain(kind, key, reading))
        return changes

    def _gang(self, key: Key, group: PodGroup | None, read: ReadGang) -> ModelChange:
        uid, mine = gang_uid(*key), self._mine(group)
        make = None if mine is None else partial(read, mine, over=self._overlay.of_gang(uid))
        return ModelChange(GangRecord, uid, make)

    def _mine(self, obj: T | None) -> T | None:
        return obj if obj is not None and self._pool.matches(obj.metadata.labels) else None

    def _reading(self, now: float) -> ObjectReading:
        labels = {namespace.name: namespace.labels for namespace in self._cache.list(NAMESPACE)}
        return object_reading(self._options, now, labels)

    def _pod(self, key: Key, reading: ObjectReading, read: ReadGang, now: float) -> Iterable[ModelChange]:
        pod = self._cache.get(POD, key.name, key.namespace)
        pod = None if pod is not None and pod.status.phase == "Failed" else pod
        before = self._uids.get(key)
        if before is not None and (pod is None or pod.uid != before):
            self._overlay.forget(before)
            del self._uids[key]
            yield ModelChange(TaskRecord, before, None)
            if (gang := self._singles.leave(key)) is not None:
                yield ModelChange(GangRecord, gang, None)
        self._turns.pop(key, None)
        if pod is None:
            return
        self._uids[key] = pod.uid
        single = self._singles.group(pod)
        if self._singles.note(pod, single) and single is not None:
            yield self._gang(key_of(single), single, read)
        pod = self._in_its_group(pod, single)
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

    def _in_its_group(self, pod: Pod, single: PodGroup | None) -> Pod:
        """A pod whose group is known is a member of it, whether or not it is marked yet. `single`: the group that it
        will have."""
        if names.POD_GROUP_NAME in pod.annotations:
            return pod
        written = group_name_of(pod, lambda name: self._cache.get(POD_GROUP, name, pod.namespace))
        group = written if single is None else single.name
        if not group:
            return pod
        marked = {**pod.annotations, names.POD_GROUP_NAME: group}
        return structs.replace(pod, metadata=structs.replace(pod.metadata, annotations=marked))

    def _plain(self, kind: Kind[Any], key: Key, reading: ObjectReading) -> ModelChange:
        obj = self._cache.get(kind, key.name, key.namespace)
        obj = self._mine(obj) if kind in POOLED else obj
        type_, name, make = PLAIN_RECORDS[kind]
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
        candidates = () if claim.spec.volume_name else self._cache.list(PV)
        volumes = candidates if volume is None else (volume,)
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
        self._singles.think_anew()
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
