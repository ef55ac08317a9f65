"""Pods of a clique that are moved by starting their replacement first: which replacements are made, and who goes when.

The scheduler writes on a pod where its replacement should start (`gangline.io/move-to`). The replacement has the same
index and must run on that node; when it is ready, the old pod goes. A replacement that finds no place is given up, and
the old pod stays. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.api.meta import Raw
from gangline.operator.desired.pods import ready
from gangline.operator.plan import Patch
from gangline.rules.values.times import seconds

PATIENCE = 300.0
"""Seconds after which a replacement without a node is given up."""


@dataclass(slots=True)
class CliqueMoves:
    """`wanted`: pods whose replacement is still to be made. `gone`: pods that go now, because their replacement is
    ready, and replacements that are given up. `stays`: pods that are not moved after all. `extra`: replacements beside
    the pods that they replace. `again`: seconds until one may be given up."""

    wanted: list[Pod] = field(default_factory=list)
    gone: list[Pod] = field(default_factory=list)
    stays: list[Pod] = field(default_factory=list)
    extra: set[str] = field(default_factory=set)
    again: float | None = None

    def without_extra(self, pods: Iterable[Pod]) -> list[Pod]:
        return [pod for pod in pods if pod.uid not in self.extra]

    def patches(self) -> list[Patch]:
        """So that nobody waits for moves that were given up."""
        patch: Raw = {"metadata": {"annotations": {names.MOVE_TO: None}}}
        return [Patch(POD, pod.name, pod.namespace, patch, code="ERR_UPDATE_POD") for pod in self.stays]


def clique_moves(living: Sequence[Pod], now: float) -> CliqueMoves:
    moves = CliqueMoves()
    replacements = {pod.annotations[names.REPLACES]: pod for pod in living if names.REPLACES in pod.annotations}
    for pod in living:
        if names.MOVE_TO not in pod.annotations:
            continue
        replacement = replacements.get(pod.name)
        if replacement is None:
            moves.wanted.append(pod)
            continue
        moves.extra.add(replacement.uid)
        left = (seconds(replacement.metadata.creation_timestamp) or now) + PATIENCE - now
        if ready(replacement):
            moves.gone.append(pod)
        elif not replacement.spec.node_name and left <= 0:
            moves.gone.append(replacement)
            moves.stays.append(pod)
        elif not replacement.spec.node_name:
            moves.again = min(left, moves.again or left)
    return moves


def replacing(pod: Raw, old: Pod) -> Raw:
    """A pod as it is built, as the replacement of this one: only on the node that was chosen for it."""
    here = {"key": "metadata.name", "operator": "In", "values": [old.annotations[names.MOVE_TO]]}
    spec, meta = pod["spec"], pod["metadata"]
    affinity = spec.get("affinity") or {}
    by_node = affinity.get("nodeAffinity") or {}
    required = by_node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = [
        term | {"matchFields": [*(term.get("matchFields") or ()), here]}
        for term in required.get("nodeSelectorTerms") or [{}]
    ]
    pinned = by_node | {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    notes = {**(meta.get("annotations") or {}), names.REPLACES: old.name}
    return pod | {
        "spec": spec | {"affinity": affinity | {"nodeAffinity": pinned}},
        "metadata": meta | {"annotations": notes},
    }
