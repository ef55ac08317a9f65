"""The tables nodeplacement, gpupack, gpuspread, gpu_sharing and topology."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.kai_core import pieces
from conformance.kai_core.rows import Row, differs, only
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.gpu import WHOLE_GPU, SharedGpus
from gangline.scheduler.model.journal import UndoJournal
from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.resources import ResourceNames
from gangline.scheduler.model.topology import TopologyDomain, TopologyTree
from gangline.scheduler.placing import domain_refusals, domain_room, domains
from gangline.scheduler.placing.domain_room import DomainRoom, DomainTally
from gangline.scheduler.placing.domains import DomainAnswer, DomainQuestion
from gangline.scheduler.placing.place import pick_gpus
from gangline.scheduler.plugins.score.gpusharing import GpuPackPlugin, GpuSpreadPlugin, used_portion
from gangline.scheduler.plugins.score.nodeplacement import NodePlacementPlugin
from gangline.scheduler.records import GangRecord, NodeRecord, TopologyRecord


def node_score(row: Row) -> str:
    cpu_only, between, record, strategies, asked = row.read("cpu_only", "fitting_range", "node", "strategies", "task")
    names = ResourceNames()
    task, node = pieces.task(asked, names), pieces.node(record, names)
    assert task.needs_gpu != cpu_only
    policy = NodePlacementPlugin.__new__(NodePlacementPlugin)
    NodePlacementPlugin.__init__(policy, None, strategies)  # type: ignore[arg-type]
    policy._range = (between[0], between[1])
    return differs(policy.node_score(task, node), row.out)


def gpu_score(row: Row, kind: type[GpuPackPlugin] | type[GpuSpreadPlugin]) -> str:
    group, memory, used = row.read("gpu", "gpu_memory_mib", "used_mib")
    names = ResourceNames()
    node = NodeInfo(NodeRecord("node", {}, gpu_memory=memory), names, UndoJournal(), 0, [])
    node.shared = SharedGpus(1, memory, UndoJournal())
    node.shared.used.update(used)
    policy = kind.__new__(kind)
    task = pieces.task({"uid": "t", "status": "Pending"}, names)
    if bool(row.out.get("error")) != (group != WHOLE_GPU and used_portion(node, group) is None):
        return f"recorded error {row.out.get('error')!r}"
    return differs(policy.gpu_score(task, node, group), row.out["score"])


def gpus_for_sharing(row: Row) -> str:
    fitting, record, simulation, asked = row.read("fitting", "node", "pipeline_only", "pod")
    names = ResourceNames()
    found = pick_gpus(fitting, pieces.task(asked, names), pieces.node(record, names), simulation)
    if found is None or row.out is None:
        return differs(found, row.out)
    groups = ["new" if group.startswith("new-") else group for group in found[0]]
    return differs({"groups": groups, "releasing": found[1]}, row.out)


def lowest_common_domain(row: Row) -> str:
    levels, labels, constraint = row.read("levels", "node_labels", "constraint")
    names = ResourceNames()
    nodes = [pieces.node({"name": name, "labels": given}, names) for name, given in labels.items()]
    tree = TopologyTree(TopologyRecord("t", tuple(levels)), nodes)
    found = domains.common_domain(tree, labels, (pieces.rule(constraint).preferred,))
    level = "root" if found.level < 0 else levels[found.level]
    return differs({"domain": found.id, "level": level, "valid_nodes": sorted(tree.leaf_of)}, row.out)


def every(domain: TopologyDomain) -> list[TopologyDomain]:
    return [domain, *(below for child in domain.children.values() for below in every(child))]


def leaves(domain: TopologyDomain) -> dict[str, TopologyDomain]:
    """Nodes of the domains without children."""
    return {name: item for item in every(domain) if not item.children for name in item.nodes}


def tree_allocatable(row: Row) -> str:
    record, node_records, asked = row.read("domain", "nodes", "tasks")
    names = ResourceNames()
    top, levels = pieces.domains(record)
    nodes = {node_record["name"]: pieces.node(node_record, names) for node_record in node_records}
    demand = domain_room.demand_of([pieces.task(item, names) for item in asked])
    tally = DomainTally(leaves(top), nodes, lambda node: (domain_room.slots(node, demand, frozenset()),))
    found = {f"{levels[item.level]}={item.id}": int(tally.of(item)[0]) for item in every(top)}
    return differs({"allocatable_pods": found, "error": ""}, row.out)


def node_scores(row: Row) -> str:
    record, preferred = row.read("domain", "preferred_level")
    top, levels = pieces.domains(record)
    given = {item: list(item.children.values()) for item in every(top)}
    level = levels.index(preferred) if preferred in levels else len(levels)
    return differs(domains.preferred_scores(top, level, given), row.out)


def texts(answer: DomainAnswer) -> list[str]:
    return sorted(text for refusal in answer.refusals for text in refusal.details or refusal.messages)


def allocatable_domains(row: Row) -> str:
    constraint, sets, count, total, record = row.read(
        "constraint", "pod_sets", "tasks_count", "tasks_total", "topology"
    )
    names = ResourceNames()
    tree, figures = pieces.topology(record)
    demand = domain_room.Demand(count, names.vector(total), (), True)

    def pods(domain: TopologyDomain) -> int | None:
        number = int(figures[domain].get("allocatable_pods", -1))
        return None if number < 0 else number

    room = DomainRoom(demand, lambda domain: names.vector(figures[domain].get("free", {})), pods, None)
    rule = pieces.rule({**constraint, "topology": tree.name})
    gang = GangInfo(GangRecord("g", "q", "test-job", "test-namespace"))
    try:
        levels = domains.candidate_levels(rule, tree, "test")
    except domains.BadRule as problem:
        return differs({"domains": [], "error": str(problem), "fit_errors": []}, row.out)
    good, bad = domains.domains_that_hold(tree, levels, rule, pieces.pod_sets(sets, names), room)
    reasons = [domain_refusals.why_not(item, room, "test", names) for item in bad]
    refusals = [] if good else [*reasons, domain_refusals.unsatisfied(gang, "test", rule)]
    found = sorted(f"{tree.levels[item.level]}={item.id}" for item in good)
    ours = {"domains": found, "error": "", "fit_errors": texts(DomainAnswer(refusals=refusals))}
    return differs(
        ours, {**row.out, "domains": sorted(row.out["domains"]), "fit_errors": sorted(row.out["fit_errors"])}
    )


def node_subsets(row: Row) -> str:
    constraint, job, node_records, sets, group, asked, topologies = row.read(
        "constraint", "job", "nodes", "pod_sets", "sub_group", "tasks", "topologies"
    )
    names = ResourceNames()
    nodes = {node_record["name"]: pieces.node(node_record, names) for node_record in node_records}
    rule = pieces.rule(constraint)
    gang = GangInfo(GangRecord(job, "q", job))
    question = DomainQuestion(gang, group, rule, pieces.pod_sets(sets, names))
    if not rule.topology:
        return differs(
            {"error": "", "fit_errors": [], "node_scores": {}, "node_sets": [sorted(nodes)]}, sorted_sets(row.out)
        )
    if rule.topology not in topologies:
        said = list(domain_refusals.no_topology(rule.topology).messages)
        return differs({"error": "", "fit_errors": said, "node_scores": {}, "node_sets": []}, sorted_sets(row.out))
    tree, _ = pieces.topology(topologies[rule.topology])
    demand = domain_room.demand_of([pieces.task(item, names) for item in asked])
    free = DomainTally(tree.leaf_of, nodes, lambda node: node.later)
    pods = DomainTally(tree.leaf_of, nodes, lambda node: (domain_room.slots(node, demand, frozenset()),))
    top = domains.common_domain(tree, nodes, (rule.preferred,))
    room = DomainRoom(demand, free.of, lambda domain: int(pods.of(domain)[0]) if demand.uniform else None, top)
    answer = domains.choose(question, tree, top, room, names)
    found = [[name for name in domain.nodes if name in nodes] for domain in answer.domains]
    scores = {} if answer.scores is None else {group: answer.scores}
    ours = {"error": answer.error, "fit_errors": texts(answer), "node_scores": scores, "node_sets": found}
    return differs(ours, sorted_sets(row.out))


def sorted_sets(out: Mapping[str, Any]) -> dict[str, Any]:
    only(out, "error", "fit_errors", "node_scores", "node_sets")
    return {
        **out,
        "node_sets": [sorted(node_set) for node_set in out["node_sets"]],
        "fit_errors": sorted(out["fit_errors"]),
    }


TABLES: Mapping[str, Callable[[Row], str]] = {
    "nodeplacement/node_score": node_score,
    "gpupack/gpu_score": lambda row: gpu_score(row, GpuPackPlugin),
    "gpuspread/gpu_score": lambda row: gpu_score(row, GpuSpreadPlugin),
    "gpu_sharing/gpus_for_sharing": gpus_for_sharing,
    "topology/lowest_common_domain": lowest_common_domain,
    "topology/tree_allocatable": tree_allocatable,
    "topology/node_scores": node_scores,
    "topology/allocatable_domains": allocatable_domains,
    "topology/node_subsets": node_subsets,
}
