"""The real cycle on the objects of a cluster, again and again until it has nothing more to do: what the running
scheduler would come to.

Every plugin, every level of the queue tree, every pod. What a cycle decides is carried out on the model as the
cluster would: bound pods hold their room, evicted ones are gone, or wait again where a controller makes them anew.
One model serves many tries: only what a change touches is read anew, and all of it is put back before the next one.
The objects themselves stay as they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.rules.gangs.memberships import group_name_of
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind, Decisions, Evict, Refuse
from gangline.scheduler.fairness.accounts import RESOURCES
from gangline.scheduler.model.cluster import ClusterModel, Key
from gangline.scheduler.model.status import Status
from gangline.scheduler.objects.reading import ObjectReading
from gangline.scheduler.recording.memory import memory_of, remember
from gangline.scheduler.records import (
    BudgetRecord,
    ClaimRecord,
    ConfigMapRecord,
    GangRecord,
    NodeRecord,
    Record,
    TaskRecord,
    VolumeClaimRecord,
)
from gangline.scheduler.session import Session
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.snapshots.whole import records_from_objects
from gangline.scheduler.thought.booking import bound, claims_of, name_groups, updated_gang
from gangline.scheduler.time.kept import kept_runtimes
from gangline.scheduler.time.learning import teach
from gangline.scheduler.why.trial import Trials
from gangline.why.objects import ClusterObjects, Difference, dig
from gangline.why.schedulers.running_settings import running_settings

MOST_CYCLES = 8


POOLED = (kinds.NODE.resource, kinds.QUEUE.resource, kinds.POD_GROUP.resource)


CONTEXT: tuple[Kind[Any], ...] = (
    kinds.PRIORITY_CLASS,
    kinds.TOPOLOGY,
    kinds.PV,
    kinds.STORAGE_CLASS,
    kinds.RESOURCE_CLAIM,
)
"""Kinds that say how objects of other kinds are read."""


DEPENDENT: Mapping[str, Kind[Any]] = {
    kinds.PRIORITY_CLASS.resource: kinds.POD_GROUP,
    kinds.TOPOLOGY.resource: kinds.POD_GROUP,
    kinds.PV.resource: kinds.PVC,
    kinds.STORAGE_CLASS.resource: kinds.PVC,
    kinds.RESOURCE_CLAIM.resource: kinds.POD,
    kinds.BIND_REQUEST.resource: kinds.POD,
    kinds.POD_GROUP.resource: kinds.POD,
}
"""When one of these changes, the objects of that kind are read anew."""


RecordKey = tuple[type[Record], Key]


@dataclass(slots=True)
class AtRest:
    """A cluster on which another cycle would change nothing, and what was decided on the way there. Good until the
    next try."""

    cluster: ClusterModel
    settings: SchedulerSettings
    now: float
    placed: dict[str, str] = field(default_factory=dict)
    """Task → node."""
    evicted: dict[str, Evict] = field(default_factory=dict)
    refusals: dict[str, Refuse] = field(default_factory=dict)
    first: Decisions = field(default_factory=Decisions)
    last: Decisions = field(default_factory=Decisions)
    touched: dict[RecordKey, None] = field(default_factory=dict)

    def started(self, gang: str) -> bool:
        """Every group of the gang has its minimum on nodes."""
        held = self.cluster.gangs.get(gang)
        return held is not None and held.root.satisfied and held.active_allocated > 0 and not held.problems

    def surplus_placed(self, gang: str) -> bool:
        """Not even a pod above the minimum waits."""
        held = self.cluster.gangs.get(gang)
        return held is not None and self.started(gang) and not held.pending


def at_rest(objects: ClusterObjects, pool: str = "") -> AtRest:
    """`pool`: the node pool whose scheduler decides."""
    return _model_of(objects, pool).at_rest(objects)


def place_in_line(objects: ClusterObjects, pool: str, gang: str) -> tuple[int, int]:
    """Of a gang that waits in the cluster as it was read: its place in its queue, of how many."""
    return _model_of(objects, pool).place_in_line(gang)


def gpu_shares(objects: ClusterObjects, pool: str) -> dict[str, float]:
    """Queue → GPUs that it may use now, as the scheduler of the pool divides them."""
    return _model_of(objects, pool).gpu_shares()


def _model_of(objects: ClusterObjects, pool: str) -> CycleModel:
    model: CycleModel = objects.base.remembered(f"model of pool {pool}", lambda: CycleModel(objects.base, pool))
    return model


class CycleModel:
    """The scheduler's model of the objects as they were read, and its way back there after each try."""

    def __init__(self, objects: ClusterObjects, pool: str) -> None:
        self._pool, self._now = pool, objects.now
        self._settings = running_settings(objects, pool)
        spaces = {item.name: item.labels for item in objects.all(kinds.NAMESPACE)}
        self._reading = ObjectReading(
            now=objects.now, node_pool=pool, namespaces=spaces, counts_succeeded=self._settings.counts_succeeded
        )
        self._base = {key_of(record): record for record in self._records(objects, objects.everything())}
        self._cluster = ClusterModel.build(self._base.values())
        self._memory = kept_runtimes(objects.raws(kinds.CONFIG_MAP), pool, self._settings)
        self._base |= {key_of(record): record for record in self._taught(self._cluster.gangs)}
        self._touched: dict[RecordKey, None] = {}
        self._remembered = memory_of(self._cluster)

    def _taught(self, gangs: Iterable[str]) -> list[GangRecord]:
        """Gangs of which nobody says how long they run, with what the running scheduler has learned."""
        return teach(self._cluster, gangs, self._memory) if self._memory is not None else []

    def at_rest(self, objects: ClusterObjects) -> AtRest:
        self._put_back()
        self._take_in(objects)
        rest = AtRest(self._cluster, self._settings, objects.now, touched=self._touched)
        owned = objects.base.remembered("pods with a controller", lambda: _owned(objects.base))
        numbers = itertools.count(1)
        for turn in range(MOST_CYCLES):
            decided = decide(self._cluster, self._settings, objects.now)
            decisions = name_groups(decided, lambda: f"device-{next(numbers)}")
            rest.refusals = {refuse.gang: refuse for refuse in decisions.refusals}
            rest.first, rest.last = decisions if turn == 0 else rest.first, decisions
            if not _carry_out(rest, decisions, owned):
                break
        return rest

    def place_in_line(self, gang: str) -> tuple[int, int]:
        """Its place among the gangs that wait in its queue, and how many these are; (0, 0): it is not in line."""
        self._put_back()
        waiting = self._cluster.gangs.get(gang)
        if waiting is None or gang not in self._cluster.waiting:
            return 0, 0
        session = Session(self._cluster, self._settings, self._now)
        try:
            others = [other for other in session.waiting_gangs() if other.queue == waiting.queue]
            ordered = [other.uid for other in sorted(others, key=session.gang_key)]
        finally:
            session.close()
        return (ordered.index(gang) + 1, len(ordered)) if gang in ordered else (0, 0)

    def gpu_shares(self) -> dict[str, float]:
        self._put_back()
        session = Session(self._cluster, self._settings, self._now)
        try:
            accounts = Trials(session, 0).accounts
            return {name: account.fair_share[RESOURCES.index("gpu")] for name, account in accounts.items()}
        finally:
            session.close()

    def _put_back(self) -> None:
        for kind, key in self._touched:
            record = self._base.get((kind, key))
            if record is not None:
                self._cluster.apply(record)
            elif _held(self._cluster, kind, key):
                self._cluster.remove(kind, key)
        self._touched = {}
        remember(self._cluster, self._remembered)

    def _take_in(self, objects: ClusterObjects) -> None:
        """Read what differs from the base, and what depends on it."""
        changed = list(objects.changes())
        if not changed:
            return
        records = {key_of(record): record for record in self._records(objects, _to_read(objects, changed))}
        for _, _, before, now in changed:
            self._drop(objects, before, now, records)
        for key, record in records.items():
            if self._base.get(key) != record:
                self._touched[key] = None
                self._cluster.apply(record)
        self._taught(str(key) for kind, key in records if kind is GangRecord)

    def _drop(
        self, objects: ClusterObjects, before: Raw | None, now: Raw | None, records: Mapping[RecordKey, Record]
    ) -> None:
        """What was read of an object that is gone, or that no longer counts here."""
        for record in self._records(objects.base, [before]) if before is not None else ():
            key = key_of(record)
            if key in self._base and key not in records and _held(self._cluster, *key):
                self._touched[key] = None
                self._cluster.remove(*key)

    def _records(self, objects: ClusterObjects, given: Iterable[Raw]) -> tuple[Record, ...]:
        return records_from_objects(_of_pool(objects, given, self._pool), self._reading).records


