"""Two looks at a cluster, before and after → which gangs start, which wait and why, and who makes room for whom.

Pure. A gang here is all pods that stand or fall together: those of one PodGroup, of one PodGang, of one owner, or a pod
alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.core import Event, Pod
from gangline.api.kai import PodGroup
from gangline.rules.verdicts import owner

STARTS, WAITS, PARTLY = "starts", "waits", "starts in part"
STOPS, MOVES = "makes room", "moves"
ENDED = ("Succeeded", "Failed")
Place = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class WhatifView:
    """What is seen of a cluster at one moment."""

    pods: Sequence[Pod]
    groups: Sequence[PodGroup]
    events: Sequence[Event] = ()

    def gangs(self) -> dict[Place, list[Pod]]:
        """Pods that have not ended, by gang."""
        owners = {(group.namespace, group.name): owner(group) for group in self.groups}
        found: dict[Place, list[Pod]] = {}
        for pod in self.pods:
            if pod.status.phase not in ENDED and not pod.metadata.deleting:
                found.setdefault((pod.namespace, _gang(pod, owners)), []).append(pod)
        return found


@dataclass(frozen=True, slots=True)
class GangOutcome:
    """What becomes of one gang."""

    name: str
    namespace: str
    fate: str
    pods: int
    nodes: dict[str, int] = field(default_factory=dict)
    """How many of its pods are on which node."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class WhatifAnswer:
    new: list[GangOutcome]
    """Gangs that were not there before."""
    others: list[GangOutcome]
    """Gangs that were, and that make room or move."""


def compare(before: WhatifView, after: WhatifView, verdict: Callable[[PodGroup], str]) -> WhatifAnswer:
    """`verdict` tells why the gang of a PodGroup waits."""
    was, now = before.gangs(), after.gangs()
    groups = {(group.namespace, owner(group)): group for group in after.groups}
    new = [_new(place, pods, groups.get(place), verdict) for place, pods in sorted(now.items()) if place not in was]
    return WhatifAnswer(
        new,
        [
            _other(place, lost, len(pods), now.get(place, []), _reason(place, after))
            for place, pods in sorted(was.items())
            if (lost := _lost(pods, now.get(place, [])))
        ],
    )


def _new(place: Place, pods: list[Pod], group: PodGroup | None, verdict: Callable[[PodGroup], str]) -> GangOutcome:
    nodes = _nodes(pods)
    placed = sum(nodes.values())
    if placed == len(pods):
        return GangOutcome(place[1], place[0], STARTS, len(pods), nodes, "")
    why = verdict(group) if group is not None else _condition(pods)
    return GangOutcome(place[1], place[0], PARTLY if placed else WAITS, len(pods), nodes, why)


def _other(place: Place, lost: int, size: int, pods: list[Pod], why: str) -> GangOutcome:
    nodes = _nodes(pods)
    return GangOutcome(place[1], place[0], MOVES if sum(nodes.values()) >= size else STOPS, lost, nodes, why)


def _lost(was: list[Pod], now: list[Pod]) -> int:
    """How many pods that had a node are gone."""
    still = {pod.uid for pod in now}
    return sum(bool(pod.spec.node_name) and pod.uid not in still for pod in was)


def _reason(place: Place, after: WhatifView) -> str:
    """By what and for whom a gang made room, as its events tell."""
    mine = {group.name for group in after.groups if (group.namespace, owner(group)) == place}
    owners = {group.name: owner(group) for group in after.groups}
    for event in after.events:
        if event.reason == "Evict" and event.involved_object.get("name") in mine:
            taker = event.annotations.get("evictor-pod-group-name", "")
            return f"{event.annotations.get('evictor-action-type', 'eviction')} for {owners.get(taker, taker)}"
    return ""


def _nodes(pods: list[Pod]) -> dict[str, int]:
    return dict(sorted(Counter(pod.spec.node_name for pod in pods if pod.spec.node_name).items()))


def _gang(pod: Pod, owners: dict[Place, str]) -> str:
    group = pod.annotations.get(names.POD_GROUP_NAME, "")
    if (pod.namespace, group) in owners:
        return owners[pod.namespace, group]
    controller = next(
        (owner_reference.name for owner_reference in pod.metadata.owner_references if owner_reference.controller),
        pod.name,
    )
    return pod.labels.get(names.POD_GANG) or controller


def _condition(pods: list[Pod]) -> str:
    """Why a gang without a PodGroup waits: what its first pod was told."""
    told = [
        condition.message or condition.reason
        for pod in pods
        for condition in pod.status.conditions
        if condition.type == "PodScheduled" and condition.status == "False"
    ]
    return told[0] if told else "no scheduler has said why"
