"""Pods behind a scheduling gate, whose it is, and why its owner holds it."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.scheduler.why.verdict import counted
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects
from gangline.why.schedulers.running_settings import done_for_minimum
from gangline.why.states.members import count_by_leaf, leaves_of, living
from gangline.why.words.amounts import listed
from gangline.why.workloads import Subject

GATE_OWNERS = {
    "kueue.x-k8s.io": "Kueue",
    "grove.io": "gangline's operator",
    "gangline.io": "gangline's operator",
    "scheduling.k8s.io": "gangline's operator",
}


def _behind_foreign(held: Sequence[Pod], foreign: Sequence[str]) -> Cause:
    owners = ", ".join(f"{gate} of {gate_owner(gate)}" for gate in foreign)
    changes = tuple(
        _opened(pod, foreign) for pod in held if any(gate.name in foreign for gate in pod.spec.scheduling_gates)
    )
    are, word = "is" if len(held) == 1 else "are", "gate" if len(foreign) == 1 else "gates"
    return Cause(
        "gate",
        f"{counted(len(held), 'pod')} {are} behind the scheduling {word} {owners}",
        ("whoever set it has to take it away (spec.schedulingGates)",),
        (changes,),
    )


def gated_pods(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods behind a scheduling gate: no scheduler looks at them."""
    held = [pod for pod in living(subject) if pod.spec.scheduling_gates]
    free = [pod for pod in living(subject) if not pod.spec.scheduling_gates]
    counts = count_by_leaf(subject, [*free, *done_for_minimum(objects, subject)])
    if not held or all(counts[leaf] >= minimum for leaf, minimum in leaves_of(subject).items()):
        return None
    gates = sorted({gate.name for pod in held for gate in pod.spec.scheduling_gates})
    foreign = [gate for gate in gates if gate not in names.OUR_GATES]
    if foreign:
        return _behind_foreign(held, foreign)
    return Cause(
        "gate",
        _our_gate(objects, subject, held, gates),
        (
            f"{counted(len(held), 'pod')} {'is' if len(held) == 1 else 'are'} behind the gate {listed(gates)} "
            "of gangline's operator",
        ),
    )


def gated_surplus(subject: Subject) -> Cause | None:
    """Pods above the minimum, all that wait, behind somebody's gate."""
    waiting = [pod for pod in living(subject) if not pod.spec.node_name]
    gates = {gate.name for pod in waiting for gate in pod.spec.scheduling_gates}
    foreign = sorted(gates - set(names.OUR_GATES))
    if not foreign or not all(pod.spec.scheduling_gates for pod in waiting):
        return None
    return _behind_foreign(waiting, foreign)


def gate_owner(gate: str) -> str:
    domain = gate.partition("/")[0]
    return GATE_OWNERS.get(domain) or (domain if "/" in gate else "somebody")


def _opened(pod: Pod, foreign: Sequence[str]) -> ObjectChange:
    kept = [{"name": gate.name} for gate in pod.spec.scheduling_gates if gate.name not in foreign]
    return ObjectChange(kinds.POD, pod.name, {"spec": {"schedulingGates": kept}}, pod.namespace)


def base_gang(objects: ClusterObjects, subject: Subject) -> str:
    """The gang that must be placed before this one, while it is not; "" where there is none."""
    gang = subject.gang
    if gang is None or not any(pod.spec.scheduling_gates for pod in living(subject)):
        return ""
    base = next((pod.labels[names.BASE_POD_GANG] for pod in subject.pods if names.BASE_POD_GANG in pod.labels), "")
    base = base or gang.labels.get(names.BASE_POD_GANG, "")
    other = objects.get(kinds.POD_GANG, base, subject.namespace) if base and base != gang.name else None
    if other is None:
        return ""
    stands = condition(other.status.conditions, "Scheduled")
    return base if stands is None or stands.status != "True" else ""


def _our_gate(objects: ClusterObjects, subject: Subject, held: Sequence[Pod], gates: Sequence[str]) -> str:
    """Why the operator has not lifted it: the backend, or pods that are not there."""
    gang = subject.gang
    whole = condition(gang.status.conditions, "Initialized") if gang is not None else None
    if whole is not None and whole.status != "True":
        return whole.message or whole.reason
    reasons = [
        item.message
        for clique in objects.all(kinds.POD_CLIQUE, subject.namespace)
        if any(pod.labels.get(names.POD_CLIQUE) == clique.name for pod in held)
        for item in clique.status.conditions
        if item.type == "PodsGated" and item.status == "True"
    ]
    return reasons[0] if reasons else "the operator has not lifted the gate of its pods"
