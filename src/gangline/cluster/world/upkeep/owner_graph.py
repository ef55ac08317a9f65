"""Who owns whom, and what the garbage collector should do about one object.

A `Graph` holds a node per object with its owners; `judge` compares an object with what is known of its owners and
returns what to write. Pure: garbage.py keeps the graph up to date, looks up owners the graph does not know, and writes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from gangline.api.kinds import Kind
from gangline.api.meta import Object, OwnerReference

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


@dataclass(frozen=True, slots=True)
class Item:
    """One object as far as ownership goes."""

    kind: Kind[Object]
    object: Object

    @property
    def uid(self) -> str:
        return self.object.uid

    @property
    def owners(self) -> tuple[OwnerReference, ...]:
        return self.object.metadata.owner_references

    @property
    def waits_for_dependents(self) -> bool:
        return self.object.metadata.deleting and FOREGROUND in self.object.metadata.finalizers

    @property
    def orphans_dependents(self) -> bool:
        return self.object.metadata.deleting and ORPHAN in self.object.metadata.finalizers


@dataclass(slots=True)
class Graph:
    items: dict[str, Item] = field(default_factory=dict)
    _dependents: dict[str, dict[str, None]] = field(default_factory=dict)

    def put(self, item: Item) -> None:
        self.remove(item.uid)
        self.items[item.uid] = item
        for owner in item.owners:
            self._dependents.setdefault(owner.uid, {})[item.uid] = None

    def remove(self, uid: str) -> None:
        item = self.items.pop(uid, None)
        for owner in item.owners if item is not None else ():
            bucket = self._dependents.get(owner.uid, {})
            bucket.pop(uid, None)
            if not bucket:
                self._dependents.pop(owner.uid, None)

    def dependents(self, uid: str) -> list[Item]:
        return [self.items[item] for item in self._dependents.get(uid, ())]


class OwnerState(Enum):
    """What is known of one owner of an object."""

    SOLID = "there"
    ABSENT = "gone"
    WAITING = "deleting, and waiting for its dependents"
    MISPLACED = "of a namespaced kind, while the object is not in a namespace"
    UNKNOWN = "not known yet: ask the server"


Owners: TypeAlias = Mapping[str, OwnerState]


@dataclass(frozen=True, slots=True)
class Keep:
    """Nothing to do."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete the object, in this manner."""

    propagation: str
    unblock: bool = False
    """First take back its claim to block its owners: they wait for each other."""


@dataclass(frozen=True, slots=True)
class Disown:
    """Take these owners out of the object: they are gone while others are there."""

    uids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """Take a finalizer off the object: what it waited for is done."""

    finalizer: str


@dataclass(frozen=True, slots=True)
class Free:
    """Take the object out of its dependents' owners, then release it."""

    dependents: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Press:
    """Look at the dependents that block the object's deletion."""

    dependents: tuple[Item, ...]


Verdict: TypeAlias = Keep | Drop | Disown | Release | Free | Press


def owner_state(graph: Graph, item: Item, owner: OwnerReference, namespaced: bool | None) -> OwnerState:
    """What the graph says of an owner; `namespaced` tells whether the owner's kind is, None when no such kind is
    served."""
    if namespaced and not item.object.namespace and item.kind.namespaced is False:
        return OwnerState.MISPLACED
    live = graph.items.get(owner.uid)
    if live is None:
        return OwnerState.UNKNOWN
    named = live.kind.kind == owner.kind and live.object.name == owner.name
    if not named or live.object.namespace not in ("", item.object.namespace):
        return OwnerState.ABSENT
    return OwnerState.WAITING if live.waits_for_dependents else OwnerState.SOLID


def judge(graph: Graph, item: Item, owners: Owners) -> Verdict:
    """What to do about an object whose owners are all known."""
    if item.orphans_dependents:
        return Free(tuple(graph.dependents(item.uid)))
    if item.waits_for_dependents:
        blocking = tuple(dependent for dependent in graph.dependents(item.uid) if _blocks(dependent, item.uid))
        return Press(blocking) if blocking else Release(FOREGROUND)
    if item.object.metadata.deleting or not item.owners:
        return Keep()
    states = owners.values()
    if OwnerState.SOLID in states or OwnerState.MISPLACED in states:
        return _without(item, owners)
    if OwnerState.WAITING in states and graph.dependents(item.uid):
        return Drop(
            "Foreground", unblock=any(dependent.waits_for_dependents for dependent in graph.dependents(item.uid))
        )
    return Drop(_manner(item.object.metadata.finalizers))


def _without(item: Item, owners: Owners) -> Verdict:
    gone = tuple(owner.uid for owner in item.owners if owners[owner.uid] in (OwnerState.ABSENT, OwnerState.WAITING))
    return Disown(gone) if gone else Keep()


def _blocks(item: Item, uid: str) -> bool:
    return any(owner.uid == uid and owner.block_owner_deletion for owner in item.owners)


def _manner(finalizers: Collection[str]) -> str:
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


def misplaced(item: Item, owner: OwnerReference) -> str:
    """That an owner is not where its dependent looks for it, in words."""
    where = item.object.namespace
    return (
        f"ownerRef [{owner.api_version}/{owner.kind}, namespace: {where}, "
        f'name: {owner.name}, uid: {owner.uid}] does not exist in namespace "{where}"'
    )
