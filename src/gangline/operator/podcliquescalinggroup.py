"""PodCliqueScalingGroup → the cliques of each of its replicas.

Made by podcliqueset.py; what it makes goes on to podclique.py. Pure thought: desired/cliques, rollout, termination,
status.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from gangline.api import names
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, SCALING_GROUP
from gangline.api.meta import Condition, Object, Raw, condition
from gangline.errors import GanglineError
from gangline.operator import measures, rollout, status, termination
from gangline.operator.act import act, in_short
from gangline.operator.desired import claims
from gangline.operator.desired.bounds import GROUPS_IN_A_GANG, Backlog, horizon, number
from gangline.operator.desired.cliques import grouped_clique
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.desired.layout import CliquePlace, group_minimum, group_of, group_places, template_of
from gangline.operator.guard import guarded
from gangline.operator.look import INDEXES, Operator, asked_again, crowd, external_template, set_of
from gangline.operator.plan import (
    Create,
    EventNote,
    Patch,
    Step,
    WritePlan,
    changed,
    delete,
    missing_finalizer,
    with_condition,
    without_finalizer,
)
from gangline.operator.podclique import update_target
from gangline.operator.tell import HELD_BACK, error_list, status_patch
from gangline.operator.trims import TRIMS
from gangline.operator.unseen import UnseenChoices
from gangline.rules import wishes
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, owner
from gangline.runtime.clock import timestamp


@dataclass(slots=True)
class ScalingGroupObjects:
    group: PodCliqueScalingGroup
    pcs: PodCliqueSet
    config: ScalingGroupConfig
    replica: int
    places: list[tuple[CliquePlace, ...]]
    """The cliques of every replica that is looked at: those that are there, and the next ones."""
    cliques: dict[str, PodClique]
    backlog: Backlog = field(default_factory=Backlog)
    by_index: dict[str, list[PodClique]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_index = {}
        for clique in self.cliques.values():
            if not clique.metadata.deleting:
                self.by_index.setdefault(clique.labels.get(names.SCALING_GROUP_REPLICA, ""), []).append(clique)

    def living(self, name: str) -> PodClique | None:
        clique = self.cliques.get(name)
        return clique if clique is not None and not clique.metadata.deleting else None

    def members(self, index: int) -> list[PodClique]:
        """Every living clique with that replica index, expected or not."""
        return self.by_index.get(str(index), [])


async def reconcile(op: Operator, told: UnseenChoices, ctx: Context, key: Key) -> Again | None:
    group = ctx.read.get(SCALING_GROUP, key.name, key.namespace)
    if group is None:
        told.forget(key)
        return None
    if group.metadata.deleting:
        await _release(ctx, group)
        return None
    look = _look(ctx.read, group)
    if look is None:
        return None
    if not told.seen(key, group):
        measures.waits("podcliquescalinggroup", measures.UNSEEN)
        return None
    now = timestamp(ctx.clock.now())
    progress = rollout.group_progress(group, look.pcs, look.replica, now)
    plan, progress, wait = think(op, ctx.read, look, progress, ctx.clock.now(), now)
    if progress != group.status.update_progress and plan.writes:
        told.note(key, await _tell(op, ctx, look, progress, list(plan.errors), now))
    failures = await act(ctx, plan)
    errors = [*plan.errors, *((failure.code, str(failure)) for failure in failures if not failure.stale)]
    await _tell(op, ctx, look, progress, errors, now)
    if failures:
        raise GanglineError(in_short(failures))
    if wait is None:
        return None
    measures.waits("podcliquescalinggroup", measures.TERMINATION)
    return Again(wait)


async def _release(ctx: Context, group: PodCliqueScalingGroup) -> None:
    patch = without_finalizer(group, names.SCALING_GROUP_FINALIZER)
    if patch is not None:
        await ctx.client.patch(SCALING_GROUP, group.name, group.namespace, patch)


def _look(read: Reader, group: PodCliqueScalingGroup) -> ScalingGroupObjects | None:
    pcs, replica = set_of(read, group), group.labels.get(names.SET_REPLICA, "")
    if pcs is None or not replica.isdigit() or pcs.status.current_generation_hash is None:
        return None
    config = group_of(pcs, group.name.removeprefix(f"{pcs.name}-{replica}-"))
    if config is None:
        return None
    cliques = {clique.name: clique for clique in read.owned(POD_CLIQUE, group.uid)}
    backlog = _backlog(cliques.values(), crowd(read))
    places = [
        group_places(pcs, int(replica), config, index)
        for index in range(_horizon(pcs, group, config, cliques.values(), backlog))
    ]
    return ScalingGroupObjects(group, pcs, config, int(replica), places, cliques, backlog)


def _backlog(cliques: Iterable[PodClique], crowd: int) -> Backlog:
    """The group's replicas and pods that are not placed yet."""
    waiting = [clique for clique in cliques if not status.is_true(clique.status.conditions, status.SCHEDULED)]
    replicas = {clique.labels.get(names.SCALING_GROUP_REPLICA) for clique in waiting}
    return Backlog(
        len(replicas), sum(max(0, clique.spec.replicas - clique.status.scheduled_replicas) for clique in waiting), crowd
    )


