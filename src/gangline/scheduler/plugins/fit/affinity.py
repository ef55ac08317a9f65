"""Inter-pod affinity: which nodes a pod may, must not, or would like to share a domain with other pods on.

Used by the predicates (required terms) and by the podaffinity plugin (preferred terms). It looks at the pods as the
model places them at this moment, leaving ones included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gangline.scheduler.matching import all_match
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import PodTerm

if TYPE_CHECKING:
    from gangline.scheduler.model.cluster import ClusterModel

Pair = tuple[str, str]


def term_matches(term: PodTerm, owner: TaskInfo, other: TaskInfo) -> bool:
    """Whether the term of `owner` selects `other`."""
    if term.selector is None:
        return False
    namespaces = term.namespaces or (owner.namespace,)
    return (term.every_namespace or other.namespace in namespaces) and all_match(term.selector, other.labels)


def placed_pods(cluster: ClusterModel) -> Iterator[tuple[NodeInfo, TaskInfo]]:
    for node in cluster.nodes.values():
        for placed in node.placed.values():
            yield node, placed.task


@dataclass(slots=True)
class AffinityCounts:
    """Counts per (topology key, value): pods that all affinity terms select, pods that an anti-affinity term selects,
    and pods whose own anti-affinity selects this one."""

    affinity: Counter[Pair] = field(default_factory=Counter)
    anti: Counter[Pair] = field(default_factory=Counter)
    shunned: Counter[Pair] = field(default_factory=Counter)


def required_counts(cluster: ClusterModel, task: TaskInfo) -> AffinityCounts:
    required = AffinityCounts()
    record = task.record
    for node, other in placed_pods(cluster):
        if other is task:
            continue
        if record.pod_affinity and all(term_matches(term, task, other) for term in record.pod_affinity):
            _count(required.affinity, record.pod_affinity, node)
        _count(required.anti, [term for term in record.pod_anti_affinity if term_matches(term, task, other)], node)
        _count(
            required.shunned, [term for term in other.record.pod_anti_affinity if term_matches(term, other, task)], node
        )
    return required


def _count(counts: Counter[Pair], terms: Iterable[PodTerm], node: NodeInfo) -> None:
    for term in terms:
        value = node.labels.get(term.topology_key)
        if value is not None:
            counts[term.topology_key, value] += 1


def required_refusal(required: AffinityCounts, task: TaskInfo, node: NodeInfo) -> str | None:
    """Why the node will not do, in words; None when it does."""
    record = task.record
    if not _affinity_holds(required, task, node):
        return "node(s) didn't match pod affinity rules"
    if any(
        required.anti.get((term.topology_key, node.labels.get(term.topology_key, "")), 0)
        for term in record.pod_anti_affinity
    ):
        return "node(s) didn't match pod anti-affinity rules"
    if any(required.shunned.get(pair, 0) for pair in node.labels.items()):
        return "node(s) didn't satisfy existing pods anti-affinity rules"
    return None


def _affinity_holds(required: AffinityCounts, task: TaskInfo, node: NodeInfo) -> bool:
    """Every term has a matching pod in the node's domain, or nobody matches anywhere and the pod matches its own
    terms."""
    terms = task.record.pod_affinity
    if not terms:
        return True
    if any(term.topology_key not in node.labels for term in terms):
        return False
    if all(required.affinity.get((term.topology_key, node.labels[term.topology_key]), 0) for term in terms):
        return True
    return not required.affinity and all(term_matches(term, task, task) for term in terms)


def preferred_scores(cluster: ClusterModel, task: TaskInfo, hard_weight: int = 1) -> Counter[Pair]:
    """Raw score per (topology key, value), as wished by this pod and by the pods that are there."""
    scores: Counter[Pair] = Counter()
    record = task.record
    for node, other in placed_pods(cluster):
        if other is task:
            continue
        for sign, terms in ((1, record.preferred_affinity), (-1, record.preferred_anti_affinity)):
            _weigh(scores, [term for term in terms if term_matches(term, task, other)], node, sign)
        for sign, terms in ((1, other.record.preferred_affinity), (-1, other.record.preferred_anti_affinity)):
            _weigh(scores, [term for term in terms if term_matches(term, other, task)], node, sign)
        _weigh(
            scores,
            [term for term in other.record.pod_affinity if term_matches(term, other, task)],
            node,
            hard_weight,
            1,
        )
    return scores


def _weigh(
    scores: Counter[Pair], terms: Iterable[PodTerm], node: NodeInfo, sign: int, weight: int | None = None
) -> None:
    for term in terms:
        value = node.labels.get(term.topology_key)
        if value is not None:
            scores[term.topology_key, value] += sign * (term.weight if weight is None else weight)
