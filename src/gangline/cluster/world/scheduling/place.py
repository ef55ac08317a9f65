"""Where a bystander's pod can go: requests, selectors, node affinity, taints; gangs of the Workload API as a whole or
not at all.

A `NodeBoard` holds what is free on each node; a `PlacingRound` finds nodes for units of pods on it, the least used
first. Pods of the same shape share one heap of nodes, so a thousand equal pods cost a thousand heap steps. A unit may
be bound to one domain: each is tried, and the one where most pods fit is taken. Nobody makes room. Pure: gangs.py
says which pods are a unit, scheduler.py keeps the board and writes."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from gangline.api.core import Node, Pod
from gangline.cluster.world.scheduling.node_fit import barred
from gangline.cluster.world.scheduling.pod_affinity import PodCrowd
from gangline.rules.requests import amounts_of, pod_amounts

Amounts: TypeAlias = Mapping[str, float]
Shape: TypeAlias = tuple[tuple[tuple[str, float], ...], str]
Scope: TypeAlias = tuple[tuple[str, str], ...]
"""Labels that a node must have, from the domains that were chosen so far."""


# --- may this pod go to that node? ------------------------------------------------------------------------------------


# --- what is free -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class NodeSpot:
    node: Node
    offers: dict[str, float]
    used: dict[str, float] = field(default_factory=dict)

    def lacks(self, needs: Amounts) -> list[str]:
        return [
            name
            for name, amount in needs.items()
            if amount > 0 and self.offers.get(name, 0.0) - self.used.get(name, 0.0) < amount
        ]

    def load(self, needs: Amounts) -> float:
        """How full the node would be, by the scarcest of what is asked for."""
        return max(
            (
                (self.used.get(name, 0.0) + amount) / self.offers[name]
                for name, amount in needs.items()
                if self.offers.get(name)
            ),
            default=0.0,
        )

    def add(self, needs: Amounts, sign: int) -> None:
        for name, amount in needs.items():
            self.used[name] = self.used.get(name, 0.0) + sign * amount


@dataclass(slots=True)
class NodeBoard:
    """Nodes, and which pods hold what on them. `version` grows whenever something may fit that did not before."""

    spots: dict[str, NodeSpot] = field(default_factory=dict)
    held: dict[str, tuple[str, Amounts]] = field(default_factory=dict)
    on: dict[str, dict[str, Amounts]] = field(default_factory=dict)
    """What is held, by node and pod."""
    crowd: PodCrowd = field(default_factory=PodCrowd)
    version: int = 0

    def put_node(self, node: Node) -> None:
        before = self.spots.get(node.name)
        self.spots[node.name] = NodeSpot(
            node, amounts_of(node.status.allocatable), before.used if before else self._used(node.name)
        )
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


# --- one round --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodUnit:
    """Pods that are placed together: at least `least` of them, or none. One of parts needs so many of these whole."""

    key: str
    pods: tuple[Pod, ...] = ()
    least: int = 1
    """Beside what is placed already, so it may be none."""
    hold: str = ""
    """Why the unit cannot be tried at all."""
    parts: tuple[PodUnit, ...] = ()
    level: str = ""
    """All its pods go to nodes with one value of this label."""
    taken: tuple[str, ...] = ()
    """Nodes that its pods have already."""
    called: str = ""
    """What its pods call it; empty: gang and key."""

    @property
    def name(self) -> str:
        return self.called or f"gang {self.key}"

    def all_pods(self) -> list[Pod]:
        return [*self.pods, *(pod for part in self.parts for pod in part.all_pods())]


@dataclass(frozen=True, slots=True)
class PodBinding:
    pod: Pod
    node: str


@dataclass(frozen=True, slots=True)
class PlacingRefused:
    pod: Pod
    reason: str
    tried: bool = True
    """False: pods or objects are missing, so it says nothing about nodes."""


@dataclass(frozen=True, slots=True)
class PlacingResult:
    """What came of a unit: who goes where, who does not, and what the unit is short of; empty: it starts."""

    binds: tuple[PodBinding, ...]
    refused: tuple[PlacingRefused, ...]
    short: str = ""
    fit: int = 0
    """How many pods found a node, also if they cannot keep it."""


Answer: TypeAlias = PodBinding | PlacingRefused


def shape_of(pod: Pod) -> Shape:
    """Pods of one shape can go to the same nodes."""
    rest = {
        "selector": pod.spec.node_selector,
        "affinity": (pod.spec.affinity or {}).get("nodeAffinity"),
        "tolerations": [
            [toleration.key, toleration.operator, toleration.value, toleration.effect]
            for toleration in pod.spec.tolerations
        ],
    }
    return tuple(sorted(pod_amounts(pod).items())), json.dumps(rest, sort_keys=True)


def by_turn(pods: Iterable[Pod]) -> list[Pod]:
    """Higher priority first, then older, then by name."""
    return sorted(
        pods,
        key=lambda pod: (-(pod.spec.priority or 0), pod.metadata.creation_timestamp or "", pod.namespace, pod.name),
    )


@dataclass(slots=True)
class PlacingRound:
    """One look at the board. What is placed stays on it; a unit that does not fit whole leaves no trace."""

    board: NodeBoard
    heaps: dict[tuple[Shape, Scope], list[tuple[float, str]]] = field(default_factory=dict)

    def place(self, unit: PodUnit) -> list[Answer]:
        if unit.hold:
            return [PlacingRefused(pod, unit.hold, tried=False) for pod in unit.all_pods()]
        result = self._unit(unit, ())
        return [*result.binds, *result.refused]

    # --- a unit, its parts, its domains ---

    def _unit(self, unit: PodUnit, scope: Scope) -> PlacingResult:
        if unit.level and unit.all_pods():
            return self._in_one_domain(unit, scope)
        return self._parts(unit, scope) if unit.parts else self._pods(unit, scope)

    def _pods(self, unit: PodUnit, scope: Scope) -> PlacingResult:
        placed: list[PodBinding] = []
        failed: list[Pod] = []
        for pod in unit.pods:
            node = self._find(pod, scope)
            if node is None:
                failed.append(pod)
                continue
            self.board.hold(pod, node)
            placed.append(PodBinding(pod, node))
        if len(placed) >= unit.least:
            return PlacingResult(tuple(placed), self._refusals(failed, scope), fit=len(placed))
        short = self._short(unit, failed, len(placed), scope)
        self._undo(placed)
        refused = (
            self._refusals(failed, scope)
            if unit.least == 1
            else tuple(PlacingRefused(pod, short, bool(failed)) for pod in unit.pods)
        )
        return PlacingResult((), refused, short, len(placed))

    def _parts(self, unit: PodUnit, scope: Scope) -> PlacingResult:
        results = [self._unit(part, scope) for part in unit.parts]
        binds = tuple(bind for item in results for bind in item.binds)
        refused = tuple(no for item in results for no in item.refused)
        missing, fit = [item.short for item in results if item.short], sum(item.fit for item in results)
        whole = len(results) - len(missing)
        if whole >= unit.least:
            return PlacingResult(binds, refused, fit=fit)
        self._undo(binds)
        short = f"its {unit.name} needs {unit.least} groups and only {whole} fit{_in(scope)}" + (
            f"; for the next: {missing[0]}" if missing else ""
        )
        tried = any(no.tried for no in refused)
        return PlacingResult((), tuple(PlacingRefused(pod, short, tried) for pod in unit.all_pods()), short, fit)

    def _in_one_domain(self, unit: PodUnit, scope: Scope) -> PlacingResult:
        """The domain where the unit starts, and of several the one where most pods fit; else the one that was nearest
        to it."""
        free, best = replace(unit, level=""), None
        for value in self._values(unit, scope):
            result = self._unit(free, (*scope, (unit.level, value)))
            self._undo(result.binds)
            if best is None or (not result.short, result.fit) > (not best.short, best.fit):
                best = result
            if not result.refused:
                break
        if best is None:
            short = f"its {unit.name} needs nodes with label {unit.level}{_in(scope)} and there are none"
            return PlacingResult((), tuple(PlacingRefused(pod, short) for pod in unit.all_pods()), short)
        for bind in best.binds:
            self.board.hold(bind.pod, bind.node)
        return best

    def _values(self, unit: PodUnit, scope: Scope) -> list[str]:
        """The domains to try: the one where its pods are, or all, in a fixed order."""
        there = [
            spot.node
            for spot in self.board.spots.values()
            if unit.level in spot.node.labels and _within(spot.node, scope)
        ]
        pinned = {node.labels[unit.level] for node in there if node.name in unit.taken}
        return sorted(pinned or {node.labels[unit.level] for node in there})

    # --- a pod ---

    def _find(self, pod: Pod, scope: Scope) -> str | None:
        needs, shape = pod_amounts(pod), shape_of(pod)
        if self.board.crowd.concerns(pod):
            return self._find_among_others(pod, needs, scope)
        heap = self.heaps.get((shape, scope))
        if heap is None:
            heap = self.heaps[shape, scope] = self._candidates(pod, needs, scope)
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

    def _find_among_others(self, pod: Pod, needs: Amounts, scope: Scope) -> str | None:
        """Other pods matter: every node is asked, the least used first."""
        nodes = self.board.nodes
        for _, name in sorted(self._candidates(pod, needs, scope)):
            spot = self.board.spots[name]
            if not spot.lacks(needs) and not self.board.crowd.objection(pod, spot.node, nodes):
                return name
        return None

    def _candidates(self, pod: Pod, needs: Amounts, scope: Scope) -> list[tuple[float, str]]:
        heap = [
            (spot.load(needs), name)
            for name, spot in self.board.spots.items()
            if _within(spot.node, scope) and not barred(pod, spot.node)
        ]
        heapq.heapify(heap)
        return heap

    def _undo(self, placed: Sequence[PodBinding]) -> None:
        """Nothing is free now that was not free before the attempt."""
        version = self.board.version
        for bind in placed:
            self.board.free(bind.pod.uid)
        if placed:
            self.heaps.clear()
        self.board.version = version

    # --- saying why ---

    def _refusals(self, pods: Sequence[Pod], scope: Scope) -> tuple[PlacingRefused, ...]:
        """Pods that are refused for themselves; those of one shape for the same reason."""
        reasons: dict[Shape | str, str] = {}
        refused = []
        for pod in pods:
            like = pod.uid if self.board.crowd.concerns(pod) else shape_of(pod)
            if like not in reasons:
                reasons[like] = self.explain(pod, scope)
            refused.append(PlacingRefused(pod, reasons[like]))
        return tuple(refused)

    def _short(self, unit: PodUnit, failed: Sequence[Pod], placed: int, scope: Scope) -> str:
        """Why the unit does not fit; worked out while the pods that did fit are still counted."""
        wants = f"its {unit.name} needs {unit.least} more pods"
        if not failed:
            return f"{wants} and has {placed}"
        if unit.least <= 1:
            return self.explain(failed[0], scope)
        return f"{wants} and only {placed} fit{_in(scope)}; for the next: {self.explain(failed[0], scope)}"

    def explain(self, pod: Pod, scope: Scope = ()) -> str:
        """kube-scheduler's sentence: how many nodes, and what is wrong with how many of them."""
        needs, nodes = pod_amounts(pod), self.board.nodes
        there = [spot for spot in self.board.spots.values() if _within(spot.node, scope)]
        counts: dict[str, int] = {}
        for spot in there:
            no = barred(pod, spot.node)
            reasons = [no] if no else [_insufficient(name) for name in spot.lacks(needs)]
            for reason in reasons or [self.board.crowd.objection(pod, spot.node, nodes)]:
                counts[reason] = counts.get(reason, 0) + 1
        if not there:
            return "no nodes available to schedule pods"
        listed = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
        return f"0/{len(there)} nodes are available{_in(scope)}: {listed}."


def _within(node: Node, scope: Scope) -> bool:
    return all(node.labels.get(key) == value for key, value in scope)


def _in(scope: Scope) -> str:
    return f" in {', '.join(f'{key}={value}' for key, value in scope)}" if scope else ""


def _insufficient(resource: str) -> str:
    return "Too many pods" if resource == "pods" else f"Insufficient {resource}"
