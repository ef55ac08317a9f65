"""Why a gang of the changed picture waits, in the words that `gangline explain` has for the same gang.

The cause and its facts come from gangline.why, asked on the model as it stands after the change; so does what would
start it, which is tried with the real cycle, among all who wait. Of many gangs, those after the first few have what the
scheduler's own verdict says. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.scheduler.decisions import Refuse
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.status import ALLOCATED
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.why.verdict import INDENT, Verdict
from gangline.why.cause import Cause
from gangline.why.objects import ClusterObjects
from gangline.why.remedies import remedies
from gangline.why.replay import AtRest, at_rest
from gangline.why.schedulers.components import pool_of
from gangline.why.states.members import holds_minimum
from gangline.why.waiting import in_the_way
from gangline.why.workloads import Subject, of_group, same

OF_THE_MODEL = (
    "broken",
    "claim",
    "config-map",
    "device-class",
    "limit",
    "nodes",
    "queue",
    "quota",
    "room",
    "topology",
    "volume",
)
"""Causes that the picture alone decides; others ask about components that are at work, or pods that are not there."""


TRIED_GANGS = 2
"""Gangs for which changes are tried: each takes some tenths of a second in a large cluster."""


class WhatifCauses:
    """One picture, asked about several gangs."""

    def __init__(
        self,
        objects: Sequence[Raw],
        cluster: ClusterModel,
        settings: SchedulerSettings,
        now: float,
        refusals: Mapping[str, Refuse],
    ) -> None:
        self._given = objects
        self._rest = AtRest(cluster, settings, now, refusals=dict(refusals))
        self._objects: ClusterObjects | None = None
        self._tried = 0

    def text(self, gang: str, verdict: Verdict, titles: dict[str, str]) -> str:
        if self._objects is None:
            self._objects = ClusterObjects.of(_by_kind(self._given), self._rest.now)
        namespace, _, name = gang.partition("/")
        group = self._objects.get(kinds.POD_GROUP, name, namespace)
        if group is None:
            return verdict.text()
        subject = of_group(self._objects, group)
        cause = in_the_way(self._objects, subject, self._rest, titles)
        if cause.code not in OF_THE_MODEL:
            return verdict.text()
        return "\n".join(_lines(verdict.name, cause, *self._changes(self._objects, subject, cause, verdict, titles)))

    def _changes(
        self, objects: ClusterObjects, subject: Subject, cause: Cause, verdict: Verdict, titles: dict[str, str]
    ) -> tuple[list[str], tuple[str, ...]]:
        """What would start it, as explain tells it where that comes to the same end, and what stands behind."""
        told = [remedy.text for remedy in verdict.remedies]
        if self._tried >= TRIED_GANGS:
            return told, ()
        if at_rest(objects, pool_of(subject)).started(subject.gang_uid):
            objects = self._with_places(objects, subject)
            subject = same(objects, subject)
            if not holds_minimum(subject):
                return told, ()
        self._tried += 1
        tried = [remedy for remedy in remedies(objects, subject, cause, titles) if remedy.tried]
        return ([remedy.text(objects) for remedy in tried], tried[0].behind) if tried else (told, ())

    def _with_places(self, objects: ClusterObjects, subject: Subject) -> ClusterObjects:
        """Its pods on the nodes that the cycle gave them: what waits is its surplus."""
        for pod in subject.pods:
            task = self._rest.cluster.tasks.get(pod.uid)
            live = objects.raw(kinds.POD, pod.name, pod.namespace)
            if live is not None and task is not None and task.status & ALLOCATED:
                placed = {**live, "spec": {**live["spec"], "nodeName": task.node}}
                objects = objects.put(kinds.POD, placed, pod.name, pod.namespace)
        return objects


def _lines(name: str, cause: Cause, changes: Sequence[str], behind: Sequence[str] = ()) -> Iterator[str]:
    """As explain tells it."""
    yield f"{name} waits: {cause.why}"
    if cause.needs:
        yield f"{INDENT}needs     {cause.needs}"
    yield from (f"{INDENT}{fact}" for fact in (*cause.facts, *(f"and behind that: {why}" for why in behind)) if fact)
    for place, text in enumerate(changes):
        yield f"{INDENT}{'would start if' if place == 0 else '            or'}   {text}"


def _by_kind(objects: Sequence[Raw]) -> list[tuple[Kind[Any], list[Raw]]]:
    read: dict[str, tuple[Kind[Any], list[Raw]]] = {}
    for obj in objects:
        kind = kinds.known(str(obj.get("apiVersion")), str(obj.get("kind")))
        if kind is not None:
            read.setdefault(kind.resource, (kind, []))[1].append(obj)
    return list(read.values())
