"""Writes that several controllers of the world make: pods of an owner, told as events; conditions that change only when
they must."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from gangline.api.core import Pod
from gangline.api.kinds import POD, Kind, reference
from gangline.api.meta import Object, Raw, as_raw
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import AlreadyExists, ApiError, Forbidden, NotFound
from gangline.runtime import Context

AT_ONCE = 16
"""Writes of one owner's pods that are on their way together: the server answers others in between."""


async def create_quietly(ctx: Context, kind: Kind[Any], obj: Raw) -> bool:
    """Create it unless it is there, or its namespace is on its way out; says whether it was made."""
    try:
        await ctx.client.create(kind, obj)
    except AlreadyExists:
        return False
    except Forbidden as error:
        if _dying(error):
            return False
        raise
    return True


def _dying(error: Forbidden) -> bool:
    causes = (error.status.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)


async def delete_quietly(
    ctx: Context, kind: Kind[Any], obj: Object, *, grace: int | None = None, propagation: str = ""
) -> bool:
    """Delete it unless it is gone; says whether it was there."""
    try:
        await ctx.client.delete(kind, obj.name, obj.namespace, uid=obj.uid, grace=grace, propagation=propagation)
    except NotFound:
        return False
    return True


async def create_pods(ctx: Context, kind: Kind[Any], owner: Object, pods: Sequence[Raw]) -> None:
    """One, then two, four, …, so that what cannot be made fails once and not as often as it is wanted; it is told on
    the owner, and the first reason is raised so that it is tried again."""

    async def one(pod: Raw) -> None:
        name = pod["metadata"]["name"]
        try:
            if await create_quietly(ctx, POD, pod):
                ctx.events.tell(kind, owner, "SuccessfulCreate", f"Created pod: {name}")
        except ApiError as error:
            ctx.events.tell(kind, owner, "FailedCreate", f"Error creating: {error}", warning=True)
            raise

    size = 1
    while pods:
        for outcome in await asyncio.gather(*(one(pod) for pod in pods[:size]), return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
        pods, size = pods[size:], min(2 * size, AT_ONCE)


def tell_held_back(ctx: Context, kind: Kind[Any], owner: Object, waiting: str) -> None:
    """Why an owner has fewer pods than it asks for, where that is so: `waiting` says how many of whom wait."""
    if waiting:
        ctx.events.tell(kind, owner, "PodsHeldBack", f"{waiting} have no node yet; more are made when these have one")


async def delete_pods(ctx: Context, kind: Kind[Any], owner: Object, pods: Iterable[Pod]) -> None:
    async def one(pod: Pod) -> None:
        if await delete_quietly(ctx, POD, pod, propagation="Background"):
            ctx.events.tell(kind, owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    await asyncio.gather(*(one(pod) for pod in pods))


def disruption(reason: str, message: str, now: str) -> Raw:
    """The condition that tells an end by somebody else's will from a failure (a Job's `podFailurePolicy` can ignore
    it)."""
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    }


async def patch_status(ctx: Context, pod: Pod, status: Raw) -> None:
    """Unless the pod is gone."""
    try:
        await ctx.client.patch(
            POD,
            pod.name,
            pod.namespace,
            {"metadata": {"uid": pod.uid}, "status": status},
            subresource="status",
            content_type=STRATEGIC_PATCH,
        )
    except NotFound:
        return


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


async def release(ctx: Context, kind: Kind[Any], obj: Object, finalizer: str) -> None:
    """Take a finalizer off, unless somebody wrote meanwhile."""
    rest = [item for item in obj.metadata.finalizers if item != finalizer]
    guard = {"resourceVersion": obj.metadata.resource_version, "uid": obj.uid}
    await ctx.client.patch(kind, obj.name, obj.namespace, {"metadata": guard | {"finalizers": rest or None}})


def merged(conditions: Iterable[Raw], wanted: Iterable[tuple[str, str, str, str]], now: str) -> list[Raw]:
    """Conditions with those wanted (type, status, reason, message) set; a time moves only when its status does."""
    found = {str(condition.get("type")): dict(condition) for condition in conditions}
    for kind, status, reason, message in wanted:
        before = found.get(kind, {})
        since = before.get("lastTransitionTime") if before.get("status") == status else now
        found[kind] = before | {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": since,
        }
    return list(found.values())