def _to_read(objects: ClusterObjects, changed: Sequence[Difference]) -> list[Raw]:
    """Objects that changed, those that depend on them, and what says how they are read."""
    after = [obj for _, _, _, obj in changed if obj is not None]
    dependents = {
        DEPENDENT[resource].resource: DEPENDENT[resource] for resource, *_ in changed if resource in DEPENDENT
    }
    after += [obj for kind in dependents.values() for obj in objects.raws(kind)]
    context = [obj for kind in CONTEXT for obj in objects.raws(kind)]
    if objects.raws(kinds.BIND_REQUEST) and any(obj.get("kind") == kinds.POD.kind for obj in after):
        context += [*objects.raws(kinds.BIND_REQUEST), *objects.raws(kinds.NODE)]
    return list({id(obj): obj for obj in (*after, *context)}.values())


def _owned(objects: ClusterObjects) -> set[str]:
    return {
        str(raw["metadata"].get("uid"))
        for raw in objects.raws(kinds.POD)
        if any(owner.get("controller") for owner in raw["metadata"].get("ownerReferences") or ())
    }


def key_of(record: Record) -> RecordKey:
    if isinstance(record, TaskRecord | GangRecord):
        return type(record), record.uid
    if isinstance(record, ClaimRecord | VolumeClaimRecord | ConfigMapRecord | BudgetRecord):
        return type(record), (record.namespace, record.name)
    return type(record), record.name


