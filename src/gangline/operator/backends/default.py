"""PodGang → the Workload API of kube-scheduler (scheduling.k8s.io), in the generation that the cluster serves.

Kubernetes 1.35 has one Workload with a flat minimum, 1.36 one PodGroup; with both, the surplus above each group's
minimum stays gated until the rest is placed. 1.37 with CompositePodGroup holds the whole tree (default_tree.py). It
fills one group before it looks at the next, and it ignores a group with a gated pod. So the surplus is gated and no
member, and gets its domain when its gate is lifted. Specs are mostly fixed: what must change is made anew. Servers drop
fields of disabled features without a word, so they are asked (default_generations.py), and what was written is read
back. Where nothing is served, pods pass through and the gang's condition says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import (
    COMPOSITE_POD_GROUP,
    KUBE_POD_GROUP,
    KUBE_POD_GROUP_V1ALPHA2,
    POD_GANG,
    WORKLOAD,
    WORKLOAD_V1BETA1,
    Kind,
)
from gangline.api.meta import Raw, status_of
from gangline.errors import Problem
from gangline.operator.backends import default_tree
from gangline.operator.backends.contract import (
    Backend,
    CannotTranslate,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    Kinds,
    PodGangInfo,
    above_minimum,
    first_condition,
    live_spec,
)
from gangline.operator.backends.default_generations import (
    DISRUPTION,
    FLAT_GROUPS,
    GENERATIONS,
    KUBE_135,
    KUBE_137,
    KUBE_137_FLAT,
    KUBE_NONE,
    PRIORITY,
    abilities,
    generation,
    generation_of,
    keeps_priority,
    lost_fields,
    probes,
)
from gangline.operator.backends.losses import demand, levelled, lost_wishes, refusals
from gangline.operator.backends.pod_messages import refused_pod
from gangline.operator.backends.surplus_domains import domains

if TYPE_CHECKING:
    from gangline.runtime import Reader

GROUP = "gang"
UNAVAILABLE = "GangSchedulingUnavailable"
POLICY, NEVER = "preemptionPolicy", "Never"
NEWEST = (KUBE_137, KUBE_137_FLAT)
CONDITIONS = ("PodGroupScheduled", "PodGroupInitiallyScheduled")


class DefaultBackend(Backend):
    name = "default"
    scheduler_name = names.DEFAULT_SCHEDULER
    gate = names.GATE_DEFAULT
    reads: Kinds = ()
    writes: Kinds = (WORKLOAD, KUBE_POD_GROUP_V1ALPHA2, WORKLOAD_V1BETA1, COMPOSITE_POD_GROUP, KUBE_POD_GROUP)
    capabilities = GENERATIONS[KUBE_135]
    generations = GENERATIONS

    def capabilities_for(self, facts: Facts) -> Capabilities:
        return abilities(generation(facts), facts)[1]

    def probes(self, facts: Facts) -> Iterable[GangObject]:
        return probes(facts)

    def matches(self, scheduler_name: str) -> bool:
        return scheduler_name in ("", names.DEFAULT_SCHEDULER)

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        if facts.manner.topology_for_kai_only or not facts.known:
            return
        served = generation(facts)
        yield from refusals(pcs, *abilities(served, facts))
        if served in NEWEST:
            yield from _priorities(pcs)
        if served == KUBE_137 or (served in FLAT_GROUPS and keeps_priority(facts, FLAT_GROUPS[served])):
            yield from _system_classes(pcs)

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        served = generation_of(gang)
        name, can = abilities(served, facts)
        levelled_gang = levelled(gang, can)
        demand(levelled_gang, name, can)
        if served == KUBE_135:
            yield _workload(gang)
        elif served in FLAT_GROUPS:
            yield _flat_group(levelled_gang, FLAT_GROUPS[served])
        elif served == KUBE_137:
            yield from default_tree.objects(levelled_gang, _rank(levelled_gang))

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        served = generation_of(gang)
        if served == KUBE_NONE:
            return pod
        if served == KUBE_135:
            return pod | {"spec": pod["spec"] | {"workloadRef": {"name": gang.name, "podGroup": GROUP}}}
        clique = pod["metadata"]["labels"][names.POD_CLIQUE]
        if served in NEWEST and above_minimum(pod, gang):
            return pod
        return pod | {
            "spec": pod["spec"] | {"schedulingGroup": {"podGroupName": clique if served == KUBE_137 else gang.name}}
        }

    def may_be_held(self, pod: Pod, facts: Facts) -> bool:
        """Kubernetes 1.37 looks at no group of which one pod is gated: surplus that an older version made a member goes
        with the rest."""
        return pod.spec.scheduling_group is None or generation(facts) not in NEWEST

    def domains_of(
        self, pod: Pod, facts: Facts, gang: Callable[[], PodGangInfo], labels: Callable[[str], Mapping[str, str]]
    ) -> Mapping[str, str]:
        """The domains of the other pods, for a surplus pod that is in no group."""
        if pod.spec.scheduling_group is not None or generation(facts) not in NEWEST:
            return {}
        info = gang()
        return domains(pod, levelled(info, abilities(generation_of(info), facts)[1]), labels)

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        served = generation_of(gang)
        can = abilities(served, gang.facts)[1]
        wishes = lost_wishes(levelled(gang, can), can) + tuple(lost_fields(gang, served))
        if served == KUBE_NONE:
            serves = "no longer serves" if _linked(gang) else "does not serve"
            return GangState(
                f"this cluster {serves} {WORKLOAD.resource}, so pods are placed one by one: enable that API, "
                "or choose a scheduler with gang scheduling",
                UNAVAILABLE,
                wishes,
                blocked=True,
            )
        if _unlinked(gang, served):
            return GangState(
                "the API server dropped the pods' link to their group, so they are placed one by one: switch on "
                "feature gate GenericWorkload; pods from before an upgrade are linked once they are made anew",
                UNAVAILABLE,
                wishes,
                blocked=True,
            )
        for _, live in gang.live:
            for type in CONDITIONS:
                refused = first_condition(status_of(live), type, "False")
                if refused is not None:
                    return GangState(
                        _words(gang, str(refused.get("message") or "")),
                        str(refused.get("reason") or "Unschedulable"),
                        wishes,
                    )
        return GangState(lost=wishes)


def _workload(gang: PodGangInfo) -> GangObject:
    live = live_spec(gang, WORKLOAD, gang.name) if gang.released else None
    groups = (live or {}).get("podGroups") or [
        {"name": GROUP, "policy": {"gang": {"minCount": max(gang.usual_minimum, 1)}}}
    ]
    return GangObject(
        WORKLOAD,
        {
            "metadata": {"name": gang.name, "namespace": gang.namespace},
            "spec": {
                "controllerRef": {"apiGroup": POD_GANG.group, "kind": POD_GANG.kind, "name": gang.name},
                "podGroups": list(groups),
            },
        },
        owns=("podGroups",),
        fixed=("podGroups",),
    )


def _flat_group(gang: PodGangInfo, kind: Kind[Any]) -> GangObject:
    live = live_spec(gang, kind, gang.name) or {}
    spec: Raw = {"schedulingPolicy": {"gang": {"minCount": max(gang.usual_minimum, 1)}}}
    if gang.released and live.get("schedulingPolicy"):
        spec["schedulingPolicy"] = live["schedulingPolicy"]
    key = gang.constraint.required if gang.constraint else None
    if key and not gang.facts.manner.topology_for_kai_only:
        spec |= default_tree.topology(key)
        default_tree.read_back(kind, gang.name, live, spec)
    spec |= {name: value for name, value in _rank(gang).items() if name != PRIORITY or keeps_priority(gang.facts, kind)}
    if gang.facts.keeps(kind, DISRUPTION):
        spec[DISRUPTION] = "PodGroup" if kind is KUBE_POD_GROUP_V1ALPHA2 else {"all": {}}
    fixed = (
        ("schedulingPolicy", "schedulingConstraints") if kind is KUBE_POD_GROUP_V1ALPHA2 else ("schedulingConstraints",)
    )
    return GangObject(
        kind,
        {"metadata": {"name": gang.name, "namespace": gang.namespace}, "spec": spec},
        owns=tuple(spec),
        fixed=fixed,
    )


def _words(gang: PodGangInfo, message: str) -> str:
    """What the scheduler says of a group, and of one of its pods: of a group it does not say what the nodes lack."""
    of_a_pod = refused_pod(gang)
    return f"{message}; it says of {of_a_pod}" if of_a_pod and message not in of_a_pod else message


def _linked(gang: PodGangInfo) -> bool:
    """Whether some pod was made for an API that is gone now."""
    pods = (pod for group in gang.groups for pod in group.pods)
    return any(pod.spec.workload_ref is not None or pod.spec.scheduling_group is not None for pod in pods)


def _unlinked(gang: PodGangInfo, served: str) -> bool:
    """Whether some pod has lost its link: the feature is off in the API server."""
    pods = [pod for group in gang.groups for pod in group.pods]
    if served == KUBE_135:
        return any(pod.spec.workload_ref is None for pod in pods)
    grouped = [[pod.spec.scheduling_group for pod in group.pods] for group in gang.groups if group.pods]
    return (
        any(not any(links) for links in grouped)
        if served in NEWEST
        else not all(link for links in grouped for link in links)
    )


def _classes(pcs: PodCliqueSet) -> list[str]:
    """The priority classes that pods of a set will have."""
    template = pcs.spec.template
    common = template.priority_class_name
    return list(
        dict.fromkeys(str(clique.spec.pod_spec.get("priorityClassName") or common) for clique in template.cliques)
    )


def _rank(gang: PodGangInfo) -> Raw:
    """The priority class of a group, and whether it preempts: what its pods have, else kube-scheduler refuses it."""
    priority = _priority(gang)
    never = any(pod.spec.preemption_policy == NEVER for group in gang.groups for pod in group.pods)
    return ({PRIORITY: priority} if priority else {}) | (
        {POLICY: NEVER} if never and gang.facts.serves(KUBE_POD_GROUP) else {}
    )


def _priority(gang: PodGangInfo) -> str:
    """The one priority class of group and pods."""
    classes = _classes(gang.pcs) if gang.pcs is not None else [gang.priority_class]
    if len(classes) > 1:
        raise CannotTranslate(
            f"the pods of gang {gang.name} would have different priority classes "
            f"({', '.join(class_ or '(none)' for class_ in classes)}); kube-scheduler places only gangs that have one"
        )
    return classes[0] if classes else gang.priority_class


def _priorities(pcs: PodCliqueSet) -> Iterable[Problem]:
    classes = _classes(pcs)
    if len(classes) > 1:
        yield Problem(
            "spec.template.cliques",
            f"have different priority classes ({', '.join(class_ or '(none)' for class_ in classes)})",
            hint="kube-scheduler places only gangs that have one: set spec.template.priorityClassName alone",
        )


def _system_classes(pcs: PodCliqueSet) -> Iterable[Problem]:
    for name in _classes(pcs):
        if name.startswith("system-"):
            yield Problem(
                "spec.template",
                f"has priority class {name}, which is above what a group of pods may have",
                hint="choose a priority class of your own: kube-scheduler's PodGroup takes at most 1000000000",
            )
