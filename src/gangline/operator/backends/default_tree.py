"""PodGang → a tree of groups for kube-scheduler 1.37: a Workload of templates, CompositePodGroups, PodGroups.

The root and each group of groups ask for all their children; each group asks for its own minimum; each may be bound to
one topology domain. A Workload holds at most eight templates at a place, so groups of equal shape share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from gangline.api.grove import GangPack
from gangline.api.kinds import COMPOSITE_POD_GROUP, KUBE_POD_GROUP, WORKLOAD_V1BETA1, Kind
from gangline.api.meta import Raw
from gangline.operator.backends.contract import CannotTranslate, GangObject, GroupInfo, PodGangInfo, live_spec

ROOT = "gang"
MOST = 8
NEEDS = "TopologyAwareWorkloadScheduling"


@dataclass(frozen=True, slots=True)
class CompositeGroup:
    """A composite group: its policy, its place, and what is below it."""

    name: str
    spec: Raw
    parents: tuple[CompositeGroup, ...] = ()
    groups: tuple[GroupInfo, ...] = ()


def objects(gang: PodGangInfo, rank: Raw) -> Iterator[GangObject]:
    """`rank` is the priority that every one of them has, as fields of a spec."""
    root = _tree(gang, rank)
    leaves = {group.name: _leaf(group, gang, rank) for group in gang.groups}
    shared: dict[str, str] = {}
    templates = [_template(root, ROOT, leaves, shared)]
    yield _object(
        WORKLOAD_V1BETA1, gang, gang.name, {"compositePodGroupTemplates": templates}, ("compositePodGroupTemplates",)
    )
    for node, parent in ((root, ""), *((item, gang.name) for item in root.parents)):
        spec = node.spec | _link(gang, shared[node.name], parent) | {"disruptionMode": {"all": {}}}
        yield _checked(COMPOSITE_POD_GROUP, gang, node.name, spec, ("schedulingPolicy", "schedulingConstraints"))
        for group in node.groups:
            leaf = leaves[group.name] | _link(gang, shared[group.name], node.name)
            yield _checked(
                KUBE_POD_GROUP, gang, group.name, leaf, ("schedulingConstraints", "parentCompositePodGroupName")
            )


def topology(key: str) -> Raw:
    return {"schedulingConstraints": {"topology": [{"key": key}]}}


def read_back(kind: Kind[Any], name: str, live: Raw, wanted: Raw) -> None:
    """A server whose feature is off drops the constraint without a word: then nothing may start."""
    if live and "schedulingConstraints" in wanted and not live.get("schedulingConstraints"):
        raise CannotTranslate(
            f"the API server dropped the topology of {kind.kind} {name}: switch on feature gate {NEEDS} in API "
            f"server and scheduler, then delete that {kind.kind} so that it is made anew"
        )


def _tree(gang: PodGangInfo, rank: Raw) -> CompositeGroup:
    free = tuple(group for group in gang.groups if not group.parent)
    parents = tuple(
        CompositeGroup(
            parent.name,
            _composite(len(parent.groups), parent.constraint, rank),
            groups=tuple(group for group in gang.groups if group.parent == parent.name),
        )
        for parent in gang.parents
    )
    return CompositeGroup(gang.name, _composite(len(free) + len(parents), gang.constraint, rank), parents, free)


def _composite(children: int, pack: GangPack | None, rank: Raw) -> Raw:
    return {"schedulingPolicy": {"gang": {"minGroupCount": children}}} | _common(pack, rank)


def _leaf(group: GroupInfo, gang: PodGangInfo, rank: Raw) -> Raw:
    """A group's own minimum; of a released gang the one that stands."""
    live = (live_spec(gang, KUBE_POD_GROUP, group.name) or {}).get("schedulingPolicy") if gang.released else None
    minimum = group.usual_minimum if gang.released else group.minimum
    return {"schedulingPolicy": live or {"gang": {"minCount": max(minimum, 1)}}} | _common(group.constraint, rank)


def _common(pack: GangPack | None, rank: Raw) -> Raw:
    key = pack.required if pack is not None else None
    return (topology(key) if key else {}) | rank


def _template(node: CompositeGroup, name: str, leaves: Mapping[str, Raw], shared: dict[str, str]) -> Raw:
    """A node as a template; notes in `shared` which template serves each group and composite below it."""
    groups = _distinct([(group.name, leaves[group.name]) for group in node.groups], shared)
    composites = [_template(parent, parent.name, leaves, shared) for parent in node.parents]
    shared[node.name] = name
    if max(len(groups), len(composites)) > MOST:
        raise CannotTranslate(
            f"gang {node.name} has more than {MOST} kinds of groups in one place; a Workload holds no more: "
            "make groups alike, or choose backend kai"
        )
    return (
        {"name": name}
        | node.spec
        | ({"podGroupTemplates": groups} if groups else {})
        | ({"compositePodGroupTemplates": composites} if composites else {})
    )


def _distinct(groups: Iterable[tuple[str, Raw]], shared: dict[str, str]) -> list[Raw]:
    """One template per shape, named after the first group that has it."""
    kept: dict[bytes, Raw] = {}
    for name, leaf in groups:
        template = kept.setdefault(msgspec.json.encode(leaf), {"name": name} | leaf)
        shared[name] = template["name"]
    return list(kept.values())


def _link(gang: PodGangInfo, template: str, parent: str) -> Raw:
    return {"workloadRef": {"workloadName": gang.name, "templateName": template}} | (
        {"parentCompositePodGroupName": parent} if parent else {}
    )


def _checked(kind: Kind[Any], gang: PodGangInfo, name: str, spec: Raw, fixed: tuple[str, ...]) -> GangObject:
    read_back(kind, name, live_spec(gang, kind, name) or {}, spec)
    return _object(kind, gang, name, spec, fixed)


def _object(kind: Kind[Any], gang: PodGangInfo, name: str, spec: Raw, fixed: tuple[str, ...]) -> GangObject:
    return GangObject(
        kind, {"metadata": {"name": name, "namespace": gang.namespace}, "spec": spec}, owns=tuple(spec), fixed=fixed
    )
