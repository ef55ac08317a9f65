"""The scheduler's loop: watch → decide → write decisions.

A cycle starts as soon as something changed, at most once per period, and never just because time passes
(shell/deadlines.py names the exceptions). It runs in a thread of its own, which owns the model while it runs; events
are noted meanwhile. Decisions are written beside the next cycle: a BindRequest per placed pod, a delete per evicted
one, conditions, events and verdicts for gangs that wait. It never waits for a bind."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeVar

from gangline.api.core import Node, Pod
from gangline.api.kai import BindRequest, PodGroup
from gangline.api.kinds import BIND_REQUEST, NODE, POD, POD_GROUP, QUEUE
from gangline.api.selectors import parse_labels
from gangline.client.wire import STRATEGIC_PATCH
from gangline.errors import AlreadyExists, ApiError, NotFound
from gangline.rules.evictions import EvictionNote
from gangline.rules.values import times
from gangline.runtime import Cache, Context, Key, background, key_of
from gangline.scheduler import decision_objects
from gangline.scheduler.deadlines import start_matters
from gangline.scheduler.decisions import Bind, Decisions, Evict, GangUpdate, Nominate
from gangline.scheduler.loop import metrics
from gangline.scheduler.loop.feed import Feed, for_pod
from gangline.scheduler.loop.options import SchedulerOptions
from gangline.scheduler.loop.overlay import Overlay
from gangline.scheduler.loop.teller import GangTeller
from gangline.scheduler.loop.thinker import CycleThought, think
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.objects import bind_request_live
from gangline.scheduler.objects.gangs import gang_uid
from gangline.scheduler.why.explain import explain_waiting
from gangline.scheduler.why.verdict import Verdict

log = logging.getLogger(__name__)
R = TypeVar("R")
LONGEST_PAUSE = 30.0
LONGEST_BREATH = 0.5
"""A cycle that took long is followed by a pause as long, up to this: what it decided is written meanwhile, and news
gather."""
EXPLAINED_AT_ONCE = 64
PATIENCE = 10.0
"""For so long a gang whose victims are leaving gets no verdict."""


class SchedulerService:
    """One shard's scheduler. Built per component; `run` is its life."""

    def __init__(self, options: SchedulerOptions, fresh: Callable[[], str] = lambda: str(uuid.uuid4())) -> None:
        self.options = options
        self.cluster = ClusterModel()
        self.cycles = 0
        self.last: CycleThought | None = None
        self._fresh = fresh
        self._wake = asyncio.Event()
        self._thinking = False
        self._alarm: asyncio.Task[None] | None = None
        self._unwritten: dict[str, GangUpdate] = {}
        self._verdicts: dict[str, Verdict] = {}
        self._explained: dict[str, int] = {}
        self._nominated: dict[str, float] = {}
        """Tasks that were told to wait for a node, and since when."""
        self.started = asyncio.Event()
        self._model = asyncio.Lock()
        self._pool = parse_labels(options.selector) if options.selector else None

    def prepare(self, cache: Cache) -> None:
        Feed.prepare(cache, self.options)

    async def run(self, ctx: Context, cache: Cache) -> None:
        self._begin(ctx, cache)
        pause, started, busy = self.options.period, float("-inf"), 0.0
        while True:
            await self._wake.wait()
            wait = started + max(self.options.period, min(2 * busy, LONGEST_BREATH)) - ctx.clock.now()
            if wait > 0:
                await ctx.clock.sleep(wait)
            started = ctx.clock.now()
            try:
                await self._cycle()
                pause, busy = self.options.period, ctx.clock.now() - started
            except Exception:
                log.exception("a cycle failed; the model is built anew")
                self._begin_anew()
                pause = min(max(pause, 0.1) * 2, LONGEST_PAUSE)
                await ctx.clock.sleep(pause)

    def _begin(self, ctx: Context, cache: Cache) -> None:
        self._ctx, self._cache = ctx, cache
        self.overlay = Overlay(lambda: cache.informer(BIND_REQUEST).revision)
        self.feed = Feed(cache, self.options, self.overlay, self._wake.set)
        self.writer = ctx.writer
        self._teller = GangTeller(ctx, cache, self.options)
        metrics.note_settings(self.options.settings)
        self.feed.start()
        cache.informer(BIND_REQUEST).on_change(self._request_changed)
        cache.informer(NODE).on_change(self._node_changed)
        cache.informer(POD_GROUP).on_change(self._group_changed)
        self.started.set()

    def _begin_anew(self) -> None:
        self.cluster = ClusterModel()
        self.feed.note_all()

    @property
    def idle(self) -> bool:
        """No event pending, no cycle running, all writes done."""
        return (
            self.started.is_set()
            and not self._wake.is_set()
            and not self._thinking
            and not self.feed.pending
            and self.writer.idle
        )

    @property
    def now(self) -> float:
        return self._ctx.clock.now()

    async def between_cycles(self, look: Callable[[], R]) -> R:
        """Look at the model while no cycle runs."""
        async with self._model:
            return await asyncio.to_thread(look)

    # --- a cycle -----------------------------------------------------------------------------------------------------

    async def _cycle(self) -> None:
        self._thinking = True
        try:
            async with self._model:
                await self._think()
        finally:
            self._thinking = False

    async def _think(self) -> None:
        self._wake.clear()
        now = self._ctx.clock.now()
        changes = self.feed.gather(now)
        thought = await asyncio.to_thread(think, self.cluster, changes, self.options.settings, now, self._fresh)
        self.cycles += 1
        self.last = thought
        metrics.note_cycle(thought)
        self._act(thought)
        await self._explain(thought, now)
        self._set_alarm(thought.deadline, now)

    def _act(self, thought: CycleThought) -> None:
        for unread in thought.unread:
            log.warning("%s %s cannot be read: %s", unread.type.__name__, unread.key, unread.reason)
        decisions = thought.decisions
        for commit in decisions.commits:
            if isinstance(commit, Bind):
                self._bind(commit)
            elif isinstance(commit, Evict):
                self._evict(commit)
            elif isinstance(commit, Nominate):
                self._nominate(commit)
        self._stamp_all(decisions.updates, self._tell_evictions(decisions))
        refused = {refuse.gang: refuse for refuse in decisions.refusals}
        for standing in thought.standings:
            self._teller.tell(standing, refused.get(standing.gang), partial(self._members, standing.gang))

    async def _explain(self, thought: CycleThought, now: float) -> None:
        """Verdicts on gangs that wait: new ones always, the others when there is time for it."""
        served = self._served(thought.decisions, now)
        waiting = [
            standing.gang
            for standing in thought.standings
            if standing.waiting and not standing.awaiting and standing.gang not in served
        ]
        new = [gang for gang in waiting if gang not in self._verdicts]
        old = (
            [] if self.feed.pending else sorted(set(waiting) - set(new), key=lambda gang: self._explained.get(gang, 0))
        )
        chosen = [*new, *old][:EXPLAINED_AT_ONCE]
        if not chosen:
            return
        refused = {refuse.gang: refuse for refuse in thought.decisions.refusals}
        found = await asyncio.to_thread(
            explain_waiting, self.cluster, self.options.settings, now, refused, chosen, dict(self._verdicts)
        )
        for gang, verdict in found.items():
            if (group := self._group(gang)) is not None:
                if gang not in self._verdicts:
                    metrics.VERDICT.observe(
                        max(self._ctx.clock.now() - (times.seconds(group.metadata.creation_timestamp) or now), 0.0)
                    )
                self._verdicts[gang], self._explained[gang] = verdict, self.cycles
                self._teller.judge(gang, verdict)

    def _served(self, decisions: Decisions, now: float) -> set[str]:
        """Gangs for which room is being made since a moment ago: there is nothing to explain unless that takes long."""
        tasks = self.cluster.tasks
        nominated = [nomination.task for nomination in decisions.nominations]
        for task in (
            [task for task in self._nominated if task not in tasks] if len(self._nominated) > 2 * len(nominated) else ()
        ):
            del self._nominated[task]
        return {
            tasks[task].record.gang
            for task in nominated
            if task in tasks and now - self._nominated.get(task, now) < PATIENCE
        }

    def _group(self, gang: str) -> PodGroup | None:
        namespace, _, name = gang.partition("/")
        return self._cache.get(POD_GROUP, name, namespace)

    def _group_changed(self, before: PodGroup | None, after: PodGroup | None) -> None:
        """Nothing is kept in mind about a gang that is gone."""
        if after is None and before is not None:
            gang = gang_uid(before.namespace, before.name)
            for kept in (self._verdicts, self._explained, self._unwritten):
                kept.pop(gang, None)
            self.overlay.forget_gang(gang)
            self._teller.forget(gang)

    def _members(self, gang: str) -> dict[str, Pod]:
        held = self.cluster.gangs.get(gang)
        uids = [*held.tasks, *held.invalid] if held is not None else []
        found = ((uid, self._pod(uid)) for uid in uids)
        return {uid: pod for uid, pod in found if pod is not None}

    def _pod(self, uid: str) -> Pod | None:
        task = self.cluster.tasks.get(uid)
        pod = self._cache.get(POD, task.name, task.namespace) if task is not None else None
        return pod if pod is not None and pod.uid == uid else None

    def _set_alarm(self, deadline: float | None, now: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        turns = self.feed.next_turn(now)
        moments = [moment for moment in (deadline, turns) if moment is not None]
        if moments:
            self._alarm = background.start(
                "alarm of the scheduler", partial(self._ring, min(moments) - now), self._ctx.clock
            )

    async def _ring(self, seconds: float) -> None:
        await self._ctx.clock.sleep(max(seconds, 0.0) + 0.001)
        self.feed.note_turned(self._ctx.clock.now())
        self._wake.set()

    # --- carrying out decisions
    # ----------------------------------------------------------------------------------------

    def _bind(self, bind: Bind) -> None:
        pod = self._pod(bind.task)
        if pod is None:
            return
        self.overlay.binding(bind)
        body = decision_objects.bind_request(
            bind, pod, self.cluster.tasks[bind.task].record.gang.partition("/")[2], self.options
        )

        async def write() -> None:
            began = time.perf_counter()
            made = await self._ctx.client.create(BIND_REQUEST, body)
            metrics.BIND.observe((time.perf_counter() - began) * 1000)
            self.overlay.written(pod.uid, int(made.metadata.resource_version or 0))
            self._events_of_bind(pod, bind)
            await self._label_pool(pod)

        self.writer.put((BIND_REQUEST.kind, pod.uid), write, lambda error: self._not_bound(pod, error))

    def _events_of_bind(self, pod: Pod, bind: Bind) -> None:
        text = (
            f"Successfully assigned pod {pod.namespace}/{pod.name} to node {bind.node} at node-pool "
            f"{self.options.pool_name}"
        )
        self._ctx.events.tell(POD, pod, "Scheduled", text)

    async def _label_pool(self, pod: Pod) -> None:
        key, value = self.options.node_pool_key, self.options.node_pool
        if key and value and pod.labels.get(key) != value:
            await self._ctx.client.patch_only(POD, pod.name, pod.namespace, {"metadata": {"labels": {key: value}}})

    def _not_bound(self, pod: Pod, error: ApiError) -> None:
        """Give the pod back to the next cycle."""
        self.overlay.forget(pod.uid)
        self.feed.note_pod(key_of(pod))
        if isinstance(error, AlreadyExists):
            self.writer.put(("stale request", pod.uid), lambda: self._drop_foreign(pod))
        elif not isinstance(error, NotFound):
            self._ctx.events.tell(
                POD, pod, "FailedBinding", f"the BindRequest could not be written: {error}", warning=True
            )

    async def _drop_foreign(self, pod: Pod) -> None:
        """A request of an earlier pod with this name stands in the way."""
        try:
            request = await self._ctx.client.get(BIND_REQUEST, pod.name, pod.namespace)
            if not for_pod(request, pod):
                await self._ctx.client.delete(BIND_REQUEST, request.name, request.namespace, uid=request.uid)
        except NotFound:
            pass
        self.feed.note(POD, key_of(pod))

    def _evict(self, evict: Evict) -> None:
        pod = self._pod(evict.task)
        if pod is None:
            return
        self.overlay.evicting(pod.uid)

        async def write() -> None:
            if self.options.tell_disruption:
                patch = {"metadata": {"uid": pod.uid}, **decision_objects.disruption(evict, self._ctx.clock.now())}
                await self._ctx.client.patch_only(
                    POD, pod.name, pod.namespace, patch, subresource="status", content_type=STRATEGIC_PATCH
                )
            await self._ctx.client.delete(POD, pod.name, pod.namespace, uid=pod.uid)

        self.writer.put(("evict", pod.uid), write, lambda error: self._not_evicted(pod))

    def _not_evicted(self, pod: Pod) -> None:
        self.overlay.forget(pod.uid)
        self.feed.note(POD, key_of(pod))

    def _nominate(self, nominate: Nominate) -> None:
        """Told once: where it waits may change with every cycle."""
        pod = self._pod(nominate.task)
        if pod is not None and nominate.task not in self._nominated:
            self._nominated[nominate.task] = self.now
            self._ctx.events.tell(
                POD, pod, "Pipelined", f"Pod {pod.namespace}/{pod.name} was pipelined to node {nominate.node}"
            )

    def _tell_evictions(self, decisions: Decisions) -> dict[str, EvictionNote]:
        """One event per gang that lost pods, with the facts as annotations; the same facts are given back by gang."""
        lost: dict[str, list[Evict]] = {}
        for evict in decisions.evictions:
            task = self.cluster.tasks.get(evict.task)
            if task is not None:
                lost.setdefault(task.record.gang, []).append(evict)
        for gang, evictions in lost.items():
            group = self._group(gang)
            if group is not None:
                first = evictions[0]
                metrics.EVICTED.labels(
                    group.name, group.namespace, group.uid, self.options.pool_name, first.action
                ).inc(len(evictions))
                other_namespace, _, other = first.preemptor.partition("/")
                self._ctx.events.tell(
                    POD_GROUP,
                    group,
                    "Evict",
                    first.message,
                    annotations={
                        "num-evicted-pods": str(len(evictions)),
                        "evictor-action-type": first.action,
                        "evictor-pod-group-name": other,
                        "evictor-pod-group-namespace": other_namespace,
                    },
                )
        if not self.options.note_evictions:
            return {}
        return {gang: decision_objects.eviction_of(evictions, self.now) for gang, evictions in lost.items()}

    def _stamp_all(self, updates: Iterable[GangUpdate], evictions: Mapping[str, EvictionNote]) -> None:
        """Write time stamps; a mere start is kept in mind until somebody's minimum run time makes it matter."""
        matters = self.options.stamp_every_start or start_matters(self.options.settings, self._cache.list(QUEUE))
        kept = [self._unwritten.pop(gang) for gang in list(self._unwritten)] if matters else []
        for update in (*kept, *updates):
            if update.gang not in self.cluster.gangs:
                continue
            self.overlay.updating(update)
            if matters or update.stale_since is not None or update.last_eviction is not None:
                self._unwritten.pop(update.gang, None)
                self._stamp(update, evictions.get(update.gang))
            else:
                self._unwritten[update.gang] = update

    def _stamp(self, update: GangUpdate, eviction: EvictionNote | None) -> None:
        namespace, _, name = update.gang.partition("/")

        async def write() -> None:
            await self._ctx.client.patch_only(
                POD_GROUP, name, namespace, decision_objects.gang_stamps(update, eviction)
            )
            self.overlay.updated(update)

        self.writer.put(("stamp", update.gang), write, lambda error: self.overlay.updated(update))

    # --- requests that are over
    # --------------------------------------------------------------------------------------------

    def _request_changed(self, before: BindRequest | None, after: BindRequest | None) -> None:
        if after is not None and self._ours(after) and (not bind_request_live(after) or self._lost_its_node(after)):
            self._drop(after)

    def _node_changed(self, before: Node | None, after: Node | None) -> None:
        if after is None and before is not None:
            for request in self._cache.by(BIND_REQUEST, "node", before.name):
                if self._ours(request) and request.status.phase != "Succeeded":
                    self._drop(request)

    def _ours(self, request: BindRequest) -> bool:
        return self._pool is None or self._pool.matches(request.labels)

    def _lost_its_node(self, request: BindRequest) -> bool:
        return request.status.phase != "Succeeded" and self._cache.get(NODE, request.spec.selected_node) is None

    def _drop(self, request: BindRequest) -> None:
        async def write() -> None:
            await self._ctx.client.delete(BIND_REQUEST, request.name, request.namespace, uid=request.uid)

        pod = Key(request.namespace, request.spec.pod_name)
        self.writer.put(("drop request", request.uid), write, lambda error: self.feed.note(POD, pod))

    async def stop(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        if self.started.is_set():
            await self.writer.stop()
