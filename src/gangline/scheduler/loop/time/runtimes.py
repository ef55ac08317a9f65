"""Keeps what was learned of runtimes over restarts, in a ConfigMap of the scheduler's own namespace. Acts.

Read once at the beginning; written when something was learned, at most every minute. A cluster that does not let
us is logged once, and runtimes are learned all the same."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable

from gangline.api.kinds import CONFIG_MAP
from gangline.api.meta import Raw
from gangline.errors import ApiError, NotFound
from gangline.runtime import Context
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.time.kept import KEY, kept_name, restored
from gangline.scheduler.time.learned import LearnedRuntimes

log = logging.getLogger(__name__)
EVERY = 60.0
"""Seconds; so late may explain and whatif be, who read what is kept."""
SavedRuntimes = dict[str, list[float]]
BetweenCycles = Callable[[Callable[[], SavedRuntimes]], Awaitable[SavedRuntimes]]


class RuntimeKeeper:
    def __init__(self, memory: LearnedRuntimes, options: SchedulerOptions) -> None:
        self._memory = memory
        self._namespace = options.memory_namespace
        self._name = kept_name(options.node_pool)
        self._written = 0

    async def read(self, ctx: Context) -> None:
        """Before the first cycle."""
        if not self._namespace:
            return
        try:
            kept = await ctx.client.get(CONFIG_MAP, self._name, self._namespace)
            restored(self._memory, kept.data.get(KEY, "{}"))
        except NotFound:
            return
        except (ApiError, ValueError) as error:
            log.warning("ConfigMap %s/%s: runtimes are learned anew: %s", self._namespace, self._name, error)

    async def run(self, ctx: Context, between_cycles: BetweenCycles) -> None:
        """`between_cycles`: calls a function while no cycle changes the memory."""
        try:
            while self._namespace:
                await ctx.clock.sleep(EVERY)
                if self._memory.noted != self._written:
                    await self._write(ctx, between_cycles)
        except ApiError as error:
            log.warning("learned runtimes are not kept over restarts (ConfigMap %s): %s", self._name, error)

    async def _write(self, ctx: Context, between_cycles: BetweenCycles) -> None:
        noted, saved = self._memory.noted, await between_cycles(self._memory.saved)
        data: Raw = {"data": {KEY: json.dumps(saved, separators=(",", ":"))}}
        try:
            await ctx.client.patch_only(CONFIG_MAP, self._name, self._namespace, data)
        except NotFound:
            meta = {"name": self._name, "namespace": self._namespace}
            await ctx.client.create(CONFIG_MAP, {"metadata": meta, **data})
        self._written = noted
