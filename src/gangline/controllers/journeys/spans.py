"""The journey of a gang as spans, read from the times that its PodGroup and its pods carry themselves.

A journey is whole once the gang's minimum is ready. Pure: controller.py watches, exporter.py sends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.meta import condition
from gangline.controllers.phases import met
from gangline.runtime.clock import seconds_of

MOST_PODS = 64
"""Pods that get a span of their own; a gang of thousands has spans of its stages only."""


@dataclass(frozen=True, slots=True)
class JourneySpan:
    """`start` and `end` in seconds since 1970."""

    name: str
    start: float
    end: float
    attributes: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class GangJourney:
    uid: str
    whole: JourneySpan
    parts: tuple[JourneySpan, ...]


def gang_journey(group: PodGroup, pods: Sequence[Pod]) -> GangJourney | None:
    """None until the gang's minimum is ready."""
    ready = [pod for pod in pods if _since(pod, "Ready") is not None]
    if not ready or not met(group.spec, Counter(pod.labels.get(names.SUB_GROUP, "") for pod in ready)):
        return None
    created = seconds_of(group.metadata.creation_timestamp or "")
    placed = max(_since(pod, "PodScheduled") or created for pod in ready)
    end = max(_since(pod, "Ready") or placed for pod in ready)
    whole = JourneySpan(
        f"gang {group.namespace}/{group.name}",
        created,
        end,
        {"gang": f"{group.namespace}/{group.name}", "queue": group.spec.queue, "pods": len(ready)},
    )
    stages = JourneySpan("wait for a place", created, placed, {}), JourneySpan("start", placed, end, {})
    return GangJourney(group.uid, whole, (*stages, *map(_pod_span, ready[:MOST_PODS])))


def _pod_span(pod: Pod) -> JourneySpan:
    created = seconds_of(pod.metadata.creation_timestamp or "")
    return JourneySpan(f"pod {pod.name}", created, _since(pod, "Ready") or created, {"node": pod.spec.node_name})


def _since(pod: Pod, kind: str) -> float | None:
    """Since when a condition holds."""
    stored = condition(pod.status.conditions, kind)
    if stored is None or stored.status != "True" or not stored.last_transition_time:
        return None
    return seconds_of(stored.last_transition_time)
