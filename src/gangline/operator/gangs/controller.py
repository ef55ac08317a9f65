"""PodGang → the scheduler's own objects, and the way back into PodGang.status.

The set's controller makes and removes gangs; here each one is kept in step with its set and its pods, translated by its
backend, with its state in its status. Pure thought: look, think, translation, tell.
"""

from __future__ import annotations

from functools import partial

from gangline.api import names
from gangline.api.kinds import NODE, POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, TOPOLOGY_BINDING
from gangline.errors import GanglineError
from gangline.operator.act import act, tell_events
from gangline.operator.backends.contract import PodGangInfo
from gangline.operator.gangs.look import NOT_RUNNING, GangObjects, initialized, look_at_gang
from gangline.operator.gangs.tell import (
    PENDING,
    absent_status,
    due_objects,
    events_of,
    gang_status,
    gang_view,
    lapsed_status,
    unanswered,
)
from gangline.operator.gangs.think import left_behind, think
from gangline.operator.gangs.watches import gangs_of_binding, gangs_of_set, pod_moved, read_only, size_changed, watches
from gangline.operator.memory.lookups import INDEXES, set_of
from gangline.operator.memory.outside_backends import ASK
from gangline.operator.memory.trims import TRIMS, shared
from gangline.operator.operator import Operator
from gangline.operator.status import status_patch
from gangline.operator.watches import asked_again, gang_key, set_change_filter
from gangline.runtime import Again, Context, Controller, Key, Watch, itself
from gangline.runtime.clock import timestamp

NAME = "podgang"
TROUBLE = 10.0
"""Seconds until a gang whose translation something stands in the way of is looked at again."""


async def reconcile(op: Operator, ctx: Context, key: Key) -> Again | None:
    gang = ctx.read.get(POD_GANG, key.name, key.namespace)
    if gang is None:
        op.silence.forget(key)
        return None
    if gang.metadata.deleting or gang.labels.get(names.MANAGED_BY) != names.GROVE_OPERATOR:
        return None
    await op.ask(ctx, set_of(ctx.read, gang))
    look = look_at_gang(op, ctx.read, gang)
    if look is None:
        return None
    if not op.serves(look.selection.backend.name):
        await act(ctx, left_behind(op, look))
        return None if op.alone else await _tell_absence(op, ctx, look)
    plan, info, trouble = think(op, ctx.read, look)
    await _tell_lapse(op, ctx, look, info)
    failures = await act(ctx, plan)
    op.note_gone(ctx.read, failures)
    trouble = trouble or "; ".join(str(failure) for failure in failures)
    again = await _tell(op, ctx, look, info, trouble)
    if failures:
        raise GanglineError(trouble)
    return Again(TROUBLE) if trouble else again


async def _tell_lapse(op: Operator, ctx: Context, look: GangObjects, info: PodGangInfo) -> None:
    """A gang that stood and has neither all pods nor its minimum any more says so before it lists new ones: these would
    be let go."""
    new = lapsed_status(op, ctx.read, look, info, timestamp(ctx.clock.now()))
    patch = status_patch(look.gang, new) if new is not None else None
    if patch is not None:
        await ctx.client.patch(POD_GANG, look.gang.name, look.gang.namespace, patch, subresource="status")


async def _tell(op: Operator, ctx: Context, look: GangObjects, info: PodGangInfo, trouble: str) -> Again | None:
    gang, now = look.gang, ctx.clock.now()
    if not look.pods and not trouble and not gang.status.phase:
        return None  # nothing to tell before the first pod
    says = look.selection.backend.gang_status(info, ctx.read)
    wait = op.silence.wait(Key(gang.namespace, gang.name), gang.uid, unanswered(look.pods, says), now)
    new = gang_status(gang_view(op, ctx.read, look, info, trouble, says, wait == 0), timestamp(now))
    patch = status_patch(gang, new)
    if patch is not None:
        tell_events(ctx, events_of(gang, new, says))
        await ctx.client.patch(POD_GANG, gang.name, gang.namespace, patch, subresource="status")
    if not says.ready or (says.blocked and new["phase"] == PENDING):
        return Again(TROUBLE)
    if says.again is not None and new["phase"] == PENDING:
        return await _ask_again(ctx, look, says.again)
    return Again(wait) if wait else None


async def _tell_absence(op: Operator, ctx: Context, look: GangObjects) -> Again | None:
    """A gang that waits for a backend of another process says so where there is none."""
    gang, name = look.gang, look.selection.backend.name
    if initialized(gang) and not any(pod.spec.scheduling_gates for pod in look.pods):
        return None
    why = await op.outside.absent(ctx, name, op.settings.namespace)
    status = absent_status(gang, why, timestamp(ctx.clock.now())) if why else None
    patch = status_patch(gang, status) if status is not None else None
    if patch is not None:
        ctx.events.tell(POD_GANG, gang, NOT_RUNNING, why, warning=True)
        await ctx.client.patch(POD_GANG, gang.name, gang.namespace, patch, subresource="status")
    return Again(ASK)


async def _ask_again(ctx: Context, look: GangObjects, seconds: float) -> Again:
    """Touch the scheduler's objects of a gang that waits, if they were not touched for so long; gives when that is next
    due."""
    now = ctx.clock.now()
    due, wait = due_objects(look, seconds, now)
    for kind, obj in due:
        note = {"metadata": {"annotations": {names.ASKED_AGAIN: timestamp(now)}}}
        await ctx.client.patch(kind, obj.name, obj.namespace, note)
    return Again(wait)


def controller(op: Operator) -> Controller:
    return Controller(
        NAME,
        partial(reconcile, op),
        (
            Watch(POD_GANG, itself, asked_again),
            Watch(POD, gang_key, pod_moved),
            Watch(POD_CLIQUE, gang_key, size_changed),
            Watch(POD_CLIQUE_SET, gangs_of_set, set_change_filter(op.settings.manner)),
            Watch(TOPOLOGY_BINDING, gangs_of_binding, asked_again),
            *watches(op.followed),
        ),
        reads=(NODE, *read_only(op.followed)),
        indexes=INDEXES,
        workers=op.settings.workers.pod_gang,
        selectors=op.selectors,
        started=op.running.append,
        trims={kind: shared for backend in op.followed for kind in backend.writes} | TRIMS,
    )
