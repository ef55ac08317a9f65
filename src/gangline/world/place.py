"""Where a bystander's pod can go: requests, selectors, node affinity, taints; gangs of the Workload API as a whole or not at all.

A `Board` holds what is free on each node; a `Round` finds nodes for units of pods on it, the least used first. Pods of the same
shape share one heap of nodes, so a thousand equal pods cost a thousand heap steps. Pure: scheduler.py keeps the board and writes.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gangline.api.core import Node, Pod, Taint, Toleration
from gangline.api.meta import Raw, condition
from gangline.api.selectors import Requirement
from gangline.rules.requests import amounts_of, pod_amounts
from gangline.world.near import Crowd

Amounts: TypeAlias = Mapping[str, float]
Shape: TypeAlias = tuple[tuple[tuple[str, float], ...], str]
UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!exists", "Gt": "gt", "Lt": "lt"}


# --- may this pod go to that node? -------------------------------------------------------------------------------------


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    return any(each.key in ("", taint.key) and (each.operator == "Exists" or (bool(each.key) and each.value == taint.value))
               and each.effect in ("", taint.effect) for each in tolerations)


def untolerated(pod: Pod, node: Node) -> Taint | None:
    """The first taint that keeps the pod away."""
    taints = node.spec.taints + ((UNSCHEDULABLE,) if node.spec.unschedulable else ())
    return next((taint for taint in taints if taint.effect in ("NoSchedule", "NoExecute")
                 and not tolerates(pod.spec.tolerations, taint)), None)


def selects(pod: Pod, node: Node) -> bool:
    """The pod's node selector and required node affinity let it go there."""
    labels = node.labels
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = ((pod.spec.affinity or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    return affinity is None or any(_term(term, node) for term in affinity.get("nodeSelectorTerms") or ())


def _term(term: Raw, node: Node) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    return bool(expressions or fields) and all(_matches(each, node.labels) for each in expressions) and all(
        _matches(each, {"metadata.name": node.name}) for each in fields)


def _matches(expression: Raw, labels: Mapping[str, str]) -> bool:
    operator, values = _OPERATORS[expression["operator"]], tuple(expression.get("values") or ())
    return Requirement(expression["key"], operator, values).matches(labels)


def barred(pod: Pod, node: Node) -> str:
    """Why the pod may never go there, as kube-scheduler says it; empty: it may."""
    ready = condition(node.status.conditions, "Ready")
    if ready is not None and ready.status != "True":
        return "node(s) were not ready"
    taint = untolerated(pod, node)
    if taint is not None:
        return f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}" if taint is not UNSCHEDULABLE else (
            "node(s) were unschedulable")
    return "" if selects(pod, node) else "node(s) didn't match Pod's node affinity/selector"


# --- what is free ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Spot:
    node: Node
    offers: dict[str, float]
    used: dict[str, float] = field(default_factory=dict)

    def lacks(self, needs: Amounts) -> list[str]:
        return [name for name, amount in needs.items()
                if amount > 0 and self.offers.get(name, 0.0) - self.used.get(name, 0.0) < amount]

    def load(self, needs: Amounts) -> float:
        """How full the node would be, by the scarcest of what is asked for."""
        return max(((self.used.get(name, 0.0) + amount) / self.offers[name] for name, amount in needs.items()
                    if self.offers.get(name)), default=0.0)

    def add(self, needs: Amounts, sign: int) -> None:
        for name, amount in needs.items():
            self.used[name] = self.used.get(name, 0.0) + sign * amount


@dataclass(slots=True)
class Board:
    """Nodes, and which pods hold what on them. `version` grows whenever something may fit that did not before."""

    spots: dict[str, Spot] = field(default_factory=dict)
    held: dict[str, tuple[str, Amounts]] = field(default_factory=dict)
    on: dict[str, dict[str, Amounts]] = field(default_factory=dict)
    """What is held, by node and pod."""
    crowd: Crowd = field(default_factory=Crowd)
    version: int = 0

    def put_node(self, node: Node) -> None:
        before = self.spots.get(node.name)
        self.spots[node.name] = Spot(node, amounts_of(node.status.allocatable), before.used if before else self._used(node.name))
        self.version += 1

    @property
    def nodes(self) -> dict[str, Node]:
        return {name: spot.node for name, spot in self.spots.items()}

    def drop_node(self, name: str) -> None:
        self.spots.pop(name, None)

    def _used(self, name: str) -> dict[str, float]:
        used: dict[str, float] = {}
        for needs in self.on.get(name, {}).values():
            for resource, amount in needs.items():
                used[resource] = used.get(resource, 0.0) + amount
        return used

    def hold(self, pod: Pod, node: str) -> None:
        """The pod takes its room on the node, once."""
        if pod.uid in self.held:
            if self.held[pod.uid][0] == node:
                return
            self.free(pod.uid)
        needs = pod_amounts(pod)
        self.held[pod.uid] = (node, needs)
        self.on.setdefault(node, {})[pod.uid] = needs
        self.crowd.add(pod, node)
        if node in self.spots:
            self.spots[node].add(needs, +1)

    def free(self, uid: str) -> None:
        node, needs = self.held.pop(uid, ("", {}))
        self.on.get(node, {}).pop(uid, None)
        self.crowd.remove(uid)
        if node in self.spots:
            self.spots[node].add(needs, -1)
            self.version += 1


# --- one round ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """Pods that are placed together: at least `least` of them, or none."""

    key: str
    pods: tuple[Pod, ...]
    least: int = 1
    hold: str = ""
    """Why the unit cannot be tried at all."""


