"""Which connections of a listener are closed because they ask nothing, or because there are too many.

`runtime/health.py` asks this for every listener but the API server's, which has limits of its own. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class ListenerBounds:
    """What strangers may hold of a listener."""

    idle: float = 60.0
    """Seconds in which a connection asks something, and for its whole head; after that it is closed."""
    body: float = 30.0
    """Seconds for a body."""
    connections: int = 1000
    """More than these, and those that have been idle the longest are closed."""
    look: float = 5.0
    """Seconds between two looks at who is idle."""


class IdleConnections(Generic[C]):
    """Which connections have been idle for too long, or are too many."""

    def __init__(self, bounds: ListenerBounds) -> None:
        self._bounds = bounds
        self._since: dict[C, float] = {}
        self._busy: set[C] = set()

    def asks(self, connection: C) -> None:
        self._busy.add(connection)
        self._since.pop(connection, None)

    def answered(self, connection: C) -> None:
        self._busy.discard(connection)

    def late(self, connections: Sequence[C], now: float) -> list[C]:
        """Those to be closed."""
        self._since = {
            connection: self._since.get(connection, now) for connection in connections if connection not in self._busy
        }
        oldest = sorted(self._since, key=self._since.__getitem__)
        surplus = max(len(connections) - self._bounds.connections, 0)
        return [
            connection
            for at, connection in enumerate(oldest)
            if at < surplus or now - self._since[connection] >= self._bounds.idle
        ]
