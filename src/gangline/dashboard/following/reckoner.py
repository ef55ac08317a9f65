"""Why GPUs are idle and what share each queue has, worked out as `gangline idle` and `gangline fairshare` do: with the
scheduler's own code on what is read.

Beside follower.py. It works only after somebody asked for a page that shows it and something has changed since, in a
thread, and rests many times as long as it worked. A cluster larger than LARGEST is left alone: the pages then show what
is known without. It never writes to a cluster."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from gangline.api import kinds, names
from gangline.client import Client
from gangline.dashboard.look import ClusterView, IdleGpus, KnownIdle, KnownShares
from gangline.errors import ApiError
from gangline.rules.explained_kinds import DECIDED_ON
from gangline.runtime import Clock
from gangline.why.answers import titles_of
from gangline.why.idle import idle_of
from gangline.why.objects import ClusterObjects
from gangline.why.read import read_cluster
from gangline.why.replay import gpu_shares

REST = 19.0
"""Times as long as it worked."""
SHORTEST_REST = 5.0
LARGEST = 20_000
"""Pods of a cluster up to which it is worked out."""
NEEDED = ("nodes", "pods", "podgroups.scheduling.run.ai", "queues.scheduling.run.ai")


class ReckonedCluster(NamedTuple):
    """What was worked out of one reading of the cluster."""

    idle: KnownIdle = KnownIdle()
    shares: KnownShares = KnownShares()

    @classmethod
    def failed(cls, problem: str) -> ReckonedCluster:
        text = f"not worked out: {problem}"
        return cls(KnownIdle(problem=text), KnownShares(problem=text))

    @property
    def told(self) -> tuple[object, ...]:
        """What a page shows of it, but for its age."""
        return self.idle.parts, self.idle.problem, self.shares.gpus, self.shares.problem


def _left_to(command: str) -> str:
    return f"not worked out: the cluster has more than {LARGEST:,} pods; `gangline {command}` tells"


TOO_LARGE = ReckonedCluster(KnownIdle(problem=_left_to("idle")), KnownShares(problem=_left_to("fairshare")))


class ClusterReckoner:
    """`changes` grows with every change of the cluster; `look` is what the pages see of it."""

    def __init__(
        self, client: Client, clock: Clock, look: Callable[[], ClusterView], changes: Callable[[], int]
    ) -> None:
        self._client, self._clock, self._look, self._changes = client, clock, look, changes
        self._asked = asyncio.Event()
        self._seen = -1
        self.known = ReckonedCluster()
        self.version = 0
        """Grows with every new answer."""

    def ask(self) -> None:
        """Somebody looks at a page that shows it."""
        if self._changes() != self._seen:
            self._asked.set()

    async def run(self) -> None:
        while True:
            await self._asked.wait()
            self._asked.clear()
            self._seen, began = self._changes(), time.monotonic()
            known = await self._worked_out()
            if known.told != self.known.told:
                self.version += 1
            self.known = known
            await self._clock.sleep(max(SHORTEST_REST, REST * (time.monotonic() - began)))

    async def _worked_out(self) -> ReckonedCluster:
        if len(self._look().pods) > LARGEST:
            return TOO_LARGE
        now = self._clock.now()
        try:
            objects = await read_cluster(self._client, now, kinds=DECIDED_ON)
        except ApiError as error:
            return ReckonedCluster.failed(str(error))
        unread = [f"{name}: {why}" for name, why in objects.unread.items() if name in NEEDED]
        if unread:
            return ReckonedCluster.failed("; ".join(unread))
        return await asyncio.to_thread(reckoned, objects, now)


def reckoned(objects: ClusterObjects, now: float) -> ReckonedCluster:
    return ReckonedCluster(KnownIdle(idle_parts(objects), now), KnownShares(queue_shares(objects), now))


def queue_shares(objects: ClusterObjects) -> dict[str, float]:
    """Queue → GPUs, of all node pools."""
    pools = {item.labels.get(names.NODE_POOL, "") for item in objects.all(kinds.QUEUE)}
    return {queue: round(gpus, 2) for pool in sorted(pools) for queue, gpus in gpu_shares(objects, pool).items()}


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
