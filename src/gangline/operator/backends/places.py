"""Reuse of places: the pods of a gang that names an earlier one would rather go where the same group of that one is.

A hint, never binding, and every scheduler that places pods by the usual rules understands it: preferred node affinity,
with the greatest weight. Added to pods when they are made; nothing here looks up nodes."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.operator.backends.contract import GroupInfo

HOST = "kubernetes.io/hostname"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
MOST = 100


def affinity(own: Raw | None, nodes: Sequence[str]) -> Raw | None:
    """An affinity that also wishes for these nodes."""
    if not nodes:
        return own
    term = {
        "weight": MOST,
        "preference": {"matchExpressions": [{"key": HOST, "operator": "In", "values": list(nodes)}]},
    }
    whole = own or {}
    about_nodes = whole.get("nodeAffinity") or {}
    return whole | {"nodeAffinity": about_nodes | {PREFERRED: [*(about_nodes.get(PREFERRED) or ()), term]}}


def placed(pod: Raw, group: GroupInfo | None) -> Raw:
    """A pod that would rather go where its group's pods were."""
    if group is None or not group.places:
        return pod
    return pod | {"spec": pod["spec"] | {"affinity": affinity(pod["spec"].get("affinity"), group.places)}}


def asks(pod: Pod) -> bool:
    """Whether a pod carries the wish."""
    terms = ((pod.spec.affinity or {}).get("nodeAffinity") or {}).get(PREFERRED) or ()
    return any(
        rule.get("key") == HOST
        for term in terms
        for rule in (term.get("preference") or {}).get("matchExpressions") or ()
    )
