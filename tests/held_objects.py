"""Objects as a component holds them, without a server: the cache of its process, filled by hand.

For tests of what components think: `think(op, held, look, now)` needs nothing but objects that are already here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import msgspec

from gangline.api.kinds import KINDS, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client, Request, Response
from gangline.runtime import Cache
from gangline.runtime.keys import Key, key_of

VERSIONS = itertools.count(1)
"""Of all objects of all tests, and part of each uid: a process remembers what it worked out of an object."""


class NoServer:
    """A thought reaches no server."""

    async def send(self, request: Request) -> Response:
        raise AssertionError(f"{request.method} {request.path}: nobody is there")

    async def close(self) -> None:
        return None


class HeldObjects(Cache):
    """Follows every kind. What is added is there at once, with a revision of its own."""

    def __init__(self, indexes: Iterable[tuple[Kind[Any], str, Any]] = ()) -> None:
        super().__init__(Client(NoServer()))
        self._world = next(VERSIONS)
        for kind in KINDS:
            self.informer(kind).revision = 1
        for kind, name, index in indexes:
            self.informer(kind).add_index(name, index)

    def add(self, kind: Kind[Any], obj: Raw) -> Any:
        """The object as a server would have stored it just now: with a version of its own, and with a uid."""
        given = {"uid": f"{kind.kind}-{obj['metadata']['name']}-{self._world}", "generation": 1}
        fresh = {"resourceVersion": str(next(VERSIONS))}
        live: Object = msgspec.convert(
            {"apiVersion": kind.api_version, "kind": kind.kind} | obj | {"metadata": given | obj["metadata"] | fresh},
            kind.type,
            strict=False,
        )
        self.hold(kind, live)
        return live

    def hold(self, kind: Kind[Any], obj: Any) -> None:
        """A view that a test has made itself."""
        self.informer(kind).store(Key(obj.namespace if kind.namespaced else "", obj.name), obj)

    def remove(self, kind: Kind[Any], obj: Object) -> None:
        self.informer(kind).forget(key_of(obj))


def held(*objects: tuple[Kind[Any], Any]) -> HeldObjects:
    """These views, each under its kind."""
    here = HeldObjects()
    for kind, obj in objects:
        here.hold(kind, obj)
    return here
