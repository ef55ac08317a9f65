"""Why a gang of the changed picture waits, in the words that `gangline explain` has for the same gang.

The cause and its facts come from gangline.why, asked on the model as it stands after the change; what would start it
comes from the scheduler's own verdict, which tries it on that model. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.scheduler.decisions import Refuse
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.why.verdict import INDENT, Verdict
from gangline.why.cause import Cause
from gangline.why.objects import ClusterObjects
from gangline.why.replay import AtRest
from gangline.why.waiting import in_the_way
from gangline.why.workloads import of_group

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

    def text(self, gang: str, verdict: Verdict, titles: dict[str, str]) -> str:
        cause = self._cause(gang, titles)
        if cause is None or cause.code not in OF_THE_MODEL:
            return verdict.text()
        return "\n".join(_lines(cause, verdict))

    def _cause(self, gang: str, titles: dict[str, str]) -> Cause | None:
        if self._objects is None:
            self._objects = ClusterObjects.of(_by_kind(self._given), self._rest.now)
        namespace, _, name = gang.partition("/")
        group = self._objects.get(kinds.POD_GROUP, name, namespace)
        return None if group is None else in_the_way(self._objects, of_group(self._objects, group), self._rest, titles)


def _lines(cause: Cause, verdict: Verdict) -> Iterator[str]:
    """As explain tells it, with the verdict's remedies."""
    yield f"{verdict.name} waits: {cause.why}"
    if cause.needs:
        yield f"{INDENT}needs     {cause.needs}"
    yield from (f"{INDENT}{fact}" for fact in cause.facts if fact)
    for place, remedy in enumerate(verdict.remedies):
        yield f"{INDENT}{'would start if' if place == 0 else '            or'}   {remedy.text}"


def _by_kind(objects: Sequence[Raw]) -> list[tuple[Kind[Any], list[Raw]]]:
    read: dict[str, tuple[Kind[Any], list[Raw]]] = {}
    for obj in objects:
        kind = kinds.known(str(obj.get("apiVersion")), str(obj.get("kind")))
        if kind is not None:
            read.setdefault(kind.resource, (kind, []))[1].append(obj)
    return list(read.values())
