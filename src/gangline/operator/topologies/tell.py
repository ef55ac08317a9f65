"""What is true of a ClusterTopologyBinding: whether each scheduler's topology has its levels. Pure."""

from __future__ import annotations

from gangline.api.meta import Condition, Raw
from gangline.operator.topologies.think import TopologyState

DRIFT = "SchedulerTopologyDrift"


def topology_status(found: TopologyState) -> Raw:
    status: Raw = {"schedulerName": found.scheduler, "topologyReference": found.topology, "inSync": found.in_sync}
    if found.message:
        status["message"] = found.message
    return status | (
        {"schedulerBackendTopologyObservedGeneration": found.generation} if found.generation is not None else {}
    )


def drift_condition(founds: list[TopologyState], generation: int) -> Condition | None:
    def answer(status: str, reason: str, message: str) -> Condition:
        return Condition(type=DRIFT, status=status, reason=reason, message=message, observed_generation=generation)

    if not founds:
        return None
    unknown = [item for item in founds if not item.known]
    if unknown:
        return answer("Unknown", "TopologyNotFound", unknown[0].message)
    bad = [item for item in founds if not item.in_sync]
    if bad:
        return answer("True", "Drift", "; ".join(f"{item.scheduler}: {item.message}" for item in bad))
    return answer("False", "InSync", "every scheduler's topology has the binding's levels")
