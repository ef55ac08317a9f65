"""Which cliques of a scaling group are made and removed now.

rollout.py says what an update replaces, desired/termination.py which replicas end as gangs. Pure: the controller
carries out the plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.kinds import POD_CLIQUE, RESOURCE_CLAIM, SCALING_GROUP
from gangline.api.meta import Raw
from gangline.operator.desired import claims, termination
from gangline.operator.desired.bounds import number
from gangline.operator.desired.cliques import grouped_clique
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.groups.look import ScalingGroupObjects
from gangline.operator.groups.rollout import replace_group_replicas
from gangline.operator.memory.lookups import external_template
from gangline.operator.plan import Create, EventNote, Patch, Step, WritePlan, changed, delete
from gangline.operator.status import on_delete, update_open
from gangline.rules import wishes
from gangline.rules.objects.finalizers import patch_that_adds

if TYPE_CHECKING:
    from gangline.runtime import Reader


def think(
    read: Reader, look: ScalingGroupObjects, progress: Raw | None, now: float, stamp: str
) -> tuple[WritePlan, Raw | None, float | None]:
    """The plan, the progress of an update after it, and when to look again."""
    plan, group = WritePlan(), look.group
    first: list[Step] = []
    patch = patch_that_adds(group, names.SCALING_GROUP_FINALIZER)
    if patch is not None:
        first.append(Patch(SCALING_GROUP, group.name, group.namespace, patch))
    plan.stage([*first, *_claims(read, look, plan)])
    if plan.errors:
        return plan, progress, None
    steps = [*_beyond(look, plan), *_missing(look, plan)]
    wait: float | None = None
    if not update_open(progress):
        due = termination.group_replicas(
            group, [look.members(index) for index in range(len(look.places))], termination.delay(look.pcs), now
        )
        steps += _remove(look, due.now, plan)
        wait = due.wait
    elif not on_delete(look.pcs):
        replaced = replace_group_replicas(
            group,
            progress,
            look.places,
            look.living,
            lambda place: clique_hash(look.pcs, place.template),
            look.pcs.status.current_generation_hash,
            stamp,
            wishes.max_unavailable(look.pcs.annotations, group.spec.replicas),
        )
        progress = replaced.progress
        steps += _remove(look, replaced.remove, plan)
    plan.stage(steps)
    return plan, progress, wait


def _claims(read: Reader, look: ScalingGroupObjects, plan: WritePlan) -> list[Step]:
    sharing, group = look.config.resource_sharing, look.group
    if not sharing:
        return []
    level = claims.ClaimLevel(
        SCALING_GROUP,
        group,
        look.pcs.name,
        sharing,
        group.spec.replicas,
        len(look.places),
        {names.SCALING_GROUP: group.name},
        names.SCALING_GROUP_REPLICA,
    )
    code = "ERR_SYNC_PCSG_RESOURCE_CLAIM"
    live, external = read.owned(RESOURCE_CLAIM, group.uid), partial(external_template, read)
    try:
        return claims.writes(level, live, look.pcs, external, create_code=code, delete_code=code)
    except claims.MissingTemplate as error:
        plan.errors.append((code, str(error)))
        return []


def _beyond(look: ScalingGroupObjects, plan: WritePlan) -> list[Step]:
    """Replicas above the group's size, highest first."""
    indices = {
        index
        for clique in look.cliques.values()
        if not clique.metadata.deleting
        and (index := number(clique.labels.get(names.SCALING_GROUP_REPLICA, ""))) is not None
    }
    return _remove(look, sorted((index for index in indices if index >= look.group.spec.replicas), reverse=True), plan)


def _remove(look: ScalingGroupObjects, indices: Iterable[int], plan: WritePlan) -> list[Step]:
    steps: list[Step] = []
    for index in indices:
        steps += [delete(POD_CLIQUE, clique, "ERR_DELETE_PODCLIQUE") for clique in look.members(index)]
        plan.events.append(
            EventNote(
                SCALING_GROUP, look.group, "PodCliqueScalingGroupReplicaDeleteSuccessful", f"deleted replica {index}"
            )
        )
    return steps


def _missing(look: ScalingGroupObjects, plan: WritePlan) -> list[Step]:
    """Cliques that are not there; under OnDelete also those that differ from their template."""
    steps: list[Step] = []
    patching = on_delete(look.pcs)
    for place in (place for replica in look.places for place in replica):
        live = look.cliques.get(place.name)
        if live is None:
            steps.append(Create(POD_CLIQUE, grouped_clique(look.pcs, look.group, place), "ERR_CREATE_PODCLIQUE"))
            plan.events.append(
                EventNote(SCALING_GROUP, look.group, "PodCliqueCreateSuccessful", f"created PodClique {place.name}")
            )
        elif patching and not live.metadata.deleting:
            patch = changed(POD_CLIQUE, live, grouped_clique(look.pcs, look.group, place, live))
            if patch is not None:
                steps.append(Patch(POD_CLIQUE, live.name, live.namespace, patch, code="ERR_CREATE_OR_UPDATE_PODCLIQUE"))
    return steps
