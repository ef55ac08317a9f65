"""How much of what an object asks for is thought about in one look: what is there, and the next few that are not.

A set, a scaling group or a clique may ask for two billion of something. Nobody builds a list of those: a look goes as
far as what is there and one step beyond (`horizon`), and where very much is asked for no step is taken while what was
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


@dataclass(frozen=True, slots=True)
class Backlog:
    """What was made before and is not placed yet."""

    gangs: int = 0
    pods: int = 0

    def step(self, objects: int, pods: int, replicas: int) -> int:
        """How many more replicas may be made of those asked for, of which each has so many objects and so many pods."""
        at_once = max(1, MADE_AT_ONCE // max(objects, 1))
        if replicas * max(pods, 1) <= LARGE:
            return at_once
        room = min(WINDOW - self.gangs, (WINDOW - self.pods) // max(pods, 1), at_once)
        return max(room, 0 if self.gangs or self.pods else 1)
