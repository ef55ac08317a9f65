"""What an update does next, at each of the three levels: set, scaling group, clique.

RollingRecreate goes one replica of the set at a time, inside it one scaling-group replica or one ready pod at a time,
and replaces what is unhealthy at once; a set that says how much may be unavailable goes that many at a time. OnDelete
only records the new hash. Each function takes what is there and gives the next progress and what must be removed;
nothing is remembered elsewhere, and what was chosen and is still there is removed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet, PodCliqueStatus, ScalingGroupStatus
from gangline.api.meta import Raw
from gangline.operator.desired.layout import CliquePlace
from gangline.operator.desired.pods import ready
from gangline.operator.status import (
    BREACHED,
    SCHEDULED,
    SetView,
    clique_updated,
    is_true,
    minimum,
    on_delete,
    replica_state,
    update_open,
)
from gangline.rules import wishes


def current_replicas(progress: Raw | None) -> tuple[int, ...]:
    """The replicas of the set that are being updated."""
    return tuple(int(item.get("replicaIndex", 0)) for item in (progress or {}).get("currentlyUpdating") or ())


# --- the set
# -----------------------------------------------------------------------------------------------------------


def set_progress(pcs: PodCliqueSet, new_hash: str, now: str) -> Raw | None:
    """The set's progress after a look at its hash: a changed template starts an update."""
    known = pcs.status.current_generation_hash
    if known is None or known == new_hash:
        return pcs.status.update_progress
    return {"updateStartedAt": now} | ({"updateEndedAt": now} if on_delete(pcs) else {})


def next_replica(view: SetView, doomed: Sequence[int], now: str) -> Raw | None:
    """The set's progress after a look at its replicas; `doomed` ones are about to be ended as gangs."""
    progress = view.progress
    if progress is None or not update_open(progress) or on_delete(view.pcs):
        return progress
    pending = [
        replica
        for replica in range(len(view.places))
        if replica not in doomed and not replica_state(view, replica).done
    ]
    rest = {key: value for key, value in progress.items() if key != "currentlyUpdating"}
    if not pending:
        return rest | {"updateEndedAt": now}
    most = wishes.max_unavailable(view.pcs.annotations, view.pcs.spec.replicas) or 1
    kept = [item for item in progress.get("currentlyUpdating") or () if int(item.get("replicaIndex", 0)) in pending]
    waiting = sorted(set(pending) - set(current_replicas(progress)), key=lambda replica: _turn(view, replica))
    chosen = [{"replicaIndex": replica, "updateStartedAt": now} for replica in waiting[: max(0, most - len(kept))]]
    return rest | {"currentlyUpdating": [*kept, *chosen]}


def _turn(view: SetView, replica: int) -> tuple[bool, bool, int]:
    """Replicas with nothing scheduled first, then those in breach, then by number."""
    pcs = view.pcs
    prefix = names.set_replica(pcs.name, replica)
    cliques = [
        clique
        for template in pcs.spec.template.cliques
        if (clique := view.cliques(f"{prefix}-{template.name}")) is not None
    ]
    groups = [
        group
        for config in pcs.spec.template.pod_clique_scaling_groups
        if (group := view.groups(names.scaling_group(pcs.name, replica, config.name))) is not None
    ]
    statuses: list[PodCliqueStatus | ScalingGroupStatus] = [
        *(item.status for item in cliques),
        *(item.status for item in groups),
    ]
    running = sum(status.scheduled_replicas for status in statuses)
    breached = any(is_true(status.conditions, BREACHED) for status in statuses)
    return running > 0, not breached, replica


# --- a clique
# --------------------------------------------------------------------------------------------------------------


def clique_progress(clique: PodClique, pcs: PodCliqueSet, expected_hash: str, replica: int, now: str) -> Raw | None:
    """The clique's progress after a look at the set's: whether an update of it starts."""
    progress, wanted = clique.status.update_progress, pcs.status.current_generation_hash
    grouped = names.SCALING_GROUP in clique.labels
    if wanted is None or (grouped and not on_delete(pcs)):
        return progress
    open_elsewhere = update_open(pcs.status.update_progress) and replica not in current_replicas(
        pcs.status.update_progress
    )
    same = progress is None and clique.status.current_pod_clique_set_generation_hash == wanted
    aimed = progress is not None and progress.get("podCliqueSetGenerationHash") == wanted
    if open_elsewhere or same or aimed:
        return progress
    fresh = {"updateStartedAt": now, "podCliqueSetGenerationHash": wanted, "podTemplateHash": expected_hash}
    return fresh | ({"updateEndedAt": now} if on_delete(pcs) else {})


