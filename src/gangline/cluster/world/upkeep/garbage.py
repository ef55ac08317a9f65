"""The garbage collector: dependents go when their owners are gone (background, foreground, orphan), whatever their
kind.

Follows every kind the server has, those of CRDs added at run time included, and keeps the graph of owner_graph.py,
which also judges. An owner the graph does not know is asked of the server before anything is deleted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from gangline.api.kinds import CRD, Kind
from gangline.api.meta import Object, OwnerReference, as_raw
from gangline.cluster.world.discovery import ServedResource, discover, only_metadata
from gangline.cluster.world.upkeep.owner_graph import (
    ORPHAN,
    Disown,
    Drop,
    Free,
    Graph,
    Item,
    Keep,
    OwnerState,
    Press,
    Release,
    judge,
    misplaced,
    owner_state,
)
from gangline.errors import ApiError, Conflict, NotFound
from gangline.rules.objects.finalizers import without_finalizer
from gangline.runtime import BackgroundService, Cache, Context, Key, background
from gangline.runtime.background import WorkerPool
from gangline.runtime.queue import WorkQueue

log = logging.getLogger(__name__)
WORKERS = 8
LEFT_ALONE = ("events", "events.events.k8s.io")
MISPLACED = "OwnerRefInvalidNamespace"


class ChangeSource(Protocol):
    def on_change(self, handler: Callable[[Any, Any], None]) -> None: ...


@dataclass(slots=True)
class Collector:
    graph: Graph = field(default_factory=Graph)
    kinds: dict[tuple[str, str], Kind[Object]] = field(default_factory=dict)
    """Every kind served, by group and kind."""
    followed: dict[str, Kind[Object]] = field(default_factory=dict)
    queue: WorkQueue | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _starting: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return self.queue is not None and self.queue.idle and not self.changed.is_set()

    async def run(self, ctx: Context, cache: Cache) -> None:
        self.queue = queue = WorkQueue(ctx.clock)
        workers = WorkerPool("garbage", partial(self._work, ctx, queue), WORKERS, ctx.clock)
        queue.call = workers.call
        cache.informer(CRD).on_change(lambda before, after: self.changed.set())
        try:
            while True:
                self.changed.clear()
                await self._follow(ctx, cache)
                await self.changed.wait()
        finally:
            queue.close()
            await workers.stop()

    # --- following every kind -----------------------------------------------------------------------------------------

    async def _follow(self, ctx: Context, cache: Cache) -> None:
        try:
            served = await discover(ctx.client)
        except ApiError as error:
            log.warning("the garbage collector cannot ask which kinds there are: %s", error)
            await ctx.clock.sleep(1)
            self.changed.set()
            return
        self.kinds = {(item.kind.group, item.kind.kind): item.kind for item in served}
        wanted = {item.kind.resource: item for item in served if _collectable(item)}
        for resource in [resource for resource in self.followed if resource not in wanted]:
            self._unfollow(cache, resource)
        held = {informer.kind.resource: informer.kind for informer in cache.informers}
        for resource, item in wanted.items():
            if resource not in self.followed:
                self._follow_kind(cache, held.get(resource) or only_metadata(item.kind))
        self._starting = background.start("garbage cache", cache.start, ctx.clock)

    def _follow_kind(self, cache: Cache, kind: Kind[Object]) -> None:
        self.followed[kind.resource] = kind
        follows: ChangeSource = cache.informer(kind)
        follows.on_change(lambda before, after: self._moved(kind, before, after))

    def _unfollow(self, cache: Cache, resource: str) -> None:
        """A kind that is no longer served has no objects any more."""
        kind = self.followed.pop(resource)
        if kind.type is Object:
            cache.drop(kind)
        for item in [item for item in self.graph.items.values() if item.kind == kind]:
            self._forget_removed(item)

    def _moved(self, kind: Kind[Object], before: Object | None, after: Object | None) -> None:
        concerned = [owner.uid for obj in (before, after) if obj is not None for owner in obj.metadata.owner_references]
        if before is not None and (after is None or after.uid != before.uid):
            self._forget_removed(Item(kind, before))
        if after is not None:
            item = Item(kind, after)
            self.graph.put(item)
            if self._needs_a_look(item):
                self._enqueue(item.uid)
            if item.waits_for_dependents:
                self._enqueue(*(dependent.uid for dependent in self.graph.dependents(item.uid)))
        self._enqueue(
            *(uid for uid in concerned if (owner := self.graph.items.get(uid)) and owner.waits_for_dependents)
        )

    def _forget_removed(self, item: Item) -> None:
        self.graph.remove(item.uid)
        self._enqueue(*(dependent.uid for dependent in self.graph.dependents(item.uid)))

    def _needs_a_look(self, item: Item) -> bool:
        if item.object.metadata.deleting:
            return item.waits_for_dependents or item.orphans_dependents
        return any(self._state(item, owner) is not OwnerState.SOLID for owner in item.owners)

    def _enqueue(self, *uids: str) -> None:
        for uid in uids:
            if self.queue is not None:
                self.queue.add(Key("", uid))

    # --- one object ---------------------------------------------------------------------------------------------------

    async def _work(self, ctx: Context, queue: WorkQueue) -> None:
        while (key := queue.take()) is not None:
            try:
                if await self._collect(ctx, key.name):
                    queue.forget(key)
                else:
                    queue.retry(key)
            except (Conflict, NotFound):
                queue.retry(key)
            except ApiError as error:
                log.warning("collecting %s: %s; again in %.1f s", key.name, error, queue.retry(key))
            except Exception:
                log.exception("collecting %s failed; again in %.1f s", key.name, queue.retry(key))
            finally:
                queue.done(key)

    async def _collect(self, ctx: Context, uid: str) -> bool:
        """Whether all is known of its owners; if not, somebody has to look again later."""
        item = self.graph.items.get(uid)
        if item is None:
            return True
        owners = (
            {}
            if item.object.metadata.deleting
            else {owner.uid: await self._ask(ctx, item, owner) for owner in item.owners}
        )
        if OwnerState.UNKNOWN in owners.values():
            return False
        match judge(self.graph, item, owners):
            case Drop(propagation, unblock):
                await self._drop(ctx, item, propagation, unblock)
            case Disown(uids):
                await _set_owners(ctx, item, [owner for owner in item.owners if owner.uid not in uids])
            case Release(finalizer):
                await _release(ctx, item, finalizer)
            case Free(dependents):
                await self._free(ctx, item, dependents)
            case Press(dependents):
                self._enqueue(*(dependent.uid for dependent in dependents))
            case Keep():
                pass
        return True

    def _state(self, item: Item, owner: OwnerReference) -> OwnerState:
        kind = self.kinds.get((owner.group, owner.kind))
        return owner_state(self.graph, item, owner, kind.namespaced if kind else None)

    async def _ask(self, ctx: Context, item: Item, owner: OwnerReference) -> OwnerState:
        """What is known of an owner; the server is asked when the graph does not know."""
        state = self._state(item, owner)
        elsewhere = state is OwnerState.ABSENT and owner.uid in self.graph.items
        if state is OwnerState.MISPLACED or elsewhere:
            ctx.events.tell(item.kind, item.object, MISPLACED, misplaced(item, owner), warning=True)
        kind = self.kinds.get((owner.group, owner.kind))
        if state is not OwnerState.UNKNOWN or kind is None:
            return state
        try:
            namespace = item.object.namespace if kind.namespaced else ""
            live = await ctx.client.get(only_metadata(kind), owner.name, namespace)
        except NotFound:
            return OwnerState.ABSENT
        if live.uid != owner.uid:
            return OwnerState.ABSENT
        return OwnerState.WAITING if Item(kind, live).waits_for_dependents else OwnerState.SOLID

    async def _drop(self, ctx: Context, item: Item, propagation: str, unblock: bool) -> None:
        obj = item.object
        if unblock:
            await _patch(
                ctx, item, {"ownerReferences": [as_raw(owner) | {"blockOwnerDeletion": False} for owner in item.owners]}
            )
            return
        try:
            await ctx.client.delete(
                item.kind,
                obj.name,
                obj.namespace,
                uid=obj.uid,
                revision=obj.metadata.resource_version,
                propagation=propagation,
            )
        except NotFound:
            return

    async def _free(self, ctx: Context, item: Item, dependents: tuple[Item, ...]) -> None:
        for dependent in dependents:
            try:
                await _set_owners(ctx, dependent, [owner for owner in dependent.owners if owner.uid != item.uid])
            except NotFound:
                continue
        await _release(ctx, item, ORPHAN)


def _collectable(served: ServedResource) -> bool:
    return served.verbs >= {"list", "watch", "delete"} and served.kind.resource not in LEFT_ALONE


async def _set_owners(ctx: Context, item: Item, owners: list[OwnerReference]) -> None:
    await _patch(ctx, item, {"ownerReferences": [as_raw(owner) for owner in owners] or None})


async def _release(ctx: Context, item: Item, finalizer: str) -> None:
    try:
        await _patch(ctx, item, {"finalizers": without_finalizer(item.object.metadata.finalizers, finalizer)})
    except NotFound:
        return


async def _patch(ctx: Context, item: Item, metadata: dict[str, Any]) -> None:
    """A change of metadata that fails if the object changed meanwhile."""
    obj = item.object
    guard = {"uid": obj.uid, "resourceVersion": obj.metadata.resource_version}
    await ctx.client.patch(only_metadata(item.kind), obj.name, obj.namespace, {"metadata": guard | metadata})


def garbage() -> BackgroundService:
    collector = Collector()
    return BackgroundService(
        "garbage", collector.run, idle=lambda: collector.idle, prepare=lambda cache: _prepare(cache)
    )


def _prepare(cache: Cache) -> None:
    cache.informer(CRD)
