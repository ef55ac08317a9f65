"""Everything that a set should own, in stages, as writes.

Stages keep upstream's order, so that what cannot be made stops what depends on it. support.py thinks about what a set
needs beside its cliques, groups and gangs. Pure: the plan is carried out by the controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP
from gangline.api.meta import Condition, Raw
from gangline.operator.backends import NoBackend
from gangline.operator.desired.bounds import GROUPS_IN_A_GANG
from gangline.operator.desired.cliques import standalone_clique
from gangline.operator.desired.gangs import pod_gang
from gangline.operator.desired.layout import asks_for_gang, gang_place, groups_in_base_gang
from gangline.operator.memory.settled import wish_of
from gangline.operator.plan import (
    Create,
    Delete,
    EventNote,
    Patch,
    Step,
    WritePlan,
    changed,
    condition_raw,
    delete,
    with_condition,
)
from gangline.operator.sets.look import SetObjects, group_sizes
from gangline.operator.sets.scaling_groups import scaling_group
from gangline.operator.sets.support import (
    access_objects,
    autoscaler_objects,
    beyond_size,
    compute_domains,
    is_settled,
    service_objects,
    shared_claims,
    token,
    token_ready,
)
from gangline.operator.status import TERMINATING
from gangline.rules.objects.finalizers import patch_that_adds

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader


def think(op: Operator, read: Reader, look: SetObjects, now: str) -> WritePlan:
    """Everything the set should own, in stages."""
    plan, pcs = WritePlan(), look.pcs
    first = token(op, read, pcs)
    patch = patch_that_adds(pcs, names.SET_FINALIZER)
    if patch is not None:
        first.append(Patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch))
    first += [
        *access_objects(read, pcs),
        *service_objects(op, read, look),
        *autoscaler_objects(read, look),
        *compute_domains(op, read, look),
        *shared_claims(read, look, plan),
        *_terminate(look, plan, now),
    ]
    plan.errors += _too_large(pcs)
    plan.stage(first)
    if plan.errors or not token_ready(op, pcs):
        return plan
    plan.stage(_cliques(op, look, plan))
    plan.stage([*_groups(look, plan), *_gangs(op, read, look, plan)])
    return plan


def _too_large(pcs: PodCliqueSet) -> list[tuple[str, str]]:
    """A gang that no PodGang could hold."""
    groups = groups_in_base_gang(pcs)
    if groups <= GROUPS_IN_A_GANG:
        return []
    return [
        (
            "ERR_CREATE_OR_PATCH_PODGANG",
            f"the base gang of each replica would have {groups} groups, and at most {GROUPS_IN_A_GANG} fit "
            "into a PodGang: lower minAvailable of the set's scaling groups",
        )
    ]


def _terminate(look: SetObjects, plan: WritePlan, now: str) -> list[Step]:
    """Replicas of the set that end as gangs: all their cliques go, their scaling groups say so."""
    steps: list[Step] = []
    for replica in look.terminations.now:
        mine = [
            clique
            for clique in look.cliques.values()
            if clique.labels.get(names.SET_REPLICA) == str(replica) and not clique.metadata.deleting
        ]
        steps += [delete(POD_CLIQUE, clique, "ERR_DELETE_PCS_REPLICA") for clique in mine]
        for group in look.groups.values():
            if group.labels.get(names.SET_REPLICA) == str(replica):
                steps.append(_terminating(group, now))
        plan.events.append(
            EventNote(
                POD_CLIQUE_SET,
                look.pcs,
                "PodCliqueSetReplicaDeleteSuccessful",
                f"replica {replica} was below its minimum for longer than {look.pcs.spec.template.termination_delay}; "
                "its cliques start again",
            )
        )
    return steps


def _terminating(group: PodCliqueScalingGroup, now: str) -> Patch:
    new = Condition(
        type=TERMINATING, status="True", reason="GangTerminationActive", message="the set's replica is ended as a gang"
    )
    others = [condition_raw(condition) for condition in group.status.conditions if condition.type != TERMINATING]
    body = {"conditions": [*others, with_condition(group.status.conditions, new, now)]}
    return Patch(SCALING_GROUP, group.name, group.namespace, {"status": body}, "status", "ERR_DELETE_PCS_REPLICA")


def _cliques(op: Operator, look: SetObjects, plan: WritePlan) -> list[Step]:
    pcs, steps, wish = look.pcs, list[Step](), wish_of(look.pcs)
    for places in look.places:
        for place in places:
            live = look.cliques.get(place.name)
            if not is_settled(op, POD_CLIQUE, live, wish):
                writes = _clique(pcs, live, standalone_clique(pcs, place, live), plan)
                steps += writes
                if live is not None and not writes:
                    op.settled.note(POD_CLIQUE, live, wish)
    extra = [
        clique
        for clique in look.cliques.values()
        if clique.labels.get(names.COMPONENT) == names.FOR_STANDALONE_CLIQUE
        and beyond_size(clique, pcs)
        and not clique.metadata.deleting
    ]
    plan.events += [
        EventNote(POD_CLIQUE_SET, pcs, "PodCliqueDeleteSuccessful", f"deleted PodClique {clique.name}")
        for clique in extra
    ]
    return steps + [delete(POD_CLIQUE, clique, "ERR_DELETE_PODCLIQUE") for clique in extra]


def _clique(pcs: PodCliqueSet, live: PodClique | None, wanted: Raw, plan: WritePlan) -> list[Step]:
    if live is None:
        plan.events.append(
            EventNote(
                POD_CLIQUE_SET, pcs, "PodCliqueCreateSuccessful", f"created PodClique {wanted['metadata']['name']}"
            )
        )
        return [Create(POD_CLIQUE, wanted, "ERR_CREATE_PODCLIQUE")]
    patch = changed(POD_CLIQUE, live, wanted) if not live.metadata.deleting else None
    return (
        [Patch(POD_CLIQUE, live.name, live.namespace, patch, code="ERR_CREATE_OR_UPDATE_PODCLIQUE")]
        if patch is not None
        else []
    )


def _groups(look: SetObjects, plan: WritePlan) -> list[Step]:
    pcs, steps, configs = look.pcs, list[Step](), look.pcs.spec.template.pod_clique_scaling_groups
    for replica in range(look.size):
        for config in configs:
            name = names.scaling_group(pcs.name, replica, config.name)
            live = look.groups.get(name)
            wanted = scaling_group(pcs, replica, config, live)
            if live is None:
                steps.append(Create(SCALING_GROUP, wanted, "ERR_CREATE_PODCLIQUESCALINGGROUP"))
                plan.events.append(
                    EventNote(
                        POD_CLIQUE_SET, pcs, "PodCliqueScalingGroupCreateSuccessful", f"created scaling group {name}"
                    )
                )
            elif (patch := changed(SCALING_GROUP, live, wanted)) is not None and not live.metadata.deleting:
                steps.append(Patch(SCALING_GROUP, name, pcs.namespace, patch, code="ERR_SYNC_PODCLIQUESCALINGGROUP"))
    known = {config.name for config in configs}
    extra = [
        group
        for group in look.groups.values()
        if not group.metadata.deleting and (beyond_size(group, pcs) or _config_name(group, pcs) not in known)
    ]
    plan.events += [
        EventNote(POD_CLIQUE_SET, pcs, "PodCliqueScalingGroupDeleteSuccessful", f"deleted scaling group {group.name}")
        for group in extra
    ]
    return steps + [delete(SCALING_GROUP, group, "ERR_DELETE_PODCLIQUESCALINGGROUP") for group in extra]


def _config_name(group: PodCliqueScalingGroup, pcs: PodCliqueSet) -> str:
    """What a scaling group is called in its set."""
    return group.name.removeprefix(f"{names.set_replica(pcs.name, int(group.labels[names.SET_REPLICA]))}-")


def _gangs(op: Operator, read: Reader, look: SetObjects, plan: WritePlan) -> list[Step]:
    """Gangs that are missing, made empty; their own controller fills them. Gangs that nobody asks for go."""
    pcs = look.pcs
    try:
        selection = op.registry.for_set(pcs)
    except NoBackend as error:
        plan.errors.append(("ERR_CREATE_OR_PATCH_PODGANG", str(error)))
        return []
    sizes = group_sizes(look)
    missing = [place for name in look.missing if (place := gang_place(pcs, name)) is not None]
    levels = op.levels(read, pcs)
    steps: list[Step] = [
        Create(POD_GANG, pod_gang(pcs, place, lambda name: (), selection.chosen, levels), "ERR_CREATE_PODGANG")
        for place in missing
    ]
    extra = [
        gang for name, gang in look.gangs.items() if not gang.metadata.deleting and not asks_for_gang(pcs, name, sizes)
    ]
    plan.events += [
        EventNote(POD_CLIQUE_SET, pcs, "PodGangDeleteSuccessful", f"deleted PodGang {gang.name}") for gang in extra
    ]
    return steps + [
        Delete(POD_GANG, gang.name, gang.namespace, gang.uid, "ERR_DELETE_EXCESS_PODGANG") for gang in extra
    ]