@dataclass(frozen=True, slots=True)
class Replacement:
    """What an update of a clique removes now, and its progress after that."""

    progress: Raw | None
    remove: list[Pod] = field(default_factory=list)


def replace_pods(
    clique: PodClique, progress: Raw | None, pods: Sequence[Pod], ready_count: int, now: str, most: int | None = None
) -> Replacement:
    """Unhealthy pods of the old template at once, ready ones one by one, oldest first; or as many as `most` allows to
    be unavailable."""
    if progress is None or not update_open(progress):
        return Replacement(progress)
    wanted = clique.labels.get(names.TEMPLATE_HASH)
    living = [pod for pod in pods if not pod.metadata.deleting]
    old = [pod for pod in living if pod.labels.get(names.TEMPLATE_HASH) != wanted]
    broken = [pod for pod in old if not ready(pod)]
    old_ready = sorted(
        (pod for pod in old if ready(pod)), key=lambda pod: (pod.metadata.creation_timestamp or "", pod.name)
    )
    selected = progress.get("readyPodsSelectedToUpdate")
    gone = [*broken, *(pod for pod in old_ready if pod.name in _chosen(selected))]
    if most is not None:
        return _several(
            progress,
            gone,
            [pod for pod in old_ready if pod not in gone],
            most - (clique.spec.replicas - ready_count),
            now,
        )
    if selected:
        done = _chosen(selected)
        new = [ready(pod) for pod in living if pod.labels.get(names.TEMPLATE_HASH) == wanted]
        coming = len(living) < clique.spec.replicas or not all(new)
        if any(pod.name == selected["current"] for pod in old) or (coming and sum(new) < len(done)):
            return Replacement(progress, gone)
    if not old_ready:
        rest = {key: value for key, value in progress.items() if key != "readyPodsSelectedToUpdate"}
        return Replacement(rest | {"updateEndedAt": now}, broken)
    if ready_count < minimum(clique):
        return Replacement(progress, broken)
    return Replacement(
        progress | {"readyPodsSelectedToUpdate": _choice([*_chosen(selected), old_ready[0].name])},
        [*broken, old_ready[0]],
    )


def _several(progress: Raw, gone: list[Pod], old_ready: Sequence[Pod], room: int, now: str) -> Replacement:
    """As many ready pods as there is room for; the end comes when every pod is of the new template and ready."""
    next_ones = list(old_ready[: max(0, room - sum(ready(pod) for pod in gone))])
    if next_ones:
        chosen = [*_chosen(progress.get("readyPodsSelectedToUpdate")), *(pod.name for pod in next_ones)]
        return Replacement(progress | {"readyPodsSelectedToUpdate": _choice(chosen)}, [*gone, *next_ones])
    if gone or old_ready:
        return Replacement(progress, gone)
    rest = {key: value for key, value in progress.items() if key != "readyPodsSelectedToUpdate"}
    return Replacement(rest | {"updateEndedAt": now})


def _chosen(selected: Raw | None) -> list[Any]:
    """What was given up so far, in order."""
    return [*(selected.get("completed") or ()), selected["current"]] if selected else []


def _choice(chosen: Sequence[Any]) -> Raw:
    return {"current": chosen[-1]} | ({"completed": list(chosen[:-1])} if len(chosen) > 1 else {})


# --- a scaling group
# ---------------------------------------------------------------------------------------------------------


def group_progress(group: PodCliqueScalingGroup, pcs: PodCliqueSet, replica: int, now: str) -> Raw | None:
    """The group's progress after a look at the set's: whether an update of it starts."""
    progress, wanted = group.status.update_progress, pcs.status.current_generation_hash
    turn = on_delete(pcs) or (
        update_open(pcs.status.update_progress) and replica in current_replicas(pcs.status.update_progress)
    )
    aimed = progress is not None and progress.get("podCliqueSetGenerationHash") == wanted
    if wanted is None or not turn or aimed:
        return progress
    fresh = {"updateStartedAt": now, "podCliqueSetGenerationHash": wanted}
    return fresh | ({"updateEndedAt": now} if on_delete(pcs) else {})


