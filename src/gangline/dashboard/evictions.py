"""What became of a gang's place: who took it, in the words of the scheduler's event. Whether the gang comes back is in
rules/gangs/evictions.py.

The scheduler tells each eviction once, as event `Evict` on the PodGroup with the facts as annotations, and stamps the
PodGroup. When the event is gone, after an hour, the stamp still says that there was one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from gangline.api import names
from gangline.api.core import Event
from gangline.api.kai import PodGroup
from gangline.rules.values import times

Place: TypeAlias = tuple[str, str]
_WORDS = {
    "preempt": "preempted by {other}, which has a higher priority",
    "reclaim": "reclaimed for {other}, whose queue had less than its share",
    "consolidation": "moved so that {other} fits",
    "stalegangeviction": "evicted by the scheduler: fewer of its pods than its minimum were left",
}


class EvictionStory(msgspec.Struct, frozen=True):
    at: float
    action: str = ""
    other: Place = ("", "")
    """Namespace and name of the PodGroup that got the place."""


def from_events(events: Iterable[Event]) -> dict[Place, EvictionStory]:
    """The last eviction of each PodGroup that an event tells of."""
    stories: dict[Place, EvictionStory] = {}
    for event in events:
        if event.reason != "Evict" or event.involved_object.get("kind") != "PodGroup":
            continue
        about = str(event.involved_object.get("namespace") or event.namespace), str(event.involved_object.get("name"))
        notes, at = event.annotations, times.seconds(event.last_timestamp or event.metadata.creation_timestamp) or 0.0
        if about not in stories or stories[about].at < at:
            stories[about] = EvictionStory(
                at,
                notes.get("evictor-action-type", ""),
                (notes.get("evictor-pod-group-namespace", ""), notes.get("evictor-pod-group-name", "")),
            )
    return stories


def last(group: PodGroup, known: Mapping[Place, EvictionStory]) -> EvictionStory | None:
    """The eviction after which the gang has not started again."""
    stamp, event = times.seconds(group.annotations.get(names.LAST_EVICTION)), known.get((group.namespace, group.name))
    if event is None and stamp is None:
        return None
    story = event or EvictionStory(stamp or 0.0)
    started = times.seconds(group.annotations.get(names.LAST_START))
    return None if started is not None and started > max(story.at, stamp or 0.0) else story


def by_whom(eviction: EvictionStory, other: str) -> str:
    """`other`: what users call the gang that got the place."""
    words = _WORDS.get(eviction.action, "evicted by the scheduler")
    return words.format(other=other) if other or "{other}" not in words else "evicted by the scheduler"