@dataclass(frozen=True, slots=True)
class Bind:
    pod: Pod
    node: str


@dataclass(frozen=True, slots=True)
class Refused:
    pod: Pod
    reason: str


Answer: TypeAlias = Bind | Refused


def shape_of(pod: Pod) -> Shape:
    """Pods of one shape can go to the same nodes."""
    rest = {"selector": pod.spec.node_selector, "affinity": (pod.spec.affinity or {}).get("nodeAffinity"),
            "tolerations": [[each.key, each.operator, each.value, each.effect] for each in pod.spec.tolerations]}
    return tuple(sorted(pod_amounts(pod).items())), json.dumps(rest, sort_keys=True)


@dataclass(slots=True)
class Round:
    """One look at the board. What is placed stays on it; a unit that does not fit whole leaves no trace."""

    board: Board
    heaps: dict[Shape, list[tuple[float, str]]] = field(default_factory=dict)

    def place(self, unit: Unit) -> list[Answer]:
        if unit.hold:
            return [Refused(pod, unit.hold) for pod in unit.pods]
        placed: list[Bind] = []
        failed: list[Pod] = []
        for pod in unit.pods:
            node = self._find(pod)
            if node is None:
                failed.append(pod)
                continue
            self.board.hold(pod, node)
            placed.append(Bind(pod, node))
        if len(placed) >= unit.least:
            return [*placed, *(Refused(pod, self.explain(pod)) for pod in failed)]
        reason = self._short(unit, failed, len(placed))
        self._undo(placed)
        return [Refused(pod, reason) for pod in unit.pods]

    def _find(self, pod: Pod) -> str | None:
        needs, shape = pod_amounts(pod), shape_of(pod)
        if self.board.crowd.concerns(pod):
            return self._find_among_others(pod, needs)
        heap = self.heaps.get(shape)
        if heap is None:
            heap = self.heaps[shape] = self._candidates(pod, needs)
        while heap:
            load, name = heap[0]
            spot = self.board.spots.get(name)
            if spot is None or spot.lacks(needs):
                heapq.heappop(heap)
            elif (now := spot.load(needs)) != load:
                heapq.heapreplace(heap, (now, name))
            else:
                return name
        return None

    def _find_among_others(self, pod: Pod, needs: Amounts) -> str | None:
        """Other pods matter: every node is asked, the least used first."""
        nodes = self.board.nodes
        for _, name in sorted(self._candidates(pod, needs)):
            spot = self.board.spots[name]
            if not spot.lacks(needs) and not self.board.crowd.objection(pod, spot.node, nodes):
                return name
        return None

    def _candidates(self, pod: Pod, needs: Amounts) -> list[tuple[float, str]]:
        heap = [(spot.load(needs), name) for name, spot in self.board.spots.items() if not barred(pod, spot.node)]
        heapq.heapify(heap)
        return heap

    def _undo(self, placed: Sequence[Bind]) -> None:
        for bind in placed:
            self.board.free(bind.pod.uid)
        self.heaps.clear()

    def _short(self, unit: Unit, failed: Sequence[Pod], placed: int) -> str:
        """Why the unit does not fit; said while what did fit is still on the board."""
        if not failed:
            return f"its gang {unit.key} needs {unit.least} more pods and has {placed}"
        if unit.least <= 1:
            return self.explain(failed[0])
        return f"its gang {unit.key} needs {unit.least} more pods and only {placed} fit; for the next: {self.explain(failed[0])}"

    def explain(self, pod: Pod) -> str:
        """kube-scheduler's sentence: how many nodes, and what is wrong with how many of them."""
        needs, nodes = pod_amounts(pod), self.board.nodes
        counts: dict[str, int] = {}
        for spot in self.board.spots.values():
            no = barred(pod, spot.node)
            reasons = [no] if no else [_insufficient(name) for name in spot.lacks(needs)]
            for reason in reasons or [self.board.crowd.objection(pod, spot.node, nodes)]:
                counts[reason] = counts.get(reason, 0) + 1
        total = len(self.board.spots)
        if not total:
            return "no nodes available to schedule pods"
        return f"0/{total} nodes are available: {', '.join(sorted(f'{count} {reason}' for reason, count in counts.items()))}."


def _insufficient(resource: str) -> str:
    return "Too many pods" if resource == "pods" else f"Insufficient {resource}"


# --- which pods belong together ----------------------------------------------------------------------------------------


def gang_key(pod: Pod) -> str:
    """Pods with the same key are one gang of the Workload API; empty: the pod stands for itself."""
    link = pod.spec.workload_ref
    if not link:
        return ""
    return "/".join((pod.namespace, str(link.get("name")), str(link.get("podGroup")), str(link.get("podGroupReplicaKey") or "")))


def minimum(pod: Pod, workload: Sequence[Raw] | None) -> tuple[int, str]:
    """How many pods the gang needs by the pod groups of its Workload, or why that is not known yet."""
    link: Mapping[str, Any] = pod.spec.workload_ref or {}
    if workload is None:
        return 0, f"waiting for Workload {link.get('name')}"
    group = next((each for each in workload if each.get("name") == link.get("podGroup")), None)
    if group is None:
        return 0, f"waiting for pod group {link.get('podGroup')} of Workload {link.get('name')}"
    gang = (group.get("policy") or {}).get("gang")
    return (int(gang["minCount"]) if gang else 1), ""


def by_turn(pods: Iterable[Pod]) -> list[Pod]:
    """Higher priority first, then older, then by name."""
    return sorted(pods, key=lambda pod: (
        -(pod.spec.priority or 0), pod.metadata.creation_timestamp or "", pod.namespace, pod.name))
