"""What an update of a set does next: which of its replicas are updated now.

RollingRecreate goes one replica at a time, or as many as the set allows to be unavailable. OnDelete only records the
new hash. Inside a replica, groups/rollout.py and cliques/rollout.py go on. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api import names
from gangline.api.grove import PodCliqueSet, PodCliqueStatus, ScalingGroupStatus
from gangline.api.meta import Raw
from gangline.operator.desired.hashes import set_hash
from gangline.operator.sets.look import SetView, replica_state
from gangline.operator.status import BREACHED, current_replicas, ended, is_true, on_delete, update_open
from gangline.rules import wishes


def set_progress(pcs: PodCliqueSet, new_hash: str, now: str) -> Raw | None:
    """The set's progress after a look at its hash: a changed template starts an update."""
    known = pcs.status.current_generation_hash
    if known is None or known == new_hash:
        return pcs.status.update_progress
    return {"updateStartedAt": now} | ({"updateEndedAt": now} if on_delete(pcs) else {})


def new_hash(pcs: PodCliqueSet, now: str) -> Raw | None:
    """The patch that notes a changed template in the set's status, or None where it is known."""
    new = set_hash(pcs)
    if pcs.status.current_generation_hash == new:
        return None
    begun = set_progress(pcs, new, now)
    status: Raw = {
        "currentGenerationHash": new,
        "replicas": pcs.spec.replicas,
        "updatedReplicas": 0,
        "availableReplicas": pcs.status.available_replicas,
    }
    if begun != pcs.status.update_progress:
        status["updateProgress"] = dict.fromkeys(pcs.status.update_progress or {}) | (begun or {})
    return {"status": status}


def next_replica(view: SetView, ending: Sequence[int], now: str) -> Raw | None:
    """The set's progress after a look at its replicas; `ending` ones are about to be ended as gangs."""
    progress = view.progress
    if progress is None or not update_open(progress) or on_delete(view.pcs):
        return progress
    pending = [
        replica
        for replica in range(len(view.places))
        if replica not in ending and not replica_state(view, replica).done
    ]
    if not pending:
        return ended(progress, "currentlyUpdating", now)
    most = wishes.max_unavailable(view.pcs.annotations, view.pcs.spec.replicas) or 1
    kept = [item for item in progress.get("currentlyUpdating") or () if int(item.get("replicaIndex", 0)) in pending]
    waiting = sorted(set(pending) - set(current_replicas(progress)), key=lambda replica: _update_turn(view, replica))
    chosen = [{"replicaIndex": replica, "updateStartedAt": now} for replica in waiting[: max(0, most - len(kept))]]
    return progress | {"currentlyUpdating": [*kept, *chosen]}


def _update_turn(view: SetView, replica: int) -> tuple[bool, bool, int]:
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
