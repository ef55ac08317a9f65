"""Which pods of a clique are let go, and why the others still wait behind their gate. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kinds import NODE, POD
from gangline.api.meta import Raw
from gangline.operator.backends import Selection
from gangline.operator.backends.contract import Facts, PodGangInfo
from gangline.operator.cliques.look import CliqueObjects, looked_again
from gangline.operator.desired import pods as desired
from gangline.operator.gangs.gang_info import gang_info
from gangline.operator.gangs.look import current_pods, held_by_backend, initialized, is_scheduled, live_objects
from gangline.operator.plan import Patch, Step
from gangline.operator.status import minimum

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader


@dataclass(slots=True)
class GateDecision:
    """Which pods are let go now, by which writes, and why the others wait."""

    steps: list[Step] = field(default_factory=list)
    lifted: list[str] = field(default_factory=list)
    """Pods that are let go."""
    held: dict[str, list[str]] = field(default_factory=dict)
    """Reason → pods that wait for it."""


def lift_gates(
    op: Operator, read: Reader, look: CliqueObjects, selection: Selection, living: Sequence[Pod]
) -> GateDecision:
    gates = {names.GATE_GROVE} if op.settings.manner.one_gate else {*names.OUR_GATES, selection.backend.gate}
    waiting = [pod for pod in living if any(gate.name in gates for gate in pod.spec.scheduling_gates)]
    decision = GateDecision()
    if not waiting:
        return decision
    facts = op.registry.facts(op.facts(read), selection)
    why_all, why_one = _gang_holds(op, look), _pods_held(op, look, selection, living, facts)
    for pod in waiting:
        reason = why_all or why_one(pod)
        if reason:
            decision.held.setdefault(reason, []).append(pod.name)
            continue
        domains = _required_domains(op, read, look, selection, pod, facts)
        patch = {"spec": {"schedulingGates": desired.without_gates(pod, gates)} | domains} | _unheld(pod, selection)
        decision.steps.append(Patch(POD, pod.name, pod.namespace, patch, code="ERR_REMOVE_POD_SCHEDULING_GATE"))
        decision.lifted.append(pod.name)
    return decision


def _pods_held(
    op: Operator, look: CliqueObjects, selection: Selection, living: Sequence[Pod], facts: Facts
) -> Callable[[Pod], str]:
    """Why one pod may not go although its gang may, or nothing."""
    listed = _listed(look)
    surplus = set[str]() if op.settings.manner.gate_by_listing else _surplus(look, selection, living, facts)

    def why(pod: Pod) -> str:
        if pod.name not in listed:
            return "the gang does not list the pod yet"
        return "the gang's minimum is not scheduled yet, and this pod is above it" if pod.name in surplus else ""

    return why


def _required_domains(
    op: Operator, read: Reader, look: CliqueObjects, selection: Selection, pod: Pod, facts: Facts
) -> Raw:
    """The node selector of a pod that is let go alone."""
    gang = look.gang
    if gang is None:
        return {}

    def labels(node_name: str) -> Mapping[str, str]:
        node = read.get(NODE, node_name)
        return node.labels if node is not None else {}

    def info() -> PodGangInfo:
        return gang_info(gang, look.pcs, selection, facts, live_objects(op, read, gang), current_pods(read, gang))

    domains = selection.backend.domains_of(pod, facts, info, labels)
    return {"nodeSelector": dict(domains)} if domains else {}


def _unheld(pod: Pod, selection: Selection) -> Raw:
    """A patch that removes the annotations which go with a backend's gate, if it has any (`held`)."""
    notes = {key: None for key in selection.backend.held if key in pod.annotations}
    return {"metadata": {"annotations": notes}} if notes else {}


def _listed(look: CliqueObjects) -> set[str]:
    groups = look.gang.spec.podgroups if look.gang is not None else ()
    return {reference.name for group in groups if group.name == look.clique.name for reference in group.pod_references}


def _gang_holds(op: Operator, look: CliqueObjects) -> str:
    """Why no pod of the clique may go, or nothing."""
    if look.gang is None:
        return f"PodGang {look.place.gang} does not exist yet"
    if held := held_by_backend(look.gang):
        return held
    early = op.settings.manner.gate_by_listing and looked_again(look)
    if not early and not initialized(look.gang) and not is_scheduled(look.gang):
        return f"gang {look.gang.name} is not complete yet"
    if look.place.base_gang and (look.base is None or not is_scheduled(look.base)):
        return f"base gang {look.place.base_gang} is not scheduled yet"
    return ""


def _surplus(look: CliqueObjects, selection: Selection, living: Sequence[Pod], facts: Facts) -> set[str]:
    """Pods above the clique's minimum that wait for the rest, where the scheduler itself would not let the rest go
    first."""
    if look.gang is None or is_scheduled(look.gang):
        return set()
    if not selection.backend.capabilities_for(facts).gates_surplus:
        return set()
    ranked = sorted(living, key=lambda pod: (desired.index_of(pod) or 0, pod.name))
    return {pod.name for pod in ranked[minimum(look.clique) :] if selection.backend.may_be_held(pod, facts)}
