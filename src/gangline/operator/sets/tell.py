"""What is true of a set: its replicas counted by state, its gangs in short, its conditions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gangline.api.grove import PodCliqueSet, PodGang
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Condition, Raw
from gangline.errors import Problem, list_problems
from gangline.operator.desired import topology
from gangline.operator.desired.bounds import number
from gangline.operator.desired.layout import standalone
from gangline.operator.desired.metadata import default_labels, selector_text
from gangline.operator.memory.remembered import remembered
from gangline.operator.plan import EventNote, condition_raw, with_condition
from gangline.operator.sets import progress
from gangline.operator.sets.look import SetObjects, SetView, replica_state, set_view
from gangline.operator.status import HELD_BACK, LONGEST, error_list, is_reason

if TYPE_CHECKING:
    from gangline.operator.operator import Operator

Faults = Callable[[PodCliqueSet], Sequence[Problem]]
"""What admission would refuse of a set today."""

LEVELS_UNAVAILABLE = "TopologyLevelsUnavailable"
INVALID = "SpecInvalid"
FEW = 20
"""Gangs up to which a set repeats all that is true of each; beyond, only what is wrong, so that the set stays small."""
MANY = 1_000
"""Gangs that a set tells of at most, those that something is wrong with first: all together it must fit into one
object."""
_WRONG = {"Scheduled": "False", "Unhealthy": "True", "DisruptionTarget": "True"}


def set_status(view: SetView, now: str) -> Raw:
    pcs = view.pcs
    states = [replica_state(view, replica) for replica in range(len(view.places))]
    template = pcs.spec.template
    whole = len(view.gangs) <= FEW
    status: Raw = {
        "replicas": pcs.spec.replicas,
        "availableReplicas": sum(state.available for state in states),
        "updatedReplicas": sum(state.available and state.done for state in states),
        "hpaPodSelector": selector_text(default_labels(pcs.name)),
        "currentGenerationHash": view.set_hash,
        "conditions": _set_conditions(view, now),
        "podGangStatuses": [_gang_summary(gang, whole) for gang in _told_gangs(view.gangs)],
    }
    if view.observed is not None:
        status["observedGeneration"] = view.observed
    if view.progress is not None:
        status["updateProgress"] = view.progress | {
            "totalPodCliquesCount": pcs.spec.replicas * len(standalone(pcs)),
            "updatedPodCliquesCount": sum(state.updated_cliques for state in states),
            "totalPodCliqueScalingGroupsCount": pcs.spec.replicas * len(template.pod_clique_scaling_groups),
            "updatedPodCliqueScalingGroupsCount": sum(state.updated_groups for state in states),
        }
    return status


def _told_gangs(gangs: Sequence[PodGang]) -> list[PodGang]:
    if len(gangs) <= MANY:
        return list(gangs)
    wrong = {
        gang.name
        for gang in gangs
        if any(_WRONG.get(condition.type) == condition.status for condition in gang.status.conditions)
    }
    return sorted(sorted(gangs, key=lambda gang: gang.name not in wrong)[:MANY], key=lambda gang: gang.name)


def _gang_summary(gang: PodGang, whole: bool) -> Raw:
    """A gang in short: its phase, and its conditions or those that say what is wrong with it."""
    conditions = [
        condition_raw(condition)
        for condition in gang.status.conditions
        if whole or _WRONG.get(condition.type) == condition.status
    ]
    return {"name": gang.name, "phase": gang.status.phase or "Pending"} | (
        {"conditions": conditions} if conditions else {}
    )


def _set_conditions(view: SetView, now: str) -> list[Raw]:
    levels = _levels_condition(view)
    others = [
        condition_raw(condition) for condition in view.pcs.status.conditions if condition.type != LEVELS_UNAVAILABLE
    ]
    return others + ([with_condition(view.pcs.status.conditions, levels, now)] if levels is not None else [])


def _levels_condition(view: SetView) -> Condition | None:
    pcs = view.pcs
    constrained = any(topology.constraints(pcs))
    name = topology.topology_name(pcs)
    generation = pcs.metadata.generation

    def answer(status: str, reason: str, message: str) -> Condition:
        return Condition(
            type=LEVELS_UNAVAILABLE, status=status, reason=reason, message=message, observed_generation=generation
        )

    if not view.topology_aware:
        return (
            answer("Unknown", "TopologyAwareSchedulingDisabled", "topology-aware scheduling is switched off")
            if constrained
            else None
        )
    if not constrained:
        return answer("False", "AllClusterTopologyLevelsAvailable", "the set has no topology constraint")
    if not name:
        return answer("Unknown", "TopologyNameMissing", "no constraint of the set names a ClusterTopologyBinding")
    if view.binding is None:
        return answer("Unknown", "ClusterTopologyNotFound", f"ClusterTopologyBinding {name} does not exist")
    known = topology.levels(view.binding)
    missing = [domain for domain in topology.domains(pcs) if domain not in known]
    if missing:
        return answer(
            "True",
            "ClusterTopologyLevelsUnavailable",
            f"ClusterTopologyBinding {name} no longer has: {', '.join(missing)}",
        )
    return answer(
        "False", "AllClusterTopologyLevelsAvailable", f"ClusterTopologyBinding {name} has every level the set names"
    )


def _invalid(pcs: PodCliqueSet, faults: Faults, now: str) -> list[Raw]:
    """That a set was stored before its checks, and what they would say; it is worked on as far as possible all the
    same."""
    problems = remembered(pcs, "faults", lambda: list(faults(pcs)))
    if not problems:
        return []
    invalid = Condition(
        type=INVALID,
        status="True",
        reason="WouldBeRefused",
        message=list_problems(problems)[:LONGEST],
        observed_generation=pcs.metadata.generation,
    )
    return [with_condition(pcs.status.conditions, invalid, now)]


def _held_back(look: SetObjects, now: str) -> list[Raw]:
    """That not everything is made yet that the set asks for, because so much of it waits already."""
    pcs, there = look.pcs, sum(number(name.removeprefix(f"{look.pcs.name}-")) is not None for name in look.gangs)
    if not look.partial or look.missing:
        return []
    held = Condition(
        type=HELD_BACK,
        status="True",
        reason="TooManyWaiting",
        observed_generation=pcs.metadata.generation,
        message=(
            f"{there} of {pcs.spec.replicas} replicas are there, and {look.backlog.told()}: more are made once fewer "
            "wait"
        ),
    )
    return [with_condition(pcs.status.conditions, held, now)]


def status_after(op: Operator, look: SetObjects, errors: Sequence[tuple[str, str]], now: str) -> Raw:
    """The whole status of a set after a look at it."""
    pcs = look.pcs
    view = set_view(op, look, pcs.status.observed_generation if errors else pcs.metadata.generation)
    new = set_status(view, now)
    moves = progress.progressing(view, new.get("updateProgress") or {}, now)
    conditions = [
        condition
        for condition in new["conditions"]
        if condition["type"] not in (progress.PROGRESSING, INVALID, HELD_BACK)
    ]
    conditions += [moves] if moves else []
    if not op.settings.manner.plain_conditions:
        conditions += [*_invalid(pcs, op.faults, now), *_held_back(look, now)]
    new["conditions"] = conditions
    new["lastErrors"] = error_list(pcs.status.last_errors, errors, now)
    return new


def events_of(pcs: PodCliqueSet, new: Raw) -> list[EventNote]:
    """What users should hear about a new status."""
    moves = progress.condition_in(new)
    if moves is None or moves["reason"] != progress.STUCK:
        return []
    if is_reason(pcs.status.conditions, progress.PROGRESSING, progress.STUCK):
        return []
    return [EventNote(POD_CLIQUE_SET, pcs, progress.STUCK, moves["message"], warning=True)]