def _held(cluster: ClusterModel, kind: type[Record], key: Key) -> bool:
    held: dict[type[Record], Any] = {TaskRecord: cluster.tasks, GangRecord: cluster.gangs, NodeRecord: cluster.nodes}
    return key in held[kind] if kind in held else True


def _carry_out(rest: AtRest, decisions: Decisions, owned: set[str]) -> bool:
    """Whether something changed."""
    cluster, changed = rest.cluster, False
    for update in decisions.updates:
        if update.gang in cluster.gangs:
            rest.touched[GangRecord, update.gang] = None
            cluster.apply(updated_gang(update, cluster.gangs[update.gang].record))
    for commit in decisions.commits:
        task = cluster.tasks.get(commit.task)
        if task is None:
            continue
        rest.touched[TaskRecord, commit.task] = None
        if isinstance(commit, Bind):
            for claim in claims_of(cluster, commit):
                rest.touched[key_of(claim)] = None
                cluster.apply(claim)
            cluster.apply(bound(task.record, commit))
            rest.placed[commit.task], changed = commit.node, True
        elif isinstance(commit, Evict):
            _leave(cluster, task.record, commit.task in owned)
            rest.placed.pop(commit.task, None)
            rest.evicted[commit.task], changed = commit, True
    return changed


def _leave(cluster: ClusterModel, record: TaskRecord, comes_back: bool) -> None:
    if comes_back:
        cluster.apply(replace(record, status=Status.PENDING, node="", gpu_groups=(), nominated_node=""))
    else:
        cluster.remove(TaskRecord, record.uid)


def _of_pool(objects: ClusterObjects, given: Iterable[Raw], pool: str) -> Iterable[Raw]:
    """What the scheduler of a node pool sees: only its own nodes, queues and groups; pods that failed hold nothing."""
    for obj in given:
        kind, meta = obj.get("kind"), obj["metadata"]
        if _pooled(obj) and ((meta.get("labels") or {}).get(names.NODE_POOL) or "") != pool:
            continue
        if kind == kinds.POD.kind:
            if dig(obj, "status", "phase") != "Failed":
                yield _in_its_group(obj, objects)
        else:
            yield obj


def _pooled(obj: Raw) -> bool:
    kind = kinds.known(str(obj.get("apiVersion")), str(obj.get("kind")))
    return kind is not None and kind.resource in POOLED


def _in_its_group(pod: Raw, objects: ClusterObjects) -> Raw:
    """A pod whose group is known is a member of it, whether or not it is marked yet."""
    meta = pod["metadata"]
    noted = meta.get("annotations") or {}
    if names.POD_GROUP_NAME in noted:
        return pod
    namespace = meta.get("namespace", "")
    group = group_name_of(
        msgspec.convert({"metadata": meta}, Pod), lambda name: objects.get(kinds.POD_GROUP, name, namespace)
    )
    return {**pod, "metadata": {**meta, "annotations": {**noted, names.POD_GROUP_NAME: group}}} if group else pod
