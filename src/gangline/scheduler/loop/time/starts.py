"""Tells gangs that wait when they will start: the promise on the PodGroup, an event when it is revised, the counts of
promises. Acts.

What is worth a write is decided in time/promises.py. One write per change that a person would notice, beside the
cycle."""

from __future__ import annotations

from functools import partial

from gangline.api.kai import PodGroup
from gangline.api.kinds import POD_GROUP
from gangline.api.meta import Raw
from gangline.rules.gangs.starts import StartTimes, start_status, start_text, start_times
from gangline.runtime import Context
from gangline.scheduler.loop import metrics
from gangline.scheduler.loop.lookup import ModelObjects
from gangline.scheduler.thought.think import CycleThought
from gangline.scheduler.time.learned import LearnedRuntimes
from gangline.scheduler.time.promises import BROKEN, PromiseNews, StartPromises

REVISED = "StartRevised"


class StartTeller:
    def __init__(self, ctx: Context, objects: ModelObjects, memory: LearnedRuntimes | None) -> None:
        self._ctx, self._objects = ctx, objects
        self._promises = StartPromises(self._stored, memory or LearnedRuntimes())

    def tell(self, thought: CycleThought, now: float) -> None:
        for news in self._promises.after_cycle(self._objects.cluster, thought.decisions, now):
            if news.event:
                metrics.PROMISES.labels(news.event, news.cause).inc()
            group = self._objects.group(news.gang)
            if group is not None:
                self._write(group, news.times)
                if news.event == BROKEN and news.told:
                    self._tell_revised(group, news, now)
        for standing in thought.standings:
            if not standing.waiting and self._promises.of(standing.gang) is None:
                self._clear(standing.gang)

    def forget(self, gang: str) -> None:
        self._promises.forget(gang)

    def _stored(self, gang: str) -> StartTimes | None:
        group = self._objects.group(gang)
        return start_times(group.status.start) if group is not None else None

    def _clear(self, gang: str) -> None:
        """What an earlier scheduler promised to a gang that no longer waits."""
        group = self._objects.group(gang)
        if group is not None and group.status.start is not None:
            self._write(group, None)

    def _tell_revised(self, group: PodGroup, news: PromiseNews, now: float) -> None:
        text = start_text(news.times, now) if news.times is not None else news.told
        self._ctx.events.tell(POD_GROUP, group, REVISED, text)

    def _write(self, group: PodGroup, times: StartTimes | None) -> None:
        patch: Raw = {"status": {"start": None if times is None else start_status(times)}}
        write = partial(
            self._ctx.client.patch_only, POD_GROUP, group.name, group.namespace, patch, subresource="status"
        )
        self._ctx.writer.put((POD_GROUP.kind, group.namespace, group.name, "start"), write)
