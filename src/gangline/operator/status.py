"""What is true of a clique, a scaling group and a set, computed from what is there.

Counters, conditions, hashes and selectors; the whole status each time, so that nothing depends on what was seen
before. Writing it, where it differs, is the reconcilers' business; what follows from a breach is termination.py's,
what an update does next is rollout.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import ContainerStatus, Pod
from gangline.api.grove import ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.meta import Condition, Raw, condition
from gangline.operator.desired import topology
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.desired.layout import CliquePlace, standalone
from gangline.operator.desired.metadata import default_labels, selector_text
from gangline.operator.desired.pods import failed, ready, scheduled
from gangline.operator.plan import condition_raw, with_condition

BREACHED, SCHEDULED, TERMINATING = "MinAvailableBreached", "PodCliqueScheduled", "GangTerminationInProgress"
LEVELS_UNAVAILABLE = "TopologyLevelsUnavailable"
UPDATING = Condition(type=BREACHED, status="Unknown", reason="UpdateInProgress", message="an update is in progress")


def is_true(conditions: tuple[Condition, ...], type: str) -> bool:
    found = condition(conditions, type)
    return found is not None and found.status == "True"


def is_reason(conditions: tuple[Condition, ...], type: str, reason: str) -> bool:
    found = condition(conditions, type)
    return found is not None and found.reason == reason


def update_open(progress: Raw | None) -> bool:
    return progress is not None and not progress.get("updateEndedAt")


# --- pods in classes
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodCounts:
    living: int = 0
    ready: int = 0
    gated: int = 0
    scheduled: int = 0
    errored: int = 0
    started: int = 0
    """Started, not ready yet."""


def gated(pod: Pod) -> bool:
    found = condition(pod.status.conditions, "PodScheduled")
    return found is not None and found.status == "False" and found.reason == "SchedulingGated"


def errored(pod: Pod) -> bool:
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return any(_failed(status) for status in statuses)


def _failed(status: ContainerStatus) -> bool:
    return bool(((status.last_state or {}).get("terminated") or {}).get("exitCode", 0))


def started_not_ready(pod: Pod) -> bool:
    return any(
        container_status.started and not container_status.ready for container_status in pod.status.container_statuses
    )


def count(pods: Iterable[Pod], *, terminating: bool, ended: bool = False) -> PodCounts:
    """`terminating`: pods on their way out still count as ready or scheduled; `ended`: so do those that have failed."""
    every = list(pods)
    seen = [pod for pod in every if (terminating or not pod.metadata.deleting) and (ended or not failed(pod))]
    living = sum(not pod.metadata.deleting for pod in every)
    unready = [pod for pod in seen if not ready(pod)]
    bad = [pod for pod in unready if errored(pod)]
    return PodCounts(
        living,
        len(seen) - len(unready),
        sum(gated(pod) for pod in seen),
        sum(scheduled(pod) for pod in seen),
        len(bad),
        sum(started_not_ready(pod) for pod in unready if not errored(pod)),
    )


def on_delete(pcs: PodCliqueSet) -> bool:
    """Whether updates wait for the user to delete pods."""
    return pcs.spec.update_strategy is not None and pcs.spec.update_strategy.type == "OnDelete"


# --- a clique
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CliqueView:
    """What a clique's status is computed from."""

    clique: PodClique
    pcs: PodCliqueSet
    expected_hash: str
    pods: Sequence[Pod]
    progress: Raw | None
    observed: int | None
    counts: PodCounts


def minimum(clique: PodClique) -> int:
    spec = clique.spec
    return spec.replicas if spec.min_available is None else spec.min_available


def clique_status(view: CliqueView, now: str) -> Raw:
    clique, counts = view.clique, view.counts
    updated = _updated_replicas(view)
    status: Raw = {
        "replicas": counts.living,
        "readyReplicas": counts.ready,
        "scheduleGatedReplicas": counts.gated,
        "scheduledReplicas": counts.scheduled,
        "updatedReplicas": updated,
    }
    if view.observed is not None:
        status["observedGeneration"] = view.observed
        status["conditions"] = _clique_conditions(view, now)
    if names.SCALING_GROUP not in clique.labels:
        labels = default_labels(view.pcs.name) | {names.POD_CLIQUE: clique.name}
        status["hpaPodSelector"] = selector_text(labels)
    if view.progress is not None:
        status["updateProgress"] = view.progress
    return status | _clique_hashes(view, updated)


