"""The scheduler as `gangline run scheduler` starts it: its loop and, when asked for, the history of usage and its
pages."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gangline.runtime import BackgroundService, Cache, Component, Context, background
from gangline.runtime.health import Endpoint
from gangline.scheduler.cycle import decide
from gangline.scheduler.loop.flags import read_flags
from gangline.scheduler.loop.pages import pages
from gangline.scheduler.loop.service import SchedulerService
from gangline.scheduler.loop.time.runtimes import RuntimeKeeper
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.settings import SchedulerSettings, shard_settings
from gangline.scheduler.thought.options import SchedulerOptions
from gangline.scheduler.usage.history import History
from gangline.scheduler.usage.windows import UsageSettings


def component(
    settings: SchedulerSettings | None = None,
    *,
    period: float = 1.0,
    options: SchedulerOptions | None = None,
    usage: UsageSettings | None = None,
    plugin_port: int | None = None,
) -> Component:
    """`plugin_port`: where the pages are served, on this machine only; None: nowhere."""
    chosen = options or SchedulerOptions(settings=settings or shard_settings(), period=period)
    scheduler = SchedulerService(replace(chosen, settings=replace(chosen.settings, node_pool=chosen.pool_name)))
    history = History(usage or UsageSettings())

    async def run(ctx: Context, cache: Cache) -> None:
        endpoint = Endpoint(pages=pages(scheduler, ctx.client)) if plugin_port is not None else None
        remembering = background.start("usage history", partial(_remember, history, scheduler, ctx, cache), ctx.clock)
        learning = await _learning(scheduler, ctx)
        try:
            if endpoint is not None and plugin_port is not None:
                await endpoint.open("127.0.0.1", plugin_port)
            await scheduler.run(ctx, cache)
        finally:
            for beside in (remembering, *learning):
                beside.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await beside
            await scheduler.stop()
            history.close()
            if endpoint is not None:
                await endpoint.close()

    return Component(
        "scheduler", services=(BackgroundService("scheduler", run, lambda: scheduler.idle, scheduler.prepare),)
    )


def check(flags: Mapping[str, str], config: Mapping[str, Any]) -> None:
    """Try one cycle over an empty cluster with what a scheduler would be started with; raises ConfigError where it
    would not start."""
    decide(ClusterModel(), read_flags(flags, config).options.settings, 0.0)


async def _learning(scheduler: SchedulerService, ctx: Context) -> list[asyncio.Task[None]]:
    """Learned runtimes as they were kept, and their keeper."""
    if scheduler.memory is None:
        return []
    keeper = RuntimeKeeper(scheduler.memory, scheduler.options)
    await keeper.read(ctx)
    return [background.start("learned runtimes", partial(keeper.run, ctx, scheduler.between_cycles), ctx.clock)]


async def _remember(history: History, scheduler: SchedulerService, ctx: Context, cache: Cache) -> None:
    await scheduler.started.wait()
    await history.run(ctx, cache, scheduler.feed.usage_changed)
