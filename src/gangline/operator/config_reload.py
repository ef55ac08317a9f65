"""The operator's configuration, read again while it runs: which backends are on, their profiles and settings, what runs
outside.

`ConfigFile` gives the settings as a file says them now (a mounted ConfigMap is such a file); a file that cannot be used
leaves the former settings in force, and says why in the log. `follow` makes a running operator act on what has changed.
How many workers there are is decided at start."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gangline.api.meta import Raw
from gangline.bounded_input import read_text
from gangline.errors import GanglineError
from gangline.operator.backends import Registry
from gangline.operator.gangs import controller as gangs
from gangline.operator.gangs.watches import read_only, watches
from gangline.operator.operator import Operator
from gangline.rules.sets import OperatorSettings
from gangline.rules.values.documents import read_yaml
from gangline.runtime import BackgroundService, Cache, Context

log = logging.getLogger(__name__)
PERIOD = 5.0
"""Seconds between two looks at the configuration."""

Source = Callable[[], OperatorSettings]
"""Gives the settings that hold now: the same object as long as nothing has changed."""


class ConfigFile:
    def __init__(self, path: Path, read: Callable[[Raw], OperatorSettings]) -> None:
        self._path, self._read = path, read
        self._text = read_text(path)
        self._settings = read(read_yaml(self._text) or {})

    def current(self) -> OperatorSettings:
        try:
            text = read_text(self._path)
            if text != self._text:
                self._text = text
                self._settings = self._read(read_yaml(text) or {})
                log.info("%s has changed and is in force", self._path)
        except (OSError, UnicodeDecodeError, GanglineError) as error:
            log.error("%s has changed and cannot be used, so the former settings stay: %s", self._path, error)
        return self._settings


def service(op: Operator, source: Source) -> BackgroundService:
    """Background work of the operator: looks at its configuration every few seconds."""
    return BackgroundService("settings", partial(follow, op, source))


async def follow(op: Operator, source: Source, ctx: Context, cache: Cache) -> None:
    seen = op.settings
    while True:
        await ctx.clock.sleep(PERIOD)
        new = source()
        if new == seen:
            continue
        seen = new
        try:
            await _take_over(op, new, cache)
        except GanglineError as error:
            log.error("the new configuration cannot be used, so the former one stays: %s", error)


async def _take_over(op: Operator, new: OperatorSettings, cache: Cache) -> None:
    """The kinds of backends that are new are followed first, then the settings hold, then everything is looked at
    again."""
    registry = Registry(new)
    for running in op.running:
        if running.controller.name == gangs.NAME:
            for watch in watches(registry):
                running.follow(watch)
    for kind in read_only(registry):
        cache.informer(kind)
    await cache.start()
    op.configure(new)
    for running in op.running:
        running.again()
