"""Pods on or near a node that keep another one away, or that it wants and does not find: host ports, affinity, and
how evenly they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.plugins.fit.affinity import term_matches
from gangline.scheduler.plugins.fit.topologyspread import NodeSkew, spreading
from gangline.scheduler.records import PodTerm, Requirement
from gangline.scheduler.session import Session
from gangline.scheduler.why.verdict import counted
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


def spread_facts(session: Session, task: TaskInfo, node: NodeInfo) -> Iterator[NodeObstacle]:
    """What topologySpreadConstraints say of the node, where the scheduler honours them."""
    plugin = spreading(session)
    for skew in plugin.skews(task, node) if plugin is not None else ():
        key = skew.term.topology_key
        if skew.domain is None:
            poorest = skew.domains[0][0] if skew.domains else node.name
            yield NodeObstacle(
                "label",
                f"has no label {key}, which topologySpreadConstraints goes by",
                {"metadata": {"labels": {key: poorest}}},
            )
        elif skew.too_much:
            yield NodeObstacle("spread", _skew_text(skew), lasting=False)


def _skew_text(skew: NodeSkew) -> str:
    """Which domain, how many there, and how uneven it would be."""
    term = skew.term
    are = "is" if len(skew.domains) == 1 else "are"
    least = (
        f"there {are} {counted(len(skew.domains), 'domain')}, fewer than minDomains {term.min_domains}, so the fewest "
        "counts as 0"
        if skew.lacks_domains
        else f"{term.topology_key}={skew.domains[0][0]} has {skew.fewest}"
    )
    return (
        f"is in {term.topology_key}={skew.domain}, which has {counted(skew.there, 'pod')} with "
        f"{_requirements(term.selector)}: with this one the skew would be {skew.value} ({least}), and "
        f"topologySpreadConstraints allows maxSkew {term.max_skew}"
    )


def emptiest_domains(session: Session, task: TaskInfo, node: NodeInfo) -> dict[str, tuple[str, ...]]:
    """By the topologyKey of constraints that must hold: the domains, the emptiest first, behind new ones where there
    are fewer than minDomains."""
    plugin = spreading(session)
    by_key: dict[str, tuple[str, ...]] = {}
    for skew in plugin.skews(task, node) if plugin is not None else ():
        domains = [domain for domain, _ in skew.domains]
        lacking = max(skew.term.min_domains - len(domains), 0) if skew.lacks_domains else int(not domains)
        by_key[skew.term.topology_key] = (*_new_domains(skew.term.topology_key, domains, lacking), *domains)
    return by_key


def _new_domains(key: str, taken: Sequence[str], count: int) -> list[str]:
    """Names that no domain has yet."""
    stem = f"{key.rpartition('/')[2]}-more"
    names = (stem, *(f"{stem}-{number}" for number in range(2, count + len(taken) + 2)))
    return [name for name in names if name not in taken][:count]


def _selector(term: PodTerm) -> str:
    return _requirements(term.selector)


def _requirements(selector: tuple[Requirement, ...] | None) -> str:
    return ", ".join(requirement_text(item) for item in selector or ()) or "any pod"
