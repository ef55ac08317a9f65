"""Tasks, nodes, gangs and topologies of our model, built from the records inside unit rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from conformance.kai_core.rows import only
from gangline.rules.requests import GpuKind, GpuRequest
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import ResourceNames, plus
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.model.topology import ROOT, TopologyDomain, TopologyTree
from gangline.scheduler.records import (
    DEFAULT_POD_SET,
    GangRecord,
    GroupRecord,
    NodeRecord,
    PodSetRecord,
    TaskRecord,
    TopologyRule,
)

Record = Mapping[str, Any]


def task(record: Record, names: ResourceNames, pod_set: str = DEFAULT_POD_SET) -> TaskInfo:
    only(record, "uid", "status", "request", "gpu", "type", "node", "sub_group")
    gpu = record.get("gpu", {})
    only(gpu, "devices", "portion", "memory_mib", "mig", "dra")
    kind = cast(GpuKind, record.get("type") or _kind(gpu))
    mig, dra = gpu.get("mig", {}), gpu.get("dra", {})
    request = {name: value for name, value in record.get("request", {}).items() if name != "gpu" and name not in mig}
    made = TaskInfo(
        TaskRecord(
            uid=record["uid"],
            status=Status.from_label(record["status"]),
            node=record.get("node", ""),
            pod_set=pod_set,
            request=request,
            gpu=GpuRequest(kind, gpu.get("devices", 0), gpu.get("portion", 0), gpu.get("memory_mib", 0), mig, dra),
        ),
        names,
    )
    if "pods" not in record.get("request", {}):
        made.request = (*made.request[:3], 0, *made.request[4:])
    return made


def _kind(gpu: Record) -> str:
    if gpu.get("mig"):
        return "MigInstance"
    if gpu.get("memory_mib"):
        return "GpuMemory"
    return "Fraction" if 0 < gpu.get("portion", 0) < 1 else "Regular"


def node(record: Record, names: ResourceNames) -> NodeInfo:
    only(
        record,
        "name",
        "allocatable",
        "idle",
        "used",
        "releasing",
        "labels",
        "gpu_memory_mib",
        "shared_used_mib",
        "shared_allocated_mib",
        "shared_releasing_mib",
    )
    labels = record.get("labels", {})
    count = labels.get("nvidia.com/gpu.count")
    made = NodeInfo(
        NodeRecord(
            record["name"],
            record.get("allocatable", {}),
            labels,
            gpu_memory=record.get("gpu_memory_mib", 0),
            gpu_memory_synced=True,
            gpu_count=int(count) if count else None,
        ),
        names,
        UndoJournal(),
        0,
        [],
    )
    made.idle = names.vector(record.get("idle", {}))
    made.used = names.vector(record.get("used", {}))
    made.releasing = names.vector(record.get("releasing", {}))
    made.later = plus(made.idle, made.releasing)
    made.shared.used.update(record.get("shared_used_mib", {}))
    made.shared.allocated.update(record.get("shared_allocated_mib", {}))
    made.shared.releasing.update(record.get("shared_releasing_mib", {}))
    return made


def rule(record: Record | None) -> TopologyRule:
    only(record or {}, "topology", "required", "preferred")
    return TopologyRule(**(record or {}))


def group_record(record: Record) -> GroupRecord:
    only(record, "name", "groups", "pod_sets", "min_sub_groups")
    leaves = record.get("pod_sets", ())
    for leaf in leaves:
        only(leaf, "name", "min_available", "tasks")
    return GroupRecord(
        record.get("name", ""),
        record.get("min_sub_groups"),
        groups=tuple(group_record(group) for group in record.get("groups", ())),
        pod_sets=tuple(PodSetRecord(leaf["name"], leaf.get("min_available", 0)) for leaf in leaves),
    )


def leaf_records(record: Record) -> Iterable[Record]:
    for group in record.get("groups", ()):
        yield from leaf_records(group)
    yield from record.get("pod_sets", ())


def gang(tree: Record, name: str = "gang", namespace: str = "") -> GangInfo:
    made = GangInfo(GangRecord(name, "queue", name, namespace, tree=group_record(tree)))
    names = ResourceNames()
    for leaf in leaf_records(tree):
        for item in leaf.get("tasks", ()):
            made.join(task(item, names, leaf["name"]))
    return made


def pod_sets(records: Iterable[Record], names: ResourceNames) -> list[PodSet]:
    root = Group("", None, None, None)
    made = []
    for record in records:
        only(record, "name", "min_available", "tasks")
        leaf = PodSet(record["name"], record.get("min_available", 0), None, root)
        for item in record.get("tasks", ()):
            member = task(item, names, leaf.name)
            leaf.tasks[member.uid] = member
            leaf.shift(None, member.status)
        made.append(leaf)
    return made


def topology(record: Record) -> tuple[TopologyTree, dict[TopologyDomain, Record]]:
    """A tree from listed domains: each hangs below the domain of the next coarser level that lists it as a child."""
    only(record, "name", "levels", "domains")
    listed: Mapping[str, Mapping[str, Record]] = record["domains"]
    tree = TopologyTree.__new__(TopologyTree)
    tree.name, tree.levels, tree.leaf_of = record["name"], tuple(record["levels"]), {}
    tree.root = TopologyDomain(ROOT, ROOT, -1, None)
    tree.domains = [{} for _ in tree.levels]
    figures: dict[TopologyDomain, Record] = {tree.root: listed.get(ROOT, {}).get(ROOT, {})}
    for level, label in enumerate(tree.levels):
        for id, figure in listed.get(label, {}).items():
            only(figure, "allocatable_pods", "free", "nodes", "children")
            parent = _parent(tree, listed, level, id)
            domain = tree.domains[level][id] = TopologyDomain(id, id, level, parent)
            parent.children[id] = domain
            domain.nodes = sorted(figure.get("nodes", ()))
            tree.leaf_of.update(dict.fromkeys(domain.nodes, domain))
            figures[domain] = figure
    tree.root.nodes = sorted(tree.leaf_of)
    return tree, figures


def _parent(tree: TopologyTree, listed: Mapping[str, Mapping[str, Record]], level: int, id: str) -> TopologyDomain:
    if level:
        for above, figure in listed.get(tree.levels[level - 1], {}).items():
            if id in figure.get("children", ()):
                return tree.domains[level - 1][above]
    return tree.root


def domains(record: Record) -> tuple[TopologyDomain, tuple[str, ...]]:
    """A domain with its children, as some rows spell it out, and the levels in which it counts."""
    levels: list[str] = []
    row = [record]
    while row:
        levels.append(row[0]["level"])
        row = [below for item in row for below in item.get("children", ())]
    return _domain(record, tuple(levels), None), tuple(levels)


def _domain(record: Record, levels: tuple[str, ...], parent: TopologyDomain | None) -> TopologyDomain:
    only(record, "id", "level", "nodes", "children")
    made = TopologyDomain(record["id"], record["id"], levels.index(record["level"]), parent)
    made.nodes = sorted(record.get("nodes", ()))
    made.children = {child["id"]: _domain(child, levels, made) for child in record.get("children", ())}
    return made
