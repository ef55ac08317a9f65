"""Labels that a pod asks of a node, by selector, affinity or volume, and a value that would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.scheduler.matching import matches, node_matches
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.records import NodeTerm, Requirement
from gangline.scheduler.session import Session
from gangline.why.nodes.obstacles import HOSTNAME, NodeObstacle
from gangline.why.objects import ClusterObjects
from gangline.why.words.amounts import listed

OF_THE_MACHINE = (HOSTNAME, "kubernetes.io/os", "kubernetes.io/arch")
"""Labels that a kubelet writes of the machine it runs on: another value would be taken back, or be a lie."""


def label_facts(task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    record = task.record
    for key, value in record.node_selector.items():
        if node.labels.get(key) != value:
            yield _label_fact("nodeSelector", Requirement(key, "In", (value,)), node)
    if record.node_affinity is not None and not node_matches(record.node_affinity, node):
        yield from _affinity(record.node_affinity, node)


def _affinity(terms: tuple[NodeTerm, ...], node: NodeInfo) -> Iterator[NodeObstacle]:
    """What the nearest of the alternative terms asks for and the node has not."""
    lacking = [[label for label in term.labels if not matches(label, node.labels)] for term in terms]
    fields = [[field for field in term.fields if not matches(field, {"metadata.name": node.name})] for term in terms]
    nearest = min(range(len(terms)), key=lambda place: len(lacking[place]) + len(fields[place]), default=None)
    if nearest is None:
        return
    others = [term_text(term) for place, term in enumerate(terms) if place != nearest]
    beside = f" (or {listed(others)})" if others else ""
    for requirement in lacking[nearest]:
        fact = _label_fact("nodeAffinity", requirement, node)
        yield replace(fact, text=fact.text + beside)
    for requirement in fields[nearest]:
        yield NodeObstacle(
            "field", f"is not the node that nodeAffinity asks for: {requirement_text(requirement)}{beside}"
        )


def term_text(term: NodeTerm) -> str:
    return " and ".join(requirement_text(item) for item in (*term.labels, *term.fields))


def _label_fact(field: str, requirement: Requirement, node: NodeInfo) -> NodeObstacle:
    value = node.labels.get(requirement.key)
    has = f"has {requirement.key}={value}" if value is not None else f"has no label {requirement.key}"
    return NodeObstacle(
        "label", f"{has}, but {field} asks for {requirement_text(requirement)}", label_patch(requirement)
    )


def requirement_text(requirement: Requirement) -> str:
    key, values = requirement.key, requirement.values
    if requirement.operator == "In":
        return f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({', '.join(values)})"
    if requirement.operator in ("Exists", "DoesNotExist"):
        return f"{key} {'to be there' if requirement.operator == 'Exists' else 'to be absent'}"
    return f"{key} {requirement.operator} {', '.join(values)}"


def label_patch(requirement: Requirement) -> Raw | None:
    if requirement.key in OF_THE_MACHINE:
        return None
    return {"metadata": {"labels": {requirement.key: wished(requirement)}}}


def wished(requirement: Requirement) -> str | None:
    """A value that the requirement is content with; None: no label."""
    if requirement.operator == "In":
        return requirement.values[0] if requirement.values else None
    if requirement.operator == "Exists":
        return "true"
    if requirement.operator in ("Gt", "Lt") and requirement.values and requirement.values[0].lstrip("-").isdigit():
        return str(int(requirement.values[0]) + (1 if requirement.operator == "Gt" else -1))
    return None


def volume_facts(session: Session, objects: ClusterObjects, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    for name in task.record.volumes:
        claim = session.cluster.volume_claims.get((task.namespace, name))
        if claim is None or claim.nodes is None or node_matches(claim.nodes, node):
            continue
        where = " or ".join(term_text(term) for term in claim.nodes) or "no node"
        volume = (objects.raw(kinds.PVC, name, task.namespace) or {}).get("spec", {}).get("volumeName", "")
        of = f" (PersistentVolume {volume})" if volume else ""
        rule = f"the volume of PersistentVolumeClaim {name}{of} can be used only where {where}"
        if not volume and not claim.bound and "allowedTopologies" in _storage_class(objects, claim.storage_class):
            rule = (
                f"StorageClass {claim.storage_class} of PersistentVolumeClaim {name} makes volumes only where {where} "
                "(allowedTopologies)"
            )
        yield NodeObstacle("volume", f"{_nearest(claim.nodes, node)}, but {rule}")


def _storage_class(objects: ClusterObjects, name: str) -> Raw:
    return objects.raw(kinds.STORAGE_CLASS, name) or {}


def _nearest(terms: Iterable[NodeTerm], node: NodeInfo) -> str:
    for term in terms:
        for label in term.labels:
            if not matches(label, node.labels):
                value = node.labels.get(label.key)
                return f"has {label.key}={value}" if value is not None else f"has no label {label.key}"
    return "is elsewhere"
