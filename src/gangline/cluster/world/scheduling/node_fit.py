"""Whether a pod may go to a node: its selectors and node affinity, and the taints of the node. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.core import Node, Pod, Taint, Toleration
from gangline.api.meta import Raw, condition
from gangline.api.selectors import from_selector

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    return any(
        toleration.key in ("", taint.key)
        and (toleration.operator == "Exists" or (bool(toleration.key) and toleration.value == taint.value))
        and toleration.effect in ("", taint.effect)
        for toleration in tolerations
    )


def untolerated(pod: Pod, node: Node) -> Taint | None:
    """The first taint that keeps the pod away."""
    taints = node.spec.taints + ((UNSCHEDULABLE,) if node.spec.unschedulable else ())
    return next(
        (
            taint
            for taint in taints
            if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(pod.spec.tolerations, taint)
        ),
        None,
    )


def selects(pod: Pod, node: Node) -> bool:
    """The pod's node selector and required node affinity let it go there."""
    labels = node.labels
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = ((pod.spec.affinity or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return affinity is None or any(_term(term, node) for term in affinity.get("nodeSelectorTerms") or ())


def _term(term: Raw, node: Node) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    return (
        bool(expressions or fields)
        and from_selector({"matchExpressions": expressions}).matches(node.labels)
        and from_selector({"matchExpressions": fields}).matches({"metadata.name": node.name})
    )


def barred(pod: Pod, node: Node) -> str:
    """Why the pod may never go there, as kube-scheduler says it; empty: it may."""
    ready = condition(node.status.conditions, "Ready")
    if ready is not None and ready.status != "True":
        return "node(s) were not ready"
    taint = untolerated(pod, node)
    if taint is not None:
        return (
            f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
            if taint is not UNSCHEDULABLE
            else ("node(s) were unschedulable")
        )
    return "" if selects(pod, node) else "node(s) didn't match Pod's node affinity/selector"
