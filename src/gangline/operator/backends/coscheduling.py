"""PodGang → PodGroup of the scheduler-plugins' coscheduling (scheduling.x-k8s.io/v1alpha1).

It knows one minimum for the whole gang: so the surplus above each group's minimum stays gated until the rest is
placed. The surprise: its own waiting time is only a minute, too short for large gangs, so a longer one is always sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import COSCHEDULING_POD_GROUP
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.operator.backends.contract import (
    SURPLUS_GATED,
    Backend,
    Capabilities,
    Facts,
    GangObject,
    GangState,
    Kinds,
    PodGangInfo,
    live_spec,
    with_metadata,
)
from gangline.operator.backends.losses import demand, lost_wishes, refusals
from gangline.operator.backends.pod_messages import refused_pod

if TYPE_CHECKING:
    from gangline.runtime import Reader

SCHEDULER = "scheduler-plugins-scheduler"
MEMBER = "scheduling.x-k8s.io/pod-group"
PATIENCE = 300
AGAIN = 30.0
"""A gang that was rejected whole is not looked at when room comes, only when its PodGroup changes."""


class CoschedulingBackend(Backend):
    name = "coscheduling"
    scheduler_name = SCHEDULER
    gate = names.GATE_COSCHEDULING
    reads: Kinds = ()
    writes: Kinds = (COSCHEDULING_POD_GROUP,)
    capabilities = Capabilities(groups=SURPLUS_GATED)

    def matches(self, scheduler_name: str) -> bool:
        return scheduler_name == SCHEDULER

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        return refusals(pcs, self.name, self.capabilities)

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        demand(gang, self.name, self.capabilities)
        spec = {
            "minMember": _minimum(gang),
            "scheduleTimeoutSeconds": int(facts.config.get("scheduleTimeoutSeconds") or PATIENCE),
        }
        meta = {"name": gang.name, "namespace": gang.namespace, "labels": dict(gang.labels)}
        yield GangObject(COSCHEDULING_POD_GROUP, {"metadata": meta, "spec": spec}, owns=tuple(spec))

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        return with_metadata(pod, {MEMBER: gang.name}, {})

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        refused = refused_pod(gang)
        lost = lost_wishes(gang, self.capabilities)
        if not refused:
            return GangState(lost=lost)
        return GangState(
            f"coscheduling found no room for {gang.usual_minimum} pods at once; {refused}",
            "Unschedulable",
            lost,
            again=AGAIN,
        )


def _minimum(gang: PodGangInfo) -> int:
    """The sum of the minima; of a released gang the one that stands, because zero is not a valid value."""
    live = live_spec(gang, COSCHEDULING_POD_GROUP, gang.name) if gang.released else None
    return int((live or {}).get("minMember") or max(gang.usual_minimum, 1))
