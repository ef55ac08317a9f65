"""Keeps the model's figures of past use fresh: asks the chosen source every so often, and feeds our own store.

Runs beside the scheduler's loop. When the source cannot be asked, the last figures stay in use, and a warning says how
old they are.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any

import aiohttp

from gangline.api import resources
from gangline.api.kinds import NODE, QUEUE
from gangline.errors import GanglineError
from gangline.runtime import Cache, Context
from gangline.scheduler.loop import metrics
from gangline.scheduler.usage import prometheus as usage_prometheus
from gangline.scheduler.usage.store import UsageStore
from gangline.scheduler.usage.windows import NONE, RESOURCES, STORE, UsageSettings

log = logging.getLogger(__name__)
Parts = Mapping[str, Mapping[str, float]]


def held(quantities: Mapping[str, Any]) -> dict[str, float]:
    """GPUs of every maker, CPU cores and bytes of memory of a resource list."""
    gpus = sum(resources.number(value) for name, value in quantities.items() if name.endswith("/gpu"))
    return {
        "gpu": gpus,
        "cpu": resources.number(quantities.get("cpu", 0)),
        "memory": resources.number(quantities.get("memory", 0)),
    }


class History:
    """`parts` are each queue's part of the cluster as last known."""

    def __init__(self, settings: UsageSettings) -> None:
        self.settings = settings
        self.parts: Parts = {}
        self.known_at = float("-inf")
        self._store = UsageStore(settings) if settings.source == STORE else None

    async def run(self, ctx: Context, cache: Cache, changed: Any) -> None:
        """`changed` is called with new figures."""
        if self.settings.source == NONE:
            return
        while True:
            await self.refresh(ctx, cache, changed)
            await ctx.clock.sleep(self.settings.fetch)

    async def refresh(self, ctx: Context, cache: Cache, changed: Any) -> None:
        now, began = ctx.clock.now(), time.perf_counter()
        try:
            parts = await self._ask(now, cache)
            metrics.USAGE.observe((time.perf_counter() - began) * 1000)
        except (GanglineError, aiohttp.ClientError, TimeoutError, ValueError) as error:
            old = now - self.known_at
            log.warning("past usage cannot be asked for (figures are %.0f s old): %s", old, error)
            return
        self.known_at = now
        if parts != self.parts:
            self.parts = parts
            changed(lambda queue: dict(parts.get(queue, {})))

    async def _ask(self, now: float, cache: Cache) -> Parts:
        if self._store is None:
            return await usage_prometheus.usage(self.settings, now, self._get)
        used = {queue.name: held(queue.status.allocated) for queue in cache.list(QUEUE)}
        whole = [held(node.status.capacity) for node in cache.list(NODE)]
        capacity = {name: sum(item[name] for item in whole) for name in RESOURCES}
        await asyncio.to_thread(self._store.sample, now, used, capacity)
        return await asyncio.to_thread(self._store.usage, now)

    async def _get(self, address: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        limit = aiohttp.ClientTimeout(total=self.settings.timeout)
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.get(address, params=dict(parameters)) as answer,
        ):
            document: dict[str, Any] = await answer.json(content_type=None)
            return document

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
