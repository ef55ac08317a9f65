"""The past kept alive: what a scheduler recorded is read once, then a look is remembered every few seconds; a gang's
recorded story is read when it is asked for.

The shell of this room. Reading a recording happens in a thread, one reading at a time, so that nobody who asks often
can make the page slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gangline.dashboard.look import ClusterView
from gangline.dashboard.past.data import GangMoment
from gangline.dashboard.past.memory import DAY, RANGES, PastMemory
from gangline.dashboard.past.recorded import recorded_past, recorded_story
from gangline.runtime import Clock

STEP = RANGES["1h"][1]
"""Seconds between two looks."""
FRESH = 10.0
"""Seconds for which a story is good."""
MOST = 64
"""Stories that are kept."""


class PastKeeper:
    """`recording`: the folder of a recording; None: there is none."""

    def __init__(self, look: Callable[[], ClusterView], clock: Clock, recording: Path | None) -> None:
        self._look, self._clock, self._recording = look, clock, recording
        self.memory = PastMemory()
        self._reading = asyncio.Lock()
        self._stories: dict[tuple[str, str], tuple[float, tuple[GangMoment, ...]]] = {}

    async def run(self) -> None:
        if self._recording is not None:
            self.memory.recall(await asyncio.to_thread(recorded_past, self._recording, self._clock.now()))
        while True:
            self.memory.observe(self._look())
            await self._clock.sleep(STEP)

    async def story(self, namespace: str, name: str, titles: frozenset[str]) -> tuple[GangMoment, ...]:
        """What was recorded of a gang with one of these names."""
        if self._recording is None:
            return ()
        async with self._reading:
            now, kept = self._clock.now(), self._stories.get((namespace, name))
            if kept is not None and now - kept[0] < FRESH:
                return kept[1]
            story = await asyncio.to_thread(recorded_story, self._recording, namespace, titles, now - DAY)
            while len(self._stories) >= MOST:
                del self._stories[next(iter(self._stories))]
            self._stories[namespace, name] = now, story
            return story
