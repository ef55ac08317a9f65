"""A controller as data: what to watch, which keys a change concerns, and the reconcile of four beats (look, think, act,
tell) that is called with each key.

running_controller.py is the loop around it. Keys are passed, never events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.client import Client
from gangline.runtime.cache import Reader
from gangline.runtime.clock import Clock
from gangline.runtime.events import Recorder
from gangline.runtime.keys import Key, key_of
from gangline.runtime.queue import LONGEST_DELAY
from gangline.runtime.watching.object_copy import Index
from gangline.runtime.writer import Writer

if TYPE_CHECKING:
    from gangline.runtime.running_controller import RunningController


@dataclass(frozen=True, slots=True)
class Again:
    """Done for now; look again in so many seconds."""

    seconds: float
    in_turn: bool = False
    """When reports have their turn (client/lanes.py), instead of at a time."""


@dataclass(slots=True)
class Context:
    """What a reconcile is given."""

    client: Client
    read: Reader
    clock: Clock
    events: Recorder
    writer: Writer


Reconcile = Callable[[Context, Key], Awaitable[Again | None]]
ToKeys = Callable[[Any, Reader], Iterable[Key]]


@dataclass(frozen=True, slots=True)
class Watch:
    """A kind whose changes matter, and which keys each change concerns."""

    kind: Kind[Any]
    keys: ToKeys
    when: Callable[[Any, Any], bool] | None = None
    """Called with (before, after), either may be None; False: this change does not matter."""


def itself(obj: Object, read: Reader) -> Iterable[Key]:
    return [key_of(obj)]


def owner(kind: Kind[Any]) -> ToKeys:
    """Concerns the owner of that kind."""

    def keys(obj: Object, read: Reader) -> Iterable[Key]:
        return [
            Key(obj.namespace if kind.namespaced else "", owner_reference.name)
            for owner_reference in obj.metadata.owner_references
            if owner_reference.kind == kind.kind and owner_reference.group == kind.group
        ]

    return keys


@dataclass(frozen=True, slots=True)
class Controller:
    name: str
    reconcile: Reconcile
    watches: Sequence[Watch]
    reads: Sequence[Kind[Any]] = ()
    """Further kinds the Reader must hold."""
    indexes: Sequence[tuple[Kind[Any], str, Index]] = ()
    workers: int = 8
    selectors: dict[Kind[Any], tuple[str, str]] = field(default_factory=dict)
    """Label and field selector per kind, to hold less in memory."""
    started: Callable[[RunningController], None] = lambda running: None
    """Told when it is at work, for those that give it more to watch while it runs."""
    trims: Mapping[Kind[Any], Callable[[Any], Any]] = field(default_factory=dict)
    """What of each object is kept, per kind; for the same end."""
    longest_wait: float = LONGEST_DELAY
    """Seconds until what failed is tried again, at most."""
