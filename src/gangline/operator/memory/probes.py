"""Which fields an API server drops silently: found out by creating objects in a dry run, which stores nothing.

What to ask comes from a backend (`probes(facts)`); the answers become `Facts.dropped`. Asked again when other kinds are
served, and every minute while something is dropped, so that a feature that is switched on is noticed. The operator asks
before it translates; the process that judges sets asks too (`service`), so that a lost guarantee is refused there
already."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from gangline.api import names
from gangline.api.kinds import Kind
from gangline.api.meta import spec_of
from gangline.client import Client
from gangline.errors import ApiError
from gangline.operator.backends import Registry
from gangline.operator.backends.contract import Backend, Facts, GangObject
from gangline.rules.sets import OperatorSettings
from gangline.runtime import BackgroundService, Cache, Context
from gangline.runtime.clock import Clock

log = logging.getLogger(__name__)
PATIENCE = 60.0


LOOK_AGAIN = 5.0
"""Seconds between two looks at what is served, of a process that only judges."""


class Probes:
    def __init__(self) -> None:
        self.dropped: frozenset[tuple[Kind[Any], str]] = frozenset()
        self._asked: tuple[frozenset[Kind[Any]], float] | None = None
        self._lock = asyncio.Lock()

    def due(self, facts: Facts, now: float) -> bool:
        if self._asked is None or self._asked[0] != facts.served:
            return True
        return bool(self.dropped) and now - self._asked[1] >= PATIENCE

    async def ask(self, client: Client, clock: Clock, backend: Backend, facts: Facts, namespace: str) -> None:
        """Find out, unless it is known well enough."""
        if not self.due(facts, clock.now()):
            return
        wanted = list(backend.probes(facts))
        if not wanted:
            return
        async with self._lock:
            if self.due(facts, clock.now()):
                dropped = [await _dropped(client, item, namespace) for item in wanted]
                self.dropped = frozenset(pair for item in dropped for pair in item)
                self._asked = facts.served, clock.now()


async def ask_for_all(
    probes: Probes,
    client: Client,
    clock: Clock,
    settings: OperatorSettings,
    serves: Callable[[Kind[Any]], bool],
    namespace: str = names.SYSTEM_NAMESPACE,
) -> None:
    """Find out for every backend that has something to ask, with objects in our own namespace."""
    for backend in Registry(settings):
        facts = Facts(frozenset(kind for kind in (*backend.reads, *backend.writes) if serves(kind)), known=True)
        await probes.ask(client, clock, backend, facts, namespace)


def service(probes: Probes, settings: OperatorSettings, namespace: str) -> BackgroundService:
    """Asks again from time to time, in the process that checks sets."""

    async def run(ctx: Context, cache: Cache) -> None:
        while True:
            await ask_for_all(probes, ctx.client, ctx.clock, settings, lambda kind: cache.revision(kind) > 0, namespace)
            await ctx.clock.sleep(LOOK_AGAIN)

    return BackgroundService("probes", run)


async def _dropped(client: Client, probe: GangObject, namespace: str) -> list[tuple[Kind[Any], str]]:
    wanted = probe.obj | {"metadata": probe.obj["metadata"] | {"namespace": namespace}}
    try:
        answer = await client.create(probe.kind, wanted, dry_run=True)
    except ApiError as error:
        log.info("cannot find out which fields of %s work: %s", probe.kind.resource, error)
        return []
    kept = spec_of(answer)
    return [(probe.kind, field) for field, value in wanted["spec"].items() if kept.get(field) != value]
