"""All objects of a cluster that a cycle is decided from, read once.

Whoever may not read one of these kinds gets an error and no answer: what is not seen would be taken for not there. A
kind that the cluster does not serve is empty. Acts, and only reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.client import Client
from gangline.errors import ApiError, BadInput, Forbidden, NotFound, Unauthorized, Unavailable

READ: tuple[Kind[Any], ...] = (
    kinds.NODE,
    kinds.POD,
    kinds.QUEUE,
    kinds.POD_GROUP,
    kinds.BIND_REQUEST,
    kinds.TOPOLOGY,
    kinds.CONFIG,
    kinds.SCHEDULING_SHARD,
    kinds.NAMESPACE,
    kinds.PRIORITY_CLASS,
    kinds.PVC,
    kinds.PV,
    kinds.STORAGE_CLASS,
    kinds.CSI_STORAGE_CAPACITY,
    kinds.CONFIG_MAP,
    kinds.PDB,
    kinds.RESOURCE_CLAIM,
    kinds.RESOURCE_SLICE,
    kinds.DEVICE_CLASS,
    kinds.NODE_RESOURCE_TOPOLOGY,
)
MAKERS: tuple[Kind[Any], ...] = (
    kinds.POD_CLIQUE_SET,
    kinds.POD_GANG,
    kinds.JOB,
    kinds.CRON_JOB,
    kinds.DEPLOYMENT,
    kinds.STATEFUL_SET,
)
"""What a change names in place of the groups that it makes; nothing is decided from them."""
NEEDED = (kinds.QUEUE, kinds.POD_GROUP)
"""Without these there is no scheduler to ask."""
AT_ONCE = 8


async def read_cluster(
    client: Client, more: tuple[Kind[Any], ...] = (), tell: Callable[[str], None] = lambda text: None
) -> list[Raw]:
    """Every object of the kinds a cycle needs, and of those named in `more`; of those that make pods, what may be read.
    `tell` hears how far it has come."""
    turns, unread, missing, forbidden = asyncio.Semaphore(AT_ONCE), list[str](), list[str](), list[str]()
    needed = dict.fromkeys((*READ, *more))

    async def listed(kind: Kind[Any]) -> list[Raw]:
        async with turns:
            try:
                objects = await client.list_raw(kind)
            except NotFound:
                missing.append(kind.resource)
                return []
            except (Unavailable, Unauthorized):
                raise
            except ApiError as error:
                if kind in needed and isinstance(error, Forbidden):
                    forbidden.append(kind.resource)
                elif kind in needed:
                    unread.append(f"{kind.resource}: {error}")
                return []
        tell(f"read {len(objects)} {kind.plural}")
        return objects

    lists = await asyncio.gather(*(listed(kind) for kind in dict.fromkeys((*needed, *MAKERS))))
    if forbidden:
        raise BadInput(
            "the cluster cannot be read, so the answer is unknown: you may not list "
            f"{', '.join(sorted(forbidden))}; ask for the right to list these kinds in all namespaces"
        )
    if unread:
        raise BadInput("the cluster cannot be read, so the answer is unknown:\n  " + "\n  ".join(sorted(unread)))
    absent = [kind.resource for kind in NEEDED if kind.resource in missing]
    if absent:
        raise BadInput(
            f"the cluster serves no {' and no '.join(absent)}: the scheduler half is not installed there "
            "(gangline install)"
        )
    return [obj for objects in lists for obj in objects]
