"""How soon a large set may be looked at again: remembered per set while this process runs. Reads and writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangline.runtime import Key


class SetPace:
    """Keeps a large set from being looked at for every change of every child: a few times a second are enough."""

    SMALL = 50
    PER_REPLICA = 0.002

    def __init__(self) -> None:
        self._last: dict[Key, tuple[int, float, int]] = {}

    def wait(self, key: Key, generation: int, now: float) -> float:
        """Seconds until the next look; 0 for a set that was small, or that was itself changed."""
        seen = self._last.get(key)
        if seen is None or seen[2] < self.SMALL or seen[0] != generation:
            return 0.0
        rest = seen[1] + seen[2] * self.PER_REPLICA - now
        return rest if 0 < rest <= seen[2] * self.PER_REPLICA else 0.0

    def done(self, key: Key, generation: int, now: float, size: int) -> None:
        """A look at so many replicas is over."""
        self._last[key] = (generation, now, size)

    def forget(self, key: Key) -> None:
        self._last.pop(key, None)
