"""Topologies and levels that a gang names and nobody has."""

from __future__ import annotations

from dataclasses import replace

from gangline.api import kinds
from gangline.rules.values.nearest import nearest
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.records import TopologyRule
from gangline.scheduler.session import Session
from gangline.scheduler.why.trial import subtree
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.gang import relaxed, renamed
from gangline.why.objects import ClusterObjects, dig
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject


def topology_cause(session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo) -> Cause | None:
    for member in subtree(gang.root):
        rule = member.topology
        if rule is None or not rule.topology:
            continue
        unknown = _unknown(session, objects, subject, rule)
        if unknown is not None:
            return unknown
        outside = _outside(session, rule) if rule.required else None
        if outside is not None:
            return replace(outside, fixes=given(*outside.fixes, relaxed(objects, subject, rule)))
    return None


def _outside(session: Session, rule: TopologyRule) -> Cause | None:
    """No node counts in the topology: each lacks the label of a level."""
    nodes = sorted(session.cluster.nodes.items())
    tree = session.cluster.topology(rule.topology)
    levels = tree.levels if tree is not None else (rule.required,)
    lacking = {name: [level for level in levels if level not in node.labels] for name, node in nodes}
    if not all(lacking.values()):
        return None
    missing = rule.required if all(rule.required in some for some in lacking.values()) else ""
    missing = missing or next((level for level in levels if all(level in some for some in lacking.values())), "")
    labelled = tuple(
        ObjectChange(
            kinds.NODE, name, {"metadata": {"labels": {level: f"{level.rpartition('/')[2]}-1" for level in some}}}
        )
        for name, some in lacking.items()
    )
    if missing == rule.required:
        why = f"no node has the label {missing} of the level that it must stay within (topology {rule.topology})"
    else:
        what = f"the label {missing}" if missing else "the labels of all levels"
        why = f"no node has {what}, so none counts in topology {rule.topology} (levels {listed(levels, 8)})"
    return Cause("topology", why, fixes=(labelled,))


def _unknown(session: Session, objects: ClusterObjects, subject: Subject, rule: TopologyRule) -> Cause | None:
    """A topology, or a level of it, that nobody has."""
    tree, there = session.cluster.topology(rule.topology), sorted(session.cluster.topologies)
    wanted = [level for level in (rule.required, rule.preferred) if level]
    dropped = relaxed(objects, subject, rule, unknown=True)
    if tree is None:
        body = {"spec": {"levels": [{"nodeLabel": level} for level in wanted]}}
        made = ObjectChange(kinds.TOPOLOGY, rule.topology, body, how="new")
        known = f"; there are {listed(there)}" if there else "; there is none"
        near = nearest(rule.topology, there)
        return Cause(
            "topology",
            f"topology {rule.topology} does not exist{f'; did you mean {near}?' if near else known}",
            fixes=given(renamed(objects, subject, rule, topology=near), dropped, (made,)),
        )
    for level in wanted:
        if tree.level(level) is None:
            levels = _levels(objects, rule.topology)
            near = nearest(level, levels)
            return Cause(
                "topology",
                f"topology {rule.topology} has no level {level}; it has {listed(levels, 8)}"
                + (f"; did you mean {near}?" if near else ""),
                fixes=given(renamed(objects, subject, rule, level=(level, near)), dropped),
            )
    return None


def given(*fixes: tuple[ObjectChange, ...]) -> tuple[tuple[ObjectChange, ...], ...]:
    return tuple(fix for fix in fixes if fix)


def _levels(objects: ClusterObjects, topology: str) -> list[str]:
    return [str(item.get("nodeLabel")) for item in dig(objects.raw(kinds.TOPOLOGY, topology), "spec", "levels") or ()]
