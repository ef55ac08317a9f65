"""The objects of a cluster, read once for one answer. Kinds that the server does not serve or does not let us read
are left out and named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from gangline.api.kinds import POD, Kind, known
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.errors import ApiError, Forbidden, NotFound
from gangline.grouper.groupers import by_kind
from gangline.rules.explained_kinds import SPOKEN_OF
from gangline.why.objects import ClusterObjects

AT_ONCE = 8


def kinds_of(served: Sequence[Kind[Any]], *names: str) -> list[Kind[Any]]:
    """What is read to speak of these names: beside the usual kinds, those of other makers that this server serves and
    the pod grouper knows, and those that are asked for by name. Of these, too, a workload may have no pods yet."""
    asked = {name.partition("/")[0].lower().partition(".")[0] for name in names if "/" in name}
    strange = [kind for kind in served if known(kind.api_version, kind.kind) is None and kind.namespaced]
    return [
        *SPOKEN_OF,
        *(
            kind
            for kind in strange
            if f"{kind.api_version} {kind.kind}" in by_kind() or asked & {kind.kind.lower(), kind.plural}
        ),
    ]


async def read_cluster(
    client: Client, now: float, namespace: str = "", kinds: Sequence[Kind[Any]] = SPOKEN_OF
) -> ClusterObjects:
    """`namespace`: what may be read there where the whole cluster may not; such kinds count as unread all the same."""
    turns = asyncio.Semaphore(AT_ONCE)
    unread: dict[str, str] = {}

    async def listed(kind: Kind[Any]) -> tuple[Kind[Any], list[Raw]] | None:
        async with turns:
            try:
                return kind, await client.list_raw(kind)
            except NotFound:
                return None
            except ApiError as error:
                unread[kind.resource] = str(error)
                return await _listed_there(client, kind, namespace, error)

    answers = await asyncio.gather(*(listed(kind) for kind in kinds))
    return ClusterObjects.of([answer for answer in answers if answer is not None], now, unread)


async def _listed_there(
    client: Client, kind: Kind[Any], namespace: str, refused: ApiError
) -> tuple[Kind[Any], list[Raw]] | None:
    """The objects of one namespace; pods must be readable there, or nothing can be said."""
    try:
        if kind.namespaced and namespace and isinstance(refused, Forbidden):
            return kind, await client.list_raw(kind, namespace)
    except ApiError as error:
        refused = error
    if kind is POD:
        raise refused
    return None
