"""The scheduler's model of one node pool, and the real cycle on it until it has nothing more to do: what the running
scheduler would come to.

Objects become records as in the running scheduler. What a cycle decides is carried out on the model as the cluster
would: bound pods hold their room; evicted pods are gone, or wait again if a controller makes them anew. Pure but for
the model it changes. The objects themselves stay as they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.rules.gangs.memberships import group_name_of
from gangline.rules.gangs.starts import start_text
from gangline.rules.verdicts import owner, renamed
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind, Decisions, Evict, Refuse
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import ALIVE, ALLOCATED, Status
from gangline.scheduler.objects.gangs import gang_uid
from gangline.scheduler.records import (
    BudgetRecord,
    ClaimRecord,
    ConfigMapRecord,
    GangRecord,
    Record,
    TaskRecord,
    VolumeClaimRecord,
)
from gangline.scheduler.snapshots.whole import records_from_objects
from gangline.scheduler.thought.booking import bound, claims_of, name_groups, remember_evictions, updated_gang
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.readings import object_reading
from gangline.scheduler.time.kept import kept_runtimes
from gangline.scheduler.time.learned import LearnedRuntimes
from gangline.scheduler.time.learning import teach
from gangline.scheduler.time.promises import told_times
from gangline.scheduler.why.explain import explain_waiting
from gangline.whatif.causes import WhatifCauses
from gangline.whatif.looks import Disturbance, GangLook, PoolLook

MOST_CYCLES = 12
BETWEEN_CYCLES = 1.0
"""Seconds; what a cycle has placed is no longer fresh in the next one."""
CONTEXT: tuple[Kind[Any], ...] = (
    kinds.PRIORITY_CLASS,
    kinds.TOPOLOGY,
    kinds.PV,
    kinds.STORAGE_CLASS,
    kinds.RESOURCE_CLAIM,
)
"""Kinds that say how objects of other kinds are read."""
ObjectKey = tuple[str, str, str]
LEAVING = Status.RELEASING
STAYS = ("DaemonSet", "Node")
"""Owners whose pods a drain leaves where they are."""

BACK_LATER = (kinds.JOB.kind,)
"""Owners that see a lost pod go, and wait before they make it anew (a Job's back-off): others take its room first."""


class WhatifModel:
    def __init__(self, objects: Sequence[Raw], options: SchedulerOptions, now: float) -> None:
        self.options, self.now = options, now
        self.titles: dict[str, str] = {}
        """Gang → the name that users know."""
        self.disturbed: dict[str, Disturbance] = {}
        """Task → why it lost its node."""
        self._owners: dict[str, str] = {}
        """Pod → the kind of its controller."""
        self._groups: dict[tuple[str, str], PodGroup] = {}
        """By namespace and name."""
        self._leaving: list[TaskRecord] = []
        """Pods that are on their way out in the next cycle, as they come back."""
        self._gone: list[TaskRecord] = []
        """Pods that are gone in the next cycle, and back after it."""
        self._refusals: dict[str, Refuse] = {}
        self._starts: dict[str, str] = {}
        """When gangs that wait would start, in words."""
        self._numbers = itertools.count(1)
        spaces = {
            obj["metadata"]["name"]: obj["metadata"].get("labels") or {}
            for obj in objects
            if obj["kind"] == kinds.NAMESPACE.kind
        }
        self._reading = object_reading(options, now, spaces)
        self._objects: dict[ObjectKey, Raw] = {}
        """What was read or taken last, of every kind: what a cause is told from."""
        self._context: dict[ObjectKey, Raw] = {}
        self._note(objects)
        self.cluster = ClusterModel.build(records_from_objects(self._marked(objects), self._reading).records)
        remember_evictions(self.cluster, self._groups.values(), now)
        self.drop_pods([task.uid for task in self.cluster.tasks.values() if task.record.status is LEAVING])
        self._memory = kept_runtimes(objects, options.node_pool, options.settings)
        self._teach()

    # ── changes ──

    def take(self, given: Sequence[Raw]) -> None:
        """Objects that are new or otherwise than before; a pod that the cycle has placed keeps its place."""
        before = _by_key(records_from_objects(self._context.values(), self._reading).records)
        self._note(given)
        both = {**self._context, **{_key(obj): obj for obj in self._marked(given)}}
        for key, record in _by_key(records_from_objects(both.values(), self._reading).records).items():
            if before.get(key) != record and not self._is_placed(record):
                self.cluster.apply(record)
        self._teach()

    def _teach(self) -> None:
        """Gangs of which nobody says how long they run are expected to run as long as those like them did."""
        if self._memory is not None:
            teach(self.cluster, self.cluster.gangs, self._memory)

    def _is_placed(self, record: Record) -> bool:
        held = self.cluster.tasks.get(record.uid) if isinstance(record, TaskRecord) else None
        return held is not None and bool(held.status & ALLOCATED)

    def drop_pods(self, uids: Iterable[str]) -> None:
        for uid in uids:
            if uid in self.cluster.tasks:
                self.cluster.remove(TaskRecord, uid)

    def drop_gang(self, gang: str) -> None:
        if gang in self.cluster.gangs:
            self.drop_pods(list(self.cluster.gangs[gang].tasks))
            self.cluster.remove(GangRecord, gang)

    def drain(self, node: str) -> None:
        """The pods of a node go, but for those that a drain leaves alone; whoever has a controller waits again."""
        held = [task for task in self.cluster.tasks.values() if task.record.node == node]
        for task in held:
            if self._owners.get(task.uid) not in STAYS:
                self.disturbed[task.uid] = Disturbance(f"the drain of node {node}")
                self._leave(task.record)

    def _note(self, objects: Iterable[Raw]) -> None:
        """What reading other objects, and telling people, depends on."""
        context = {kind.kind for kind in CONTEXT}
        for obj in objects:
            kind, meta = obj["kind"], obj["metadata"]
            self._objects[_key(obj)] = obj
            if kind in context:
                self._context[_key(obj)] = obj
            elif kind == kinds.POD_GROUP.kind:
                group = msgspec.convert({"metadata": meta}, PodGroup)
                self.titles[gang_uid(group.namespace, group.name)] = owner(group)
                self._groups[group.namespace, group.name] = group
            elif kind == kinds.POD.kind:
                self._owners[str(meta.get("uid"))] = next(
                    (str(item.get("kind")) for item in meta.get("ownerReferences") or () if item.get("controller")), ""
                )

    def _marked(self, objects: Iterable[Raw]) -> Iterable[Raw]:
        """A pod whose group is known is a member of it, whether or not it is marked yet."""
        for obj in objects:
            noted = obj["metadata"].get("annotations") or {}
            if obj["kind"] == kinds.POD.kind and names.POD_GROUP_NAME not in noted:
                meta = obj["metadata"]
                pod = msgspec.convert({"metadata": meta}, Pod)
                group = group_name_of(pod, partial(self._group, pod.namespace))
                if group:
                    obj = {**obj, "metadata": {**meta, "annotations": {**noted, names.POD_GROUP_NAME: group}}}
            yield obj

    def _group(self, namespace: str, name: str) -> PodGroup | None:
        return self._groups.get((namespace, name))

    # ── cycles ──

    def rest(self) -> None:
        """Cycle after cycle until one changes nothing."""
        for _ in range(MOST_CYCLES):
            leaving, back = self._leaving, self._gone
            self._leaving, self._gone = [], leaving
            self.now += BETWEEN_CYCLES
            decided = decide(self.cluster, self.options.settings, self.now)
            decisions = name_groups(decided, lambda: f"device-{next(self._numbers)}")
            self._refusals = {refuse.gang: refuse for refuse in decisions.refusals}
            memory = self._memory or LearnedRuntimes()
            self._starts = {
                made.gang: start_text(told_times(made, self.now, memory), self.now) for made in decisions.reservations
            }
            changed = self._carry_out(decisions)
            self.drop_pods(record.uid for record in leaving)
            for record in back:
                self.cluster.apply(record)
            if not changed and not leaving and not back:
                return

    def _carry_out(self, decisions: Decisions) -> bool:
        """Whether something changed."""
        cluster, changed = self.cluster, False
        for update in decisions.updates:
            if update.gang in cluster.gangs:
                cluster.apply(updated_gang(update, cluster.gangs[update.gang].record))
        for commit in decisions.commits:
            task = cluster.tasks.get(commit.task)
            if task is None:
                continue
            if isinstance(commit, Bind):
                for claim in claims_of(cluster, commit):
                    cluster.apply(claim)
                cluster.apply(replace(bound(task.record, commit), status=Status.RUNNING, started=self.now))
                changed = True
            elif isinstance(commit, Evict):
                taker = self.titles.get(commit.preemptor, commit.preemptor)
                why = f"{commit.action or 'eviction'}{f' for {taker}' if taker else ''}"
                self.disturbed[commit.task] = Disturbance(why, evicted=True)
                self._leave(task.record)
                changed = True
        return changed

    def _leave(self, record: TaskRecord) -> None:
        again = replace(record, status=Status.PENDING, node="", gpu_groups=(), nominated_node="")
        owner_kind = self._owners.get(record.uid)
        if owner_kind in BACK_LATER:
            self.cluster.apply(replace(record, status=LEAVING))
            self._leaving.append(again)
        elif owner_kind:
            self.cluster.apply(again)
        else:
            self.cluster.remove(TaskRecord, record.uid)

    # ── what is seen ──

    def look(self) -> PoolLook:
        gangs = {gang.uid: _look(gang, self.titles.get(gang.uid, gang.name)) for gang in self.cluster.gangs.values()}
        return PoolLook(gangs, dict(self.disturbed))

    def nodes(self) -> Mapping[str, str]:
        """Task → the node that it has."""
        return {uid: task.record.node for uid, task in self.cluster.tasks.items() if task.status & ALLOCATED}

    def whys(self, gangs: Iterable[str]) -> dict[str, str]:
        """Why these gangs wait, in the words of `gangline explain`, and when they would start."""
        waiting = [gang for gang in gangs if gang in self.cluster.gangs]
        settings = self.options.settings
        verdicts = explain_waiting(self.cluster, settings, self.now, self._refusals, waiting)
        titles = {gang.partition("/")[2]: title for gang, title in self.titles.items()}
        causes = WhatifCauses(list(self._objects.values()), self.cluster, settings, self.now, self._refusals)
        texts = {
            gang: (causes.text(gang, verdict, self.titles), self._starts.get(gang, ""))
            for gang, verdict in verdicts.items()
        }
        return {gang: renamed("\n".join(filter(None, parts)), titles) for gang, parts in texts.items()}


def _look(gang: GangInfo, title: str) -> GangLook:
    alive = {uid: task for uid, task in gang.tasks.items() if task.status & ALIVE}
    placed = {uid: task.record.node if task.status & ALLOCATED else "" for uid, task in alive.items()}
    return GangLook(gang.uid, title, gang.namespace, gang.queue, placed, gang.root.satisfied and any(placed.values()))


def _key(obj: Raw) -> ObjectKey:
    meta = obj["metadata"]
    return str(obj["kind"]), str(meta.get("namespace") or ""), str(meta.get("name") or "")


def _by_key(records: Iterable[Record]) -> dict[tuple[type[Record], Any], Record]:
    return {_record_key(record): record for record in records}


def _record_key(record: Record) -> tuple[type[Record], Any]:
    if isinstance(record, TaskRecord | GangRecord):
        return type(record), record.uid
    if isinstance(record, ClaimRecord | VolumeClaimRecord | ConfigMapRecord | BudgetRecord):
        return type(record), (record.namespace, record.name)
    return type(record), record.name
