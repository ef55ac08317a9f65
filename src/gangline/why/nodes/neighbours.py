"""Pods on or near a node that keep another one away, or that it wants and does not find: host ports, affinity."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.fit.affinity import term_matches
from gangline.scheduler.records import PodTerm
from gangline.scheduler.session import Session
from gangline.why.nodes.labels import requirement_text
from gangline.why.nodes.obstacles import NodeObstacle


def port_facts(task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    for mine in task.record.host_ports:
        holder = next(
            (
                placed.task
                for placed in node.placed.values()
                if placed.task is not task
                and any(
                    other.port == mine.port and other.protocol == mine.protocol
                    for other in placed.task.record.host_ports
                )
            ),
            None,
        )
        if holder is not None:
            yield NodeObstacle(
                "port", f"has host port {mine.port}/{mine.protocol} taken by pod {holder.name}", lasting=False
            )


def neighbour_facts(session: Session, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    """Inter-pod affinity, as the pods stand at this moment."""
    record = task.record
    for term in record.pod_anti_affinity:
        other = _in_domain(session, node, term, task, lambda other, term=term: term_matches(term, task, other))
        if other is not None:
            yield NodeObstacle(
                "anti-affinity",
                f"shares {term.topology_key}={node.labels.get(term.topology_key)} with pod {other.name}, which "
                f"podAntiAffinity {_selector(term)} keeps apart",
                lasting=False,
            )
    for term in record.pod_affinity:
        if term.topology_key not in node.labels:
            yield NodeObstacle(
                "label",
                f"has no label {term.topology_key}, which podAffinity goes by",
                {"metadata": {"labels": {term.topology_key: node.name}}},
            )
        elif not _affine(session, node, term, task):
            yield NodeObstacle(
                "pod-affinity",
                f"has no pod with {_selector(term)} in its {term.topology_key} (podAffinity)",
                lasting=False,
            )
    if session.cluster.shunning:
        for placed_node in session.cluster.nodes.values():
            for placed in placed_node.placed.values():
                for term in placed.task.record.pod_anti_affinity:
                    value = node.labels.get(term.topology_key)
                    near = value is not None and placed_node.labels.get(term.topology_key) == value
                    if (
                        near
                        and placed.task is not task
                        and placed.task.gang is not task.gang
                        and term_matches(term, placed.task, task)
                    ):
                        yield NodeObstacle(
                            "anti-affinity",
                            f"holds pod {placed.task.name}, whose podAntiAffinity keeps this one away",
                            lasting=False,
                        )
                        return


def _affine(session: Session, node: NodeInfo, term: PodTerm, task: TaskInfo) -> bool:
    if _in_domain(session, node, term, task, lambda other: term_matches(term, task, other)) is not None:
        return True
    anybody = any(
        term_matches(term, task, placed.task)
        for item in session.cluster.nodes.values()
        for placed in item.placed.values()
        if placed.task is not task
    )
    return not anybody and term_matches(term, task, task)


def _in_domain(session: Session, node: NodeInfo, term: PodTerm, task: TaskInfo, wanted: object) -> TaskInfo | None:
    assert callable(wanted)
    value = node.labels.get(term.topology_key)
    if value is None:
        return None
    for item in session.cluster.nodes.values():
        if item.labels.get(term.topology_key) == value:
            for placed in item.placed.values():
                if placed.task is not task and wanted(placed.task):
                    return placed.task
    return None


def _selector(term: PodTerm) -> str:
    return ", ".join(requirement_text(item) for item in term.selector or ()) or "any pod"
