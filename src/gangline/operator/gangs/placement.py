"""How well a gang is placed, as PodGang.status.placementScore tells it: from 0 to 1, 1 is best.

For each level of the gang's topology (its nodes, where it follows none): the chance that two of its pods share a domain
of that level; the score is the mean of the levels. All pods on one node make 1; a gang spread over two racks of one
zone half and half makes 0.75 for the levels zone and rack. Pure: who calls knows the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from gangline.api.core import Pod

LabelsOf = Callable[[str], Mapping[str, str] | None]
"""Node name → its labels; None for a node that is not known."""


def score(pods: Iterable[Pod], keys: Sequence[str], labels_of: LabelsOf) -> float | None:
    """`keys`: node labels of the topology's levels; none where nothing is placed."""
    nodes = [pod.spec.node_name for pod in pods if pod.spec.node_name and not pod.metadata.deleting]
    if not nodes:
        return None
    levels = [[_domain(node, key, labels_of) for node in nodes] for key in keys] or [nodes]
    return round(sum(_together(domains) for domains in levels) / len(levels), 3)


def _domain(node: str, key: str, labels_of: LabelsOf) -> str:
    """A node without the label is a domain of its own."""
    label = (labels_of(node) or {}).get(key)
    return f"={label}" if label else node


def _together(domains: Sequence[str]) -> float:
    """The chance that two of them, drawn with replacement, are the same."""
    return sum(count * count for count in Counter(domains).values()) / len(domains) ** 2
