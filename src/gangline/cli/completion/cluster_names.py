"""What a shell may complete: kinds, namespaces and names, read from the cluster that the line so far speaks of.

click calls these while somebody presses Tab. A cluster that does not answer within two seconds, or refuses, completes
nothing; a mistake here must never be seen at a prompt.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Awaitable, Callable
from typing import Any

import click

from gangline.cli.connection import ClusterConnection, connect
from gangline.errors import GanglineError

PATIENCE = 2.0
"""Seconds a person waits for a Tab."""
Reader = Callable[[ClusterConnection, dict[str, Any]], Awaitable[list[str]]]
Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def from_cluster(read: Reader) -> Completer:
    """Completes with what `read` finds, given what stands on the line already."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        given = context.params
        with contextlib.suppress(GanglineError, OSError, TimeoutError):
            return [name for name in asyncio.run(_read(read, given)) if name.startswith(incomplete)]
        return []

    return complete


async def _read(read: Reader, given: dict[str, Any]) -> list[str]:
    """The cluster has PATIENCE seconds; what is loaded from our own disk before does not count."""
    for module in ("gangline.cli.look.sight", "gangline.cli.look.summaries", "gangline.client.kubeconfig"):
        importlib.import_module(module)

    async def asked() -> list[str]:
        async with connect(given.get("kubeconfig"), given.get("namespace")) as connection:
            return sorted(await read(connection, given))

    return await asyncio.wait_for(asked(), PATIENCE)


async def _kinds(connection: ClusterConnection, _: dict[str, Any]) -> list[str]:
    return sorted({"gangs", *(item.kind.plural for item in await connection.served())})


async def _objects(connection: ClusterConnection, given: dict[str, Any]) -> list[str]:
    if given.get("kind") in (None, "", "gang", "gangs"):
        return await _gangs(connection, given)
    kind = await connection.kind(str(given["kind"]))
    return await _names(connection, kind)


async def _gangs(connection: ClusterConnection, _: dict[str, Any]) -> list[str]:
    from gangline.cli.look.sight import look_at
    from gangline.cli.look.summaries import SUMMARIES

    lines = SUMMARIES["gangs"].lines(await look_at(connection))
    return [line.title for line in lines if line.namespace == connection.namespace]


async def _sets(connection: ClusterConnection, _: dict[str, Any]) -> list[str]:
    from gangline.api.kinds import POD_CLIQUE_SET

    return await _names(connection, POD_CLIQUE_SET)


async def _queues(connection: ClusterConnection, _: dict[str, Any]) -> list[str]:
    from gangline.api.kinds import QUEUE

    return await _names(connection, QUEUE)


async def _namespaces(connection: ClusterConnection, _: dict[str, Any]) -> list[str]:
    from gangline.api.kinds import NAMESPACE

    return await _names(connection, NAMESPACE)


async def _names(connection: ClusterConnection, kind: Any) -> list[str]:
    return [item.name for item in (await connection.client.list(kind, connection.namespace * kind.namespaced)).items]


kinds_of_cluster = from_cluster(_kinds)
objects_of_kind = from_cluster(_objects)
gangs_of_cluster = from_cluster(_gangs)
sets_of_cluster = from_cluster(_sets)
queues_of_cluster = from_cluster(_queues)
namespaces_of_cluster = from_cluster(_namespaces)
