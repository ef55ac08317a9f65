"""PodClique → pods: made, gated, let go, replaced, counted.

Stands between the controllers of sets and groups, which make cliques, and the one of gangs, which lists pods and says
when their gang is complete. Pure thought: look, think, gates, rollout, tell. A pod write that the cache has not shown
yet postpones the next look, so nothing is made twice.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from gangline.api import names
from gangline.api.grove import PodClique
from gangline.api.kinds import (
    NODE,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    SCALING_GROUP,
    TOPOLOGY_BINDING,
)
from gangline.errors import GanglineError
from gangline.operator import measures
from gangline.operator.act import act, in_short, listed, tell_events
from gangline.operator.cliques.look import CliqueObjects, look_at_clique
from gangline.operator.cliques.rollout import selected_pods
from gangline.operator.cliques.tell import errors_of, events_of, status_after, why_lifted
from gangline.operator.cliques.think import CliqueThought, think
from gangline.operator.cliques.watches import (
    chosen_or_asked,
    cliques_of_group,
    cliques_of_set,
    cliques_with_gang,
    cliques_with_sharing,
    gang_changed,
    group_moved,
    listening_cliques,
    set_changed,
)
from gangline.operator.guard import guarded
from gangline.operator.memory.lookups import INDEXES
from gangline.operator.memory.trims import TRIMS
from gangline.operator.memory.unseen import UnseenChoices, UnseenWrites
from gangline.operator.operator import Operator
from gangline.operator.status import status_patch
from gangline.operator.watches import asked_again
from gangline.rules.objects.finalizers import patch_that_removes
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner
from gangline.runtime.clock import timestamp

log = logging.getLogger(__name__)


async def reconcile(op: Operator, unseen: UnseenWrites, choices: UnseenChoices, ctx: Context, key: Key) -> Again | None:
    clique = ctx.read.get(POD_CLIQUE, key.name, key.namespace)
    if clique is None:
        unseen.forget(key)
        choices.forget(key)
        return None
    if clique.metadata.deleting:
        await _release(ctx, clique)
        return None
    look = look_at_clique(ctx.read, clique)
    if look is None:
        return None
    if not unseen.caught_up(key, ctx.read) or not choices.seen(key, clique):
        measures.waits("podclique", measures.UNSEEN)
        return None
    await op.ask(ctx, look.pcs)
    now = timestamp(ctx.clock.now())
    thought = think(op, ctx.read, look, now)
    if selected_pods(thought.progress) != selected_pods(clique.status.update_progress):
        choices.note(key, await _tell(op, ctx, look, thought, [], now))
    failed = await act(ctx, thought.plan, unseen.of(key))
    if not failed:
        _log_lifted(look, thought.gates.lifted)
    if failed or thought.plan.errors or thought.missing or not (thought.moves_pods or thought.waits):
        await _tell(op, ctx, look, thought, errors_of(failed), now)
    if failed:
        raise GanglineError(in_short(failed))
    return Again(thought.again) if thought.again is not None else None


def _log_lifted(look: CliqueObjects, lifted: Sequence[str]) -> None:
    """Who was let go, and why now."""
    gang = look.gang
    if lifted and gang is not None:
        log.info(
            "gates lifted: gang %s/%s, clique %s, pods %s: %s",
            gang.namespace,
            gang.name,
            look.clique.name,
            listed(lifted),
            why_lifted(gang),
            extra={"gang": f"{gang.namespace}/{gang.name}"},
        )


async def _release(ctx: Context, clique: PodClique) -> None:
    patch = patch_that_removes(clique, names.CLIQUE_FINALIZER)
    if patch is not None:
        await ctx.client.patch(POD_CLIQUE, clique.name, clique.namespace, patch)


async def _tell(
    op: Operator, ctx: Context, look: CliqueObjects, thought: CliqueThought, failed: list[tuple[str, str]], now: str
) -> PodClique | None:
    clique = look.clique
    new = status_after(op.settings.manner, look, thought, failed, now)
    tell_events(ctx, events_of(clique, new))
    patch = status_patch(clique, new)
    if patch is None:
        return None
    return await ctx.client.patch(POD_CLIQUE, clique.name, clique.namespace, patch, subresource="status")


def controller(op: Operator) -> Controller:
    unseen, choices = UnseenWrites(POD), UnseenChoices()
    by_group = op.settings.manner.groups_hear_updates
    return Controller(
        "podclique",
        partial(guarded, POD_CLIQUE, partial(reconcile, op, unseen, choices)),
        (
            Watch(POD_CLIQUE, itself, chosen_or_asked),
            Watch(POD, owner(POD_CLIQUE)),
            Watch(POD_GANG, cliques_with_gang, gang_changed),
            Watch(POD_CLIQUE_SET, listening_cliques if by_group else cliques_of_set, set_changed),
            *([Watch(SCALING_GROUP, cliques_of_group, group_moved)] if by_group else []),
            Watch(RESOURCE_CLAIM, owner(POD_CLIQUE), asked_again),
            Watch(RESOURCE_CLAIM_TEMPLATE, cliques_with_sharing),
        ),
        reads=(NODE, TOPOLOGY_BINDING),
        indexes=INDEXES,
        workers=op.settings.workers.pod_clique,
        started=op.running.append,
        selectors=op.selectors,
        trims=TRIMS,
    )
