"""Selectors, affinities and tolerations as pods write them → the forms that predicates compare.

Asked by pods.py, devices.py and storage.py. A namespace selector is resolved to names here, so that nobody later
needs a namespace object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangline.api import core
from gangline.api.meta import Raw
from gangline.scheduler.matching import all_match
from gangline.scheduler.objects.reading import ObjectReading
from gangline.scheduler.records import NodeTerm, PodTerm, Requirement, SpreadTerm, TaintRecord, TolerationRecord


def requirements(selector: Raw | None) -> tuple[Requirement, ...]:
    """A label selector as a list of requirements; labels to match are requirements of one value."""
    if not selector:
        return ()
    labels = selector.get("matchLabels") or {}
    exact = tuple(Requirement(key, "In", (labels[key],)) for key in sorted(labels))
    return exact + _expressions(selector.get("matchExpressions"))


def _expressions(expressions: Iterable[Raw] | None) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(str(e["key"]), str(e["operator"]), tuple(e.get("values") or ())) for e in expressions or ()
    )


def node_terms(selector: Raw | None) -> tuple[NodeTerm, ...] | None:
    """A node selector; None when there is none. A term without any requirement matches no node and is left out."""
    if selector is None:
        return None
    terms = (
        NodeTerm(_expressions(term.get("matchExpressions")), _expressions(term.get("matchFields")))
        for term in selector.get("nodeSelectorTerms") or ()
    )
    return tuple(term for term in terms if term.labels or term.fields)


def required_nodes(affinity: Raw | None) -> tuple[NodeTerm, ...] | None:
    return node_terms(_part(affinity, "nodeAffinity").get("requiredDuringSchedulingIgnoredDuringExecution"))


def required_pods(affinity: Raw | None, kind: str, reading: ObjectReading) -> tuple[PodTerm, ...]:
    terms = _part(affinity, kind).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return tuple(pod_term(term, 0, reading) for term in terms)


def preferred_pods(affinity: Raw | None, kind: str, reading: ObjectReading) -> tuple[PodTerm, ...]:
    terms = _part(affinity, kind).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return tuple(pod_term(term.get("podAffinityTerm") or {}, int(term.get("weight") or 0), reading) for term in terms)


def _part(affinity: Raw | None, kind: str) -> Raw:
    return (affinity or {}).get(kind) or {}


def pod_term(term: Raw, weight: int, reading: ObjectReading) -> PodTerm:
    selector = term.get("labelSelector")
    wanted = term.get("namespaceSelector")
    named: tuple[str, ...] = tuple(term.get("namespaces") or ())
    everywhere = wanted is not None and not requirements(wanted)
    if wanted is not None and not everywhere:
        named = tuple(sorted({*named, *_matching(wanted, reading.namespaces)})) or ("",)
    return PodTerm(
        topology_key=str(term.get("topologyKey") or ""),
        selector=None if selector is None else requirements(selector),
        namespaces=named,
        every_namespace=everywhere,
        weight=weight,
    )


def _matching(selector: Raw, namespaces: Mapping[str, Mapping[str, str]]) -> list[str]:
    wanted = requirements(selector)
    return [name for name, labels in namespaces.items() if all_match(wanted, labels)]


def spread_terms(constraints: Iterable[Raw], labels: Mapping[str, str]) -> tuple[SpreadTerm, ...]:
    """topologySpreadConstraints of a pod with these labels."""
    return tuple(
        SpreadTerm(
            topology_key=str(item.get("topologyKey") or ""),
            max_skew=int(item.get("maxSkew") or 1),
            selector=_counted(item, labels),
            hard=item.get("whenUnsatisfiable") != "ScheduleAnyway",
            min_domains=int(item.get("minDomains") or 1),
            honours_affinity=item.get("nodeAffinityPolicy") != "Ignore",
            honours_taints=item.get("nodeTaintsPolicy") == "Honor",
        )
        for item in constraints
    )


def _counted(constraint: Raw, labels: Mapping[str, str]) -> tuple[Requirement, ...] | None:
    """The pods that are counted: those that the selector matches and that have the same values of matchLabelKeys."""
    selector = constraint.get("labelSelector")
    if selector is None:
        return None
    same = (key for key in constraint.get("matchLabelKeys") or () if key in labels)
    wanted = (*requirements(selector), *(Requirement(key, "In", (labels[key],)) for key in same))
    return tuple(dict.fromkeys(wanted))


def tolerations(given: Iterable[core.Toleration]) -> tuple[TolerationRecord, ...]:
    return tuple(TolerationRecord(t.key, t.operator or "Equal", t.value, t.effect) for t in given)


def taints(given: Iterable[core.Taint]) -> tuple[TaintRecord, ...]:
    return tuple(TaintRecord(t.key, t.effect, t.value) for t in given)
