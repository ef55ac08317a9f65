"""The third beat, the only place of the installer that writes objects: creates, applies, deletes, and says what came of
each.

An object of our name that belongs to somebody else is never overwritten: what the cache does not know as ours is looked
for, and where the name is taken, the owner decides. What fails is collected, so that one refusal keeps nothing else
from being done."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from gangline.api.kinds import MUTATING_WEBHOOK, NAMESPACE, VALIDATING_WEBHOOK, Kind, reference
from gangline.api.meta import Object, OwnerReference, Raw
from gangline.errors import AlreadyExists, ApiError, Conflict, Invalid, NotFound
from gangline.installer.config_reader import at
from gangline.installer.contract import OURS, WantedObject
from gangline.installer.objects.webhooks import with_what_others_add
from gangline.installer.plan import ORDER, PATIENCE, InstallPlan, ObjectKey, WrittenObject, contested, place, place_of
from gangline.runtime.controller import Context
from gangline.runtime.writer import together

AT_ONCE = 8


@dataclass(slots=True)
class WriteReport:
    """What was done, in the words of events and conditions."""

    made: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    leaving: list[str] = field(default_factory=list)
    contested: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class OwnedObjects:
    """The objects of one owner: put in place, put back, removed; and what was written of each is remembered."""

    def __init__(self, ctx: Context, kind: Kind[Any], owner: Object, written: dict[ObjectKey, WrittenObject]) -> None:
        self._client, self._writer, self._now = ctx.client, ctx.writer, ctx.clock.now()
        self._kind, self._owner, self._written = kind, owner, written
        self._report = WriteReport()

    async def carry_out(self, plan: InstallPlan) -> WriteReport:
        steps = [(wanted.kind, wanted, live) for wanted, live in (*((item, None) for item in plan.create), *plan.apply)]
        for _, alike in groupby(sorted(steps, key=lambda step: ORDER[step[0]]), key=lambda step: step[0]):
            await together(list(alike), self._put_in_place, AT_ONCE)
        for _, alike_gone in groupby(plan.delete, key=lambda item: item[0]):
            await together(list(alike_gone), self._remove, AT_ONCE)
        return self._report

    def _owned(self, wanted: WantedObject) -> Raw:
        return wanted.obj | {
            "metadata": wanted.obj["metadata"] | {"ownerReferences": [reference(self._kind, self._owner)]}
        }

    async def _put_in_place(self, step: tuple[Kind[Any], WantedObject, Object | None]) -> None:
        _, wanted, live = step
        if live is None:
            await self._make(wanted)
        else:
            await self._apply(wanted, live)

    async def _make(self, wanted: WantedObject) -> None:
        try:
            live = await self._look(wanted)
            made = await self._create(wanted) if live is None else None
        except ApiError as error:
            self._report.failures.append(f"{wanted} cannot be made: {error}")
            return
        if live is not None:
            await self._taken(wanted, live)
        elif made is not None:
            self._remember(wanted, made)
            self._report.made.append(str(wanted))

    async def _look(self, wanted: WantedObject) -> Object | None:
        try:
            live: Object = await self._client.get(wanted.kind, wanted.name, wanted.namespace)
        except NotFound:
            return None
        return live

    async def _create(self, wanted: WantedObject) -> Object:
        """By apply, so that later applies find nothing new; without force, so that nobody who is quicker is
        overwritten. A namespace that is missing is made too; it stays when everything else goes, because others may use
        it."""
        try:
            made: Object = await self._client.apply(wanted.kind, self._owned(wanted), force=False)
        except NotFound:
            if not wanted.namespace:
                raise
            namespace = {"metadata": {"name": wanted.namespace, "labels": dict(OURS)}}
            with suppress(AlreadyExists):
                await self._client.create_only(NAMESPACE, namespace)
            made = await self._client.apply(wanted.kind, self._owned(wanted), force=False)
        return made

    async def _taken(self, wanted: WantedObject, live: Object) -> None:
        """The name is taken: by us (the cache was late, or the label was taken off), by an earlier owner, or by
        somebody else."""
        owners = live.metadata.owner_references
        if any(owner.uid == self._owner.uid for owner in owners):
            await self._apply(wanted, live)
        elif live.metadata.deleting or any(self._earlier(owner) for owner in owners):
            self._report.leaving.append(f"{wanted} of an earlier {self._kind.kind} {self._owner.name} is still going")
        else:
            self._report.foreign.append(
                f"{wanted} exists and belongs to {_holder(owners)}; it is left alone: remove or rename it"
            )

    def _earlier(self, owner: OwnerReference) -> bool:
        return (owner.kind, owner.name) == (self._kind.kind, self._owner.name)

    async def _apply(self, wanted: WantedObject, live: Object) -> None:
        known = self._written.get(place_of(wanted))
        again = known is not None and known.digest == wanted.digest
        if known is not None and again and contested(known, self._now):
            await self._leave(wanted, known)
            return
        try:
            applied: Object = await self._client.apply(wanted.kind, self._owned(await self._beside_others(wanted)))
        except ApiError as error:
            remedy = "; delete it, and it is made anew" if isinstance(error, Invalid) else ""
            self._report.failures.append(f"{wanted} cannot be changed: {error}{remedy}")
            return
        differed = _state(applied) != _state(live)
        before = known.repaired if known is not None and again else ()
        self._remember(wanted, applied, (*before, self._now)[-PATIENCE:] if again and differed else before)
        if differed:
            (self._report.repaired if again else self._report.changed).append(str(wanted))

    async def _leave(self, wanted: WantedObject, known: WrittenObject) -> None:
        """Not written for a while, because somebody else writes it too; nothing is said while it is as we left it."""
        try:
            live = await self._client.get_raw(wanted.kind, wanted.name, wanted.namespace)
        except ApiError:
            live = {}
        if int(at(live, "metadata.generation", 0) or at(live, "metadata.resourceVersion", 0)) == known.state:
            return
        others = {
            str(item.get("manager")): None
            for item in at(live, "metadata.managedFields", [])
            if not item.get("subresource")
        }
        others.pop(self._client.manager, None)
        self._report.contested.append(
            f"{wanted} is changed by somebody else as often as it is put back; who writes it: "
            f"{', '.join(others) or 'unknown'}: stop one of the two"
        )

    async def _beside_others(self, wanted: WantedObject) -> WantedObject:
        if wanted.kind not in (MUTATING_WEBHOOK, VALIDATING_WEBHOOK):
            return wanted
        live = await self._client.get_raw(wanted.kind, wanted.name)
        return WantedObject(wanted.kind, with_what_others_add(wanted.obj, live))

    async def _remove(self, item: tuple[Kind[Any], Object]) -> None:
        kind, obj = item
        try:
            await self._writer.delete_unless_gone(kind, obj, propagation="Background")
        except Conflict:
            pass
        except ApiError as error:
            self._report.failures.append(f"{kind.kind} {obj.name} cannot be removed: {error}")
            return
        self._written.pop(place(kind, obj), None)
        self._report.removed.append(f"{kind.kind} {obj.name}")

    def _remember(self, wanted: WantedObject, live: Object, repaired: tuple[float, ...] = ()) -> None:
        revision = int(live.metadata.resource_version or 0)
        self._written[place_of(wanted)] = WrittenObject(wanted.digest, revision, repaired, _state(live))


def _state(obj: Object) -> int:
    """What moves when somebody changes what we say. Revisions also move with the status, which a cache may be late
    with; generations do not."""
    return int(obj.metadata.generation or obj.metadata.resource_version or 0)


def _holder(owners: Iterable[OwnerReference]) -> str:
    return ", ".join(f"{owner.kind} {owner.name}" for owner in owners) or "somebody else"
