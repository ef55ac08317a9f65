"""PodGang → PodGroups of Koordinator (scheduling.sigs.k8s.io/v1alpha1), one per group, tied together.

An annotation ties them: a JSON list inside a string, equal on all of them. A gang waits until every listed group has
its minimum. Topology holds for all of them together, by the name of a layer that a ClusterNetworkTopology gives to a
node label; Koordinator plans it only for gangs without surplus.

Three surprises. First, Koordinator does not know gates and counts gated pods as present, so a gang that it takes up too
early may get stuck. Until the last gate of the minimum is lifted, each group is therefore told to need one pod more
than it has. Second, once a gang has its minimum, Koordinator does not look at its other members for minutes. So only
the minimum are members; the surplus waits behind its gate and is placed pod by pod. Third, a gang that was satisfied
once stays so, even when every pod is gone. So this is reported only while the gang exists, and a gang that starts again
counts as a new one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import KOORDINATOR_POD_GROUP, KOORDINATOR_QUOTA, KOORDINATOR_TOPOLOGY
from gangline.api.meta import Raw, status_of
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    GANG,
    MINIMA_FIRST,
    Backend,
    CannotTranslate,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    GroupInfo,
    Kinds,
    PodGangInfo,
    above_minimum,
    live_spec,
    setting,
    with_metadata,
)
from gangline.operator.backends.losses import demand, levelled, lost_wishes, refusals
from gangline.operator.backends.pod_messages import refused_pod
from gangline.operator.desired import topology
from gangline.operator.desired.layout import minimum

if TYPE_CHECKING:
    from gangline.runtime import Reader

PREFIX = "gang.scheduling.koordinator.sh/"
MEMBER = "pod-group.scheduling.sigs.k8s.io"
QUOTA = "quota.scheduling.koordinator.sh/name"
TOPOLOGY = "default"
PATIENCE = 600
FINE = ("Scheduled", "Running", "Finished")
CAUSE = re.compile(r"""\d+/\d+ nodes are available: \d+ (?!GangGroup)[^"]+?(?=\.(?:[\s"\\]|$))""")
POLICY = f"{PREFIX}match-policy"
TOGETHER, ONCE = "waiting-and-running", "once-satisfied"
"""A gang's pods go together with those that run; or, once its minimum was there, each by itself."""


class KoordinatorBackend(Backend):
    name = "koordinator"
    scheduler_name = "koord-scheduler"
    gate = names.GATE_KOORDINATOR
    reads: Kinds = (KOORDINATOR_TOPOLOGY, KOORDINATOR_QUOTA)
    writes: Kinds = (KOORDINATOR_POD_GROUP,)
    capabilities = Capabilities(groups=MINIMA_FIRST, required=(GANG,), queue=True)

    def matches(self, scheduler_name: str) -> bool:
        return "koord" in scheduler_name

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        yield from refusals(pcs, self.name, self.capabilities)
        template = pcs.spec.template
        if any(topology.required(item) for _, item in topology.constraints(pcs)):
            for index, clique in enumerate(template.cliques):
                if minimum(clique) < clique.spec.replicas:
                    yield Problem(
                        f"spec.template.cliques[{index}].spec.minAvailable",
                        "koordinator keeps a gang inside one domain only where no group has pods above its minimum",
                        value=minimum(clique),
                        hint="make minAvailable equal to replicas, or remove the required domain",
                    )

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        levelled_gang = levelled(gang, self.capabilities)
        demand(levelled_gang, self.name, self.capabilities)
        _demand_quota(gang, facts)
        tied = json.dumps(sorted(f"{gang.namespace}/{group.name}" for group in gang.groups), separators=(",", ":"))
        common = {f"{PREFIX}groups": tied, POLICY: _policy(gang)} | _topology(levelled_gang, facts)
        held = _none_let_go(gang)
        for group in gang.groups:
            least = group.size + 1 if held else _minimum(gang, group)
            notes = common | {f"{PREFIX}total-number": str(least)}
            meta = {"name": group.name, "namespace": gang.namespace, "labels": dict(gang.labels), "annotations": notes}
            spec = {
                "minMember": least,
                "scheduleTimeoutSeconds": int(facts.config.get("scheduleTimeoutSeconds") or PATIENCE),
            }
            yield GangObject(KOORDINATOR_POD_GROUP, {"metadata": meta, "spec": spec}, owns=tuple(spec))

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        quota = setting(gang, QUOTA, "quota")
        marks = {QUOTA: quota} if quota else {}
        if not above_minimum(pod, gang):
            marks[MEMBER] = pod["metadata"]["labels"][names.POD_CLIQUE]
        return with_metadata(pod, marks, {})

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        phases = {live.name: str(status_of(live).get("phase") or "") for _, live in gang.live}
        waiting = [f"{name} is {phase}" for name, phase in sorted(phases.items()) if phase and phase not in FINE]
        why = "; ".join(filter(None, (", ".join(waiting), _cause(refused_pod(gang))))) if waiting else ""
        return GangState(
            f"koordinator: {why}" if why else "",
            "Unschedulable" if why else "",
            lost_wishes(levelled(gang, self.capabilities), self.capabilities),
        )


