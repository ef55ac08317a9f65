"""Gangs that wait, counted by queue and by the cause that their verdict names: what the metrics of waiting show.

Both words come from short lists, whatever users write: a queue that does not exist has no name here, and a cause is one
of CAUSES. Pure; loop/metrics.py shows the figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gangline.scheduler.fairness.capacity import OVER_LIMIT, OVER_QUOTA
from gangline.scheduler.model.cluster import ClusterModel

UNJUDGED, OTHER = "unjudged", "other"
CAUSES = frozenset(
    {
        "room",
        OVER_LIMIT,
        OVER_QUOTA,
        "too-large",
        "impossible",
        "topology",
        "no-queue",
        "not-ready",
        "broken",
        "gave-up",
        "refused",
        "behind",
        "leaving",
        "next",
        UNJUDGED,
    }
)
"""Words of verdicts; a gang that has none yet is unjudged."""
QueueCause = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WaitingGangs:
    """How many there are, and when the oldest of them was made."""

    count: int
    since: float


def waiting_causes(cluster: ClusterModel, cause_of: Callable[[str], str]) -> dict[QueueCause, WaitingGangs]:
    """`cause_of`: the cause in a gang's verdict, "" where there is none."""
    counts: dict[QueueCause, WaitingGangs] = {}
    for uid in cluster.waiting:
        gang = cluster.gangs[uid]
        cause = cause_of(uid) or UNJUDGED
        key = (gang.queue if gang.queue in cluster.queues else "", cause if cause in CAUSES else OTHER)
        known = counts.get(key)
        counts[key] = WaitingGangs(
            known.count + 1 if known else 1, min(known.since, gang.created) if known else gang.created
        )
    return counts
