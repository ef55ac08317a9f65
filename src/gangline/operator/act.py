"""Carries out a plan of the operator, stage by stage, with the component's writer (runtime/writer.py).

What fails is returned, not raised, so that the reconcile can tell it in lastErrors and then retry. An object of our
name that belongs to someone else is never overwritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gangline.errors import AlreadyExists, ApiError, Conflict, NotFound
from gangline.operator import measures
from gangline.operator.memory.unseen import NotedWrites
from gangline.operator.plan import Create, EventNote, Step, WritePlan
from gangline.rules.objects.writes import DONE, WriteOutcome
from gangline.runtime.controller import Context

LISTED = 8
"""So many things are named in one line; more are only counted."""


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
            and not self._no_kind_or_namespace
        )

    @property
    def _no_kind_or_namespace(self) -> bool:
        """What should be created cannot be: its kind is not served, or its namespace is gone."""
        return isinstance(self.step, Create) and isinstance(self.error, NotFound) and not self._before_its_role

    @property
    def _before_its_role(self) -> bool:
        """A binding and its role are made at once, both of the same name; this one came first."""
        missing = f'rbac.authorization.k8s.io "{self.step.name}" not found'
        return self.step.kind.kind == "RoleBinding" and missing in str(self.error)

    def __str__(self) -> str:
        what = f"{type(self.step).__name__.lower()} {self.step.kind.kind} {self.step.name}"
        hint = "; is its CustomResourceDefinition installed?" if self._no_kind_or_namespace else ""
        return f"cannot {what}: {str(self.error).strip()}{hint}"


def in_short(failures: Sequence[WriteFailure]) -> str:
    """What failed, in one line."""
    return listed(failures, "; ")


def listed(things: Sequence[object], between: str = ", ") -> str:
    """The first few, and how many more."""
    more = [f"and {len(things) - LISTED} more"] if len(things) > LISTED else []
    return between.join([*map(str, things[:LISTED]), *more])


async def act(ctx: Context, plan: WritePlan, written: NotedWrites | None = None) -> list[WriteFailure]:
    """Write what was planned; the first stage with a failure is the last one run."""

    def note(outcome: WriteOutcome) -> None:
        if written is not None and outcome.ended == DONE:
            written.note(outcome.step, outcome.answer)
        measures.wrote(outcome.step.kind.kind, outcome.verb, outcome.ended, outcome.seconds)

    for stage in plan.stages:
        outcomes = await ctx.writer.write_all(stage, note)
        failures = [WriteFailure(outcome.step, outcome.error) for outcome in outcomes if outcome.error is not None]
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
