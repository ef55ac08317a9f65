"""The priority of a PodGroup, and whether others may take its place.

Scheduler, PodGroup controller and dashboard must agree on this. Nothing here orders anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.builtin import PriorityClass
from gangline.api.kai import PodGroup

FALLBACK = 50
NON_PREEMPTIBLE = 100


def priority(group: PodGroup, classes: Iterable[PriorityClass]) -> int:
    """Of its class, else of the cluster's default class, else 50."""
    default = FALLBACK
    for class_ in classes:
        if class_.name == group.spec.priority_class_name:
            return class_.value
        if class_.global_default:
            default = class_.value
    return default


def preemptible(group: PodGroup, classes: Iterable[PriorityClass]) -> bool:
    """As the group says; where it says nothing, below priority 100."""
    if group.spec.preemptibility:
        return group.spec.preemptibility == "preemptible"
    return priority(group, classes) < NON_PREEMPTIBLE
