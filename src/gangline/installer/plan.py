"""Wanted objects beside those that are there → what to write, in order: what others need first, what calls others last.

What was written is remembered by digest and revision, so that a second look at an unchanged object writes nothing, and
one that somebody changed is written again (server-side apply of our fields; what others added stays). An object of our
name that is not ours is never in `live`: act.py finds out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    DAEMON_SET,
    DEPLOYMENT,
    ENDPOINT_SLICE,
    MUTATING_WEBHOOK,
    PDB,
    PROMETHEUS,
    ROLE,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    SERVICE_MONITOR,
    VALIDATING_WEBHOOK,
    VPA,
    Kind,
)
from gangline.api.meta import Object
from gangline.installer.contract import APP, WantedObject, WantedObjects
from gangline.installer.objects.webhooks import TLS_SECRET

ALWAYS: tuple[Kind[Any], ...] = (
    SERVICE_ACCOUNT,
    CLUSTER_ROLE,
    ROLE,
    CLUSTER_ROLE_BINDING,
    ROLE_BINDING,
    CONFIG_MAP,
    SECRET,
    SERVICE,
    ENDPOINT_SLICE,
    PDB,
    DEPLOYMENT,
    DAEMON_SET,
    MUTATING_WEBHOOK,
    VALIDATING_WEBHOOK,
)
"""Kinds that every cluster serves, in the order in which they are made."""
BY_NAME: dict[Kind[Any], str] = {SECRET: TLS_SECRET}
"""Kinds of which only the object with this name is looked at."""


def fields_of(kind: Kind[Any]) -> str:
    """The field selector with which objects of a kind are listed and watched."""
    return f"metadata.name={BY_NAME[kind]}" if kind in BY_NAME else ""


SOMETIMES: tuple[Kind[Any], ...] = (PROMETHEUS, SERVICE_MONITOR, VPA)
"""Kinds that a cluster may lack."""
ORDER = {kind: place for place, kind in enumerate((*ALWAYS, *SOMETIMES))}


class ObjectKey(NamedTuple):
    resource: str
    namespace: str
    name: str


class WrittenObject(NamedTuple):
    digest: str
    revision: int
    repaired: tuple[float, ...] = ()
    """When it was last put back, the oldest first."""
    state: int = 0
    """The generation, or the revision of what has none: it stays when only the status moves."""


PATIENCE, AFTER = 5, 60.0
"""What was put back so many times within so many seconds is contested: somebody else writes it too, and waiting is
better than fighting."""


def contested(written: WrittenObject | None, now: float) -> bool:
    return written is not None and len(written.repaired) >= PATIENCE and now - written.repaired[-PATIENCE] < AFTER


def place(kind: Kind[Any], obj: Object) -> ObjectKey:
    return ObjectKey(kind.resource, obj.namespace if kind.namespaced else "", obj.name)


def place_of(wanted: WantedObject) -> ObjectKey:
    return ObjectKey(wanted.kind.resource, wanted.namespace, wanted.name)


@dataclass(slots=True)
class InstallPlan:
    create: list[WantedObject] = field(default_factory=list)
    apply: list[tuple[WantedObject, Object]] = field(default_factory=list)
    """With the object that is there."""
    delete: list[tuple[Kind[Any], Object]] = field(default_factory=list)


def plan(
    wishes: WantedObjects, live: Iterable[tuple[Kind[Any], Object]], written: Mapping[ObjectKey, WrittenObject]
) -> InstallPlan:
    there = {place(kind, obj): (kind, obj) for kind, obj in live}
    install_plan = InstallPlan()
    for wanted in sorted(wishes.objects, key=lambda item: ORDER[item.kind]):
        known = there.pop(place_of(wanted), None)
        if known is None:
            install_plan.create.append(wanted)
        elif not as_written(wanted, known[1], written.get(place_of(wanted))):
            install_plan.apply.append((wanted, known[1]))
    install_plan.delete = _surplus(there.values(), wishes.kept)
    return install_plan


def as_written(wanted: WantedObject, obj: Object, before: WrittenObject | None) -> bool:
    """Whether the object is as we last wrote it, and that is as it should be. An older view of it tells nothing."""
    return (
        before is not None
        and before.digest == wanted.digest
        and int(obj.metadata.resource_version or 0) <= before.revision
    )


def _surplus(left: Iterable[tuple[Kind[Any], Object]], kept: Sequence[str]) -> list[tuple[Kind[Any], Object]]:
    """What is no longer wanted: webhooks first, so that nobody calls a server that is gone."""
    surplus = [(kind, obj) for kind, obj in left if obj.labels.get(APP) not in kept and not obj.metadata.deleting]
    return sorted(surplus, key=lambda item: -ORDER[item[0]])
