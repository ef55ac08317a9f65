"""PodCliqueSet → everything it owns: access, services, autoscalers, claims, cliques, scaling groups, gangs.

The first controller of the journey. Pure thought: look, think, support, rollout, tell. What cannot be made stands in
lastErrors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import (
    COMPUTE_DOMAIN,
    HPA,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    ROLE,
    ROLE_BINDING,
    SCALING_GROUP,
    SERVICE,
    SERVICE_ACCOUNT,
    TOPOLOGY_BINDING,
    Kind,
)
from gangline.api.meta import Object
from gangline.errors import GanglineError, NotFound
from gangline.operator import measures
from gangline.operator.act import act, in_short, tell_events
from gangline.operator.guard import guarded
from gangline.operator.memory.lookups import INDEXES, cliques_of_set
from gangline.operator.memory.trims import TRIMS
from gangline.operator.memory.unseen import UnseenWrites
from gangline.operator.operator import Operator
from gangline.operator.plan import WritePlan
from gangline.operator.sets import adoption, progress
from gangline.operator.sets.look import SetObjects, due_terminations, look_at_set, set_view
from gangline.operator.sets.rollout import new_hash, next_replica
from gangline.operator.sets.support import token_ready
from gangline.operator.sets.tell import events_of, status_after
from gangline.operator.sets.think import think
from gangline.operator.sets.watches import (
    clique_matters,
    gang_matters,
    gone_or_edited,
    group_matters,
    sets_in_trouble,
    sets_of_binding,
)
from gangline.operator.status import status_patch
from gangline.operator.watches import set_change_filter, set_key
from gangline.rules import wishes
from gangline.rules.objects.finalizers import patch_that_removes
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import timestamp

NAME = "podcliqueset"
GROWING = 5.0
"""Seconds until a set that is not whole yet is looked at again, if nothing else happens."""


async def reconcile(op: Operator, unseen: UnseenWrites, ctx: Context, key: Key) -> Again | None:
    pcs = ctx.read.get(POD_CLIQUE_SET, key.name, key.namespace)
    if pcs is None:
        op.pace.forget(key)
        unseen.forget(key)
        return None
    if pcs.metadata.deleting:
        await _release(ctx, pcs)
        return None
    if not unseen.caught_up(key, ctx.read):
        measures.waits(NAME, measures.UNSEEN)
        return None
    rest = op.pace.wait(key, pcs.metadata.generation, ctx.clock.now())
    if rest:
        measures.waits(NAME, measures.PACE)
        return Again(rest)
    if await _adopt(ctx, pcs):
        return None
    pcs = await op.tokens.look(ctx, pcs)
    now = timestamp(ctx.clock.now())
    pcs = await _note_hash(ctx, pcs, now)
    look = look_at_set(op, ctx.read, pcs)
    look.terminations = due_terminations(look, ctx.clock.now())
    look.progress = next_replica(set_view(op, look, None), look.terminations.now, now)
    plan = think(op, ctx.read, look, now)
    failures = await act(ctx, plan, unseen.of(key) if look.partial else None)
    errors = [*plan.errors, *((failure.code, str(failure)) for failure in failures if not failure.stale)]
    late = await _tell(op, ctx, look, errors, now)
    grows = look.partial and bool(look.missing)
    op.pace.done(key, pcs.metadata.generation, ctx.clock.now(), 0 if grows else look.size)
    if failures:
        raise GanglineError(in_short(failures))
    if not token_ready(op, pcs):
        return op.tokens.next_look(pcs)
    return _next_look(look.terminations.wait, late, GROWING if look.partial else None)


def _next_look(terminates: float | None, late: float | None, grows: float | None) -> Again | None:
    """When the next gang may have to end, an update is late, or more replicas may be made."""
    reasons = ((terminates, measures.TERMINATION), (late, measures.DEADLINE), (grows, measures.BACKLOG))
    waits = [(wait, why) for wait, why in reasons if wait is not None]
    for _, why in waits:
        measures.waits(NAME, why)
    return Again(min(waits)[0]) if waits else None


async def _adopt(ctx: Context, pcs: PodCliqueSet) -> bool:
    """A set that Grove's own operator made gets our hashes before anything else is thought about it."""
    if not adoption.upstream(pcs.status.current_generation_hash):
        return False
    groups = {group.name: group for group in ctx.read.owned(SCALING_GROUP, pcs.uid)}
    stages = adoption.adoption(
        pcs, cliques_of_set(ctx.read, pcs), groups, lambda clique: ctx.read.owned(POD, clique.uid)
    )
    failures = await act(ctx, WritePlan(stages=[stage for stage in stages if stage]))
    if failures:
        raise GanglineError("; ".join(str(failure) for failure in failures))
    return bool(stages)


