"""The scheduler as `gangline run scheduler` starts it."""

from __future__ import annotations

from dataclasses import replace

from gangline.runtime import Cache, Component, Context, Service
from gangline.scheduler.options import Options
from gangline.scheduler.service import Scheduler
from gangline.scheduler.settings import Settings


def component(settings: Settings | None = None, *, period: float = 1.0, options: Options | None = None) -> Component:
    told = options or Options(settings=settings or Settings(), period=period)
    scheduler = Scheduler(replace(told, settings=replace(told.settings, node_pool=told.pool_name)))

    async def run(ctx: Context, cache: Cache) -> None:
        try:
            await scheduler.run(ctx, cache)
        finally:
            await scheduler.stop()

    return Component("scheduler", services=(Service("scheduler", run, lambda: scheduler.idle, scheduler.prepare),))
