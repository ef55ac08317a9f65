"""Pods that stand more unevenly than their topologySpreadConstraints ask for.

A scheduler that does not honour these constraints, such as upstream's, leaves them so, and users should hear it. A
scheduler that honours them looks at them only when it places a pod. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gangline.api import kinds
from gangline.api.core import Node, Pod
from gangline.scheduler.matching import counts, node_matches, untolerated
from gangline.scheduler.objects.affinity import required_nodes, spread_terms, taints, tolerations
from gangline.scheduler.records import SpreadTerm
from gangline.why.objects import ClusterObjects
from gangline.why.schedulers.running_settings import running_settings
from gangline.why.states.members import ENDED


def uneven(objects: ClusterObjects, bound: Sequence[Pod], pool: str) -> Iterator[str]:
    """One sentence per constraint that pods of one workload do not keep, among all that it counts."""
    nodes = objects.all(kinds.NODE)
    asked = {
        term: pod
        for pod in bound
        for term in spread_terms(pod.spec.topology_spread_constraints, pod.labels)
        if term.hard
    }
    for term, asking in asked.items():
        key = term.topology_key
        domain_of = {
            node.name: node.labels[key] for node in nodes if key in node.labels and _counts(term, asking, node)
        }
        places = sorted(set(domain_of.values()))
        counted = [pod for pod in objects.all(kinds.POD, asking.namespace) if counts(term, pod.labels)]
        there = Counter(
            domain_of.get(pod.spec.node_name, "")
            for pod in counted
            if pod.status.phase not in ENDED and not pod.metadata.deleting
        )
        stand = [there[place] for place in places]
        if stand and max(stand) - min(stand) > term.max_skew:
            shown = ", ".join(f"{place} {count}" for place, count in zip(places, stand, strict=True))
            honoured = running_settings(objects, pool).spreads
            yield (
                f"its pods stand unevenly by {key} ({shown}): spec.topologySpreadConstraints asks for maxSkew "
                f"{term.max_skew}, which this scheduler "
                + ("looks at when a pod is placed, not later" if honoured else "does not keep")
            )


def _counts(term: SpreadTerm, pod: Pod, node: Node) -> bool:
    """Whether the domain of a node counts, by nodeAffinityPolicy and nodeTaintsPolicy."""
    spec = pod.spec
    if term.honours_affinity:
        wanted = required_nodes(spec.affinity)
        if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
            return False
        if wanted is not None and not node_matches(wanted, node):
            return False
    return not term.honours_taints or untolerated(taints(node.spec.taints), tolerations(spec.tolerations)) is None