def _updated_replicas(view: CliqueView) -> int:
    wanted = (
        (view.progress or {}).get("podTemplateHash")
        or view.clique.labels.get(names.TEMPLATE_HASH)
        or view.clique.status.current_pod_template_hash
    )
    return sum(pod.labels.get(names.TEMPLATE_HASH) == wanted for pod in view.pods)


def _clique_hashes(view: CliqueView, updated: int) -> Raw:
    clique, progress = view.clique, view.progress
    kept = {
        "currentPodCliqueSetGenerationHash": clique.status.current_pod_clique_set_generation_hash,
        "currentPodTemplateHash": clique.status.current_pod_template_hash,
    }
    fresh = kept
    if not update_open(progress) and updated == view.counts.living:
        if progress is not None and not _overtaken(view, progress):
            fresh = {
                "currentPodCliqueSetGenerationHash": progress.get("podCliqueSetGenerationHash"),
                "currentPodTemplateHash": progress.get("podTemplateHash"),
            }
        elif clique.labels.get(names.TEMPLATE_HASH) == view.expected_hash:
            fresh = {
                "currentPodCliqueSetGenerationHash": view.pcs.status.current_generation_hash,
                "currentPodTemplateHash": view.expected_hash,
            }
    return {key: value for key, value in fresh.items() if value}


def _overtaken(view: CliqueView, progress: Raw) -> bool:
    """A grouped clique keeps the progress of an update by OnDelete; a later update by its group says nothing there."""
    aimed = progress.get("podCliqueSetGenerationHash") == view.pcs.status.current_generation_hash
    return names.SCALING_GROUP in view.clique.labels and not on_delete(view.pcs) and not aimed


def _clique_conditions(view: CliqueView, now: str) -> list[Raw]:
    before = view.clique.status.conditions
    found = [_breach(view), _scheduled(view)]
    return [with_condition(before, item, _since(view.clique, before, item, now)) for item in found]


def _since(obj: PodClique | PodCliqueScalingGroup, before: tuple[Condition, ...], new: Condition, now: str) -> str:
    """A first condition that says "not yet" has been so since the object was made."""
    first = condition(before, new.type) is None
    bad = (new.type, new.status) in ((BREACHED, "True"), (SCHEDULED, "False"))
    return obj.metadata.creation_timestamp or now if first and bad else now


def _breach(view: CliqueView) -> Condition:
    counts, least = view.counts, minimum(view.clique)
    if update_open(view.progress):
        return UPDATING
    if counts.scheduled < least:
        return Condition(
            type=BREACHED,
            status="True",
            reason="ScheduledReplicasBelowMinAvailable",
            message=f"{counts.scheduled} pods are scheduled, {least} are needed",
        )
    healthy = counts.scheduled - counts.errored - counts.started
    if healthy < least:
        return Condition(
            type=BREACHED,
            status="True",
            reason="InsufficientReadyPods",
            message=f"{healthy} pods are ready or starting, {least} are needed",
        )
    return Condition(
        type=BREACHED,
        status="False",
        reason="SufficientReadyPods",
        message=f"{healthy} pods are ready or starting, {least} are needed",
    )


def _scheduled(view: CliqueView) -> Condition:
    enough = view.counts.scheduled >= minimum(view.clique)
    return Condition(
        type=SCHEDULED,
        status=str(enough),
        reason="SufficientScheduledPods" if enough else "InsufficientScheduledPods",
        message=f"{view.counts.scheduled} pods are scheduled, {minimum(view.clique)} are needed",
    )


def clique_updated(clique: PodClique, expected_hash: str, set_hash: str | None) -> bool:
    """Whether a clique runs the set's present template."""
    status = clique.status
    return (
        clique.labels.get(names.TEMPLATE_HASH) == expected_hash == status.current_pod_template_hash
        and status.current_pod_clique_set_generation_hash == set_hash
        and status.ready_replicas >= minimum(clique)
        and status.updated_replicas >= minimum(clique)
    )


