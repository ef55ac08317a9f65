"""Whether labels match a selector, a node matches affinity terms, and a toleration covers a taint — on the core's own
records.

The semantics are Kubernetes'. Plain functions; nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from gangline.api.selectors import whole_number
from gangline.scheduler.records import NodeTerm, Requirement, SpreadTerm, TaintRecord, TolerationRecord

BLOCKING = ("NoSchedule", "NoExecute")


class LabelledNode(Protocol):
    """A node of the model, or the object itself."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...


def matches(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return value is not None and _compares(requirement.operator, value, requirement.values)
    return False


def _compares(operator: str, value: str, bounds: tuple[str, ...]) -> bool:
    number, bound = whole_number(value), whole_number(bounds[0]) if bounds else None
    if number is None or bound is None:
        return False
    return number > bound if operator == "Gt" else number < bound


def all_match(requirements: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    return all(matches(requirement, labels) for requirement in requirements)


def counts(term: SpreadTerm, labels: Mapping[str, str]) -> bool:
    """Whether a pod of the namespace with these labels counts. As kube-scheduler has it, an empty selector counts
    nobody."""
    return bool(term.selector) and all_match(term.selector or (), labels)


def node_matches(terms: tuple[NodeTerm, ...], node: LabelledNode) -> bool:
    """One of the terms must hold; a term without requirements matches nothing."""
    fields = {"metadata.name": node.name}
    return any(
        (term.labels or term.fields) and all_match(term.labels, node.labels) and all_match(term.fields, fields)
        for term in terms
    )


def untolerated(taints: Iterable[TaintRecord], tolerations: tuple[TolerationRecord, ...]) -> TaintRecord | None:
    """The first taint that keeps the pod away."""
    for taint in taints:
        if taint.effect in BLOCKING and not any(_tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def _tolerates(toleration: TolerationRecord, taint: TaintRecord) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value
