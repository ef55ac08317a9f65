"""The state of a gang after a cycle, as people are to see it: what it waits for, and whether it is stale.

Nothing is written for a gang whose pods are still being created: a gang of eight is created pod by pod, and a cycle
may see three of them. That five are missing is news once nobody has come for a while. Pure but for what
`GatheringGangs` keeps in mind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.status import Status

AWAITING = Status.ALLOCATED | Status.PIPELINED | Status.BINDING


@dataclass(frozen=True, slots=True)
class GangStanding:
    """The state of a gang after a cycle, as people are to see it."""

    gang: str
    waiting: bool
    """Has members that are pending or gated."""
    ready: bool
    awaiting: bool
    """Has members on their way to a node."""
    running: bool
    missing: str = ""
    """What a gang that is not ready waits for."""
    strays: tuple[str, ...] = ()
    """Members that name a sub-group which does not exist."""
    stale: str = ""
    version: int = 0
    """Changes when a member comes, goes or changes its status."""


def standing(gang: GangInfo) -> GangStanding:
    waiting = gang.count(Status.PENDING | Status.GATED) > 0
    return GangStanding(
        gang.uid,
        waiting,
        gang.ready,
        gang.count(AWAITING) > 0,
        gang.active_allocated > 0,
        missing(gang) if waiting and not gang.ready else "",
        tuple(sorted(gang.invalid)),
        staleness(gang),
        gang.version,
    )


def missing(gang: GangInfo) -> str:
    """What a gang that is not ready waits for, in words."""
    lacks = []
    for name, leaf in sorted(gang.pod_sets.items()):
        gated, alive = leaf.count(Status.GATED), leaf.count(Status.PENDING) + leaf.active_allocated
        if alive < leaf.min_available:
            where = f" in sub-group {name}" if len(gang.pod_sets) > 1 else ""
            lacks.append(
                f"{leaf.min_available - alive} more pods{where} ({alive} of {leaf.min_available} are there"
                + (f", {gated} gated)" if gated else ")")
            )
    return "Job is not ready for scheduling. Waiting for " + (", ".join(lacks) or "more sub-groups")


def staleness(gang: GangInfo) -> str:
    if gang.stale_since is None or not gang.is_stale:
        return ""
    short = [(name, leaf) for name, leaf in sorted(gang.pod_sets.items()) if leaf.active_used < leaf.min_available]
    parts = [
        f"{leaf.active_used} pods are active, minMember is {leaf.min_available}"
        + (f", subGroup {name}" if len(gang.pod_sets) > 1 else "")
        for name, leaf in short
    ]
    return f"Job is stale. {'; '.join(parts)}"


class GatheringGangs:
    """`patience`: seconds without a new member after which an incomplete gang gets an event."""

    def __init__(self, patience: float = 0.0) -> None:
        self._patience = patience
        self._grew: dict[str, tuple[int, float]] = {}
        """The version of each gang that is not complete, and when it became that."""
        self.until: float | None = None
        """When the next of them has been patient enough; None: nobody is held back."""

    def worth_telling(self, standings: Iterable[GangStanding], now: float) -> list[GangStanding]:
        """How gangs stand, without those whose pods are still coming."""
        complete, before, self._grew, self.until = [], self._grew, {}, None
        for standing in standings:
            since = self._since(standing, before, now)
            if since is None or now - since >= self._patience:
                complete.append(standing)
            else:
                self.until = min(since + self._patience, self.until or float("inf"))
        return complete

    def _since(self, standing: GangStanding, before: dict[str, tuple[int, float]], now: float) -> float | None:
        """When the gang last changed; None: it is complete, or there is something else to tell."""
        if standing.ready or not standing.waiting or standing.stale or standing.strays:
            return None
        version, since = before.get(standing.gang, (-1, now))
        since = since if version == standing.version else now
        self._grew[standing.gang] = (standing.version, since)
        return since
