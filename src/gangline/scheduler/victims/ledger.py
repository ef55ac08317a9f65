"""What was evicted before: when, whose, by which action, and what it cost. The memory behind graces and budgets.

`thought/booking.py` writes into it what a cycle decided, and after a restart what stands on the PodGroups
(rules/gangs/evictions.py); `plugins/evict/disruption.py` reads it. Kept for a day."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangline.scheduler.model.cluster import ClusterModel

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class EvictionEntry:
    """A gang lost pods. `broken`: it fell below its minimum, so all its work was lost. `lost`: GPU-seconds."""

    moment: float
    gang: str
    queue: str
    action: str
    lost: float
    broken: bool


class EvictionLedger:
    def __init__(self) -> None:
        self._entries: deque[EvictionEntry] = deque()
        self._by_gang: dict[str, list[EvictionEntry]] = {}

    def note(self, entry: EvictionEntry) -> None:
        self._entries.append(entry)
        self._by_gang.setdefault(entry.gang, []).append(entry)
        while self._entries[0].moment < entry.moment - DAY:
            gone = self._entries.popleft()
            mine = self._by_gang[gone.gang]
            mine.remove(gone)
            if not mine:
                del self._by_gang[gone.gang]

    def entries(self) -> list[EvictionEntry]:
        """All that is remembered, oldest first."""
        return list(self._entries)

    def of_gang(self, gang: str) -> list[EvictionEntry]:
        """Of the last day, oldest first."""
        return self._by_gang.get(gang, [])

    def broken_in_a_day(self, gang: str, now: float) -> int:
        return sum(entry.broken and entry.moment > now - DAY for entry in self.of_gang(gang))

    def last_broken(self, gang: str, action: str) -> float | None:
        """When this action last took the gang below its minimum."""
        return max(
            [entry.moment for entry in self.of_gang(gang) if entry.broken and entry.action == action], default=None
        )

    def times_broken(self, gang: str, action: str) -> int:
        """How often this action took the gang below its minimum within a day of its last eviction."""
        return sum(entry.broken and entry.action == action for entry in self.of_gang(gang))

    def lost_in_an_hour(self, queue: str, now: float) -> float:
        """GPU-seconds that gangs of this queue lost."""
        lost = 0.0
        for entry in reversed(self._entries):
            if entry.moment <= now - HOUR:
                break
            lost += entry.lost if entry.queue == queue else 0.0
        return lost


def ledger_of(cluster: ClusterModel) -> EvictionLedger:
    """The one ledger of a cluster."""
    ledger: EvictionLedger = cluster.memo.setdefault("evictions", EvictionLedger())
    return ledger