async def _note_hash(ctx: Context, pcs: PodCliqueSet, now: str) -> PodCliqueSet:
    """A new template hash is written down before anything acts on it."""
    patch = new_hash(pcs, now)
    if patch is None:
        return pcs
    return await ctx.client.patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch, subresource="status")


async def _release(ctx: Context, pcs: PodCliqueSet) -> None:
    """ComputeDomains carry a finalizer of ours; everything else is left to garbage collection."""
    for domain in ctx.read.owned(COMPUTE_DOMAIN, pcs.uid):
        await _free_domain(ctx, domain)
    patch = patch_that_removes(pcs, names.SET_FINALIZER)
    if patch is not None:
        await ctx.client.patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch)


async def _free_domain(ctx: Context, domain: Object) -> None:
    """Let a ComputeDomain go; one that is gone, or whose kind is served no more, is let go already."""
    patch = patch_that_removes(domain, names.COMPUTE_DOMAIN_FINALIZER)
    try:
        if patch is not None:
            await ctx.client.patch(COMPUTE_DOMAIN, domain.name, domain.namespace, patch)
        if not domain.metadata.deleting:
            await ctx.client.delete(COMPUTE_DOMAIN, domain.name, domain.namespace, uid=domain.uid)
    except NotFound:
        return


async def _tell(op: Operator, ctx: Context, look: SetObjects, errors: list[tuple[str, str]], now: str) -> float | None:
    """Write the set's status; gives the seconds after which an update that does not move counts as stuck."""
    pcs = look.pcs
    new = status_after(op, look, errors, now)
    tell_events(ctx, events_of(pcs, new))
    patch = status_patch(pcs, new)
    if patch is not None:
        await ctx.client.patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch, subresource="status")
    return progress.remaining(progress.condition_in(new), wishes.progress_deadline(pcs.annotations), ctx.clock.now())


def controller(op: Operator) -> Controller:
    unseen = UnseenWrites(POD_GANG)
    mine: Callable[[Kind[Any]], Watch] = lambda kind: Watch(kind, owner(POD_CLIQUE_SET), gone_or_edited)  # noqa: E731
    return Controller(
        NAME,
        partial(guarded, POD_CLIQUE_SET, partial(reconcile, op, unseen)),
        (
            Watch(POD_CLIQUE_SET, itself, set_change_filter(op.settings.manner)),
            Watch(POD_CLIQUE, set_key, clique_matters),
            Watch(SCALING_GROUP, set_key, group_matters),
            Watch(POD_GANG, set_key, gang_matters),
            Watch(TOPOLOGY_BINDING, sets_of_binding),
            Watch(RESOURCE_CLAIM_TEMPLATE, sets_in_trouble),
            *map(mine, (SERVICE_ACCOUNT, ROLE, ROLE_BINDING, SERVICE, HPA, COMPUTE_DOMAIN, RESOURCE_CLAIM)),
        ),
        indexes=INDEXES,
        workers=op.settings.workers.pod_clique_set,
        started=op.running.append,
        selectors=op.selectors,
        trims=TRIMS,
    )
