"""The scheduler's loop: watch → decide → write decisions.

A cycle starts as soon as something changed, as its options pace it, and never just because time passes
(thought/deadlines.py names the exceptions). It runs in a thread of its own, which owns the model while it runs; events
are noted meanwhile. Decisions are written beside the next cycle (carrier.py), conditions, events and verdicts for gangs
that wait as well (teller.py, explainer.py). It never waits for a bind."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from gangline.api import names
from gangline.api.kai import PodGroup
from gangline.api.kinds import BIND_REQUEST, POD_GROUP
from gangline.runtime import Cache, Context
from gangline.scheduler.loop import metrics
from gangline.scheduler.loop.alarm import CycleAlarm
from gangline.scheduler.loop.carrier import DecisionCarrier
from gangline.scheduler.loop.decision_writes import log_decisions
from gangline.scheduler.loop.explainer import GangExplainer
from gangline.scheduler.loop.feed import Feed
from gangline.scheduler.loop.lookup import ModelObjects
from gangline.scheduler.loop.overlay import Overlay
from gangline.scheduler.loop.requests.keeper import RequestKeeper
from gangline.scheduler.loop.teller import GangTeller
from gangline.scheduler.loop.time.starts import StartTeller
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.objects.gangs import gang_uid
from gangline.scheduler.recording.memory import take_picture
from gangline.scheduler.recording.recorder import FlightRecorder, RecorderSettings
from gangline.scheduler.recording.segments import RecordedCycle, SegmentStart
from gangline.scheduler.thought.booking import remember_evictions
from gangline.scheduler.thought.changes import ModelChange
from gangline.scheduler.thought.explaining import being_served
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.thought.standings import GatheringGangs
from gangline.scheduler.thought.think import CycleThought, think
from gangline.scheduler.thought.waiting_causes import waiting_causes
from gangline.scheduler.time.learned import LearnedRuntimes
from gangline.scheduler.time.learning import learns

log = logging.getLogger(__name__)
R = TypeVar("R")
LONGEST_PAUSE = 30.0
COMING = 0.1
"""Seconds after which a pod is looked at whose gang is not complete, where it is not told at once that others lack."""


class SchedulerService:
    """One shard's scheduler. Built per component; `run` is its life."""

    def __init__(self, options: SchedulerOptions, fresh: Callable[[], str] = lambda: str(uuid.uuid4())) -> None:
        self.options = options
        self.cluster = ClusterModel()
        self.cycles = 0
        self.memory = LearnedRuntimes() if learns(options.settings) else None
        self._fresh, self._gathering = fresh, GatheringGangs(options.gathering)
        self._wake = asyncio.Event()
        self._thinking = False
        self.started = asyncio.Event()
        self._model = asyncio.Lock()
        folder, hours, megabytes = options.recording_folder, options.recording_hours, options.recording_megabytes
        self._recorder = FlightRecorder(RecorderSettings(folder, hours, megabytes), options.pool_name)

    def prepare(self, cache: Cache) -> None:
        Feed.prepare(cache, self.options)

    async def run(self, ctx: Context, cache: Cache) -> None:
        self._begin(ctx, cache)
        pause, started, busy, decided = self.options.period, float("-inf"), 0.0, True
        while True:
            await self._wake.wait()
            wait = started + self.options.pause(busy, decided) - ctx.clock.now()
            if wait > 0:
                await ctx.clock.sleep(wait)
            started = ctx.clock.now()
            try:
                decided = await self._cycle()
                pause, busy = self.options.period, ctx.clock.now() - started
            except Exception:
                log.exception("a cycle failed; the model is built anew")
                self._begin_anew()
                pause = min(max(pause, 0.1) * 2, LONGEST_PAUSE)
                await ctx.clock.sleep(pause)

    def _begin(self, ctx: Context, cache: Cache) -> None:
        overlay = Overlay(lambda: cache.informer(BIND_REQUEST).revision)
        self._ctx, self._cache, self._objects = ctx, cache, ModelObjects(cache, self.cluster)
        self._alarm, self._coming = CycleAlarm(ctx.clock, self._time_passed), CycleAlarm(ctx.clock, self._wake.set)
        self.feed = Feed(cache, self.options, overlay, self._wake.set, partial(self._coming.within, COMING))
        self._carrier = DecisionCarrier(ctx, cache, self.options, self._objects, self.feed, overlay)
        self._teller = GangTeller(ctx, cache, self.options)
        self._explainer = GangExplainer(ctx.clock, self.options.settings, self._objects, self._teller)
        self._starts = StartTeller(ctx, self._objects, self.memory)
        self._waiting = metrics.WaitingFigures(ctx.clock.now)
        self._idle = metrics.IdleFigures(self.options.pool_name)
        metrics.note_settings(self.options.settings)
        remember_evictions(self.cluster, cache.list(POD_GROUP), self.now)
        self.feed.start()
        RequestKeeper(ctx, cache, self.options, self.feed).start()
        cache.informer(POD_GROUP).on_change(self._group_changed)
        self.started.set()

    def _begin_anew(self) -> None:
        self.cluster = self._objects.cluster = ClusterModel()
        remember_evictions(self.cluster, self._cache.list(POD_GROUP), self.now)
        self.feed.note_all()

    def _time_passed(self) -> None:
        self.feed.note_turned(self.now)
        self._wake.set()

    def _group_changed(self, before: PodGroup | None, after: PodGroup | None) -> None:
        """A gang that is gone is forgotten; where the explainer wrote its answer, the condition gets these words."""
        if after is None and before is not None:
            gang = gang_uid(before.namespace, before.name)
            for keeper in (self._explainer, self._carrier, self._teller, self._starts):
                keeper.forget(gang)
        elif after is not None and names.ANSWER in after.annotations:
            self._teller.answered(after, gang_uid(after.namespace, after.name))

    @property
    def idle(self) -> bool:
        """No event pending, no cycle running, all writes done."""
        at_rest = self.started.is_set() and not (self._wake.is_set() or self._thinking or self._gathering.until)
        return at_rest and not self.feed.pending and self._ctx.writer.idle

    @property
    def now(self) -> float:
        return self._ctx.clock.now()

    async def between_cycles(self, look: Callable[[], R]) -> R:
        """Look at the model while no cycle runs."""
        async with self._model:
            return await asyncio.to_thread(look)

    async def _cycle(self) -> bool:
        """Says whether anything was decided."""
        self._thinking = True
        try:
            async with self._model:
                return await self._think()
        finally:
            self._thinking = False

    async def _think(self) -> bool:
        self._wake.clear()
        self._coming.stop()
        now = self.now
        changes, seen = self.feed.gather(now), self._cache.newest
        start, thought = await asyncio.to_thread(self._decide, changes, now)
        self._recorder.note(
            RecordedCycle(now, tuple(thought.taken), thought.decisions, thought.fresh), start, self.cluster
        )
        self.cycles += 1
        metrics.note_cycle(thought)
        self._idle.show(thought.idle, now)
        for unread in thought.unread:
            log.warning("%s %s cannot be read: %s", unread.type.__name__, unread.key, unread.reason)
        self._carrier.carry_out(thought.decisions)
        log_decisions(self.cluster, thought.decisions)
        self._teller.tell_all(thought.standings, thought.decisions.refusals, self._objects)
        self._starts.tell(thought, now)
        await self._explain(thought, now, seen)
        self._waiting.show(waiting_causes(self.cluster, self._explainer.cause_of))
        moments = (thought.deadline, self.feed.next_turn(now), self._teller.next_due(now))
        self._alarm.set(min((moment for moment in moments if moment is not None), default=None))
        return bool(thought.decisions.commits or thought.decisions.refusals)

    def _decide(self, changes: list[ModelChange], now: float) -> tuple[SegmentStart | None, CycleThought]:
        """One cycle, in its thread; where the recorder begins a segment, with the model as it was before."""
        settings, start, idle = self.options.settings, None, self._idle.due(len(self.cluster.nodes), now)
        if self._recorder.due(self.cluster, now):
            start = SegmentStart(self.options.pool_name, now, settings, take_picture(self.cluster))
        memory = self.memory, idle, self._gathering
        return start, think(self.cluster, changes, settings, now, self._fresh, time.perf_counter, *memory)

    async def _explain(self, thought: CycleThought, now: float, seen: int) -> None:
        self._carrier.forget_placed(thought.decisions)
        nominated = [nomination.task for nomination in thought.decisions.nominations]
        served = being_served(self.cluster, nominated, self._carrier.nominated, now)
        await self._explainer.explain(thought, served, now, self.cycles, self.feed.pending, seen)

    async def stop(self) -> None:
        if self.started.is_set():
            for alarm in (self._alarm, self._coming):
                alarm.stop()
            self._waiting.show({})
            await self._ctx.writer.stop()
        await asyncio.to_thread(self._recorder.close)
