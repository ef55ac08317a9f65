"""The past kept alive. What was kept over a restart and what a scheduler recorded is read once. Then a look is
remembered every few seconds and written to disk every minute. A gang's recorded story is read when somebody asks for
it.

The shell of this room. Files are read and written in a thread, one recording at a time, so that frequent requests
cannot make the page slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gangline.dashboard.look import ClusterView
from gangline.dashboard.past.data import GangMoment
from gangline.dashboard.past.kept_file import read_kept, write_kept
from gangline.dashboard.past.memory import DAY, RANGES, PastMemory
from gangline.dashboard.past.recorded import recorded_past, recorded_story
from gangline.runtime import Clock

STEP = RANGES["1h"][1]
"""Seconds between two looks."""
FRESH = 10.0
"""Seconds for which a story is good."""
KEPT = 60.0
"""Seconds between two times that the memory is written down."""
MOST = 64
"""Stories that are kept."""


class PastKeeper:
    """`recording`: the folder of a recording; `folder`: where the memory is kept over a restart; None: neither."""

    def __init__(
        self, look: Callable[[], ClusterView], clock: Clock, recording: Path | None, folder: Path | None = None
    ) -> None:
        self._look, self._clock, self._recording, self._folder = look, clock, recording, folder
        self.memory = PastMemory()
        self._reading = asyncio.Lock()
        self._stories: dict[tuple[str, str], tuple[float, tuple[GangMoment, ...]]] = {}

    async def run(self) -> None:
        if self._folder is not None and (past := await asyncio.to_thread(read_kept, self._folder)) is not None:
            self.memory.restore(past)
        if self._recording is not None:
            self.memory.recall(await asyncio.to_thread(recorded_past, self._recording, self._clock.now()))
        written = self._clock.monotonic()
        while True:
            self.memory.observe(self._look())
            if self._clock.monotonic() - written >= KEPT:
                written = self._clock.monotonic()
                await self.keep()
            await self._clock.sleep(STEP)

    async def keep(self) -> None:
        """Write down what is remembered, if there is a place for it and something was seen."""
        if self._folder is not None and (past := self.memory.kept()).last:
            await asyncio.to_thread(write_kept, self._folder, past)

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
