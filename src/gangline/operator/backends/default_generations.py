"""Which generation of kube-scheduler's Workload API a cluster serves, and what of it really works.

Kubernetes 1.35 has Workloads only, 1.36 PodGroups, 1.37 PodGroups of a new version and, behind a gate,
CompositePodGroups. A server drops fields of features that are off without a word: `probes` are objects that the shell
creates in a dry run, and what does not come back is in `Facts.dropped`. Used by default.py; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gangline.api.kinds import (
    COMPOSITE_POD_GROUP,
    KUBE_POD_GROUP,
    KUBE_POD_GROUP_V1ALPHA2,
    WORKLOAD,
    WORKLOAD_V1BETA1,
    Kind,
)
from gangline.api.meta import Raw
from gangline.operator.backends.contract import (
    EVERY,
    GANG,
    MINIMA_FIRST,
    NO_GANG,
    SURPLUS_GATED,
    Capabilities,
    Facts,
    GangObject,
    PodGangInfo,
)

KUBE_NONE = "default without the Workload API"
KUBE_135 = "default on Kubernetes 1.35"
KUBE_136 = "default on Kubernetes 1.36"
KUBE_137_FLAT = "default on Kubernetes 1.37"
KUBE_137 = "default on Kubernetes 1.37 with CompositePodGroup"
GENERATIONS: dict[str, Capabilities] = {
    KUBE_NONE: Capabilities(gang=False, groups=NO_GANG),
    KUBE_135: Capabilities(groups=SURPLUS_GATED),
    KUBE_136: Capabilities(groups=SURPLUS_GATED, required=(GANG,)),
    KUBE_137_FLAT: Capabilities(groups=SURPLUS_GATED, required=(GANG,)),
    KUBE_137: Capabilities(groups=MINIMA_FIRST, required=EVERY),
}

FLAT_GROUPS: dict[str, Kind[Any]] = {KUBE_136: KUBE_POD_GROUP_V1ALPHA2, KUBE_137_FLAT: KUBE_POD_GROUP}
PROBE = "gangline-probe"
CONSTRAINTS, PARENT, PRIORITY, DISRUPTION = (
    "schedulingConstraints",
    "parentCompositePodGroupName",
    "priorityClassName",
    "disruptionMode",
)
TOPOLOGY_GATE, PREEMPTION_GATE = "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"


def generation(facts: Facts) -> str:
    """The newest generation that is served whole, judged by resources and not by version names."""
    if facts.serves(KUBE_POD_GROUP):
        whole = facts.serves(COMPOSITE_POD_GROUP, WORKLOAD_V1BETA1) and facts.keeps(KUBE_POD_GROUP, PARENT)
        return KUBE_137 if whole else KUBE_137_FLAT
    if facts.serves(KUBE_POD_GROUP_V1ALPHA2):
        return KUBE_136
    return KUBE_135 if facts.serves(WORKLOAD) else KUBE_NONE


def generation_of(gang: PodGangInfo) -> str:
    """The generation for one gang: pods that were linked to one flat group cannot change that, so it stays flat through
    an upgrade."""
    newest = generation(gang.facts)
    pods = (pod for group in gang.groups for pod in group.pods if not pod.metadata.deleting)
    if newest == KUBE_137 and any((pod.spec.scheduling_group or {}).get("podGroupName") == gang.name for pod in pods):
        return KUBE_137_FLAT
    return newest


def abilities(served: str, facts: Facts) -> tuple[str, Capabilities]:
    """What a generation can express here, and its name with the gate that is off."""
    can = GENERATIONS[served]
    if can.required and not all(facts.keeps(kind, CONSTRAINTS) for kind in _grouping(served)):
        return f"{served} without feature gate {TOPOLOGY_GATE}", replace(can, required=())
    return served, can


def _grouping(served: str) -> tuple[Kind[Any], ...]:
    return (KUBE_POD_GROUP, COMPOSITE_POD_GROUP) if served == KUBE_137 else (FLAT_GROUPS[served],)


def lost_fields(gang: PodGangInfo, served: str) -> Iterator[str]:
    """What the server drops although it is meant to be there, in words."""
    facts = gang.facts
    if served == KUBE_137_FLAT and facts.serves(COMPOSITE_POD_GROUP) and not facts.keeps(KUBE_POD_GROUP, PARENT):
        yield (
            "the gang would rather be a tree of groups, but the API server drops that: "
            "switch on feature gate CompositePodGroup"
        )
    kind = FLAT_GROUPS.get(served)
    if kind is not None and not facts.keeps(kind, DISRUPTION):
        yield (
            "the gang would rather be preempted whole, but the API server drops that: "
            f"switch on feature gate {PREEMPTION_GATE}"
        )
    if kind is not None and gang.priority_class and not keeps_priority(facts, kind):
        yield (
            f"the group would rather have priority class {gang.priority_class}, but the API server drops that: switch "
            f"on feature gate {PREEMPTION_GATE}"
        )


def keeps_priority(facts: Facts, kind: Kind[Any]) -> bool:
    """Whether the server keeps a priority class. It cannot be probed, because no class is sure to exist and to be
    allowed for a group; the feature gate that guards the disruption mode guards the class too."""
    return facts.keeps(kind, DISRUPTION)


def probes(facts: Facts) -> Iterator[GangObject]:
    """Objects with every field that a gate may have switched off."""
    if facts.serves(KUBE_POD_GROUP):
        link = {"workloadRef": {"workloadName": PROBE, "templateName": PROBE}}
        parent = link | {PARENT: PROBE} if facts.serves(COMPOSITE_POD_GROUP) else {}
        yield _probe(KUBE_POD_GROUP, _group() | parent | {DISRUPTION: {"all": {}}})
        if facts.serves(COMPOSITE_POD_GROUP):
            yield _probe(
                COMPOSITE_POD_GROUP, _constrained() | link | {"schedulingPolicy": {"gang": {"minGroupCount": 1}}}
            )
    elif facts.serves(KUBE_POD_GROUP_V1ALPHA2):
        yield _probe(KUBE_POD_GROUP_V1ALPHA2, _group() | {DISRUPTION: "PodGroup"})


def _group() -> Raw:
    return {"schedulingPolicy": {"gang": {"minCount": 1}}} | _constrained()


def _constrained() -> Raw:
    return {CONSTRAINTS: {"topology": [{"key": "kubernetes.io/hostname"}]}}


def _probe(kind: Kind[Any], spec: Raw) -> GangObject:
    return GangObject(kind, {"metadata": {"name": PROBE}, "spec": spec})
