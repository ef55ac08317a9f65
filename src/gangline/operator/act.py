"""The only place of the operator that writes: carries out a plan, stage by stage.

What fails is returned, not raised, so that the reconcile can tell it in lastErrors and then retry. An object of our
name that belongs to someone else is never overwritten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gangline.api.meta import Object
from gangline.errors import AlreadyExists, ApiError, Conflict, NotFound
from gangline.operator import measures
from gangline.operator.memory.unseen import NotedWrites
from gangline.operator.plan import Apply, Create, Delete, EventNote, Patch, Step, WritePlan
from gangline.runtime.controller import Context

AT_ONCE = 16
TOLD = 8
"""How many equal things an event names before it only counts them."""


@dataclass(frozen=True, slots=True)
class WriteFailure:
    step: Step
    error: ApiError

    @property
    def code(self) -> str:
        taken = self.step.taken if isinstance(self.step, Create) and isinstance(self.error, AlreadyExists) else ""
        return taken or self.step.code

    @property
    def stale(self) -> bool:
        """The view was old; a second look is enough. What cannot be made because its kind is not there stays so."""
        return (
            isinstance(self.error, Conflict | NotFound)
            and not isinstance(self.error, AlreadyExists)
            and not self._homeless
        )

    @property
    def _homeless(self) -> bool:
        """Something new found no place: its kind is not served, or its namespace is gone."""
        return isinstance(self.step, Create) and isinstance(self.error, NotFound)

    def __str__(self) -> str:
        verb, hint = (
            type(self.step).__name__.lower(),
            "; is its CustomResourceDefinition installed?" if self._homeless else "",
        )
        return f"cannot {verb} {self.step.kind.kind} {self.step.name}: {str(self.error).strip()}{hint}"


def in_short(failures: Sequence[WriteFailure]) -> str:
    """What failed, in one line."""
    return listed(failures, "; ")


def listed(things: Sequence[object], between: str = ", ") -> str:
    """The first few, and how many more."""
    return between.join([*map(str, things[:TOLD]), *([f"and {len(things) - TOLD} more"] if len(things) > TOLD else [])])


async def act(ctx: Context, plan: WritePlan, written: NotedWrites | None = None) -> list[WriteFailure]:
    """Write what was planned; the first stage with a failure is the last one run."""
    for stage in plan.stages:
        failures = await run(ctx, stage, written)
        if failures:
            return failures
    tell_events(ctx, joined(plan.events))
    return []


def tell_events(ctx: Context, notes: Iterable[EventNote]) -> None:
    for note in notes:
        ctx.events.tell(note.kind, note.obj, note.reason, note.message, warning=note.warning)


def joined(events: Sequence[EventNote]) -> list[EventNote]:
    """What one look says about one object for one reason, as one event."""
    alike: dict[tuple[str, str, bool], list[EventNote]] = {}
    for note in events:
        alike.setdefault((note.obj.uid, note.reason, note.warning), []).append(note)
    return [_join(notes) for notes in alike.values()]


def _join(events: Sequence[EventNote]) -> EventNote:
    return replace(events[0], message=listed([note.message for note in events], "; "))


async def run(ctx: Context, steps: list[Step], written: NotedWrites | None = None) -> list[WriteFailure]:
    if len(steps) == 1:
        answers = [await _step(ctx, steps[0], written)]
    else:
        limit = asyncio.Semaphore(AT_ONCE)

        async def limited(step: Step) -> WriteFailure | None:
            async with limit:
                return await _step(ctx, step, written)

        answers = await asyncio.gather(*(limited(step) for step in steps))
    return [answer for answer in answers if answer is not None]


async def _step(ctx: Context, step: Step, written: NotedWrites | None) -> WriteFailure | None:
    verb, started = type(step).__name__.lower(), ctx.clock.now()
    outcome, failure = await _written(ctx, step, written)
    measures.wrote(step.kind.kind, verb, outcome, ctx.clock.now() - started)
    return failure


async def _written(ctx: Context, step: Step, written: NotedWrites | None) -> tuple[str, WriteFailure | None]:
    """How a write ended, for the metrics, and what there is to tell of it."""
    try:
        answer = await _write(ctx, step)
        if written is not None:
            written.note(step, answer)
        return measures.DONE, None
    except NotFound as error:
        return measures.GONE, None if isinstance(step, Delete) else WriteFailure(step, error)
    except AlreadyExists as error:
        return measures.TAKEN, None if isinstance(step, Create) and await _ours(ctx, step) else WriteFailure(
            step, error
        )
    except Conflict as error:
        return measures.CONFLICT, WriteFailure(step, error)
    except ApiError as error:
        return measures.REFUSED, WriteFailure(step, error)


async def _write(ctx: Context, step: Step) -> Object | None:
    match step:
        case Create():
            made: Object = await ctx.client.create(step.kind, step.obj)
            return made
        case Patch():
            await ctx.client.patch(step.kind, step.name, step.namespace, step.patch, subresource=step.subresource)
        case Apply():
            await ctx.client.apply(step.kind, step.obj, manager=step.manager, force=step.force)
        case Delete():
            await ctx.client.delete(step.kind, step.name, step.namespace, uid=step.uid)
    return None


async def _ours(ctx: Context, step: Create) -> bool:
    """Whether the object that is there already is the one we meant to make."""
    meta = step.obj["metadata"]
    try:
        live: Object = await ctx.client.get(step.kind, step.name, meta.get("namespace", ""))
    except NotFound:
        return False
    wanted = {owner["uid"] for owner in meta.get("ownerReferences", ())}
    return not wanted or any(owner.uid in wanted for owner in live.metadata.owner_references)
