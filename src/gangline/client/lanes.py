"""Decide first, report later: when the writes that only tell have their turn.

Two lanes for the writes of one process. *Urgent* ones bring something nearer to its place: a PodGroup, a BindRequest, a
bind, a delete. *Reports* tell how things stand (events, statuses) and can be worked out again from the objects at any
time. While many urgent writes pass, reports get one turn for every so many of them, and a few per second in any case.
In calm they never wait.

Where components run apart, two signs show what the others write: pods that come and are bound, as the watch shows them,
and a report that is answered much later than usual, because the server is busy. Clients note their urgent writes here.
runtime/ notes what is seen, asks for turns and says how long answers took. Nothing is sent or kept here."""

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
HOT_APART, SHARE_APART, TICK_APART = 24.0, 128, 1.0
"""The first of these, and the two below, where components run apart: a server over HTTP is slower (a crowd is about
70 a second), and each process has turns of its own."""
AT_ONCE = 32
"""As many urgent writes without an answer are a crowd too: the server is slow."""
SHARE = 16
"""In a crowd one report has its turn for so many urgent writes."""
TICK = 0.1
"""Seconds between two turns that come in any case."""
SLOW, TIMES = 0.05, 4.0
"""An answer that took at least so many seconds, and so many times longer than the quickest lately, is late."""
FADES = 1.02
"""With every answer, what counts as quickest grows by this: a server that moved away is not late for ever."""
BREATH, LONGEST_BREATH = 3.0, 1.0
"""After a late answer reports wait for so many times as long as it took, up to so many seconds."""


class Lanes:
    """One per process, shared by the clients of the components in it. `apart`: other components are in processes of
    their own, so that only the server's answers tell of what they write."""

    def __init__(self, time: Callable[[], float] = monotonic, *, apart: bool = False) -> None:
        self._time, self.apart, self._hot = time, apart, HOT_APART if apart else HOT
        self._share = SHARE_APART if apart else SHARE
        self._heat, self._since = 0.0, time()
        self._under_way = self._owed = 0
        self._quickest, self._busy_until = float("inf"), float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """An urgent write is sent."""
        self._under_way += 1
        self.seen()

    def seen(self) -> None:
        """An urgent write is sent, or was by another process."""
        self._heat, self._since = min(self._cooled() + 1.0, HOTTEST), self._time()
        self._owed += 1
        if self._owed >= self._share:
            self._owed = 0
            self._give()

    def end(self) -> None:
        """It was answered, or given up."""
        self._under_way -= 1

    def answered(self, seconds: float) -> None:
        """A report was answered after so long."""
        self._quickest = min(self._quickest * FADES, max(seconds, 0.001))
        if self.apart and seconds >= max(SLOW, self._quickest * TIMES):
            self._busy_until = self._time() + min(seconds * BREATH, LONGEST_BREATH)

    def refused(self, seconds: float) -> None:
        """The server asked to be left alone for so long."""
        self._busy_until = max(self._busy_until, self._time() + seconds)

    @property
    def _pace(self) -> float:
        return TICK_APART if self.apart else TICK

    def _cooled(self) -> float:
        return float(self._heat * 0.5 ** ((self._time() - self._since) / HALF_LIFE))

    @property
    def calm(self) -> bool:
        crowd = self._under_way >= AT_ONCE or (self._heat >= self._hot and self._cooled() >= self._hot)
        return not crowd and self._time() >= self._busy_until

    async def turn(self) -> None:
        """Wait until a report may be written; in calm at once."""
        if self.calm:
            return
        loop = asyncio.get_running_loop()
        place = loop.create_future()
        self._waiting.append(place)
        if self._timer is None:
            self._timer = loop.call_later(self._pace, self._tick)
        await place

    def _tick(self) -> None:
        self._give()
        while self._waiting and self.calm:
            self._give()
        self._timer = asyncio.get_running_loop().call_later(self._pace, self._tick) if self._waiting else None

    def _give(self) -> None:
        """The next turn, to whoever has waited longest and still does."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
