"""What the default scheduler keeps in mind between two rounds: the board, who waits, who has a node, which PodGroups
are to be told.

Follows the watches of scheduler.py. Writes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.builtin import Untyped
from gangline.api.core import Node, Pod
from gangline.api.kinds import KUBE_POD_GROUP, KUBE_POD_GROUP_V1ALPHA2, Kind
from gangline.api.meta import Condition, Raw, condition
from gangline.cluster.world.scheduling.gangs import WorkloadGangs, gang_key, group_name
from gangline.cluster.world.scheduling.place import (
    Answer,
    NodeBoard,
    PlacingRefused,
    PlacingRound,
    PodBinding,
    PodUnit,
    by_turn,
)
from gangline.cluster.world.scheduling.pod_affinity import cares
from gangline.runtime import Key, key_of

UNITS_AT_ONCE = 500
"""Pods or gangs that are placed before what became of them is written, and others have a turn."""
CONDITIONS: dict[Kind[Untyped], str] = {
    KUBE_POD_GROUP: "PodGroupInitiallyScheduled",
    KUBE_POD_GROUP_V1ALPHA2: "PodGroupScheduled",
}
"""Kind of PodGroup → the condition that says whether it could start; once true it stays so."""


def ours(pod: Pod) -> bool:
    return pod.spec.scheduler_name in ("", names.DEFAULT_SCHEDULER)


def waits(pod: Pod) -> bool:
    return (
        ours(pod)
        and not pod.spec.node_name
        and not pod.spec.scheduling_gates
        and not pod.metadata.deleting
        and pod.status.phase in ("", "Pending")
    )


def occupies(pod: Pod) -> bool:
    return bool(pod.spec.node_name) and pod.status.phase not in ("Succeeded", "Failed")


@dataclass(slots=True)
class SchedulingState:
    board: NodeBoard = field(default_factory=NodeBoard)
    waiting: dict[Key, Pod] = field(default_factory=dict)
    placed: dict[str, dict[str, None]] = field(default_factory=dict)
    """Gang → uids of its pods that have a node."""
    untold: dict[Key, None] = field(default_factory=dict)
    """PodGroups that changed, or got nodes for pods, since their conditions were looked at."""
    group_reasons: dict[str, str] = field(default_factory=dict)
    """uid of a PodGroup → what its condition says: why it waits, or nothing once it could start."""
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    """Something changed that may let a pod start."""
    _tried: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """Unit → board version and members when it was last refused: not tried again before one of them changes."""

    def node_moved(self, before: Node | None, after: Node | None) -> None:
        if after is None and before is not None:
            self.board.drop_node(before.name)
        elif after is not None and (before is None or _matters(before) != _matters(after)):
            self.board.put_node(after)
            self.dirty.set()

    def pod_moved(self, before: Pod | None, after: Pod | None) -> None:
        pod = after or before
        if pod is None:
            return
        if after is not None and occupies(after):
            self._hold(after)
        elif pod.uid in self.board.held and (after is None or after.spec.node_name):
            self._release(pod)
        if after is not None and waits(after):
            self._wait(after)
        elif self.waiting.pop(key_of(pod), None) is not None and after is None:
            self._release(pod)

    def _hold(self, pod: Pod) -> None:
        self.board.hold(pod, pod.spec.node_name)
        if self._arrives(pod):
            self.dirty.set()

    def _wait(self, pod: Pod) -> None:
        known = self.waiting.get(key_of(pod))
        self.waiting[key_of(pod)] = pod
        if known is None or cares(pod) or _asks(known) != _asks(pod):
            self.dirty.set()

    def gang_moved(self, before: Any, after: Any) -> None:
        if after is None:
            self.group_reasons.pop(before.uid, None)
        elif before is None or before.spec != after.spec:
            self.untold[key_of(after)] = None
        if before is None or after is None or before.spec != after.spec:
            self._tried.clear()
            self.dirty.set()

    def forget(self, pod: Pod) -> None:
        """The pod has no node after all."""
        self.board.free(pod.uid)
        self.placed.get(gang_key(pod), {}).pop(pod.uid, None)

    def try_all_again(self) -> None:
        self._tried.clear()
        self.dirty.set()

    def _arrives(self, pod: Pod) -> bool:
        """A pod has a node, or is about to; says whether that is news to a PodGroup."""
        uids = self.placed.setdefault(gang_key(pod), {})
        if pod.uid in uids:
            return False
        uids[pod.uid] = None
        if group_name(pod):
            self.untold[Key(pod.namespace, group_name(pod))] = None
        return bool(group_name(pod))

    def _release(self, pod: Pod) -> None:
        self.forget(pod)
        self.dirty.set()

    def nodes_of(self, gang: str) -> tuple[str, ...]:
        return tuple(self.board.held[uid][0] for uid in self.placed.get(gang, ()))

    def units(self, gangs: WorkloadGangs) -> Iterator[list[PodUnit]]:
        """Who waits, in turn, some at a time."""
        units = gangs.units(by_turn(pod for pod in self.waiting.values() if pod.uid not in self.board.held))
        for start in range(0, max(len(units), 1), UNITS_AT_ONCE):
            yield units[start : start + UNITS_AT_ONCE]

    def decide(self, units: list[PodUnit]) -> list[Answer]:
        """Where each of these goes, or why it waits on."""
        placing, answers = PlacingRound(self.board), list[Answer]()
        for unit in units:
            answers += self._place(unit, placing.place)
        for answer in answers:
            if isinstance(answer, PodBinding):
                self._arrives(answer.pod)
        return answers

    def _place(self, unit: PodUnit, place: Callable[[PodUnit], list[Answer]]) -> list[Answer]:
        pods = unit.all_pods()
        if any(pod.uid in self.board.held for pod in pods):  # somebody else placed it meanwhile
            self.dirty.set()
            return []
        now = self.board.version, tuple(pod.uid for pod in pods)
        if self._tried.get(unit.key) == now and not any(cares(pod) for pod in pods):
            return []
        answers = place(unit)
        if any(isinstance(answer, PlacingRefused) for answer in answers):
            self._tried[unit.key] = now
        return answers

    def news(self, answers: list[Answer]) -> dict[Key, str]:
        """PodGroups whose condition may change, with why their pods found no room."""
        reasons = dict.fromkeys(self.untold, "")
        for answer in answers:
            if isinstance(answer, PlacingRefused) and answer.tried and group_name(answer.pod):
                key = Key(answer.pod.namespace, group_name(answer.pod))
                reasons[key] = reasons.get(key) or answer.reason
        return reasons

    def group_condition(self, kind: Kind[Untyped], group: Untyped, reason: str, now: str) -> Raw | None:
        """The new condition of a PodGroup; None: it stands. Once it could start it stays so; `group_reasons` has what
        has been written and is not seen yet."""
        stored = _stored(group, CONDITIONS[kind])
        known = None if stored is None else _reason_in(stored)
        if self.group_reasons.get(group.uid, known) in ("", reason):
            return None
        return {
            "type": CONDITIONS[kind],
            "status": "False" if reason else "True",
            "reason": "Unschedulable" if reason else "Scheduled",
            "message": reason,
            "observedGeneration": group.metadata.generation,
            "lastTransitionTime": stored.last_transition_time if stored is not None and reason else now,
        }


def _stored(group: Untyped, type: str) -> Condition | None:
    """What stands on a PodGroup."""
    conditions = (group.status or {}).get("conditions") or ()
    stored = next((item for item in conditions if item.get("type") == type), None)
    return msgspec.convert(stored, Condition) if stored is not None else None


def _reason_in(stored: Condition) -> str:
    return stored.message if stored.status == "False" else ""


def _asks(pod: Pod) -> object:
    """What of a waiting pod decides about it; its conditions do not."""
    return pod.uid, pod.spec, pod.labels, pod.annotations


def _matters(node: Node) -> object:
    """What of a node decides about pods; heartbeats do not."""
    ready = condition(node.status.conditions, "Ready")
    return node.labels, node.spec, node.status.allocatable, ready.status if ready else ""


def pod_condition(refused: PlacingRefused, now: str) -> Raw | None:
    """The new condition of a pod that found no room; None: it stands."""
    stored = condition(refused.pod.status.conditions, "PodScheduled")
    known = None if stored is None else (stored.status, stored.reason, stored.message)
    if known == ("False", "Unschedulable", refused.reason):
        return None
    return {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": refused.reason,
        "lastProbeTime": None,
        "lastTransitionTime": stored.last_transition_time if stored is not None and stored.status == "False" else now,
    }
