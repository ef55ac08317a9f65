"""Why GPUs are idle, worked out for the map as `gangline idle` does: with the scheduler's own cycle on what is read.

Beside follower.py. It works only after somebody asked for the map and something has changed since, in a thread, and
rests many times as long as it worked. A cluster larger than LARGEST is left alone: the map then says what can be said
without. It never writes to a cluster."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from gangline.client import Client
from gangline.dashboard.look import ClusterView, IdleGpus, KnownIdle
from gangline.errors import ApiError
from gangline.rules.explained_kinds import DECIDED_ON
from gangline.runtime import Clock
from gangline.why.answers import titles_of
from gangline.why.idle import idle_of
from gangline.why.objects import ClusterObjects
from gangline.why.read import read_cluster

REST = 19.0
"""Times as long as it worked."""
SHORTEST_REST = 5.0
LARGEST = 20_000
"""Pods of a cluster up to which it is worked out."""
NEEDED = ("nodes", "pods", "podgroups.scheduling.run.ai", "queues.scheduling.run.ai")
TOO_LARGE = KnownIdle(problem=f"not worked out: the cluster has more than {LARGEST:,} pods; `gangline idle` tells")


class IdleReckoner:
    """`changes` grows with every change of the cluster; `look` is what the pages see of it."""

    def __init__(
        self, client: Client, clock: Clock, look: Callable[[], ClusterView], changes: Callable[[], int]
    ) -> None:
        self._client, self._clock, self._look, self._changes = client, clock, look, changes
        self._asked = asyncio.Event()
        self._seen = -1
        self.known = KnownIdle()
        self.version = 0
        """Grows with every new answer."""

    def ask(self) -> None:
        """Somebody looks at the map."""
        if self._changes() != self._seen:
            self._asked.set()

    async def run(self) -> None:
        while True:
            await self._asked.wait()
            self._asked.clear()
            self._seen, began = self._changes(), time.monotonic()
            known = await self._worked_out()
            if (known.parts, known.problem) != (self.known.parts, self.known.problem):
                self.version += 1
            self.known = known
            await self._clock.sleep(max(SHORTEST_REST, REST * (time.monotonic() - began)))

    async def _worked_out(self) -> KnownIdle:
        if len(self._look().pods) > LARGEST:
            return TOO_LARGE
        now = self._clock.now()
        try:
            objects = await read_cluster(self._client, now, kinds=DECIDED_ON)
        except ApiError as error:
            return KnownIdle(problem=f"not worked out: {error}")
        unread = [f"{name}: {why}" for name, why in objects.unread.items() if name in NEEDED]
        if unread:
            return KnownIdle(problem=f"not worked out: {'; '.join(unread)}")
        return KnownIdle(parts=await asyncio.to_thread(idle_parts, objects), at=now)


def idle_parts(objects: ClusterObjects) -> tuple[IdleGpus, ...]:
    """Of all node pools, with the names that users know."""
    titles = titles_of(objects)
    return tuple(
        IdleGpus(part.node, part.cause, round(part.gpus, 2), _titled(part.gang, titles), part.until)
        for report in idle_of(objects).values()
        for part in report.parts
    )


def _titled(gang: str, titles: dict[str, str]) -> str:
    namespace, slash, _ = gang.partition("/")
    return f"{namespace}/{titles[gang]}" if slash and gang in titles else gang
