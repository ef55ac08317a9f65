"""Topologies and levels that a gang names and nobody has."""

from __future__ import annotations

from gangline.api import kinds
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.trial import everyone
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.gang import relaxed
from gangline.why.objects import ClusterObjects, dig
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject


def topology_cause(session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo) -> Cause | None:
    for member in everyone(gang.root):
        rule = member.topology
        if rule is None or not rule.topology:
            continue
        tree = session.cluster.topology(rule.topology)
        there = sorted(session.cluster.topologies)
        wanted = [level for level in (rule.required, rule.preferred) if level]
        if tree is None:
            made = ObjectChange(
                kinds.TOPOLOGY,
                rule.topology,
                {"spec": {"levels": [{"nodeLabel": level} for level in wanted]}},
                how="new",
            )
            known = f"; there are {listed(there)}" if there else "; there is none"
            return Cause(
                "topology",
                f"topology {rule.topology} does not exist{known}",
                fixes=(relaxed(subject, gang, unknown=True), (made,)),
            )
        for level in wanted:
            if tree.level(level) is None:
                return Cause(
                    "topology",
                    f"topology {rule.topology} has no level {level}; it has "
                    f"{listed(_levels(objects, rule.topology), 8)}",
                    fixes=(relaxed(subject, gang, unknown=True),),
                )
        if rule.required and not any(rule.required in node.labels for node in session.cluster.nodes.values()):
            labelled = tuple(
                ObjectChange(
                    kinds.NODE, name, {"metadata": {"labels": {rule.required: f"{rule.required.rpartition('/')[2]}-1"}}}
                )
                for name in sorted(session.cluster.nodes)
            )
            return Cause(
                "topology",
                f"no node has the label {rule.required} of the level that it must stay within (topology "
                f"{rule.topology})",
                fixes=(labelled, relaxed(subject, gang)),
            )
    return None


def _levels(objects: ClusterObjects, topology: str) -> list[str]:
    return [str(item.get("nodeLabel")) for item in dig(objects.raw(kinds.TOPOLOGY, topology), "spec", "levels") or ()]