@dataclass(frozen=True, slots=True)
class GroupReplacement:
    progress: Raw | None
    remove: list[int] = field(default_factory=list)
    """Replicas of the group whose cliques are all removed now."""


def replace_group_replicas(
    group: PodCliqueScalingGroup,
    progress: Raw | None,
    places: Sequence[Sequence[CliquePlace]],
    cliques: Callable[[str], PodClique | None],
    expected: Callable[[CliquePlace], str],
    set_hash: str | None,
    now: str,
    most: int | None = None,
) -> GroupReplacement:
    """Replicas that do not run at once, the others one by one, lowest first; or as many as `most` allows to be
    unavailable."""
    if progress is None or not update_open(progress):
        return GroupReplacement(progress)
    members = [[clique for place in replica if (clique := cliques(place.name)) is not None] for replica in places]
    hashes = {place.name: expected(place) for replica in places for place in replica}
    old = [
        index for index, found in enumerate(members) if any(_outdated(clique, hashes[clique.name]) for clique in found)
    ]
    selected = progress.get("readyReplicaIndicesSelectedToUpdate")
    current = int(selected["current"]) if selected else None
    whole = [
        len(found) == len(places[index])
        and all(clique_updated(clique, hashes[clique.name], set_hash) for clique in found)
        for index, found in enumerate(members)
    ]
    if most is not None:
        up = [
            len(found) == len(places[index]) and all(_runs(clique) for clique in found)
            for index, found in enumerate(members)
        ]
        return _several_replicas(progress, old, up, all(whole), most, now)
    broken = [index for index in old if index != current and not all(_runs(clique) for clique in members[index])]
    if selected and current is not None and current < len(places) and not whole[current]:
        return GroupReplacement(progress, [*broken, *([current] if current in old else [])])
    healthy = [index for index in old if index not in broken and index != current]
    if not healthy:
        rest = {key: value for key, value in progress.items() if key != "readyReplicaIndicesSelectedToUpdate"}
        return GroupReplacement(progress if broken else rest | {"updateEndedAt": now}, broken)
    least = 1 if group.spec.min_available is None else group.spec.min_available
    if group.status.available_replicas < least:
        return GroupReplacement(progress, broken)
    choice = _choice([*_chosen(selected), healthy[0]])
    return GroupReplacement(progress | {"readyReplicaIndicesSelectedToUpdate": choice}, [*broken, healthy[0]])


def _several_replicas(
    progress: Raw, old: Sequence[int], up: Sequence[bool], done: bool, most: int, now: str
) -> GroupReplacement:
    """As many running replicas as there is room for; the end comes when every replica is whole and of the new
    template."""
    broken = [index for index in old if not up[index]]
    next_ones = [index for index in old if up[index]][: max(0, most - up.count(False))]
    if next_ones:
        chosen = dict.fromkeys([*_chosen(progress.get("readyReplicaIndicesSelectedToUpdate")), *next_ones])
        return GroupReplacement(
            progress | {"readyReplicaIndicesSelectedToUpdate": _choice(list(chosen))}, [*broken, *next_ones]
        )
    if old or not done:
        return GroupReplacement(progress, broken)
    rest = {key: value for key, value in progress.items() if key != "readyReplicaIndicesSelectedToUpdate"}
    return GroupReplacement(rest | {"updateEndedAt": now})


def _outdated(clique: PodClique, expected: str) -> bool:
    """Of an old template, or with pods of one: OnDelete leaves such pods behind when the strategy changes."""
    return clique.labels.get(names.TEMPLATE_HASH) != expected or clique.status.updated_replicas < clique.status.replicas


def _runs(clique: PodClique) -> bool:
    return (
        is_true(clique.status.conditions, SCHEDULED) or clique.status.scheduled_replicas >= minimum(clique)
    ) and clique.status.ready_replicas >= minimum(clique)
