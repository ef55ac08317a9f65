"""One look at a cluster for commands: everything is read once, and becomes what the pages of the dashboard are made of.

The dashboard follows a cluster, this reads it and is done; summaries.py makes tables of it. Kinds that a cluster does
not serve are left out, kinds that may not be read are named. Never writes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangline.errors import Forbidden, NotFound

if TYPE_CHECKING:
    from gangline.api.kinds import Kind
    from gangline.cli.connection import ClusterConnection
    from gangline.dashboard.look import ClusterView

SUMMARIZED = {
    word: table
    for table, words in {"gangs": ("gang",), "queues": ("queue",), "nodes": ("node", "no")}.items()
    for word in (table, *words)
}
"""What users call that of which there is a table of our own → the table (summaries.py)."""


@dataclass(frozen=True, slots=True)
class KindListing:
    """What was read of a kind: all of it, what there is in one's own namespace, or nothing."""

    kind: Kind[Any]
    items: Sequence[Any] = ()
    refusal: Forbidden | None = None
    here: bool = False
    """What is in one's own namespace was read all the same."""

    @property
    def unseen(self) -> bool:
        """Nothing of it may be read."""
        return self.refusal is not None and not self.here


async def look_at(connection: ClusterConnection) -> ClusterView:
    """Raises the error of the first kind that cannot be read for another reason than that it is absent or forbidden;
    and that of pods where everything is forbidden."""
    from gangline.api import kinds
    from gangline.dashboard.claimed import with_devices
    from gangline.dashboard.look import ClusterView, node_fact, pod_fact
    from gangline.dashboard.page_data import PageSource

    read = {
        "pods": kinds.POD,
        "nodes": kinds.NODE,
        "gangs": kinds.POD_GANG,
        "groups": kinds.POD_GROUP,
        "queues": kinds.QUEUE,
        "sets": kinds.POD_CLIQUE_SET,
        "cliques": kinds.POD_CLIQUE,
        "scaling_groups": kinds.SCALING_GROUP,
        "topologies": kinds.TOPOLOGY,
        "events": kinds.EVENT,
        "jobs": kinds.JOB,
        "slices": kinds.RESOURCE_SLICE,
        "claims": kinds.RESOURCE_CLAIM,
    }
    answers = await asyncio.gather(*(_list(connection, kind) for kind in read.values()))
    objects: dict[str, Any] = {name: answer.items for name, answer in zip(read, answers, strict=True)}
    now = time.time()
    pods, nodes = with_devices(
        [pod_fact(pod) for pod in objects.pop("pods")],
        [node_fact(node) for node in objects.pop("nodes")],
        objects.pop("slices"),
        objects.pop("claims"),
    )
    source = PageSource(
        server=connection.server,
        now=now,
        heard=now,
        troubles=tuple(_troubles(answers, connection.namespace)),
        unseen=tuple(answer.kind.plural for answer in answers if answer.unseen),
        partly=tuple(answer.kind.plural for answer in answers if answer.here),
    )
    return ClusterView(source=source, pods=pods, nodes=nodes, **objects)


async def _list(connection: ClusterConnection, kind: Kind[Any]) -> KindListing:
    try:
        return KindListing(kind, (await connection.client.list(kind)).items)
    except NotFound:
        return KindListing(kind)
    except Forbidden as error:
        return await _list_here(connection, kind, error)


async def _list_here(connection: ClusterConnection, kind: Kind[Any], refusal: Forbidden) -> KindListing:
    """A tenant may not see the whole cluster, but their own namespace."""
    if not kind.namespaced:
        return KindListing(kind, refusal=refusal)
    try:
        return KindListing(kind, (await connection.client.list(kind, connection.namespace)).items, refusal, here=True)
    except Forbidden:
        return KindListing(kind, refusal=refusal)


def _troubles(answers: Sequence[KindListing], namespace: str) -> Iterator[str]:
    """One sentence for kinds that are seen here only, one for those that are not seen at all."""
    first = answers[0].refusal
    if first is not None and all(answer.unseen for answer in answers):
        raise first
    here = [answer.kind.plural for answer in answers if answer.here]
    if here:
        yield f"only namespace {namespace} is shown: you may not list {', '.join(here)} of others"
    unseen = [answer.kind.plural for answer in answers if answer.unseen]
    if unseen:
        yield f"not shown: you may not list {', '.join(unseen)}"
