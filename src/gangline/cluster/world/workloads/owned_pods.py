"""Writes that the controllers of workloads share: the pods of an owner are created and deleted, and both are told as
events; objects without a controller are adopted.

Acts only: who should exist is decided in the files of the kinds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from gangline.api.core import Pod
from gangline.api.kinds import POD, Kind, reference
from gangline.api.meta import Object, Raw, as_raw
from gangline.errors import ApiError
from gangline.runtime import Context

AT_ONCE = 16
"""Pods of one owner that are created together, at most: the server answers others in between."""


async def create_pods(ctx: Context, kind: Kind[Any], owner: Object, pods: Sequence[Raw]) -> None:
    """Create one pod, then two, four and so on: what cannot be made fails once, and not as often as it is wanted. The
    failure is told on the owner, and the first reason is raised so that it is tried again."""

    async def create(pod: Raw) -> None:
        name = pod["metadata"]["name"]
        try:
            if await ctx.writer.create_unless_there(POD, pod):
                ctx.events.tell(kind, owner, "SuccessfulCreate", f"Created pod: {name}")
        except ApiError as error:
            ctx.events.tell(kind, owner, "FailedCreate", f"Error creating: {error}", warning=True)
            raise

    size = 1
    while pods:
        for outcome in await asyncio.gather(*(create(pod) for pod in pods[:size]), return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
        pods, size = pods[size:], min(2 * size, AT_ONCE)


def tell_held_back(ctx: Context, kind: Kind[Any], owner: Object, waiting: str) -> None:
    """Why an owner has fewer pods than it asks for, where that is so: `waiting` says how many of whom wait."""
    if waiting:
        ctx.events.tell(kind, owner, "PodsHeldBack", f"{waiting} have not begun yet; more are made when these have")


async def delete_pods(ctx: Context, kind: Kind[Any], owner: Object, pods: Iterable[Pod]) -> None:
    async def delete(pod: Pod) -> None:
        if await ctx.writer.delete_unless_gone(POD, pod, propagation="Background"):
            ctx.events.tell(kind, owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    await asyncio.gather(*(delete(pod) for pod in pods))


async def adopt(
    ctx: Context, kind: Kind[Any], owner: Object, child_kind: Kind[Any], children: Iterable[Object]
) -> None:
    """Take on objects that nobody controls."""
    for child in children:
        owners = [as_raw(owner_reference) for owner_reference in child.metadata.owner_references] + [
            reference(kind, owner)
        ]
        guard = {"uid": child.uid, "resourceVersion": child.metadata.resource_version}
        await ctx.client.patch(
            child_kind, child.name, child.namespace, {"metadata": guard | {"ownerReferences": owners}}
        )