def _cause(message: str) -> str:
    """The nodes' answer inside what Koordinator says: it tries again several times a second, and each time names other
    pods around it."""
    match_ = CAUSE.search(message)
    return match_.group() if match_ is not None else message


def _members(group: GroupInfo) -> list[Pod]:
    return [pod for pod in group.pods if MEMBER in pod.labels and not pod.metadata.deleting]


def _none_let_go(gang: PodGangInfo) -> bool:
    """Whether some of the minimum are still gated and none is placed yet."""
    pods = [pod for group in gang.groups for pod in _members(group)]
    return any(pod.spec.scheduling_gates for pod in pods) and not any(pod.spec.node_name for pod in pods)


def _policy(gang: PodGangInfo) -> str:
    """While none of the minimum is placed its pods go together; once all are, a new pod goes alone; in between what was
    said stands."""
    placed = [
        (sum(bool(pod.spec.node_name) for pod in _members(group)), _minimum(gang, group)) for group in gang.groups
    ]
    if not any(there for there, _ in placed):
        return TOGETHER
    if all(there >= least for there, least in placed):
        return ONCE
    policies = [obj.annotations.get(POLICY) for kind, obj in gang.live if kind == KOORDINATOR_POD_GROUP]
    return ONCE if policies and all(policy == ONCE for policy in policies) else TOGETHER


def _minimum(gang: PodGangInfo, group: GroupInfo) -> int:
    """A group's minimum; of a released gang the one that stands."""
    if not gang.released:
        return group.minimum
    live = live_spec(gang, KOORDINATOR_POD_GROUP, group.name) or {}
    return int(live.get("minMember") or group.usual_minimum)


def _demand_quota(gang: PodGangInfo, facts: Facts) -> None:
    """Before anything is placed: Koordinator counts pods of a quota that does not exist into its default one, without a
    word."""
    quota = setting(gang, QUOTA, "quota")
    if not quota or facts.read is None or not facts.serves(KOORDINATOR_QUOTA):
        return
    placed = any(pod.spec.node_name for group in gang.groups for pod in group.pods)
    if not placed and all(koordinator_quota.name != quota for koordinator_quota in facts.read.list(KOORDINATOR_QUOTA)):
        raise CannotTranslate(
            f"quota {quota} does not exist, and Koordinator would count the pods into its default one: create an "
            f"ElasticQuota {quota} of scheduling.sigs.k8s.io, or name another one with label {QUOTA}"
        )


def _topology(gang: PodGangInfo, facts: Facts) -> dict[str, str]:
    """The annotation that keeps the whole gang inside one domain, or nothing."""
    key = gang.constraint.required if gang.constraint else None
    if not key:
        return {}
    layer = _layers(facts).get(key)
    if layer is None:
        raise CannotTranslate(
            f"no layer of ClusterNetworkTopology {TOPOLOGY} has node label {key}; add one there, "
            "or name it under `layers` in the profile's config"
        )
    spec = {"gatherStrategy": [{"layer": layer, "strategy": "MustGather"}]}
    return {f"{PREFIX}network-topology-spec": json.dumps(spec, separators=(",", ":"))}


def _layers(facts: Facts) -> dict[str, str]:
    """Node label → layer: what the profile says, else what the cluster's topology says."""
    live: Any = facts.read.get(KOORDINATOR_TOPOLOGY, TOPOLOGY) if facts.read is not None else None
    spec = (live.spec or {}).get("networkTopologySpec") or () if live is not None else ()
    return {key: level["topologyLayer"] for level in spec for key in level.get("labelKey") or ()} | dict(
        facts.config.get("layers") or {}
    )
