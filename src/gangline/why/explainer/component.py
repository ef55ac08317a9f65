"""`gangline run explainer`: follows PodGroups and writes, on each that the scheduler has judged, what `gangline
explain` says of it; while the gang waits, it looks again from time to time.

Never in the way of a cycle: it reads the cluster by itself, thinks in a thread for at most BUDGET seconds at a time,
and rests nine times as long as it worked. Where the cluster is larger than LARGEST the scheduler's own verdict
stands alone.
"""

from __future__ import annotations

import asyncio
import logging
import time

from gangline.api import kinds, names
from gangline.api.kai import PodGroup
from gangline.errors import ApiError
from gangline.rules.verdicts import GangAnswer, answer_of, verdict_of
from gangline.runtime import BackgroundService, Cache, Component, Context
from gangline.runtime.clock import within
from gangline.why.answers import answer, titles_of
from gangline.why.causes import cause_of, line_of
from gangline.why.explainer.answer_note import described, event_text, is_left_over, lacks_answer, note_of, says_more
from gangline.why.objects import ClusterObjects
from gangline.why.read import read_cluster
from gangline.why.remedies import remedies
from gangline.why.workloads import of_group

log = logging.getLogger(__name__)
BUDGET = 1.0
"""Seconds of thought after which the other gangs wait for the next turn."""
REST = 9.0
"""Times as long as it worked."""
SHORTEST_REST = 0.2
FRESH = 30.0
"""Seconds after which an answer is worked out anew: what it names may have changed though the verdict is the same."""
LARGEST = 20_000
"""Pods of a cluster up to which answers are written without being asked for."""
GroupKey = tuple[str, str]


class AnswerWriter:
    """Which gangs wait for an answer, and the loop that gives it."""

    def __init__(self, fresh: float) -> None:
        self._fresh = fresh
        self._pending: dict[GroupKey, None] = {}
        self._aged: dict[GroupKey, None] = {}
        self._news = asyncio.Event()
        self._busy = False

    @property
    def idle(self) -> bool:
        return not self._pending and not self._busy

    def prepare(self, cache: Cache) -> None:
        cache.informer(kinds.POD_GROUP)

    async def run(self, ctx: Context, cache: Cache) -> None:
        cache.informer(kinds.POD_GROUP).on_change(lambda before, after: self._note(after))
        for group in cache.list(kinds.POD_GROUP):
            self._note(group)
        while True:
            await self._news_or_age(ctx, cache)
            began = time.monotonic()
            try:
                await self._turn(ctx, cache)
            except ApiError as error:
                log.warning("no answers were written: %s", error)
                self._pending.clear()
            await ctx.clock.sleep(max(SHORTEST_REST, REST * (time.monotonic() - began)))
            if self._pending or self._aged:
                self._news.set()

    async def _news_or_age(self, ctx: Context, cache: Cache) -> None:
        """Until there is something to do: a new verdict, or answers that are no longer fresh."""
        try:
            await within(ctx.clock, self._fresh, self._news.wait())
        except TimeoutError:
            waiting = [group for group in cache.list(kinds.POD_GROUP) if answer_of(group) is not None]
            self._aged.update({(group.namespace, group.name): None for group in waiting})
        self._news.clear()

    def _note(self, group: PodGroup | None) -> None:
        if group is not None and (lacks_answer(group) or is_left_over(group)):
            self._pending[group.namespace, group.name] = None
            self._news.set()

    async def _turn(self, ctx: Context, cache: Cache) -> None:
        self._busy = True
        try:
            for key in self._pending.copy():
                group = cache.get(kinds.POD_GROUP, key[1], key[0])
                if group is None or not lacks_answer(group):
                    self._pending.pop(key, None)
                    if group is not None and is_left_over(group):
                        _write(ctx, group, None)
            keys = [*self._pending, *(key for key in self._aged if key not in self._pending)]
            if not keys:
                return
            objects = await read_cluster(ctx.client, ctx.clock.now())
            if objects.count_pods() > LARGEST:
                self._pending.clear()
                self._aged.clear()
                return
            answers = await asyncio.to_thread(_answers, objects, keys)
            for key, given in answers.items():
                self._pending.pop(key, None)
                self._aged.pop(key, None)
                group = objects.get(kinds.POD_GROUP, key[1], key[0])
                if group is not None and given is not None and says_more(group, given):
                    _write(ctx, group, note_of(group, given))
                    for kind, about in described(objects, group):
                        ctx.events.tell(kind, about, "Waiting", event_text(given.data))
        finally:
            self._busy = False


def _answers(objects: ClusterObjects, keys: list[GroupKey]) -> dict[GroupKey, GangAnswer | None]:
    """As many as there is time for; None where nothing waits any more."""
    given: dict[GroupKey, GangAnswer | None] = {}
    titles, end = titles_of(objects), time.monotonic() + BUDGET
    for namespace, name in keys:
        group = objects.get(kinds.POD_GROUP, name, namespace)
        given[namespace, name] = None
        if group is not None and verdict_of(group) is not None:
            subject = of_group(objects, group)
            cause = cause_of(objects, subject, titles)
            ways = [remedy for remedy in remedies(objects, subject, cause, titles) if remedy.tried]
            given[namespace, name] = answer(objects, subject, cause, ways, line_of(objects, subject))
        if time.monotonic() > end:
            break
    return given


def _write(ctx: Context, group: PodGroup, note: str | None) -> None:
    patch = {"metadata": {"annotations": {names.ANSWER: note}}}

    async def write() -> None:
        await ctx.client.patch_only(kinds.POD_GROUP, group.name, group.namespace, patch)

    ctx.writer.put((kinds.POD_GROUP.kind, group.namespace, group.name, "answer"), write)


def component(fresh: float = FRESH) -> Component:
    """`fresh`: seconds after which an answer is worked out anew."""
    writer = AnswerWriter(fresh)
    return Component(
        "explainer", services=(BackgroundService("explainer", writer.run, lambda: writer.idle, writer.prepare),)
    )