# --- a scaling group
# -------------------------------------------------------------------------------------------------------


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
        found = [self.cliques(place.name) for place in self.places[index]]
        return [clique for clique in found if clique is not None] if all(found) else None


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
        every = [clique for members in replicas for clique in members or ()]
        status["updateProgress"] = view.progress | {
            "totalPodCliquesCount": group.spec.replicas * len(group.spec.clique_names),
            "updatedPodCliquesCount": sum(_member_updated(view, clique, expected) for clique in every),
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
    found = set_hash if current else view.group.status.current_pod_clique_set_generation_hash
    return {"currentPodCliqueSetGenerationHash": found} if found else {}


def _group_conditions(view: GroupView, whole: list[list[PodClique]], now: str) -> list[Raw]:
    before = view.group.status.conditions
    breach = _group_breach(view, whole)
    group_conditions = [with_condition(before, breach, _since(view.group, before, breach, now))]
    ongoing = condition(before, TERMINATING)
    if ongoing is not None and breach.status != "False":
        group_conditions.append(condition_raw(ongoing))
    return group_conditions


def _in_doubt(clique: PodClique, failed_is_fine: bool) -> bool:
    """A clique in breach, or one that has not been looked at yet: a fresh one must not look like a recovery."""
    found = condition(clique.status.conditions, BREACHED)
    if found is None:
        return not (failed_is_fine and clique.status.last_errors)
    return found.status == "True"


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


# --- a set
# ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetView:
    pcs: PodCliqueSet
    cliques: Callable[[str], PodClique | None]
    """Living standalone cliques by name."""
    groups: Callable[[str], PodCliqueScalingGroup | None]
    gangs: Sequence[PodGang]
    set_hash: str
    progress: Raw | None
    observed: int | None
    topology_aware: bool
    binding: ClusterTopologyBinding | None
    places: Sequence[Sequence[CliquePlace]]
    """The standalone cliques that the set asks for, of every replica that is looked at."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica of a set."""

    available: bool
    cliques: int
    updated_cliques: int
    groups: int
    updated_groups: int

    @property
    def done(self) -> bool:
        return self.updated_cliques == self.cliques and self.updated_groups == self.groups


def replica_state(view: SetView, replica: int) -> ReplicaState:
    pcs = view.pcs
    places = view.places[replica]
    configs = pcs.spec.template.pod_clique_scaling_groups
    cliques = [(place, clique) for place in places if (clique := view.cliques(place.name)) is not None]
    groups = [
        group
        for config in configs
        if (group := view.groups(names.scaling_group(pcs.name, replica, config.name))) is not None
    ]
    available = (
        len(cliques) == len(places)
        and all(clique.status.ready_replicas >= minimum(clique) for _, clique in cliques)
        and len(groups) == len(configs)
        and all(_group_available(group) for group in groups)
    )
    updated = sum(clique_updated(clique, clique_hash(pcs, place.template), view.set_hash) for place, clique in cliques)
    updated_groups = sum(group.status.current_pod_clique_set_generation_hash == view.set_hash for group in groups)
    return ReplicaState(available, len(places), updated, len(configs), updated_groups)


def _group_available(group: PodCliqueScalingGroup) -> bool:
    return group.status.available_replicas >= (1 if group.spec.min_available is None else group.spec.min_available)


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


FEW = 20
"""Gangs up to which a set repeats all that is true of each; beyond, only what is wrong, so that the set stays small."""
MANY = 1_000
"""Gangs that a set tells of at most, those that something is wrong with first: all together it must fit into one
object."""
_WRONG = {"Scheduled": "False", "Unhealthy": "True", "DisruptionTarget": "True"}


def _told_gangs(gangs: Sequence[PodGang]) -> list[PodGang]:
    if len(gangs) <= MANY:
        return list(gangs)
    wrong = {
        gang.name for gang in gangs if any(_WRONG.get(item.type) == item.status for item in gang.status.conditions)
    }
    return sorted(sorted(gangs, key=lambda gang: gang.name not in wrong)[:MANY], key=lambda gang: gang.name)


def _gang_summary(gang: PodGang, whole: bool) -> Raw:
    """A gang in short: its phase, and its conditions or those that say what is wrong with it."""
    told = [condition_raw(item) for item in gang.status.conditions if whole or _WRONG.get(item.type) == item.status]
    return {"name": gang.name, "phase": gang.status.phase or "Pending"} | ({"conditions": told} if told else {})


def _set_conditions(view: SetView, now: str) -> list[Raw]:
    levels = _levels_condition(view)
    others = [condition_raw(item) for item in view.pcs.status.conditions if item.type != LEVELS_UNAVAILABLE]
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