def _horizon(
    pcs: PodCliqueSet,
    group: PodCliqueScalingGroup,
    config: ScalingGroupConfig,
    cliques: Iterable[PodClique],
    backlog: Backlog,
) -> int:
    """How many replicas are looked at. Those of the base gang are made in any case: it cannot start without them."""
    there = [
        index for clique in cliques if (index := number(clique.labels.get(names.SCALING_GROUP_REPLICA, ""))) is not None
    ]
    templates = [template for name in config.clique_names if (template := template_of(pcs, name)) is not None]
    step = backlog.step(len(templates), sum(template.spec.replicas for template in templates), group.spec.replicas)
    base = min(group.spec.replicas, group_minimum(config), GROUPS_IN_A_GANG)
    return max(base, horizon(group.spec.replicas, there, step))


# --- think
# -----------------------------------------------------------------------------------------------------------------


def think(
    op: Operator, read: Reader, look: ScalingGroupObjects, progress: Raw | None, now: float, stamp: str
) -> tuple[WritePlan, Raw | None, float | None]:
    """The plan, the progress of an update after it, and when to look again."""
    plan, group = WritePlan(), look.group
    first: list[Step] = []
    patch = missing_finalizer(group, names.SCALING_GROUP_FINALIZER)
    if patch is not None:
        first.append(Patch(SCALING_GROUP, group.name, group.namespace, patch))
    plan.stage([*first, *_claims(read, look, plan)])
    if plan.errors:
        return plan, progress, None
    steps = [*_beyond(look, plan), *_missing(look, plan)]
    wait: float | None = None
    if not status.update_open(progress):
        doom = termination.group_replicas(
            group, [look.members(index) for index in range(len(look.places))], termination.delay(look.pcs), now
        )
        steps += _remove(look, doom.now, plan)
        wait = doom.wait
    elif not status.on_delete(look.pcs):
        replaced = rollout.replace_group_replicas(
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
    level = claims.Level(
        SCALING_GROUP,
        group,
        look.pcs.name,
        sharing,
        group.spec.replicas,
        len(look.places),
        {names.SCALING_GROUP: group.name},
        names.SCALING_GROUP_REPLICA,
    )
    live = read.owned(RESOURCE_CLAIM, group.uid)
    there = {claim.name for claim in live}
    try:
        wanted = list(claims.claims(level, claims.internal_templates(look.pcs), partial(external_template, read)))
    except claims.MissingTemplate as error:
        plan.errors.append(("ERR_SYNC_PCSG_RESOURCE_CLAIM", str(error)))
        return []
    steps: list[Step] = [
        Create(RESOURCE_CLAIM, claim, "ERR_SYNC_PCSG_RESOURCE_CLAIM")
        for claim in wanted
        if claim["metadata"]["name"] not in there
    ]
    return steps + [
        delete(RESOURCE_CLAIM, claim, "ERR_SYNC_PCSG_RESOURCE_CLAIM")
        for claim in claims.surplus(level, live)
        if not claim.metadata.deleting
    ]


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
    patching = status.on_delete(look.pcs)
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


# --- tell
# --------------------------------------------------------------------------------------------------------------------


async def _tell(
    op: Operator, ctx: Context, look: ScalingGroupObjects, progress: Raw | None, errors: list[tuple[str, str]], now: str
) -> PodCliqueScalingGroup | None:
    group = look.group
    observed = group.status.observed_generation if errors else group.metadata.generation
    view = status.GroupView(
        group, look.pcs, look.places, look.living, progress, observed, op.settings.manner.failed_member_is_fine
    )
    new = status.group_status(view, now)
    new["conditions"] += _held_back(op, look, now)
    new["lastErrors"] = error_list(group.status.last_errors, errors, now, op.settings.manner.errors_linger)
    if group.status.scheduled_replicas > 0 and new["scheduledReplicas"] == 0:
        ctx.events.tell(
            SCALING_GROUP,
            group,
            "AllScheduledReplicasLost",
            "no replica of the group is scheduled any more",
            warning=True,
        )
    patch = status_patch(SCALING_GROUP, group, new)
    return (
        await ctx.client.patch(SCALING_GROUP, group.name, group.namespace, patch, subresource="status")
        if patch is not None
        else None
    )


def _held_back(op: Operator, look: ScalingGroupObjects, now: str) -> list[Raw]:
    """That not all replicas are made yet, because so many wait already."""
    group, asked = look.group, look.group.spec.replicas
    made = all(place.name in look.cliques for replica in look.places for place in replica)
    if op.settings.manner.plain_conditions or len(look.places) == asked or not made:
        return []
    told = Condition(
        type=HELD_BACK,
        status="True",
        reason="TooManyWaiting",
        message=(
            f"{len(look.places)} of {asked} replicas are there, and {look.backlog.gangs} of them with "
            f"{look.backlog.pods} pods wait to be "
            "placed: more are made once fewer wait"
        ),
    )
    return [with_condition(group.status.conditions, told, now)]


# --- the controller
# --------------------------------------------------------------------------------------------------------------


def _groups_of_set(pcs: PodCliqueSet, read: Reader) -> Iterable[Key]:
    return [Key(group.namespace, group.name) for group in read.owned(SCALING_GROUP, pcs.uid)]


def _set_changed(before: PodCliqueSet | None, after: PodCliqueSet | None) -> bool:
    return _update_moves(before, after) or (
        before is not None
        and after is not None
        and (
            before.metadata.generation != after.metadata.generation
            or wishes.ends_gangs(before.annotations) != wishes.ends_gangs(after.annotations)
        )
    )


def _update_moves(before: PodCliqueSet | None, after: PodCliqueSet | None) -> bool:
    if before is None or after is None:
        return before is None
    by_hand = status.on_delete(after) and after.status.update_progress is not None
    return (
        by_hand
        or update_target(before) != update_target(after)
        or before.status.current_generation_hash != after.status.current_generation_hash
    )


def _clique_matters(before: PodClique | None, after: PodClique | None) -> bool:
    if before is None or after is None:
        return True
    old, new = before.status, after.status
    return (
        asked_again(before, after) or _essence(before) != _essence(after) or old.update_progress != new.update_progress
    )


def _essence(clique: PodClique) -> tuple[object, ...]:
    found = clique.status
    return (
        found.ready_replicas,
        found.scheduled_replicas,
        found.updated_replicas,
        found.current_pod_template_hash,
        found.current_pod_clique_set_generation_hash,
        condition(found.conditions, status.BREACHED),
        condition(found.conditions, status.SCHEDULED),
    )


def _conditions_changed(before: PodCliqueScalingGroup | None, after: PodCliqueScalingGroup | None) -> bool:
    """The set's controller writes one condition here; an update goes on when its choice is seen, or enough replicas are
    available again."""
    if before is None or after is None or before.status.update_progress != after.status.update_progress:
        return True
    recovered = (
        status.update_open(after.status.update_progress)
        and after.status.available_replicas > before.status.available_replicas
    )
    return (
        recovered
        or asked_again(before, after)
        or condition(before.status.conditions, status.TERMINATING)
        != condition(after.status.conditions, status.TERMINATING)
    )


def _groups_in_trouble(template: Object, read: Reader) -> Iterable[Key]:
    return [
        Key(group.namespace, group.name)
        for group in read.list(SCALING_GROUP)
        if any(error.code == "ERR_SYNC_PCSG_RESOURCE_CLAIM" for error in group.status.last_errors)
    ]


def controller(op: Operator) -> Controller:
    of_set = _update_moves if op.settings.manner.groups_hear_updates else _set_changed
    return Controller(
        "podcliquescalinggroup",
        partial(guarded, SCALING_GROUP, partial(reconcile, op, UnseenChoices())),
        (
            Watch(SCALING_GROUP, itself, _conditions_changed),
            Watch(POD_CLIQUE, owner(SCALING_GROUP), _clique_matters),
            Watch(POD_CLIQUE_SET, _groups_of_set, of_set),
            Watch(RESOURCE_CLAIM, owner(SCALING_GROUP), asked_again),
            Watch(RESOURCE_CLAIM_TEMPLATE, _groups_in_trouble),
        ),
        indexes=INDEXES,
        workers=op.settings.workers.scaling_group,
        started=op.running.append,
        selectors=op.selectors,
        trims=TRIMS,
    )
