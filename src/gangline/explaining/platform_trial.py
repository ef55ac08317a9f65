"""Changes tried on a copy of the whole platform: controllers make pods, groups and claims there as they would in the
cluster itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client
from gangline.errors import ApiError, BadInput, NotFound
from gangline.whatif.copy import CLOSED_GROUPS, PlatformCopy
from gangline.why.answers import answer, titles_of
from gangline.why.cause import Cause
from gangline.why.causes import cause_of
from gangline.why.changes import ObjectChange, Remedy, renumbered, squashed
from gangline.why.fixes.consequences import uncordoned
from gangline.why.objects import ClusterObjects, dig
from gangline.why.read import kinds_of, read_cluster
from gangline.why.remedies import moved, remedies, unlike
from gangline.why.subjects import find
from gangline.why.workloads import Subject

SETTLES = 60.0
ROUNDS = 5
LOOKS, PAUSE = 12, 0.5
WELL = ("runs", "is starting", "has finished")


async def starts_on_copy(
    client: Client,
    served: Sequence[Kind[Object]],
    subjects: Sequence[Subject],
    remedy: Remedy,
    told: Sequence[Cause] = (),
) -> Remedy | None:
    """These changes and what else is needed until all these workloads have their nodes, with what stood behind the
    causes that are `told`; None: they do not get them."""
    asked = [(f"{subject.kind}/{subject.name}", subject.namespace) for subject in subjects]
    made, behind = remedy.changes, remedy.behind
    for _ in range(ROUNDS):
        try:
            async with PlatformCopy(client, served, prepare=partial(_make, changes=made)) as copy:
                objects, subjects_there, causes = await _settled(copy, served, asked)
        except (ApiError, BadInput):
            return None
        if all(_well(cause) for cause in causes):
            return Remedy(renumbered(squashed(made)), "platform", behind)
        cause, further = _next(objects, subjects_there, causes)
        if cause is None:
            return None
        known = {item.code for item in told} | {"surplus"}
        new = [] if cause.code in known or moved(further.changes, made) else [cause.why]
        behind = unlike((*behind, *new, *further.behind))
        made = (*made, *further.changes)
    return None


async def _settled(
    copy: PlatformCopy, served: Sequence[Kind[Object]], asked: Sequence[tuple[str, str]]
) -> tuple[ClusterObjects, list[Subject], list[Cause]]:
    """How the workloads stand when nothing moves any more; controllers that were refused something get time to try
    again."""
    for _ in range(LOOKS):
        await copy.settles(SETTLES)
        objects = await read_cluster(copy.client, time.time(), kinds=kinds_of(served, *(name for name, _ in asked)))
        subjects_there = [item for ask, namespace in asked for item in find(objects, ask, namespace)]
        causes = [cause_of(objects, item, titles_of(objects)) for item in subjects_there]
        if not any(cause.transient or cause.pods_change for cause in causes if not _well(cause)):
            break
        copy.passes(PAUSE)
    return objects, subjects_there, causes


def _well(cause: Cause) -> bool:
    return cause.state in WELL and cause.code != "surplus"


def _next(objects: ClusterObjects, subjects: Sequence[Subject], causes: Sequence[Cause]) -> tuple[Cause | None, Remedy]:
    """Why the first of them waits for which something is known, and what clears its way."""
    for subject, cause in zip(subjects, causes, strict=True):
        working = remedies(objects, subject, cause, titles_of(objects)) if cause.code != "base-gang" else []
        if working and not _well(cause):
            return cause, working[0]
    return None, Remedy(())


async def play(client: Client, served: Sequence[Kind[Object]], about: Raw, changes: Sequence[ObjectChange]) -> str:
    """What becomes of a workload on a copy where these changes are made, in one line. `about`: its kind, name and
    namespace as data."""
    try:
        async with PlatformCopy(client, served, prepare=partial(_make, changes=changes)) as copy:
            await copy.settles(SETTLES)
            objects = await read_cluster(copy.client, time.time(), kinds=kinds_of(served, f"{about['kind']}/"))
    except ApiError as error:
        return f"the server would refuse it: {error}"
    titles = titles_of(objects)
    subjects = find(objects, f"{about['kind']}/{about['gang']}", about["namespace"])
    differences = [
        answer(objects, subject, cause_of(objects, subject, titles), ()).text.splitlines()[0] for subject in subjects
    ]
    return "; ".join(differences)


async def _make(client: Client, changes: Sequence[ObjectChange]) -> None:
    """Before anybody looks: no controller has been refused anything yet, and none is by a quota that is larger now but
    whose controller has not come to it. Nobody watches over nodes on a copy: a new one is welcome at once."""
    for change in changes:
        if change.kind.group in CLOSED_GROUPS:  # no webhook is called on a copy
            continue
        if change.how == "replace":
            await _collect(client, change)
        await apply_change(client, change)
        if change.kind is kinds.NODE and change.how == "new":
            taints = dig(change.body, "spec", "taints") or None
            await client.patch(kinds.NODE, change.name, "", {"spec": {"taints": taints}})
        if change.kind is kinds.NODE and dig(change.body, "spec", "unschedulable") is False:
            await _open(client, change.name)
        if change.kind is kinds.RESOURCE_QUOTA and (hard := dig(change.body, "spec", "hard")):
            status = {"status": {"hard": hard}}
            await client.patch(change.kind, change.name, change.namespace, status, subresource="status")


async def _open(client: Client, node: str) -> None:
    """As a node's controller does: with its cordon goes the taint of that."""
    live = await client.get_raw(kinds.NODE, node)
    await client.patch(kinds.NODE, node, "", {"spec": {"taints": dig(uncordoned(live), "spec", "taints") or None}})


async def _collect(client: Client, change: ObjectChange) -> None:
    """What belongs to an object that is made anew goes with it: no garbage collector is at work yet, nor whoever
    protects claims."""
    if change.kind is kinds.PVC:
        await client.patch(change.kind, change.name, change.namespace, {"metadata": {"finalizers": None}})
    uid = (await client.get_raw(change.kind, change.name, change.namespace))["metadata"].get("uid")
    owned: tuple[Kind[Any], ...] = (kinds.POD, kinds.POD_GROUP)
    for kind in owned:
        for obj in (await client.list(kind, change.namespace)).items:
            if any(owner.uid == uid for owner in obj.metadata.owner_references):
                await client.delete(kind, obj.name, obj.namespace, grace=0)


async def apply_change(client: Client, change: ObjectChange) -> None:
    """As a person would: a new object is created, another one is patched."""
    document = change.document()
    namespace = change.namespace if change.kind.namespaced else ""
    if change.how == "replace":
        await client.delete(change.kind, change.name, namespace, propagation="Background", grace=0)
        await gone(client, change.kind, change.name, namespace)
    if change.how != "patch":
        await client.create(change.kind, document, namespace)
        return
    patch = {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}
    subresource = "status" if set(patch) == {"metadata", "status"} else ""
    await client.patch(change.kind, change.name, namespace, patch, subresource=subresource)


async def gone(client: Client, kind: Kind[Any], name: str, namespace: str) -> None:
    """Wait, not for long, until an object is no longer there."""
    for _ in range(200):
        try:
            await client.get_raw(kind, name, namespace)
        except NotFound:
            return
        await asyncio.sleep(0.02)
