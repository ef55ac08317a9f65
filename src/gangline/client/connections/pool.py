"""Which connections to a server are free, and who waits for one.

Whoever finds none free opens one, but only a few are opened at a time: each costs both sides as much as some requests.
The others take the first that becomes free, or open one in their turn. Bookkeeping of http.py, which opens them."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangline.client.connections.connection import ClientConnection

OPENING = 2
"""Connections that are being made at the same time, at most."""
KEPT = 30.0
"""Seconds for which a connection that nobody uses is kept: servers keep them longer, and one must not be ended while we
send."""


class ConnectionPool:
    def __init__(self) -> None:
        self._free: dict[ClientConnection, None] = {}
        self._waiting: deque[asyncio.Future[ClientConnection | None]] = deque()
        self._opening = 0

    def take(self) -> ClientConnection | None:
        """One that is free."""
        oldest = asyncio.get_running_loop().time() - KEPT
        while self._free:
            connection, _ = self._free.popitem()
            if connection.usable and connection.free_since > oldest:
                return connection
            connection.abort()
        return None

    def may_open(self) -> bool:
        """Whether one may be opened now; who gets True calls `opened` in the end."""
        if self._opening >= OPENING:
            return False
        self._opening += 1
        return True

    def wait(self) -> asyncio.Future[ClientConnection | None]:
        """Has the first connection that becomes free; None: one may be opened."""
        place: asyncio.Future[ClientConnection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        return place

    def give(self, connection: ClientConnection) -> None:
        """To whoever has waited longest, or keep it."""
        if not self._hand_over(connection):
            connection.free_since = asyncio.get_running_loop().time()
            self._free[connection] = None

    def opened(self) -> None:
        """One was opened, or could not be: whoever has waited longest may open the next."""
        if not self._hand_over(None):
            self._opening -= 1

    def give_back(self, place: asyncio.Future[ClientConnection | None]) -> None:
        """Whoever waited is gone: what it was given goes to others."""
        if not place.done() or place.cancelled():
            return
        given = place.result()
        if given is None:
            self.opened()
        else:
            self.give(given)

    def _hand_over(self, given: ClientConnection | None) -> bool:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(given)
                return True
        return False

    def forget(self, connection: ClientConnection) -> None:
        self._free.pop(connection, None)
