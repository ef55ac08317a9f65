"""One look at a cluster for commands: everything is read once, and becomes what the pages of the dashboard are made of.

The dashboard follows a cluster, this reads it and is done; summaries.py makes tables of it. Kinds that a cluster does
not serve are left out, kinds that may not be read are said. Never writes.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from gangline.errors import Forbidden, NotFound

if TYPE_CHECKING:
    from gangline.api.kinds import Kind
    from gangline.cli.connection import ClusterConnection
    from gangline.dashboard.look import ClusterView


async def look_at(connection: ClusterConnection) -> ClusterView:
    """Raises the error of the first kind that cannot be read for another reason than that it is absent or forbidden."""
    from gangline.api import kinds
    from gangline.dashboard.look import ClusterView, node_fact, pod_fact
    from gangline.dashboard.page_data import Source

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
    }
    answers = await asyncio.gather(*(_list(connection, kind) for kind in read.values()))
    objects: dict[str, Any] = dict(zip(read, (items for items, _ in answers), strict=True))
    troubles = tuple(trouble for _, trouble in answers if trouble)
    now = time.time()
    facts: dict[str, Any] = {
        "pods": [pod_fact(pod) for pod in objects.pop("pods")],
        "nodes": [node_fact(node) for node in objects.pop("nodes")],
    }
    return ClusterView(
        source=Source(server=connection.server, now=now, heard=now, troubles=troubles), **facts, **objects
    )


async def _list(connection: ClusterConnection, kind: Kind[Any]) -> tuple[list[Any], str]:
    """Its objects, and why there are none."""
    try:
        return (await connection.client.list(kind)).items, ""
    except NotFound:
        return [], ""
    except Forbidden as error:
        return [], f"{kind.plural} may not be read: {error}"
