"""What is true of a scaling group: its replicas counted by state, its conditions and its hash. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.kinds import SCALING_GROUP
from gangline.api.meta import Condition, Raw, condition
from gangline.config import Manner
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.desired.layout import CliquePlace
from gangline.operator.desired.metadata import default_labels, selector_text
from gangline.operator.groups.look import ScalingGroupObjects
from gangline.operator.plan import EventNote, condition_raw, with_condition
from gangline.operator.status import (
    BREACHED,
    HELD_BACK,
    SCHEDULED,
    TERMINATING,
    UPDATING,
    clique_updated,
    error_list,
    is_true,
    lost_events,
    minimum,
    since,
    update_open,
)


@dataclass(frozen=True, slots=True)
class GroupView:
    group: PodCliqueScalingGroup
    pcs: PodCliqueSet
    places: Sequence[Sequence[CliquePlace]]
    """The expected cliques, replica by replica."""
    cliques: Callable[[str], PodClique | None]
    """Living cliques by name."""
    progress: Raw | None
    observed: int | None
    failed_is_fine: bool = False
    """A clique that failed before it had any condition does not count as in doubt."""

    def members(self, index: int) -> list[PodClique] | None:
        """The living cliques of a replica, or None where one is missing."""
        expected = [self.cliques(place.name) for place in self.places[index]]
        return [clique for clique in expected if clique is not None] if all(expected) else None


def group_status(view: GroupView, now: str) -> Raw:
    group = view.group
    replicas = [view.members(index) for index in range(len(view.places))]
    whole = [members for members in replicas if members is not None]
    placed = [members for members in whole if all(is_true(clique.status.conditions, SCHEDULED) for clique in members)]
    available = [
        members for members in placed if all(clique.status.ready_replicas >= minimum(clique) for clique in members)
    ]
    expected = _expected(view)
    updated = [members for members in available if all(_member_updated(view, clique, expected) for clique in members)]
    status: Raw = {
        "replicas": group.spec.replicas,
        "scheduledReplicas": len(placed),
        "availableReplicas": len(available),
        "updatedReplicas": len(updated),
        "selector": selector_text(default_labels(view.pcs.name) | {names.SCALING_GROUP: group.name}),
    }
    if view.observed is not None:
        status["observedGeneration"] = view.observed
    status["conditions"] = _group_conditions(view, whole, now)
    if view.progress is not None:
        cliques = [clique for members in replicas for clique in members or ()]
        status["updateProgress"] = view.progress | {
            "totalPodCliquesCount": group.spec.replicas * len(group.spec.clique_names),
            "updatedPodCliquesCount": sum(_member_updated(view, clique, expected) for clique in cliques),
        }
    return status | _group_hash(view, replicas, expected)


def _member_updated(view: GroupView, clique: PodClique, expected: Mapping[str, str]) -> bool:
    return clique_updated(clique, expected.get(clique.name, ""), view.pcs.status.current_generation_hash)


def _expected(view: GroupView) -> dict[str, str]:
    return {place.name: clique_hash(view.pcs, place.template) for replica in view.places for place in replica}


def _group_hash(view: GroupView, replicas: Sequence[list[PodClique] | None], expected: Mapping[str, str]) -> Raw:
    """The set's hash, once every clique has it; until then the one before."""
    set_hash = view.pcs.status.current_generation_hash
    current = not update_open(view.progress) and all(
        members is not None
        and all(
            clique.labels.get(names.TEMPLATE_HASH) == expected[clique.name] == clique.status.current_pod_template_hash
            and clique.status.current_pod_clique_set_generation_hash == set_hash
            for clique in members
        )
        for members in replicas
    )
    shown = set_hash if current else view.group.status.current_pod_clique_set_generation_hash
    return {"currentPodCliqueSetGenerationHash": shown} if shown else {}


def _group_conditions(view: GroupView, whole: list[list[PodClique]], now: str) -> list[Raw]:
    before = view.group.status.conditions
    breach = _group_breach(view, whole)
    group_conditions = [with_condition(before, breach, since(view.group, before, breach, now))]
    ongoing = condition(before, TERMINATING)
    if ongoing is not None and breach.status != "False":
        group_conditions.append(condition_raw(ongoing))
    return group_conditions


def _in_doubt(clique: PodClique, failed_is_fine: bool) -> bool:
    """A clique in breach, or one that has not been looked at yet: a fresh one must not look like a recovery."""
    breach = condition(clique.status.conditions, BREACHED)
    if breach is None:
        return not (failed_is_fine and clique.status.last_errors)
    return breach.status == "True"


def _group_breach(view: GroupView, whole: list[list[PodClique]]) -> Condition:
    if update_open(view.progress):
        return UPDATING
    least = 1 if view.group.spec.min_available is None else view.group.spec.min_available
    healthy = sum(not any(_in_doubt(clique, view.failed_is_fine) for clique in members) for members in whole)
    message = f"{healthy} replicas are whole and not in breach, {least} are needed"
    if healthy < least:
        return Condition(
            type=BREACHED, status="True", reason="InsufficientAvailablePodCliqueScalingGroupReplicas", message=message
        )
    return Condition(
        type=BREACHED, status="False", reason="SufficientAvailablePodCliqueScalingGroupReplicas", message=message
    )


def _held_back(look: ScalingGroupObjects, now: str) -> list[Raw]:
    """That not all replicas are made yet, because so many wait already."""
    group, asked = look.group, look.group.spec.replicas
    made = all(place.name in look.cliques for replica in look.places for place in replica)
    if len(look.places) == asked or not made:
        return []
    held = Condition(
        type=HELD_BACK,
        status="True",
        reason="TooManyWaiting",
        message=(
            f"{len(look.places)} of {asked} replicas are there, and {look.backlog.told('of them')}: more are made once "
            "fewer wait"
        ),
    )
    return [with_condition(group.status.conditions, held, now)]


def status_after(
    manner: Manner, look: ScalingGroupObjects, progress: Raw | None, errors: Sequence[tuple[str, str]], now: str
) -> Raw:
    """The whole status of a scaling group after a look at it."""
    group = look.group
    observed = group.status.observed_generation if errors else group.metadata.generation
    view = GroupView(group, look.pcs, look.places, look.living, progress, observed, manner.failed_member_is_fine)
    new = group_status(view, now)
    new["conditions"] += [] if manner.plain_conditions else _held_back(look, now)
    new["lastErrors"] = error_list(group.status.last_errors, errors, now, manner.errors_linger)
    return new


def events_of(group: PodCliqueScalingGroup, new: Raw) -> list[EventNote]:
    """What users should hear about a new status."""
    return lost_events(SCALING_GROUP, group, new, "no replica of the group is scheduled any more")
