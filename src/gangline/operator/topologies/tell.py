"""What is true of a ClusterTopologyBinding: whether each scheduler's topology has its levels. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api.grove import ClusterTopologyBinding
from gangline.api.kinds import TOPOLOGY_BINDING
from gangline.api.meta import Condition, Raw, condition
from gangline.operator.plan import EventNote, with_condition
from gangline.operator.topologies.think import TopologyState

DRIFT = "SchedulerTopologyDrift"


def _topology_status(state: TopologyState) -> Raw:
    status: Raw = {"schedulerName": state.scheduler, "topologyReference": state.topology, "inSync": state.in_sync}
    if state.message:
        status["message"] = state.message
    return status | (
        {"schedulerBackendTopologyObservedGeneration": state.generation} if state.generation is not None else {}
    )


def _drift(states: Sequence[TopologyState], generation: int) -> Condition | None:
    def answer(status: str, reason: str, message: str) -> Condition:
        return Condition(type=DRIFT, status=status, reason=reason, message=message, observed_generation=generation)

    if not states:
        return None
    unknown = [state for state in states if not state.known]
    if unknown:
        return answer("Unknown", "TopologyNotFound", unknown[0].message)
    bad = [state for state in states if not state.in_sync]
    if bad:
        return answer("True", "Drift", "; ".join(f"{item.scheduler}: {item.message}" for item in bad))
    return answer("False", "InSync", "every scheduler's topology has the binding's levels")


def status_after(binding: ClusterTopologyBinding, states: Sequence[TopologyState], done: bool, now: str) -> Raw:
    """The whole status of a binding after a look at it; `done`: nothing failed."""
    drift = _drift(states, binding.metadata.generation)
    return {
        "conditions": [with_condition(binding.status.conditions, drift, now)] if drift is not None else [],
        "schedulerTopologyStatuses": [_topology_status(state) for state in states],
        "observedGeneration": binding.metadata.generation if done else binding.status.observed_generation,
    }


def events_of(binding: ClusterTopologyBinding, states: Sequence[TopologyState]) -> list[EventNote]:
    """That schedulers' topologies drift, or do so no more; once."""
    drift, before = _drift(states, binding.metadata.generation), condition(binding.status.conditions, DRIFT)
    if drift is None or (before is not None and before.status == drift.status):
        return []
    bad = drift.status != "False"
    reason = "TopologyDriftDetected" if bad else "TopologyInSync"
    return [EventNote(TOPOLOGY_BINDING, binding, reason, drift.message, warning=bad)]
