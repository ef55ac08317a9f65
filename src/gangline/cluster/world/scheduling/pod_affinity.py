"""Pods that want to be near each other, or apart: required pod affinity, anti-affinity and topology spread.

Asked by place.py for the few pods that say such things, and for the others as long as some placed pod keeps its
distance from them. Pure; preferences are not read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gangline.api.core import Node, Pod
from gangline.api.meta import Raw
from gangline.api.selectors import from_selector

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity_terms(pod: Pod, kind: str) -> Sequence[Raw]:
    """The required terms of `podAffinity` or `podAntiAffinity`."""
    return ((pod.spec.affinity or {}).get(kind) or {}).get(REQUIRED) or ()


def spreads(pod: Pod) -> list[Raw]:
    return [
        topology_spread_constraint
        for topology_spread_constraint in pod.spec.topology_spread_constraints
        if topology_spread_constraint.get("whenUnsatisfiable") == "DoNotSchedule"
    ]


def cares(pod: Pod) -> bool:
    """Where the pod can go depends on other pods."""
    return bool(affinity_terms(pod, "podAffinity") or affinity_terms(pod, "podAntiAffinity") or spreads(pod))


def means(term: Raw, owner: Pod, other: Pod) -> bool:
    """A term of one pod is about another one."""
    namespaces = term.get("namespaces") or ()
    everywhere = term.get("namespaceSelector") is not None and not namespaces
    if not everywhere and other.namespace not in (namespaces or (owner.namespace,)):
        return False
    selector = term.get("labelSelector")
    return selector is not None and from_selector(selector).matches(other.labels)


@dataclass(slots=True)
class PodCrowd:
    """Which pods stand on which node, as far as others care."""

    placed: dict[str, tuple[str, Pod]] = field(default_factory=dict)
    shy: dict[str, None] = field(default_factory=dict)
    """Pods that keep others away."""

    def add(self, pod: Pod, node: str) -> None:
        self.placed[pod.uid] = (node, pod)
        if affinity_terms(pod, "podAntiAffinity"):
            self.shy[pod.uid] = None

    def remove(self, uid: str) -> None:
        self.placed.pop(uid, None)
        self.shy.pop(uid, None)

    def concerns(self, pod: Pod) -> bool:
        return bool(self.shy) or cares(pod)

    def objection(self, pod: Pod, node: Node, nodes: Mapping[str, Node]) -> str:
        """Why the pod may not stand there next to the others; empty: it may."""
        if any(not self._near(term, pod, node, nodes) for term in affinity_terms(pod, "podAffinity")):
            return "node(s) didn't match pod affinity rules"
        if any(self._domain(term, pod, node, nodes) for term in affinity_terms(pod, "podAntiAffinity")):
            return "node(s) didn't match pod anti-affinity rules"
        if self._kept_away(pod, node, nodes):
            return "node(s) didn't satisfy existing pods anti-affinity rules"
        if any(not self._evenly(spread, pod, node, nodes) for spread in spreads(pod)):
            return "node(s) didn't match pod topology spread constraints"
        return ""

    def _near(self, term: Raw, pod: Pod, node: Node, nodes: Mapping[str, Node]) -> bool:
        """Someone it wants stands in this domain; the first of a group that wants only itself may begin anywhere."""
        if str(term.get("topologyKey")) not in node.labels:
            return False
        if self._domain(term, pod, node, nodes):
            return True
        nobody = not any(means(term, pod, other) for _, other in self.placed.values())
        return nobody and means(term, pod, pod)

    def _domain(self, term: Raw, pod: Pod, node: Node, nodes: Mapping[str, Node]) -> list[Pod]:
        """Pods the term is about that stand in the node's domain."""
        key = str(term.get("topologyKey"))
        value = node.labels.get(key)
        return (
            []
            if value is None
            else [
                other
                for where, other in self.placed.values()
                if where in nodes and nodes[where].labels.get(key) == value and means(term, pod, other)
            ]
        )

    def _kept_away(self, pod: Pod, node: Node, nodes: Mapping[str, Node]) -> bool:
        for uid in self.shy:
            where, other = self.placed[uid]
            for term in affinity_terms(other, "podAntiAffinity"):
                key = str(term.get("topologyKey"))
                there = nodes[where].labels.get(key) if where in nodes else None
                if there is not None and node.labels.get(key) == there and means(term, other, pod):
                    return True
        return False

    def _evenly(self, constraint: Raw, pod: Pod, node: Node, nodes: Mapping[str, Node]) -> bool:
        key = str(constraint.get("topologyKey"))
        if key not in node.labels:
            return False
        counts = {item.labels[key]: 0 for item in nodes.values() if key in item.labels}
        for where in self._like(constraint, pod):
            if where in nodes and key in nodes[where].labels:
                counts[nodes[where].labels[key]] += 1
        mine = int(from_selector(constraint.get("labelSelector")).matches(pod.labels))
        return counts[node.labels[key]] + mine - min(counts.values()) <= int(constraint.get("maxSkew") or 1)

    def _like(self, constraint: Raw, pod: Pod) -> Iterable[str]:
        """Where the pods stand that are counted."""
        matches = from_selector(constraint.get("labelSelector")).matches
        return (
            where
            for where, other in self.placed.values()
            if other.namespace == pod.namespace and not other.metadata.deleting and matches(other.labels)
        )
