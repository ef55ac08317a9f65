"""What became of a gang's place: who took it, in the words of the scheduler's event, and whether the gang comes back.

The scheduler tells each eviction once, as event `Evict` on the PodGroup with the facts as annotations, and stamps the
PodGroup. When the event is gone, after an hour, the stamp still says that there was one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from gangline.api import names
from gangline.api.builtin import Job
from gangline.api.core import Event
from gangline.api.kai import PodGroup
from gangline.api.meta import Raw
from gangline.rules.values import times

Place: TypeAlias = tuple[str, str]
_WORDS = {
    "preempt": "preempted by {other}, which has a higher priority",
    "reclaim": "reclaimed for {other}, whose queue had less than its share",
    "consolidation": "moved so that {other} fits",
    "stalegangeviction": "evicted by the scheduler: fewer of its pods than its minimum were left",
}
BACKOFF = "BackoffLimitExceeded"
HINT = "a podFailurePolicy that ignores DisruptionTarget keeps evictions from counting as failures"


class EvictionStory(msgspec.Struct, frozen=True):
    at: float
    action: str = ""
    other: Place = ("", "")
    """Namespace and name of the PodGroup that got the place."""


def told(events: Iterable[Event]) -> dict[Place, EvictionStory]:
    """The last eviction of each PodGroup that an event tells of."""
    found: dict[Place, EvictionStory] = {}
    for event in events:
        if event.reason != "Evict" or event.involved_object.get("kind") != "PodGroup":
            continue
        about = str(event.involved_object.get("namespace") or event.namespace), str(event.involved_object.get("name"))
        notes, at = event.annotations, times.seconds(event.last_timestamp or event.metadata.creation_timestamp) or 0.0
        if about not in found or found[about].at < at:
            found[about] = EvictionStory(
                at,
                notes.get("evictor-action-type", ""),
                (notes.get("evictor-pod-group-namespace", ""), notes.get("evictor-pod-group-name", "")),
            )
    return found


def last(group: PodGroup, known: Mapping[Place, EvictionStory]) -> EvictionStory | None:
    """The eviction after which the gang has not started again."""
    stamp, event = times.seconds(group.annotations.get(names.LAST_EVICTION)), known.get((group.namespace, group.name))
    if event is None and stamp is None:
        return None
    found = event or EvictionStory(stamp or 0.0)
    started = times.seconds(group.annotations.get(names.LAST_START))
    return None if started is not None and started > max(found.at, stamp or 0.0) else found


def by_whom(eviction: EvictionStory, other: str) -> str:
    """`other`: what users call the gang that got the place."""
    words = _WORDS.get(eviction.action, "evicted by the scheduler")
    return words.format(other=other) if other or "{other}" not in words else "evicted by the scheduler"


def failure(job: Job | None) -> Raw | None:
    """The condition of a Job that failed."""
    conditions = job.status.conditions if job is not None else ()
    return next(
        (
            condition
            for condition in conditions
            if condition.get("type") == "Failed" and condition.get("status") == "True"
        ),
        None,
    )


def is_over(job: Job) -> bool:
    return any(
        condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True"
        for condition in job.status.conditions
    )


def prospects(job: Job | None, kind: str, waits: bool) -> str:
    """Whether a gang that lost its place comes back."""
    lost = failure(job)
    if lost is not None:
        why = str(lost.get("reason") or "")
        return f"it does not come back: its Job failed ({why})" + (f"; {HINT}" if why == BACKOFF else "")
    if waits or (job is not None and not is_over(job)):
        return "it comes back by itself when there is room for it"
    return f"it comes back when its {kind} makes its pods again"
