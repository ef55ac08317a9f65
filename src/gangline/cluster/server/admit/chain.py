"""Admission: what may still change or refuse a write after it was understood and allowed.

Plain functions are registered per (group, resource, operation); the same functions serve as webhooks on real clusters.
The steps that a kube-apiserver has built in are registered the same way by plugins.py; calling foreign webhooks is
webhooks.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gangline.client.wire import User
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.status import invalid
from gangline.errors import ApiError, Problem
from gangline.rules.cel import StepBudget

CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"
CEL_STEPS = 2_500_000
"""Of all expressions about one write, as Kubernetes has them for the matchConditions of one policy: about a second of
processor time here."""


@dataclass(frozen=True, slots=True)
class ScaleFace:
    """How a subresource shows an object to others, as scale does, and how a changed face is taken back."""

    show: Callable[[dict[str, Any]], dict[str, Any]]
    take: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


@dataclass(slots=True)
class WriteReview:
    """One write on its way in. `object` may be replaced by mutating functions; `old` is the stored one, if any."""

    operation: str
    resource: Resource
    namespace: str
    name: str
    object: dict[str, Any] | None
    old: dict[str, Any] | None
    user: User
    subresource: str = ""
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    """Of a delete; those of other writes are in the query."""
    query: tuple[tuple[str, str], ...] = ()
    face: ScaleFace | None = None
    requested: Resource | None = None
    """What was written to, where the review has it in an equivalent version."""
    budget: StepBudget = field(default_factory=lambda: StepBudget(CEL_STEPS))
    """What all expressions of webhooks and policies may still cost together."""

    @property
    def told_name(self) -> str:
        """How a refusal names the object: one that has no name yet by what its name will begin with."""
        if self.operation != CREATE or self.subresource or self.object is None:
            return self.name
        about = self.object.get("metadata") or {}
        return about.get("name") or about.get("generateName") or "Unknown"

    def shown(self, obj: dict[str, Any] | None) -> dict[str, Any] | None:
        return obj if obj is None or self.face is None else self.face.show(obj)


Mutate = Callable[[WriteReview], dict[str, Any] | None]
"""Returns the object to go on with, or None to leave it."""
Validate = Callable[[WriteReview], Iterable[Problem]]
Hook = Callable[[WriteReview], Awaitable[None]]


@dataclass(slots=True)
class _Step:
    name: str
    mutate: Mutate | None
    validate: Validate | None
    subresources: tuple[str, ...]
    in_place: bool


class Admission:
    def __init__(self) -> None:
        self._steps: dict[tuple[str, str, str], list[_Step]] = {}
        self._found: dict[tuple[str, str, str, str], list[_Step]] = {}
        self.mutating_hook: Hook | None = None
        self.validating_hook: Hook | None = None
        self.last: Callable[[WriteReview], None] | None = None
        """What books a write that all other plugins let pass."""

    def add(
        self,
        group: str,
        resource: str,
        operations: Iterable[str],
        *,
        mutate: Mutate | None = None,
        validate: Validate | None = None,
        name: str = "",
        subresources: tuple[str, ...] = ("",),
        in_place: bool = True,
    ) -> None:
        """Register functions for a resource ("*" for all). `subresources` names those it also sees; "" is the object
        itself. Not `in_place`: what it changes it returns, and leaves what it was given as it is."""
        self._found.clear()
        for operation in operations:
            self._steps.setdefault((group, resource, operation), []).append(
                _Step(name, mutate, validate, subresources, in_place)
            )

    def _for(self, review: WriteReview) -> list[_Step]:
        return self._steps_for(review.resource, review.operation, review.subresource)

    def _steps_for(self, resource: Resource, operation: str, subresource: str) -> list[_Step]:
        key = (resource.group, resource.plural, operation, subresource)
        _steps = self._found.get(key)
        if _steps is None:
            steps = self._steps.get(("*", "*", operation), []) + self._steps.get(key[:3], [])
            _steps = self._found[key] = [
                step for step in steps if subresource in step.subresources or "*" in step.subresources
            ]
        return _steps

    @property
    def calls_out(self) -> bool:
        """Writes may wait for others."""
        return self.mutating_hook is not None or self.validating_hook is not None

    def changes(self, resource: Resource, operation: str, subresource: str) -> bool:
        """Whether somebody may change such a write in place."""
        return self.mutating_hook is not None or any(
            step.mutate and step.in_place for step in self._steps_for(resource, operation, subresource)
        )

    async def mutate(self, review: WriteReview) -> None:
        for step in self._for(review):
            if step.mutate is not None:
                changed = step.mutate(review)
                if changed is not None:
                    review.object = changed
        if self.mutating_hook is not None:
            await self.mutating_hook(review)

    async def validate(self, review: WriteReview) -> None:
        for step in self._for(review):
            if step.validate is not None:
                problems = list(step.validate(review))
                if problems:
                    raise refused(review, problems)
        if self.validating_hook is not None:
            await self.validating_hook(review)
        if self.last is not None:
            self.last(review)


def refused(review: WriteReview, problems: list[Problem]) -> ApiError:
    name = review.name or ((review.object or {}).get("metadata") or {}).get("name", "")
    return invalid(review.resource.shelf[0], review.resource.kind, name, problems)
