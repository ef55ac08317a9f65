"""How much of what an object asks for is worked out in one look: what is there, and the next few that are not.

A set, a scaling group or a clique may ask for two billion of something, and nobody builds a list of those. A look goes
as far as what is there and one step beyond (`horizon`). Where very much is asked for, no step is taken while what was
made before still waits to be placed. What was looked at is right; what is beyond does not exist yet. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MADE_AT_ONCE = 2_000
"""Objects that one look makes at most, roughly."""
PODS_AT_ONCE = 500
"""Pods that one look at a clique makes at most."""
LARGE = 20_000
"""Pods that an object may ask for and get at once. Whoever asks for more gets them bit by bit."""
WINDOW = 1_000
"""Pods or gangs that may wait to be placed, of an object that asks for more than that, before more are made."""
WINDOW_IN_ALL = 12_000
"""Pods of all sets that may wait to begin. When there are so many, each object has a small window, and no gang that is
larger than that begins; one that has begun becomes whole, for only then can it be placed. Objects that ask for more
than `LARGE` have the small window at half of that, so that they leave room for others, and grow no further at all when
so many wait: pods that a node without a kubelet takes leave every window, and never begin."""
SMALL_WINDOW = 50
WAITING = "waits to begin"
GROUPS_IN_A_GANG = 5_000
"""Groups of one gang: a PodGang with more could not be stored."""
HOLES = 10_000
"""Replicas that may be missing below one that is there."""


def horizon(wanted: int, there: Iterable[int], step: int) -> int:
    """Up to which index a look goes: past all that is there, and one step on."""
    known = {index for index in there if index < wanted}
    highest = max(known, default=-1) + 1
    return min(wanted, max(len(known) + step, min(highest, len(known) + HOLES)))


def number(text: str) -> int | None:
    """The index that a label or a part of a name holds."""
    return int(text) if text.isdigit() and len(text) <= 10 else None


def crowded(crowd: int) -> bool:
    return crowd >= WINDOW_IN_ALL


def window_among(crowd: int) -> int:
    """Pods or gangs of an object that asks for very many that may wait, while so many of all sets do."""
    return SMALL_WINDOW if crowd >= WINDOW_IN_ALL // 2 else WINDOW


@dataclass(frozen=True, slots=True)
class PodBacklog:
    """What was made before and is not placed yet."""

    gangs: int = 0
    pods: int = 0
    crowd: int = 0
    """Pods of all sets."""

    def step(self, objects: int, pods: int, replicas: int) -> int:
        """How many more replicas may be made of those asked for, of which each has so many objects and so many pods."""
        at_once = max(1, MADE_AT_ONCE // max(objects, 1))
        large, stop = replicas * max(pods, 1) > LARGE, crowded(self.crowd)
        if large and stop:
            return 0
        if not (large or stop):
            return at_once
        window = window_among(self.crowd)
        room = min(window - self.gangs, (window - self.pods) // max(pods, 1), at_once)
        return max(room, 0 if self.gangs or self.pods else 1)

    def told(self, of_them: str = "") -> str:
        """Who waits, so that no more is made."""
        if crowded(self.crowd):
            return f"{self.crowd} pods of all sets wait to begin"
        return f"{self.gangs} {of_them or 'gangs'} with {self.pods} pods wait to be placed"
