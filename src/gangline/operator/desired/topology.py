"""Topology constraints: from level names that users write to node label keys that schedulers read.

A domain that the ClusterTopologyBinding does not know yields no constraint for that half; the set's condition says
so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangline.api.grove import CliqueTopology, ClusterTopologyBinding, PodCliqueSet
from gangline.api.meta import Raw

Levels = Mapping[str, str]
"""Domain → node label key, broadest first."""


def levels(binding: ClusterTopologyBinding | None) -> Levels:
    return {level.domain: level.key for level in binding.spec.levels} if binding else {}


def required(constraint: CliqueTopology) -> str:
    return (constraint.pack.required if constraint.pack else None) or constraint.pack_domain


def preferred(constraint: CliqueTopology) -> str:
    return (constraint.pack.preferred if constraint.pack else None) or ""


def constraints(pcs: PodCliqueSet) -> Iterator[tuple[str, CliqueTopology]]:
    """Every constraint of a set with its path: the set's, the groups', the cliques'."""
    template = pcs.spec.template
    if template.topology_constraint is not None:
        yield "spec.template.topologyConstraint", template.topology_constraint
    for index, group in enumerate(template.pod_clique_scaling_groups):
        if group.topology_constraint is not None:
            yield f"spec.template.podCliqueScalingGroups[{index}].topologyConstraint", group.topology_constraint
    for index, clique in enumerate(template.cliques):
        if clique.topology_constraint is not None:
            yield f"spec.template.cliques[{index}].topologyConstraint", clique.topology_constraint


def topology_name(pcs: PodCliqueSet) -> str:
    """The first binding that a constraint of the set names."""
    return next((constraint.topology_name for _, constraint in constraints(pcs) if constraint.topology_name), "")


def domains(pcs: PodCliqueSet) -> list[str]:
    """Every domain that the set refers to, once, in order of appearance."""
    named = [domain for _, item in constraints(pcs) for domain in (required(item), preferred(item)) if domain]
    return list(dict.fromkeys(named))


def translate(constraint: CliqueTopology | None, known: Levels) -> Raw | None:
    """A constraint as a PodGang writes it, or None where nothing of it is known."""
    if constraint is None:
        return None
    halves = {"required": known.get(required(constraint)), "preferred": known.get(preferred(constraint))}
    pack = {half: key for half, key in halves.items() if key}
    return {"packConstraint": pack} if pack else None
