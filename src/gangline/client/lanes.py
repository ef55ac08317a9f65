"""Decide first, report later: when the writes that only tell have their turn.

Two lanes for the writes of one process. *Urgent* ones bring something nearer to its place: a PodGroup, a BindRequest, a
bind, a delete. *Reports* tell how things stand (events, statuses) and can be worked out again from the objects at any
time. While a crowd of urgent writes passes, reports get one turn for every so many of them and a few per second
whatever happens; in calm they never wait. Clients note their urgent writes here, runtime/ asks for turns. Nothing is
sent or kept here."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

HALF_LIFE = 0.25
"""Seconds after which an urgent write counts half."""
HOT, HOTTEST = 120.0, 320.0
"""Urgent writes, counted so, that make a crowd (about 330 a second, or so many at once), and the most that are counted:
a crowd is over half a second after it ended."""
AT_ONCE = 32
"""As many urgent writes without an answer are a crowd too: the server is slow."""
SHARE = 16
"""In a crowd one report has its turn for so many urgent writes."""
TICK = 0.1
"""Seconds between two turns that come in any case."""


class Lanes:
    """One per process, shared by the clients of the components in it."""

    def __init__(self, time: Callable[[], float] = monotonic) -> None:
        self._time = time
        self._heat, self._since = 0.0, time()
        self._under_way = self._owed = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """An urgent write is sent."""
        self._heat, self._since = min(self._cooled() + 1.0, HOTTEST), self._time()
        self._under_way += 1
        self._owed += 1
        if self._owed >= SHARE:
            self._owed = 0
            self._give()

    def end(self) -> None:
        """It was answered, or given up."""
        self._under_way -= 1

    def _cooled(self) -> float:
        return float(self._heat * 0.5 ** ((self._time() - self._since) / HALF_LIFE))

    @property
    def calm(self) -> bool:
        return self._under_way < AT_ONCE and (self._heat < HOT or self._cooled() < HOT)

    async def turn(self) -> None:
        """Wait until a report may be written; in calm at once."""
        if self.calm:
            return
        loop = asyncio.get_running_loop()
        place = loop.create_future()
        self._waiting.append(place)
        if self._timer is None:
            self._timer = loop.call_later(TICK, self._tick)
        await place

    def _tick(self) -> None:
        self._give()
        while self._waiting and self.calm:
            self._give()
        self._timer = asyncio.get_running_loop().call_later(TICK, self._tick) if self._waiting else None

    def _give(self) -> None:
        """The next turn, to whoever has waited longest and still does."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
