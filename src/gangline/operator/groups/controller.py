"""PodCliqueScalingGroup → the cliques of each of its replicas.

Made by the set's controller; the cliques go on to their own. Pure thought: look, think, rollout, tell.
"""

from __future__ import annotations

from functools import partial

from gangline.api import names
from gangline.api.grove import PodCliqueScalingGroup
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, SCALING_GROUP
from gangline.api.meta import Raw
from gangline.errors import GanglineError
from gangline.operator import measures
from gangline.operator.act import act, in_short, tell_events
from gangline.operator.groups.look import ScalingGroupObjects, look_at_group
from gangline.operator.groups.rollout import group_progress
from gangline.operator.groups.tell import events_of, status_after
from gangline.operator.groups.think import think
from gangline.operator.groups.watches import (
    clique_matters,
    conditions_changed,
    groups_in_trouble,
    groups_of_set,
    set_changed,
    update_moves,
)
from gangline.operator.guard import guarded
from gangline.operator.memory.lookups import INDEXES
from gangline.operator.memory.trims import TRIMS
from gangline.operator.memory.unseen import UnseenChoices
from gangline.operator.operator import Operator
from gangline.operator.status import status_patch
from gangline.operator.watches import asked_again
from gangline.rules.objects.finalizers import patch_that_removes
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import timestamp


async def reconcile(op: Operator, choices: UnseenChoices, ctx: Context, key: Key) -> Again | None:
    group = ctx.read.get(SCALING_GROUP, key.name, key.namespace)
    if group is None:
        choices.forget(key)
        return None
    if group.metadata.deleting:
        await _release(ctx, group)
        return None
    look = look_at_group(ctx.read, group)
    if look is None:
        return None
    if not choices.seen(key, group):
        measures.waits("podcliquescalinggroup", measures.UNSEEN)
        return None
    now = timestamp(ctx.clock.now())
    progress = group_progress(group, look.pcs, look.replica, now)
    plan, progress, wait = think(ctx.read, look, progress, ctx.clock.now(), now)
    if progress != group.status.update_progress and plan.writes:
        choices.note(key, await _tell(op, ctx, look, progress, list(plan.errors), now))
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
    patch = patch_that_removes(group, names.SCALING_GROUP_FINALIZER)
    if patch is not None:
        await ctx.client.patch(SCALING_GROUP, group.name, group.namespace, patch)


async def _tell(
    op: Operator, ctx: Context, look: ScalingGroupObjects, progress: Raw | None, errors: list[tuple[str, str]], now: str
) -> PodCliqueScalingGroup | None:
    group = look.group
    new = status_after(op.settings.manner, look, progress, errors, now)
    tell_events(ctx, events_of(group, new))
    patch = status_patch(group, new)
    if patch is None:
        return None
    return await ctx.client.patch(SCALING_GROUP, group.name, group.namespace, patch, subresource="status")


def controller(op: Operator) -> Controller:
    of_set = update_moves if op.settings.manner.groups_hear_updates else set_changed
    return Controller(
        "podcliquescalinggroup",
        partial(guarded, SCALING_GROUP, partial(reconcile, op, UnseenChoices())),
        (
            Watch(SCALING_GROUP, itself, conditions_changed),
            Watch(POD_CLIQUE, owner(SCALING_GROUP), clique_matters),
            Watch(POD_CLIQUE_SET, groups_of_set, of_set),
            Watch(RESOURCE_CLAIM, owner(SCALING_GROUP), asked_again),
            Watch(RESOURCE_CLAIM_TEMPLATE, groups_in_trouble),
        ),
        indexes=INDEXES,
        workers=op.settings.workers.scaling_group,
        started=op.running.append,
        selectors=op.selectors,
        trims=TRIMS,
    )
