"""PodGang → Workload of kube-scheduler (scheduling.k8s.io/v1alpha1, Kubernetes 1.35).

One flat minimum for the whole gang: so the surplus above each group's minimum stays gated until the rest is placed. A
Workload's spec cannot change; a changed minimum is a new object. Where the API is not served the pods pass through,
ungated once complete, and the gang's condition says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD_GANG, WORKLOAD
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    SURPLUS_GATED,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    Kinds,
    PodGangInfo,
)

if TYPE_CHECKING:
    from gangline.runtime import Reader

GROUP = "gang"


class Default:
    name = "default"
    gate = names.GATE_DEFAULT
    reads: Kinds = ()
    writes: Kinds = (WORKLOAD,)
    capabilities = Capabilities(groups=SURPLUS_GATED)

    def matches(self, scheduler_name: str) -> bool:
        return scheduler_name in ("", names.DEFAULT_SCHEDULER)

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        return ()

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        if not facts.serves(WORKLOAD) or gang.minimum == 0:
            return
        yield GangObject(WORKLOAD, {
            "metadata": {"name": gang.name, "namespace": gang.namespace},
            "spec": {"controllerRef": {"apiGroup": POD_GANG.group, "kind": POD_GANG.kind, "name": gang.name},
                     "podGroups": [{"name": GROUP, "policy": {"gang": {"minCount": gang.minimum}}}]}}, owns=("podGroups",))

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        if not gang.facts.serves(WORKLOAD) or gang.minimum == 0:
            return pod
        return pod | {"spec": pod["spec"] | {"workloadRef": {"name": gang.name, "podGroup": GROUP}}}

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        if not gang.facts.serves(WORKLOAD):
            return GangState(f"this cluster does not serve {WORKLOAD.resource}, so pods are placed one by one: enable that API, "
                             "or choose a scheduler with gang scheduling", "GangSchedulingUnavailable")
        return GangState()
