"""Which kinds a server has: asked of the server, so that kinds added at run time are known too.

`discover` is for the garbage collector and for namespace deletion, which must reach everything. One version per
resource: the one the server prefers. `served` is for those who look for a few kinds by name, and follow only those that
are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from gangline.api.kinds import Kind, foreign, known
from gangline.api.meta import Object
from gangline.client import Client
from gangline.errors import NotFound

T = TypeVar("T", bound=Object)
_PLAIN = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class ServedResource:
    """One resource of a server."""

    kind: Kind[Object]
    verbs: frozenset[str]


async def discover(client: Client) -> list[ServedResource]:
    """Every resource, built-in groups first; a group that vanishes while we ask is left out."""
    paths = ["/api/v1"]
    for group in (await _get(client, "/apis")).get("groups") or ():
        paths.append(f"/apis/{group['preferredVersion']['groupVersion']}")
        others = [version["groupVersion"] for version in group["versions"]]
        paths += [f"/apis/{version}" for version in others if version != group["preferredVersion"]["groupVersion"]]
    by_resource: dict[str, ServedResource] = {}
    for path in paths:
        for served in await _resources(client, path):
            by_resource.setdefault(served.kind.resource, served)
    return list(by_resource.values())


async def served(client: Client, *kinds: Kind[T]) -> list[Kind[T]]:
    """Those of these kinds, in these very versions, that the server has."""
    paths = dict.fromkeys(f"/apis/{kind.api_version}" for kind in kinds)
    names = {(item.kind.api_version, item.kind.plural) for path in paths for item in await _resources(client, path)}
    return [kind for kind in kinds if (kind.api_version, kind.plural) in names]


def only_metadata(kind: Kind[Any]) -> Kind[Object]:
    """The same kind, of whose objects nothing else is read; whoever follows it so shares one copy."""
    return Kind(kind.group, kind.version, kind.kind, kind.plural, Object, kind.namespaced)


async def _resources(client: Client, path: str) -> list[ServedResource]:
    try:
        listing = await _get(client, path)
    except NotFound:
        return []
    version = str(listing["groupVersion"])
    return [
        ServedResource(_kind(version, resource), frozenset(resource.get("verbs") or ()))
        for resource in listing.get("resources") or ()
        if "/" not in resource["name"]
    ]


def _kind(version: str, resource: dict[str, Any]) -> Kind[Object]:
    ours = known(version, resource["kind"])
    if ours is not None and ours.plural == resource["name"]:
        return ours
    return foreign(version, resource["kind"], resource["name"], bool(resource["namespaced"]))


async def _get(client: Client, path: str) -> dict[str, Any]:
    return _PLAIN.decode((await client.send("GET", path)).body)
